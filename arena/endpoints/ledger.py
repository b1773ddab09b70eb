"""The ledger of calls: claimed by one worker at a time, each HTTP try a row, nothing bought twice.

A worker claims a call by a conditional UPDATE and holds it with a lease that it renews while the server
thinks. The lease's token fences it: whoever lost the lease can still store the reply it paid for, but decides
nothing. What a killed worker leaves is an attempt without an end, or a reply that nobody read: the first is
asked again, the second is read and not bought again.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import OperationalError, connection, transaction
from django.db.models import Case, Count, Min, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from arena.broken_off import done_again
from arena.compiled import Compiled, CompiledUpdate
from arena.endpoints import limits
from arena.endpoints.client import CallFailure, EndpointConfig, Reply, ask
from arena.endpoints.key_use import endpoint_key
from arena.endpoints.leases import LEASE, keep_lease
from arena.endpoints.limits import LOST, WITHDRAWN
from arena.endpoints.models import Call, CallAttempt, Endpoint
from arena.endpoints.transport import Limits
from arena.endpoints.turns import turn_to_write

# A call that takes its worker down with it must not do so for ever.
MOST_ATTEMPTS = 20
RECORDING_TRIES = 5
# So many failures in a row, whichever the calls, and the endpoint rests.
CIRCUIT_FAILURES = 10
CIRCUIT_REST = timedelta(seconds=60)
CIRCUIT_MEMORY = timedelta(hours=1)
_CONNECT_SECONDS = 10.0
# Of a call's columns, what claiming it takes.
_CLAIMED_BY = ("key", "state", "lease_token", "attempt_count", "reserved_usd", "endpoint")
# Of a call that nobody holds any more.
_HANDED_BACK = {"lease_token": "", "lease_until": None, "reserved_usd": Decimal(0)}
# Failures before which the server may have done its work, and will charge for it.
_MAYBE_CHARGED = frozenset({"timeout", "connection", "too_large", "not_json", "malformed", "undecodable"})


@dataclass(frozen=True)
class Prepared:
    """What a claimed call will send, and the most it may cost; `about` is the asker's own, to read it by."""

    payload: Mapping[str, Any]
    config: EndpointConfig
    reserve_usd: Decimal
    about: Any = field(default=None, repr=False)


@dataclass(frozen=True)
class Later:
    """Nothing to do now; worth another look after so many seconds."""

    seconds: float


class Ended:
    """The call came to its end without being sent; there may be others."""


@dataclass(frozen=True)
class Claim:
    call_id: int
    endpoint: Endpoint
    token: str
    attempt: CallAttempt = field(repr=False)
    prepared: Prepared | None = field(repr=False)

    @property
    def attempt_id(self) -> int:
        return self.attempt.pk

    @property
    def has_saved_reply(self) -> bool:
        return self.prepared is None


_log = logging.getLogger(__name__)

# Called in the claiming transaction before the call is taken; it may end the call instead, or put it off.
Prepare = Callable[[Call], Prepared | Later | Ended]


def endpoint_config(endpoint: Endpoint, parameters: Mapping[str, Any] | None = None) -> EndpointConfig:
    """Raises KeyMissingError when the endpoint's key can't be had, ValueError for parameters that clash."""
    seconds = float(endpoint.timeout_seconds)
    return EndpointConfig(
        base_url=endpoint.base_url,
        model=endpoint.model_id,
        api_key=endpoint_key(endpoint),
        parameters=accepted_parameters(endpoint, {**endpoint.parameters, **(parameters or {})}),
        structured_mode=endpoint.structured_mode,  # type: ignore[arg-type]
        max_tokens=endpoint.max_tokens,
        max_tokens_field=endpoint.max_tokens_field,  # type: ignore[arg-type]
        # Without streaming the first byte comes when the server is done, so both limits are one.
        limits=Limits(connect=min(_CONNECT_SECONDS, seconds), read=seconds, total=seconds),
        allowed_hosts=tuple(settings.ENDPOINT_ALLOWED_HOSTS),
    )


def accepted_parameters(endpoint: Endpoint, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if name not in endpoint.refused_parameters}


def next_due(endpoint: Endpoint, eligible: Q, now: datetime) -> Call | None:
    """Begun calls first: what they teach about the endpoint (a parameter it refuses) spares the others.

    With `held`, how many of the endpoint's calls are on their way, and `last_number`, its latest attempt's.
    """
    found = _begun(eligible, endpoint=endpoint.pk, now=now) or _planned(
        eligible, endpoint=endpoint.pk, now=now
    )
    return found[0] if found else None


