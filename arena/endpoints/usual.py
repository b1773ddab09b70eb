"""What calls to an endpoint usually take, from its latest replies: for estimates before a run."""

from arena.endpoints.models import CallAttempt, Endpoint

_LATEST = 50
# Before the first reply, when nothing is known: a few paragraphs.
_UNKNOWN_TOKENS = 500


def _latest(endpoint: Endpoint, column: str) -> list[int]:
    answered = CallAttempt.objects.filter(call__endpoint=endpoint, error_kind="")
    answered = answered.exclude(**{column: None}).order_by("-pk")
    return list(answered.values_list(column, flat=True)[:_LATEST])


def usual_seconds(endpoint: Endpoint) -> float | None:
    """None before the first reply."""
    found = _latest(endpoint, "latency_ms")
    return sum(found) / len(found) / 1000 if found else None


def usual_tokens_out(endpoint: Endpoint) -> int:
    found = _latest(endpoint, "tokens_out")
    return sum(found) // len(found) if found else min(endpoint.max_tokens, _UNKNOWN_TOKENS)
