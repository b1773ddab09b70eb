"""The body of a chat completion, read without trust: what's missing or odd is named, never guessed. Pure.

Recorded bodies are read again through this file after a crash, so it needs no connection and no settings.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from arena.endpoints.failures import FailureKind

_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_LONE = re.compile("[\ud800-\udfff]")


class UnreadableBodyError(ValueError):
    """The body is no chat completion; `error` is what it holds under that name."""

    def __init__(self, kind: FailureKind, message: str, error: object = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.error = error


@dataclass(frozen=True)
class Completion:
    text: str
    finish_reason: str
    refusal: str
    reasoning: str
    tokens_in: int | None
    tokens_out: int | None
    reasoning_tokens: int | None
    model: str
    system_fingerprint: str


def read_completion(raw: str) -> Completion:
    """The first choice of a chat completion; raises UnreadableBodyError."""
    body = _load(raw)
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        if body.get("error"):
            raise UnreadableBodyError(
                "server_error", "the server answered with an error in place of a reply", body["error"]
            )
        raise UnreadableBodyError(
            "malformed", "the server's reply has no choices: is it a chat completions API?"
        )
    message = choices[0].get("message")
    if not isinstance(message, dict):
        raise UnreadableBodyError("malformed", "the first choice in the server's reply has no message")
    usage = body.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return Completion(
        text=join_parts(message.get("content")),
        finish_reason=_string(choices[0].get("finish_reason")),
        refusal=_string(message.get("refusal")),
        reasoning=join_parts(message.get("reasoning_content") or message.get("reasoning")),
        tokens_in=_count(usage.get("prompt_tokens")),
        tokens_out=_count(usage.get("completion_tokens")),
        reasoning_tokens=_reasoning_tokens(usage),
        model=_string(body.get("model")),
        system_fingerprint=_string(body.get("system_fingerprint")),
    )


def join_parts(content: object) -> str:
    """A message's content is text, a list of parts, or nothing; parts that aren't text have no place here."""
    if isinstance(content, str):
        return storable(content)
    if isinstance(content, list):
        return "".join(_part_text(part) for part in content)
    return ""


def storable(text: str) -> str:
    """Text that every database takes: surrogate pairs joined, lone surrogates and NUL replaced by U+FFFD."""
    if not text.isascii():
        text = _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
        text = _LONE.sub("\ufffd", text)
    return text.replace("\x00", "\ufffd")


def _part_text(part: object) -> str:
    if isinstance(part, str):
        return storable(part)
    if isinstance(part, dict) and part.get("type") in (None, "text", "output_text"):
        return storable(_string(part.get("text")))
    return ""


def _load(raw: str) -> dict[str, Any]:
    try:
        body = json.loads(raw)
    except RecursionError:
        raise UnreadableBodyError("not_json", "the server's reply is nested too deeply") from None
    except ValueError as error:
        # Also an integer of thousands of digits, which Python refuses to read.
        raise UnreadableBodyError("not_json", f"the server's reply is no JSON: {error}"[:300]) from None
    if not isinstance(body, dict):
        raise UnreadableBodyError(
            "malformed", f"the server's reply is a JSON {type(body).__name__}, not an object"
        )
    return body


def _string(value: object) -> str:
    return storable(value) if isinstance(value, str) else ""


def _reasoning_tokens(usage: dict[str, Any]) -> int | None:
    """How many of the tokens were thought and not said; None when the server tells nothing of it."""
    details = usage.get("completion_tokens_details")
    return _count(details.get("reasoning_tokens")) if isinstance(details, dict) else None


def _count(value: object) -> int | None:
    """A count of tokens, or None when the server names none; never 0 for unknown."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31:
        return value
    return None
