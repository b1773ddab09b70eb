"""One call of a judge run at a time: claim, ask, store, read, resolve.

`do_one` is the whole of it; the tasks only call it in a loop. Every step leaves rows from which any worker
can go on, so a worker may be killed at any point.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from datetime import timedelta
from random import Random

from django.db.models import Q
from django.utils import timezone

from arena.endpoints import ledger
from arena.endpoints.backoff import Retry, next_step
from arena.endpoints.client import CallFailure, MaxTokensField
from arena.endpoints.models import Call, CallAttempt, Endpoint
from arena.judging import ending
from arena.judging.asking import (
    History,
    can_be_humbler,
    history_of,
    mode_of,
    prepare,
    read_attempt,
    rubric_text,
)
from arena.judging.models import JudgeCall, JudgeRun
from arena.judging.verdict import Verdict, VerdictFailure

GOING = (JudgeRun.Status.QUEUED, JudgeRun.Status.RUNNING)
ELIGIBLE = Q(judge_call__judgment__run__status__in=GOING)

# Every other call would fail the same way: the run waits for its admin, and no money is lost.
_PAUSING = frozenset({"auth", "quota", "host_refused", "not_found", "redirected"})
_CLOSING = {"refused": Call.State.REFUSED, "context_overflow": Call.State.CONTEXT_OVERFLOW}
_OTHER_FIELD: dict[str, MaxTokensField] = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}
_MODE_RANK = {"json_schema": 2, "json_object": 1, "prompt": 0}

_random: Random = secrets.SystemRandom()

Outcome = ledger.Claim | ledger.Later | ledger.Ended | None


def do_one(endpoint_id: int) -> Outcome:
    """Take one due call of this endpoint to its next state. A Claim says that there may be more."""
    found = ledger.claim(endpoint_id, ELIGIBLE, prepare)
    if isinstance(found, ledger.Ended):
        finish_runs()
    if not isinstance(found, ledger.Claim):
        return found
    result = None if found.has_saved_reply else ledger.send(found)
    if isinstance(result, CallFailure):
        handle_failure(found, result)
    else:
        handle_reply(found)
    return found


def handle_reply(claim: ledger.Claim) -> None:
    """Read the stored reply: a verdict ends the call; what can't be read is asked for once more."""
    attempt = CallAttempt.objects.get(pk=claim.attempt_id)
    judge_call = JudgeCall.objects.with_all().get(call_id=claim.call_id)
    rubric = rubric_text(judge_call.judgment.judge.rubric)  # type: ignore[arg-type]
    found = read_attempt(attempt, rubric)
    _remember(claim.endpoint, attempt)
    if isinstance(found, Verdict):
        ending.close(claim, Call.State.PARSED, verdict=found)
        return
    earlier = (
        read_attempt(reply, rubric) for reply in _history(claim).replies if reply.number < attempt.number
    )
    asked_again = any(isinstance(reply, VerdictFailure) and reply.kind == found.kind for reply in earlier)
    if found.kind == "refused" or asked_again:
        ending.close(claim, found.kind, failure=ending.failure_of(found))
    else:
        ending.reopen(claim, timezone.now())


def handle_failure(claim: ledger.Claim, failure: CallFailure) -> None:
    request = CallAttempt.objects.values_list("request", flat=True).get(pk=claim.attempt_id)
    if failure.kind in _PAUSING:
        _pause(claim, failure)
    elif failure.kind in _CLOSING:
        ending.close(claim, _CLOSING[failure.kind], failure=failure.kind)
    elif failure.kind == "unsupported_parameter" and failure.parameter in _OTHER_FIELD:
        _use_other_field(claim, failure.parameter)
    elif failure.kind == "unsupported_parameter" and failure.parameter != "response_format":
        _pause(claim, failure)
    elif failure.kind in ("unsupported_parameter", "bad_request"):
        _try_humbler(claim, failure, can_be_humbler(request))
    else:
        _try_later(claim, failure)


def _try_humbler(claim: ledger.Claim, failure: CallFailure, possible: bool) -> None:
    if possible and failure.status in (400, 422):
        ending.reopen(claim, timezone.now())
    else:
        ending.close(claim, Call.State.BAD_REQUEST, failure=failure.kind)


def _try_later(claim: ledger.Claim, failure: CallFailure) -> None:
    failures = max(1, _history(claim).failures)
    step = next_step(failures, failure.retryable, failure.retry_after, _random)
    if isinstance(step, Retry):
        ledger.rest_after(claim, failure, step.wait, step.pause)
        ending.reopen(claim, timezone.now() + timedelta(seconds=step.wait))
    else:
        ending.close(claim, Call.State.GAVE_UP, failure=failure.kind)


def _pause(claim: ledger.Claim, failure: CallFailure) -> None:
    """The call itself goes back and is asked again when the run is resumed."""
    JudgeRun.objects.get(judgments__judge_calls__call=claim.call_id).pause(failure.message)
    ending.reopen(claim, timezone.now())


def _use_other_field(claim: ledger.Claim, refused: str) -> None:
    Endpoint.objects.filter(pk=claim.endpoint.pk, max_tokens_field=refused).update(
        max_tokens_field=_OTHER_FIELD[refused]
    )
    ending.reopen(claim, timezone.now())


def _history(claim: ledger.Claim) -> History:
    return history_of(Call.objects.get(pk=claim.call_id))


def _remember(endpoint: Endpoint, attempt: CallAttempt) -> None:
    """What the endpoint turned out to be: its model's own name, and the structured mode that it takes."""
    learnt = {}
    if attempt.answering_model and attempt.answering_model != endpoint.answering_model:
        learnt["answering_model"] = attempt.answering_model
    mode = mode_of(attempt.request)
    if _MODE_RANK[mode] < _MODE_RANK[endpoint.structured_mode]:
        learnt["structured_mode"] = mode
    if learnt:
        Endpoint.objects.filter(pk=endpoint.pk).update(**learnt)


def sweep() -> set[int]:
    """What lost messages and killed workers left behind: finish runs; the endpoints that have calls due."""
    finish_runs()
    for run in JudgeRun.objects.filter(status=JudgeRun.Status.CANCELLED, judgments__outcome="").distinct():
        ending.end_waiting(run, Call.State.CANCELLED, abandoned=True)
    return endpoints_with_due_calls()


def finish_runs() -> None:
    for run_id in JudgeRun.objects.filter(status__in=JudgeRun.OPEN).values_list("pk", flat=True):
        ending.finish(run_id)


def endpoints_with_due_calls(runs: Iterable[JudgeRun] | None = None) -> set[int]:
    open_calls = Call.objects.filter(ELIGIBLE, state__in=Call.OPEN)
    if runs is not None:
        open_calls = open_calls.filter(judge_call__judgment__run__in=runs)
    endpoints = Endpoint.objects.filter(pk__in=open_calls.values("endpoint"))
    now = timezone.now()
    return {endpoint.pk for endpoint in endpoints if ledger.next_due(endpoint, ELIGIBLE, now)}
