"""Taking a text out for good: what stays is a tombstone with its hash and counts.

Votes, judgments and boards stay as they are: none of them reads a text. What was asked about the text is
blanked in the ledger of calls too. A judge's own words may still quote a part of it.
"""

from __future__ import annotations

import json

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from arena.corpus.models import Prompt, Response
from arena.corpus.publishing import HASHED, prompt_hash
from arena.corpus.render import RENDERER_VERSION, render, render_turns
from arena.endpoints.models import CallAttempt

REDACTED = "[redacted]"
# Who asked about a prompt or a response. These rooms lie above and can't be imported; the ORM knows the way.
_ASKED_ABOUT_PROMPT = (
    "call__judge_call__judgment__battle__prompt",
    "call__label_call__prompt",
    "call__generation_call__prompt",
)
_ASKED_ABOUT_RESPONSE = (
    "call__judge_call__judgment__battle__response_a",
    "call__judge_call__judgment__battle__response_b",
)
# A reply that holds a text as long as this quotes it; a shorter one could be any word of the reply's form.
_QUOTED = 40


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
            **_signed(reason, by),
        }
        fresh.messages = [{"role": turn["role"], "content": REDACTED} for turn in fresh.messages]
        fresh.reference = REDACTED if fresh.reference else ""
        fresh.rendered_html, fresh.renderer_version = render_turns(fresh.messages), RENDERER_VERSION
        fresh.save(update_fields=["messages", "reference", "rendered_html", "renderer_version", "tombstone"])
        _end_open_battles(fresh, Q())
        _blank_calls(_ASKED_ABOUT_PROMPT, fresh.pk, texts)
    return True


def redact_response(response: Response, *, reason: str, by: str) -> bool:
    """Blank the response's text; False when that was done before. Its hash and style counts stay."""
    with transaction.atomic():
        fresh = Response.objects.select_for_update().select_related("prompt").get(pk=response.pk)
        if fresh.tombstone:
            return False
        text = fresh.text
        fresh.tombstone = {"sha256": fresh.text_hash, **_signed(reason, by)}
        fresh.text, fresh.masked_html, fresh.leak_words = "", "", []
        fresh.rendered_html, fresh.renderer_version = render(REDACTED), RENDERER_VERSION
        fields = ["text", "masked_html", "leak_words", "rendered_html", "renderer_version", "tombstone"]
        fresh.save(update_fields=fields)
        _end_open_battles(fresh.prompt, Q(response_a=fresh) | Q(response_b=fresh))
        _blank_calls(_ASKED_ABOUT_RESPONSE, fresh.pk, [text])
        # A generated response is a reply in the ledger too.
        replies = CallAttempt.objects.filter(call__generation_call__response=fresh)
        replies.update(reply_text=REDACTED, raw_reply=REDACTED)
    return True


def _signed(reason: str, by: str) -> dict[str, str]:
    if not reason.strip():
        raise ValueError("a redaction needs a reason")
    return {"reason": reason.strip(), "by": by, "at": timezone.now().isoformat()}


def _end_open_battles(prompt: Prompt, which: Q) -> None:
    """Battles on somebody's screen end now, and another is drawn."""
    now = timezone.now()
    prompt.battles.filter(which, vote=None, expires_at__gt=now).update(expires_at=now)


def _blank_calls(paths: tuple[str, ...], pk: int, texts: list[str]) -> None:
    secrets = [text for text in texts if text.strip()]
    quotable = [form for text in secrets if len(text) >= _QUOTED for form in (text, json.dumps(text)[1:-1])]
    for path in paths:
        for attempt in CallAttempt.objects.filter(**{path: pk}).iterator():
            for message in attempt.request.get("messages", []):
                message["content"] = _without(message["content"], secrets)
            attempt.raw_reply = _without(attempt.raw_reply, quotable)
            attempt.reply_text = _without(attempt.reply_text, quotable)
            attempt.save(update_fields=["request", "raw_reply", "reply_text"])


def _without(text: str, secrets: list[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    return text
