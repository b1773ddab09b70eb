"""One call at a time, of whatever kind: claim, ask, store, read; or what follows a failure.

A room that has calls says by an `Asker` which are its own, what they send and what becomes of the replies.
Every step leaves rows from which any worker can go on, so a worker may be killed at any point.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterable
from datetime import datetime, timedelta
from random import Random

from django.db.models import Q
from django.utils import timezone

from arena.endpoints import ledger, limits
from arena.endpoints.backoff import Retry, next_step
from arena.endpoints.client import CallFailure, MaxTokensField
from arena.endpoints.history import History, can_be_humbler, history_of
from arena.endpoints.models import Call, Endpoint
from arena.endpoints.turns import turn_to_write

# Every other call would fail the same way: the run waits for its admin, and no money is lost.
_PAUSING = frozenset({"auth", "quota", "host_refused", "not_found", "redirected"})
_CLOSING = {
    "refused": Call.State.REFUSED,
    "context_overflow": Call.State.CONTEXT_OVERFLOW,
    ledger.WITHDRAWN: Call.State.CANCELLED,
}
_OTHER_FIELD: dict[str, MaxTokensField] = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}

_random: Random = secrets.SystemRandom()

Outcome = ledger.Claim | ledger.Later | ledger.Ended | None


class Asker(ABC):
    """One kind of calls. `eligible` says which may be taken now: those of its runs that aren't paused."""

    eligible: Q

    @abstractmethod
    def prepare(self, call: Call) -> ledger.Prepared | ledger.Later | ledger.Ended:
        """Within the claim: what is sent and may cost; or end the call, or put it off."""

    @abstractmethod
    def read(self, claim: ledger.Claim) -> None:
        """Make of the stored reply what it is, and end the call or ask once more."""

    @abstractmethod
    def close(self, claim: ledger.Claim, state: str, failure: str) -> None:
        """End a claimed call that came to nothing."""

    @abstractmethod
    def reopen(self, claim: ledger.Claim, at: datetime) -> None:
        """Hand a claimed call back to be tried again at that time, if its run wants it still."""

    @abstractmethod
    def pause(self, claim: ledger.Claim, reason: str) -> None:
        """Pause the call's run until an admin has seen to it."""

    @abstractmethod
    def tidy(self) -> None:
        """Finish the runs that have nothing left to do."""


def do_one(endpoint_id: int, askers: Iterable[Asker]) -> tuple[Outcome, Asker | None]:
    """Take one due call of this endpoint to its next state, and tell whose it was. After a Claim there may
    be more. Of several askers the first with a due call is served."""
    later: list[ledger.Later] = []
    for asker in askers:
        with turn_to_write():
            found = ledger.claim(endpoint_id, asker.eligible, asker.prepare)
        if isinstance(found, ledger.Claim):
            _carry_out(asker, found)
        elif isinstance(found, ledger.Ended):
            asker.tidy()
        else:
            later += [found] if found else []
            continue
        return found, asker
    return min(later, key=lambda look: look.seconds, default=None), None


def _carry_out(asker: Asker, claim: ledger.Claim) -> None:
    result = None if claim.has_saved_reply else ledger.send(claim)
    with turn_to_write():
        if isinstance(result, CallFailure):
            handle_failure(asker, claim, result)
        else:
            limits.speed_up(claim.endpoint, _random)
            asker.read(claim)


def handle_failure(asker: Asker, claim: ledger.Claim, failure: CallFailure) -> None:
    if failure.kind in _PAUSING:
        _pause(asker, claim, failure)
    elif failure.kind in _CLOSING:
        asker.close(claim, _CLOSING[failure.kind], failure.kind)
    elif failure.kind == "unsupported_parameter" and failure.parameter in _OTHER_FIELD:
        _use_other_field(asker, claim, failure)
    elif failure.kind == "unsupported_parameter" and failure.parameter != "response_format":
        _leave_out(asker, claim, failure.parameter)
    elif failure.kind in ("unsupported_parameter", "bad_request"):
        _try_humbler(asker, claim, failure)
    else:
        _try_later(asker, claim, failure)


def _pause(asker: Asker, claim: ledger.Claim, failure: CallFailure) -> None:
    """The call itself goes back and is asked again when the run is resumed."""
    asker.pause(claim, failure.message)
    asker.reopen(claim, timezone.now())


def _use_other_field(asker: Asker, claim: ledger.Claim, failure: CallFailure) -> None:
    refused, other = failure.parameter, _OTHER_FIELD[failure.parameter]
    if _history(claim).was_refused_with(other):
        _pause(asker, claim, failure)
        return
    Endpoint.objects.filter(pk=claim.endpoint.pk, max_tokens_field=refused).update(max_tokens_field=other)
    asker.reopen(claim, timezone.now())


def _leave_out(asker: Asker, claim: ledger.Claim, parameter: str) -> None:
    claim.endpoint.refuse(parameter)
    asker.reopen(claim, timezone.now())


def _try_humbler(asker: Asker, claim: ledger.Claim, failure: CallFailure) -> None:
    if can_be_humbler(claim.attempt.request) and failure.status in (400, 422):
        asker.reopen(claim, timezone.now())
    else:
        asker.close(claim, Call.State.BAD_REQUEST, failure.kind)


def _try_later(asker: Asker, claim: ledger.Claim, failure: CallFailure) -> None:
    failures = max(1, _history(claim).failures)
    step = next_step(failures, failure.retryable, failure.retry_after, _random)
    if isinstance(step, Retry):
        ledger.rest_after(claim, failure, step.wait, step.pause)
        asker.reopen(claim, timezone.now() + timedelta(seconds=step.wait))
    else:
        asker.close(claim, Call.State.GAVE_UP, failure.kind)


def _history(claim: ledger.Claim) -> History:
    return history_of(Call.objects.get(pk=claim.call_id))
