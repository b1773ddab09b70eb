"""Texts rendered by an older version of the renderer are rendered anew, in the background or by command.

A prompt and all responses to it change together: two responses in one battle never differ in anything that
the renderer does, so that age can't tell who wrote which.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from arena.corpus.leak_checks import masked_again
from arena.corpus.models import Prompt, Response
from arena.corpus.render import RENDERER_VERSION, render, render_turns
from arena.giving_way import short_transaction

# Prompts that are asked for at once; each is written in a transaction of its own.
_BATCH = 50
# Whoever edits, redacts or looks at a text while it is rendered is followed by another look.
_ATTEMPTS = 3


@dataclass(frozen=True)
class Progress:
    """How many texts were rendered anew, and the prompt after which to go on; None: nothing is left."""

    rendered: int
    after: int | None


def render_again(after: int = 0, *, until: float | None = None) -> Progress:
    """Goes through all prompts behind `after`, until `until` on the monotonic clock."""
    rendered = 0
    while True:
        prompts = list(
            Prompt.objects.filter(pk__gt=after).order_by("pk").values_list("pk", flat=True)[:_BATCH]
        )
        if not prompts:
            return Progress(rendered, None)
        for pk in _behind(prompts):
            rendered += _render(pk)
        after = prompts[-1]
        if until is not None and time.monotonic() >= until:
            return Progress(rendered, after)


def _older() -> Q:
    """Zero stands for what was never rendered."""
    return Q(renderer_version__gt=0, renderer_version__lt=RENDERER_VERSION)


def _behind(prompts: list[int]) -> list[int]:
    own = Prompt.objects.filter(_older(), pk__in=prompts).values_list("pk", flat=True)
    of_responses = Response.stored.filter(_older(), prompt__in=prompts).values_list("prompt", flat=True)
    return sorted({*own, *of_responses.order_by()})


def _render(prompt: int) -> int:
    """Rendering, which can take long, is done before the transaction, in which others would have to wait."""
    rendered = 0
    for _attempt in range(_ATTEMPTS):
        changes = [_of_prompt(one) for one in Prompt.objects.filter(_older(), pk=prompt)]
        changes += [_of_response(one) for one in Response.stored.filter(_older(), prompt=prompt)]
        if not changes:
            break
        with short_transaction():
            for still, values in changes:
                rendered += still.update(**values, renderer_version=RENDERER_VERSION)
    return rendered


Change = tuple[QuerySet[Any], dict[str, str]]


def _of_prompt(prompt: Prompt) -> Change:
    return _unchanged(Prompt.objects, prompt), {"rendered_html": render_turns(prompt.messages)}


def _of_response(response: Response) -> Change:
    masked = masked_again(response) if response.masked_html else ""
    still = _unchanged(Response.stored, response).filter(leak=response.leak)
    return still, {"rendered_html": render(response.text), "masked_html": masked}


def _unchanged(rows: Any, row: Prompt | Response) -> QuerySet[Any]:
    """Editing and redacting render too, and so leave the newest version."""
    return rows.filter(pk=row.pk, renderer_version=row.renderer_version)
