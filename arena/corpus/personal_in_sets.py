"""Likely personal data in a draft, before it is published: prompts stay then, and raters read all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from arena.corpus.models import Prompt, PromptSet, Response
from arena.corpus.personal import LONGEST, kinds_in

# Of prompts and of responses on each view, at most a tenth of a second: the files they came from were
# looked at whole.
TEXTS_LOOKED_AT, CHARACTERS_LOOKED_AT = 2_000, 2_000_000

Row = TypeVar("Row", Prompt, Response)


@dataclass
class Likely:
    """What was found; `stopped`: after so many prompts, so many responses, where there are more."""

    prompts: list[Prompt] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)
    stopped_prompts: int | None = None
    stopped_responses: int | None = None


def look(prompt_set: PromptSet) -> Likely | None:
    """None of what is published already."""
    if not prompt_set.is_draft:
        return None
    prompts = prompt_set.prompts.filter(tombstone__isnull=True).order_by("pk")
    responses = Response.objects.filter(prompt__prompt_set=prompt_set, tombstone__isnull=True).order_by("pk")
    found = Likely()
    found.stopped_prompts = _look_through(
        prompts.only("prompt_set", "external_id", "messages").iterator(200),
        lambda prompt: prompt.text,
        found.prompts,
    )
    known = ("text", "prompt__prompt_set", "prompt__external_id", "competitor__name")
    found.stopped_responses = _look_through(
        responses.select_related("prompt", "competitor").only(*known).iterator(200),
        lambda response: response.text,
        found.responses,
    )
    return found


def _look_through(rows: Iterator[Row], text_of: Callable[[Row], str], found: list[Row]) -> int | None:
    left = CHARACTERS_LOOKED_AT
    for number, row in enumerate(rows):
        text = text_of(row)
        left -= len(text[:LONGEST])
        if left < 0 or number == TEXTS_LOOKED_AT:
            return number
        if any(kinds_in(text)):
            found.append(row)
    return None