def _due(eligible: Q, due: Q, endpoint: int, now: datetime) -> QuerySet[Call]:
    counted = limits.held_calls(endpoint, now).values("endpoint").annotate(n=Count("pk")).values("n")
    latest = CallAttempt.objects.filter(call=OuterRef("pk")).order_by("-number").values("number")
    # The model names both.
    added = {"held": Coalesce(Subquery(counted), 0), "last_number": Coalesce(Subquery(latest[:1]), 0)}
    calls = limits.open_calls(endpoint).filter(due, eligible).only(*_CLAIMED_BY).annotate(**added)
    return calls.order_by("next_try_at", "pk")[:1]


@Compiled
def _begun(eligible: Q, endpoint: int, now: datetime) -> QuerySet[Call]:
    waiting = Q(state=Call.State.RETRY_WAIT, next_try_at__lte=now)
    abandoned = Q(state=Call.State.CLAIMED, lease_until__lte=now)
    return _due(eligible, waiting | abandoned, endpoint, now)


@Compiled
def _planned(eligible: Q, endpoint: int, now: datetime) -> QuerySet[Call]:
    return _due(eligible, Q(state=Call.State.PLANNED), endpoint, now)


@Compiled
def _endpoint_held_back(endpoint: int) -> QuerySet[Endpoint]:
    return Endpoint.objects.select_for_update().filter(pk=endpoint)


@done_again
def claim(
    endpoint_id: int, eligible: Q, prepare: Prepare, now: datetime | None = None
) -> Claim | Later | Ended | None:
    """Take the next due call of this endpoint within its limits; None when there is none to come.

    `eligible` says which calls are the caller's to take (those of running runs, say).
    """
    now = now or timezone.now()
    with transaction.atomic():
        # Held until commit, so that claims of one endpoint come one after another and the limits are exact.
        (endpoint,) = _endpoint_held_back(endpoint=endpoint_id)
        call = next_due(endpoint, eligible, now)
        if call is None:
            return _next_look(endpoint, eligible, now)
        wait = limits.wait_for_slot(endpoint, call.held, now)
        if wait is not None:
            return Later(wait)
        call.endpoint = endpoint
        return _take(call, prepare, now)


def _next_look(endpoint: Endpoint, eligible: Q, now: datetime) -> Later | None:
    calls = limits.open_calls(endpoint.pk).filter(eligible)
    look_at = Case(When(state=Call.State.CLAIMED, then="lease_until"), default="next_try_at")
    soonest = calls.aggregate(soonest=Min(look_at))["soonest"]
    return Later(max(0.0, (soonest - now).total_seconds())) if soonest else None


def _take(call: Call, prepare: Prepare, now: datetime) -> Claim | Later | Ended:
    abandoned = call.attempts.order_by("-number").first() if call.state == Call.State.CLAIMED else None
    if abandoned and is_unread(abandoned):
        return _lease(call, abandoned, None, now)
    if abandoned and abandoned.finished_at is None:
        _write_off(abandoned, call)
    prepared = prepare(call)
    if not isinstance(prepared, Prepared):
        return prepared
    return _lease(call, None, prepared, now)


def is_unread(attempt: CallAttempt) -> bool:
    return attempt.finished_at is not None and not attempt.error_kind


def _lease(call: Call, saved: CallAttempt | None, prepared: Prepared | None, now: datetime) -> Claim | Ended:
    """With `prepared` the next attempt begins; with `saved` its reply waits to be read."""
    token = secrets.token_hex(16)
    columns = {
        "state": Call.State.CLAIMED,
        "lease_token": token,
        "lease_until": now + LEASE,
        "attempt_count": call.attempt_count + (prepared is not None),
        "reserved_usd": prepared.reserve_usd if prepared else call.reserved_usd,
    }
    if not _write_call(columns, call=call.pk, state=call.state, token=call.lease_token):
        return Ended()  # cancelled in this moment
    if saved:
        return Claim(call.pk, call.endpoint, token, saved, None)
    assert prepared  # noqa: S101
    attempt = CallAttempt.objects.create(
        call=call, number=call.last_number + 1, request=dict(prepared.payload), started_at=now
    )
    return Claim(call.pk, call.endpoint, token, attempt, prepared)


@CompiledUpdate
def _write_call(call: int, state: str, token: str) -> QuerySet[Call]:
    """Whoever holds no such token any more changes nothing."""
    return Call.objects.filter(pk=call, state=state, lease_token=token)


def end(call: Call, state: str) -> bool:
    """End a call that waits, without sending it."""
    columns = {"state": state, **_HANDED_BACK, "finished_at": timezone.now()}
    return bool(_write_call(columns, call=call.pk, state=call.state, token=call.lease_token))


def _write_off(attempt: CallAttempt, call: Call) -> None:
    unended = CallAttempt.objects.filter(pk=attempt.pk, finished_at=None)
    unended.update(cost_usd=call.reserved_usd)
    unended.filter(error_kind="").update(error_kind=LOST, error_text="the worker that asked was killed")


