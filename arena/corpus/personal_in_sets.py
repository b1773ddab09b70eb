"""Likely personal data in a draft, before it is published: prompts stay then, and raters read all of it.

The texts are looked through when something was added, taken out or edited; a view in between reads none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from django.core.cache import cache
from django.db.models import Count, Max, QuerySet

from arena.corpus.models import Prompt, PromptSet, Response
from arena.corpus.personal import LONGEST, kinds_in

# Of prompts and of responses, at most a tenth of a second: the files they came from were looked at whole.
TEXTS_LOOKED_AT, CHARACTERS_LOOKED_AT = 2_000, 2_000_000
KEPT_SECONDS = 24 * 60 * 60

Row = TypeVar("Row", Prompt, Response)


@dataclass(frozen=True)
class Likely:
    """What was found; `stopped`: after so many prompts, so many responses, where there are more."""

    prompts: list[Prompt]
    responses: list[Response]
    stopped_prompts: int | None
    stopped_responses: int | None


@dataclass(frozen=True)
class _Found:
    pks: tuple[int, ...]
    stopped: int | None


def look(prompt_set: PromptSet) -> Likely | None:
    """None of what is published already."""
    if not prompt_set.is_draft:
        return None
    in_prompts, in_responses = _found(prompt_set)
    # What was redacted since is left out here: that it was is told by its row alone.
    prompts = _prompts(prompt_set).filter(pk__in=in_prompts.pks).only("prompt_set", "external_id")
    responses = _responses(prompt_set).filter(pk__in=in_responses.pks)
    named = responses.only("prompt__prompt_set", "prompt__external_id", "competitor__name")
    return Likely(
        list(prompts) if in_prompts.pks else [],
        list(named) if in_responses.pks else [],
        in_prompts.stopped,
        in_responses.stopped,
    )


def _prompts(prompt_set: PromptSet) -> QuerySet[Prompt]:
    return Prompt.objects.filter(prompt_set=prompt_set, tombstone__isnull=True).order_by("pk")


def _responses(prompt_set: PromptSet) -> QuerySet[Response]:
    there = Response.objects.filter(prompt__prompt_set=prompt_set, tombstone__isnull=True)
    return there.select_related("prompt", "competitor").order_by("pk")


def _found(prompt_set: PromptSet) -> tuple[_Found, _Found]:
    """Remembered by what it depends on: which texts there are, and how often one was edited."""
    state = (prompt_set.pk, *_state(prompt_set), TEXTS_LOOKED_AT, CHARACTERS_LOOKED_AT)
    key = f"likely-personal:{state}".replace(" ", "")
    found: tuple[_Found, _Found] | None = cache.get(key)
    if found is None:
        found = _look_through_set(prompt_set)
        cache.set(key, found, KEPT_SECONDS)
    return found


def _state(prompt_set: PromptSet) -> Iterator[int | None]:
    yield prompt_set.edits
    rows: Iterable[QuerySet] = (
        Prompt.objects.filter(prompt_set=prompt_set),
        Response.objects.filter(prompt__prompt_set=prompt_set),
    )
    for there in rows:
        yield from there.aggregate(count=Count("pk"), newest=Max("pk")).values()


def _look_through_set(prompt_set: PromptSet) -> tuple[_Found, _Found]:
    prompts = _prompts(prompt_set).only("messages").iterator(200)
    responses = _responses(prompt_set).select_related(None).only("text").iterator(200)
    return (
        _look_through(prompts, lambda prompt: prompt.text),
        _look_through(responses, lambda response: response.text),
    )


def _look_through(rows: Iterator[Row], text_of: Callable[[Row], str]) -> _Found:
    found: list[int] = []
    left = CHARACTERS_LOOKED_AT
    for number, row in enumerate(rows):
        text = text_of(row)
        left -= len(text[:LONGEST])
        if left < 0 or number == TEXTS_LOOKED_AT:
            return _Found(tuple(found), number)
        if any(kinds_in(text)):
            found.append(row.pk)
    return _Found(tuple(found), None)
