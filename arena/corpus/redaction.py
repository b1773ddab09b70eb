"""Taking a text out for good: what stays is a tombstone with its hash and counts.

Votes, judgments and boards stay as they are: none of them reads a text. Where others say the text again
(a judge's reason, a reply in the ledger, a comment), it is taken out too: see sweeping.py. A response that
quotes its prompt is redacted by itself. A reply that is on its way when its texts are redacted is not kept.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from arena.broken_off import done_again
from arena.corpus.models import Prompt, Response
from arena.corpus.publishing import HASHED, prompt_hash
from arena.corpus.quotations import REDACTED, without
from arena.corpus.redaction_models import Sweep
from arena.corpus.render import RENDERER_VERSION, render, render_turns
from arena.corpus.same_text import text_key
from arena.corpus.sweeping import sweep_up, sweeps_of


def redact_prompt(prompt: Prompt, *, reason: str, by: str) -> bool:
    """Blank the prompt's turns and reference; False when that was done before. Responses keep their text.

    Either way, what is still to be taken out elsewhere is tried again.
    """
    is_new = _lay_prompt_to_rest(prompt.pk, reason, by)
    sweep_up(sweeps_of(prompt))
    return is_new


def redact_response(response: Response, *, reason: str, by: str) -> bool:
    """Blank the response's text; False when that was done before. Its hash and style counts stay."""
    is_new = _lay_response_to_rest(response.pk, reason, by)
    sweep_up(sweeps_of(response))
    return is_new


def redact_prompt_everywhere(prompt: Prompt, *, reason: str, by: str) -> list[Prompt]:
    """It and others of the team with the same words, those too that are copied from it meanwhile."""
    return _everywhere(prompt, same_prompts, partial(redact_prompt, reason=reason, by=by))


def redact_response_everywhere(response: Response, *, reason: str, by: str) -> list[Response]:
    return _everywhere(response, same_responses, partial(redact_response, reason=reason, by=by))


def _everywhere(row: Any, same: Callable[[Any], QuerySet], redact: Callable[[Any], object]) -> list[Any]:
    others = _all_of(same, row, redact)
    # The last, so that the others are found again by it if this is broken off.
    redact(row)
    return [row, *others, *_all_of(same, row, redact)]


def _all_of(same: Callable[[Any], QuerySet], row: Any, redact: Callable[[Any], object]) -> list[Any]:
    """Listed anew until there is none left."""
    done: list[Any] = []
    while found := list(same(row)):
        for each in found:
            redact(each)
        done += found
    return done


@done_again
def _lay_prompt_to_rest(pk: int, reason: str, by: str) -> bool:
    with transaction.atomic():
        fresh = Prompt.objects.select_for_update(no_key=True).filter(pk=pk).first()
        if fresh is None or fresh.tombstone:
            return False
        texts = [turn["content"] for turn in fresh.messages] + [fresh.reference]
        content = {name: getattr(fresh, name) for name in HASHED}
        fresh.tombstone = {
            "sha256": prompt_hash(content | {"tombstone": None}),
            "text_key": text_key(fresh.messages),
            "characters": sum(map(len, texts)),
            "words": sum(len(text.split()) for text in texts),
            "turns": len(fresh.messages),
            **_signed(reason, by, texts),
            "uploads": [],
        }
        fresh.messages = [{"role": turn["role"], "content": REDACTED} for turn in fresh.messages]
        fresh.reference = REDACTED if fresh.reference else ""
        fresh.rendered_html, fresh.renderer_version = render_turns(fresh.messages), RENDERER_VERSION
        fresh.save(update_fields=["messages", "reference", "rendered_html", "renderer_version", "tombstone"])
        Sweep.objects.create(prompt=fresh, texts=texts)
    return True


@done_again
def _lay_response_to_rest(pk: int, reason: str, by: str) -> bool:
    with transaction.atomic():
        fresh = Response.objects.select_for_update(no_key=True).filter(pk=pk).first()
        if fresh is None or fresh.tombstone:
            return False
        texts = [fresh.text]
        fresh.tombstone = {"sha256": fresh.text_hash, **_signed(reason, by, texts), "uploads": []}
        fresh.text, fresh.masked_html, fresh.leak_words = "", "", []
        fresh.rendered_html, fresh.renderer_version = render(REDACTED), RENDERER_VERSION
        fields = ["text", "masked_html", "leak_words", "rendered_html", "renderer_version", "tombstone"]
        fresh.save(update_fields=fields)
        Sweep.objects.create(prompt_id=fresh.prompt_id, response=fresh, texts=texts)
    return True


def same_prompts(prompt: Prompt) -> QuerySet[Prompt]:
    """Others of the team with the same words: earlier versions, the next one's draft, other sets."""
    others = Prompt.objects.filter(prompt_set__team=prompt.prompt_set.team_id, tombstone__isnull=True)
    return others.filter(messages=prompt.messages).exclude(pk=prompt.pk).select_related("prompt_set")


def same_responses(response: Response) -> QuerySet[Response]:
    """Others of the team with the same text."""
    team = response.prompt.prompt_set.team_id
    others = Response.objects.filter(prompt__prompt_set__team=team, tombstone__isnull=True)
    return others.filter(text_hash=response.text_hash).exclude(pk=response.pk)


def _signed(reason: str, by: str, texts: list[str]) -> dict[str, str]:
    if not reason.strip():
        raise ValueError("a redaction needs a reason")
    return {"reason": without(reason.strip(), texts), "by": by, "at": timezone.now().isoformat()}
