"""What kind of failure an error answer is. Pure.

Servers that call themselves OpenAI-compatible agree on little more than the status, so the words count too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

FailureKind = Literal[
    "rate_limited",
    "quota",
    "timeout",
    "connection",
    "unknown_host",
    "host_refused",
    "server_error",
    "bad_request",
    "not_found",
    "unsupported_parameter",
    "auth",
    "context_overflow",
    "refused",
    "redirected",
    "too_large",
    "undecodable",
    "not_json",
    "malformed",
    "unsendable",
    "redacted",
]
# What may pass by itself. The rest fails the same way next time, and costs again.
RETRYABLE: frozenset[FailureKind] = frozenset(
    {"rate_limited", "timeout", "connection", "unknown_host", "server_error", "not_json", "malformed"}
)

_LONGEST_MESSAGE = 500
_OVERFLOW = re.compile(
    r"context[_ ](length|window|size)|exceed_context_size|maximum context|too many tokens|"
    r"prompt is too long|input is too long|reduce the length",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient_quota|exceeded your current quota|billing|credit balance|payment", re.IGNORECASE
)
_FILTERED = re.compile(r"content_filter|content management policy|content_policy", re.IGNORECASE)
_REFUSES = re.compile(
    r"support|unknown|unrecogni[sz]ed|unexpected|not allowed|not permitted|not available|forbidden|extra|"
    r"invalid|deprecated|only the default|cannot be|can't be|must be|use '",
    re.IGNORECASE,
)
_STRUCTURED = re.compile(
    r"response_format|json_schema|json_object|structured output|grammar|guided", re.IGNORECASE
)


@dataclass(frozen=True)
class Classified:
    kind: FailureKind
    message: str
    parameter: str = ""

    @property
    def retryable(self) -> bool:
        return self.kind in RETRYABLE


def classify(status: int | None, body: object, payload: Mapping[str, Any]) -> Classified:
    """`body` is the decoded JSON, or the text when it's none; `payload` is what was sent."""
    status = _status_in(body) if status is None else status
    text = _message(body)
    shown = (
        f"the server answered {status}: {text}" if text else f"the server answered {status} without a reason"
    )
    searched = f"{text} {_codes(body)}"
    if status in (401, 403):
        return Classified("auth", f"{shown}. Is the key right, and may it use this model?")
    if status == 402 or (status == 429 and _QUOTA.search(searched)):
        return Classified("quota", shown)
    if status == 429:
        return Classified("rate_limited", shown)
    if status is None or status >= 500 or status in (408, 409, 425):
        return Classified("server_error", shown)
    if 300 <= status < 400:
        return Classified("redirected", f"{shown}. Redirects aren't followed: give the final address")
    if status == 404:
        return Classified(
            "not_found", f"{shown}. Check the base URL (often it ends in /v1) and the model's name"
        )
    return _request_failure(status, searched, shown, body, payload)


def _request_failure(
    status: int, searched: str, shown: str, body: object, payload: Mapping[str, Any]
) -> Classified:
    if status == 413 or _OVERFLOW.search(searched):
        return Classified("context_overflow", shown)
    if _FILTERED.search(searched):
        return Classified("refused", shown)
    parameter = _refused_parameter(searched, body, payload)
    if parameter:
        return Classified("unsupported_parameter", shown, parameter)
    return Classified("bad_request", shown)


def _refused_parameter(searched: str, body: object, payload: Mapping[str, Any]) -> str:
    """The name of the sent parameter that the answer complains about, or nothing."""
    names = [name for name in payload if name not in ("model", "messages")]
    error = _error(body)
    named = error.get("param")
    if isinstance(named, str) and named:
        root = re.split(r"[.\[]", named)[0]
        return root if root in names else ""
    if not _REFUSES.search(searched):
        return ""
    for name in names:
        if re.search(rf"\b{re.escape(name)}\b", searched):
            return name
    return "response_format" if "response_format" in names and _STRUCTURED.search(searched) else ""


def _error(body: object) -> Mapping[str, Any]:
    if not isinstance(body, dict):
        return {}
    error = body.get("error")
    return error if isinstance(error, dict) else body


def _message(body: object) -> str:
    if isinstance(body, str):
        return " ".join(body.split())[:_LONGEST_MESSAGE]
    error = _error(body)
    for name in ("message", "detail", "error", "error_description"):
        value = error.get(name)
        if value:
            text = value if isinstance(value, str) else json.dumps(value, default=str)
            return " ".join(text.split())[:_LONGEST_MESSAGE]
    return ""


def _codes(body: object) -> str:
    error = _error(body)
    return " ".join(str(error.get(name) or "") for name in ("code", "type"))


def _status_in(body: object) -> int | None:
    """Some gateways answer 200 and put the status into the error."""
    code = _error(body).get("code")
    return code if isinstance(code, int) and not isinstance(code, bool) and 300 <= code < 600 else None