def send(claim: Claim) -> Reply | CallFailure:
    """Ask, and store what came back before anything is made of it. Never inside a transaction."""
    if claim.prepared is None:
        raise ValueError(f"call {claim.call_id} has a reply already: read it")
    with keep_lease(claim.token):
        result = ask(claim.prepared.config, claim.prepared.payload)
        is_kept = _record_surely(claim, result)
    return result if is_kept else CallFailure("redacted", False, "a text of it was redacted meanwhile")


def _record_surely(claim: Claim, result: Reply | CallFailure) -> bool:
    """A reply that was paid for isn't given up because the database is busy; the lease is held meanwhile."""
    for _ in range(RECORDING_TRIES - 1):
        try:
            return record(claim, result)
        except OperationalError:
            _log.warning("the attempt of call %s could not be stored; another try", claim.call_id)
            connection.close_if_unusable_or_obsolete()
    return record(claim, result)


def record(claim: Claim, result: Reply | CallFailure) -> bool:
    """A worker that was written off stores what it bought too; its attempt stays lost: nobody reads it.

    False where a text that was asked about is gone: what came back may quote it, so only the bill is kept.
    """
    bill: dict[str, Any] = {"finished_at": timezone.now(), "latency_ms": result.latency_ms}
    bill |= {"http_status": result.status, "cost_usd": _cost(claim, result)}
    columns = bill | {"raw_reply": result.raw}
    if isinstance(result, Reply):
        columns |= {
            "reply_text": result.text,
            "finish_reason": result.finish_reason[:40],
            "tokens_in": result.tokens_in,
            "tokens_out": result.tokens_out,
            "answering_model": result.answering_model[:200],
            "system_fingerprint": result.system_fingerprint[:120],
        }
    found = columns
    if isinstance(result, CallFailure):
        found = columns | {"error_kind": result.kind, "error_text": result.message}
    for name, value in found.items():
        setattr(claim.attempt, name, value)
    with turn_to_write():
        return (
            _write_attempt(found, attempt=claim.attempt_id, before="") > 0
            or _write_attempt(columns, attempt=claim.attempt_id, before=LOST) > 0
            or not _write_attempt(bill, attempt=claim.attempt_id, before=WITHDRAWN)
        )


@CompiledUpdate
def _write_attempt(attempt: int, before: str) -> QuerySet[CallAttempt]:
    """An attempt without an end: on its way, or written off."""
    return CallAttempt.objects.filter(pk=attempt, finished_at=None, error_kind=before)


def _cost(claim: Claim, result: Reply | CallFailure) -> Decimal:
    """What the server counted; where it may have charged and told nothing, what was reserved."""
    assert claim.prepared  # noqa: S101
    if isinstance(result, CallFailure):
        return claim.prepared.reserve_usd if result.kind in _MAYBE_CHARGED else Decimal(0)
    if result.tokens_in is None or result.tokens_out is None:
        return claim.prepared.reserve_usd
    return limits.cost(claim.endpoint, result.tokens_in, result.tokens_out)


def settle(claim: Claim, state: str, next_try_at: datetime | None = None) -> bool:
    """Hand the call back in this state; False when the lease was lost, and with it the right to decide."""
    finished = None if state in Call.OPEN else timezone.now()
    columns = {"state": state, **_HANDED_BACK, "next_try_at": next_try_at, "finished_at": finished}
    return bool(_write_call(columns, call=claim.call_id, state=Call.State.CLAIMED, token=claim.token))


def rest_after(claim: Claim, failure: CallFailure, wait: float, rest: bool) -> None:
    """Rest the endpoint when the server asked for it, or when nothing but failures comes from it."""
    now = timezone.now()
    if failure.kind == "rate_limited":
        limits.slow_down(claim.endpoint, claim.attempt.started_at)
    if rest or (failure.kind == "rate_limited" and failure.retry_after):
        limits.pause(claim.endpoint, now + timedelta(seconds=wait), "the server asked for it")
    elif failure.retryable and _only_failures(claim.endpoint, now):
        reason = f"the latest {CIRCUIT_FAILURES} requests failed; the last: {failure.message}"
        limits.pause(claim.endpoint, now + CIRCUIT_REST, reason)


def _only_failures(endpoint: Endpoint, now: datetime) -> bool:
    recent = CallAttempt.objects.filter(call__endpoint=endpoint, started_at__gt=now - CIRCUIT_MEMORY)
    latest = recent.exclude(finished_at=None).order_by("-started_at", "-pk")
    kinds = list(latest.values_list("error_kind", flat=True)[:CIRCUIT_FAILURES])
    return len(kinds) == CIRCUIT_FAILURES and all(kinds)
