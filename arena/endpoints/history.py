"""What a call's attempts so far say about the next one. Derived from rows, so any worker can go on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from arena.endpoints import ledger
from arena.endpoints.client import EndpointConfig
from arena.endpoints.failures import RETRYABLE
from arena.endpoints.models import Call, CallAttempt, Endpoint

_MODE_RANK = {"json_schema": 2, "json_object": 1, "prompt": 0}
_NEXT_MODE = {"json_schema": "json_object", "json_object": "prompt"}
# After these the same request may be sent again in a humbler form.
_DOWNGRADES = frozenset({"unsupported_parameter", "bad_request"})


@dataclass(frozen=True)
class History:
    """A call's attempts since it was planned or last retried, written-off ones apart, in order."""

    attempts: tuple[CallAttempt, ...]

    @property
    def replies(self) -> list[CallAttempt]:
        return [attempt for attempt in self.attempts if not attempt.error_kind]

    @property
    def failures(self) -> int:
        """How often something failed that may pass by itself; what the next wait depends on."""
        return sum(attempt.error_kind in RETRYABLE for attempt in self.attempts)

    def was_refused_with(self, parameter: str) -> bool:
        return any(
            attempt.error_kind == "unsupported_parameter" and parameter in attempt.request
            for attempt in self.attempts
        )


def history_of(call: Call) -> History:
    if not call.attempt_count:
        return History(())
    latest = list(call.attempts.order_by("-number")[: call.attempt_count])
    return History(tuple(a for a in reversed(latest) if a.finished_at and a.error_kind != ledger.LOST))


def mode_of(request: Mapping[str, Any]) -> str:
    """The structured mode in which a recorded request was sent."""
    return str(request.get("response_format", {}).get("type", "prompt"))


def can_be_humbler(request: Mapping[str, Any]) -> bool:
    return mode_of(request) in _NEXT_MODE


def humbled(config: EndpointConfig, history: History) -> EndpointConfig:
    """In a humbler structured mode for each time that the mode so far was refused."""
    refused = [
        attempt.request
        for attempt in history.attempts
        if attempt.error_kind in _DOWNGRADES and config.max_tokens_field in attempt.request
    ]
    for request in refused:
        if mode_of(request) == config.structured_mode and config.structured_mode in _NEXT_MODE:
            config = replace(config, structured_mode=_NEXT_MODE[config.structured_mode])  # type: ignore[arg-type]
    return config


def remember_model(endpoint: Endpoint, attempt: CallAttempt) -> None:
    """The name under which the model answers: an alias may come to mean another model."""
    if attempt.answering_model and attempt.answering_model != endpoint.answering_model:
        Endpoint.objects.filter(pk=endpoint.pk).update(answering_model=attempt.answering_model)


def remember_mode(endpoint: Endpoint, attempt: CallAttempt) -> None:
    """The structured mode that was answered where a higher one was refused; for calls that have a schema."""
    mode = mode_of(attempt.request)
    if _MODE_RANK[mode] < _MODE_RANK[endpoint.structured_mode]:
        Endpoint.objects.filter(pk=endpoint.pk).update(structured_mode=mode)
