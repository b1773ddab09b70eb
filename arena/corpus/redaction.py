"""Taking a text out for good: what stays is a tombstone with its hash and counts.

Votes, judgments and boards stay as they are: none of them reads a text. Where others say the text again
(a judge's reason, a reply in the ledger, a comment), it is taken out too; a response that quotes its prompt
is redacted by itself. A reply that is on its way when its texts are redacted is not kept.
"""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.dispatch import Signal
from django.utils import timezone

from arena.corpus.models import Prompt, Response
from arena.corpus.publishing import HASHED, prompt_hash
from arena.corpus.quotations import CALLS, PLACES, REDACTED, blank, rows_about, without
from arena.corpus.render import RENDERER_VERSION, render, render_turns
from arena.endpoints import ledger
from arena.endpoints.models import CallAttempt

# Sent with the prompt once a text of it, or of a response to it, is gone: files written before still hold it.
text_redacted = Signal()
# Sent with `team_id` and `texts`: a room above drops what copies it keeps and answers with their names.
text_is_gone = Signal()


def redact_prompt(prompt: Prompt, *, reason: str, by: str) -> bool:
    """Blank the prompt's turns and reference; False when that was done before. Responses keep their text."""
    with transaction.atomic():
        fresh = Prompt.objects.select_for_update().get(pk=prompt.pk)
        if fresh.tombstone:
            return False
        texts = [turn["content"] for turn in fresh.messages] + [fresh.reference]
        content = {name: getattr(fresh, name) for name in HASHED}
        fresh.tombstone = {
            "sha256": prompt_hash(content | {"tombstone": None}),
            "characters": sum(map(len, texts)),
            "words": sum(len(text.split()) for text in texts),
            "turns": len(fresh.messages),
            **_signed(reason, by, texts),
            "uploads": _drop_copies(fresh, texts),
        }
        fresh.messages = [{"role": turn["role"], "content": REDACTED} for turn in fresh.messages]
        fresh.reference = REDACTED if fresh.reference else ""
        fresh.rendered_html, fresh.renderer_version = render_turns(fresh.messages), RENDERER_VERSION
        fresh.save(update_fields=["messages", "reference", "rendered_html", "renderer_version", "tombstone"])
        _end_open_battles(fresh, Q())
        _take_out("prompt", fresh.pk, fresh, texts)
    _afterwards("prompt", fresh.pk, fresh, texts)
    return True


def redact_response(response: Response, *, reason: str, by: str) -> bool:
    """Blank the response's text; False when that was done before. Its hash and style counts stay."""
    with transaction.atomic():
        fresh = Response.objects.select_for_update().select_related("prompt").get(pk=response.pk)
        if fresh.tombstone:
            return False
        texts = [fresh.text]
        signed = _signed(reason, by, texts)
        copies = _drop_copies(fresh.prompt, texts)
        fresh.tombstone = {"sha256": fresh.text_hash, **signed, "uploads": copies}
        fresh.text, fresh.masked_html, fresh.leak_words = "", "", []
        fresh.rendered_html, fresh.renderer_version = render(REDACTED), RENDERER_VERSION
        fields = ["text", "masked_html", "leak_words", "rendered_html", "renderer_version", "tombstone"]
        fresh.save(update_fields=fields)
        _end_open_battles(fresh.prompt, Q(response_a=fresh) | Q(response_b=fresh))
        _take_out("response", fresh.pk, fresh.prompt, texts)
        _blank_other_copies(fresh)
    _afterwards("response", fresh.pk, fresh.prompt, texts)
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


def _drop_copies(prompt: Prompt, texts: list[str]) -> list[str]:
    """The names of files that still held one of the texts and are gone now."""
    team = prompt.prompt_set.team_id
    answers = text_is_gone.send(sender=Prompt, team_id=team, texts=texts)
    return sorted({name for _receiver, names in answers for name in names or ()})


def _end_open_battles(prompt: Prompt, which: Q) -> None:
    """Battles on somebody's screen end now, and another is drawn."""
    now = timezone.now()
    prompt.battles.filter(which, vote=None, expires_at__gt=now).update(expires_at=now)


def _take_out(about: str, pk: int, prompt: Prompt, texts: list[str]) -> None:
    """Wherever the texts are said again. What is on its way then comes back to find itself written off."""
    for place in PLACES:
        for row in rows_about(place, about, pk, prompt.prompt_set.team_id):
            changed = blank(row, place.columns, texts)
            if place is CALLS:
                changed += _take_out_of_call(row, texts)
            if changed:
                row.save(update_fields=sorted(set(changed)))


def _take_out_of_call(attempt: Any, texts: list[str]) -> list[str]:
    """What was asked holds the texts whole, however short they are."""
    for message in attempt.request.get("messages", []):
        for text in sorted(filter(str.strip, texts), key=len, reverse=True):
            message["content"] = message["content"].replace(text, REDACTED)
    if attempt.finished_at is None:
        attempt.error_kind = ledger.WITHDRAWN
    return ["request", "error_kind"]


def _blank_other_copies(response: Response) -> None:
    """The reply that a generated response was read from; the earlier turns that came with an imported one."""
    replies = CallAttempt.objects.filter(call__generation_call__response=response)
    replies.update(reply_text=REDACTED, raw_reply=REDACTED)
    for side in ("a", "b"):
        origins: Any = apps.get_model("arena", "Origin").objects
        of_side = origins.filter(**{f"battle__response_{side}": response})
        for origin in of_side.exclude(turns=None):
            origin.turns = origin.turns | {side: [REDACTED for _ in origin.turns.get(side, [])]}
            origin.save(update_fields=["turns"])


def _afterwards(about: str, pk: int, prompt: Prompt, texts: list[str]) -> None:
    """Once more, for whoever had read the text and not yet written when it went; then what the disk keeps."""
    with transaction.atomic():
        _take_out(about, pk, prompt, texts)
    text_redacted.send(sender=Prompt, prompt=prompt)
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # the log holds pages as they were
