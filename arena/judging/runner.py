"""Judge calls, one at a time: what becomes of a reply, and of a call that came to nothing.

`do_one` is the whole of it; the tasks only call it in a loop. Every step leaves rows from which any worker
can go on, so a worker may be killed at any point.
"""

from __future__ import annotations

from django.db.models import Q
from django.utils import timezone

from arena.endpoints import asking as calls
from arena.endpoints import ledger
from arena.endpoints.history import history_of, remember_mode, remember_model
from arena.endpoints.models import Call
from arena.endpoints.run_asking import RunAsker
from arena.judging import asking, ending
from arena.judging.asking import read_attempt
from arena.judging.errands import Errand, errand_of, errand_with_run_held_back
from arena.judging.models import JudgeRun
from arena.judging.verdict import VerdictFailure


class JudgeAsker(RunAsker[Errand, JudgeRun]):
    """Both orders of battles, or probes: one asker would have to look through every call for its own."""

    def __init__(self, eligible: Q) -> None:
        self.eligible = eligible

    def take(self, call: Call) -> tuple[Errand, JudgeRun]:
        errand = errand_with_run_held_back(call.pk)
        return errand, errand.run

    def check(self, row: Errand, call: Call) -> None:
        asking.check(row, call)

    def prepared(self, row: Errand, call: Call) -> ledger.Prepared:
        return asking.prepared(row, call)

    def end_unsent(self, row: Errand, call: Call, state: str, failure: str) -> None:
        ending.end_unsent(row, call, state, failure)

    def end_waiting(self, run: JudgeRun, state: str, abandoned: bool = False) -> None:
        ending.end_waiting(run, state, abandoned)

    def run_of(self, call_id: int) -> JudgeRun:
        return ending.run_of(call_id)

    def read(self, claim: ledger.Claim) -> None:
        """A verdict ends the call; what can't be read is asked for once more."""
        attempt = claim.attempt
        errand = claim.prepared.about if claim.prepared else errand_of(claim.call_id)
        rubric = errand.rubric
        found = read_attempt(attempt, rubric)
        remember_model(claim.endpoint, attempt)
        remember_mode(claim.endpoint, attempt)
        if not isinstance(found, VerdictFailure):
            ending.close(claim, Call.State.PARSED, found=found)
            return
        replies = history_of(Call.objects.get(pk=claim.call_id)).replies
        earlier = (read_attempt(reply, rubric) for reply in replies if reply.number < attempt.number)
        asked_again = any(isinstance(reply, VerdictFailure) and reply.kind == found.kind for reply in earlier)
        if found.kind == "refused" or asked_again:
            self.close(claim, found.kind, ending.failure_of(found))
        else:
            self.reopen(claim, timezone.now())

    def close(self, claim: ledger.Claim, state: str, failure: str) -> None:
        ending.close(claim, state, failure=failure)

    def tidy(self) -> None:
        finish_runs()
        cancelled = JudgeRun.objects.filter(status=JudgeRun.Status.CANCELLED)
        silent = cancelled.filter(judgments__outcome="") | cancelled.filter(probes__call__state__in=Call.OPEN)
        for run in silent.distinct():
            self.end_waiting(run, Call.State.CANCELLED, abandoned=True)


OF_BATTLES = JudgeAsker(Q(judge_call__judgment__run__status__in=JudgeRun.GOING))
PROBES = JudgeAsker(Q(probe__run__status__in=JudgeRun.GOING))
ASKERS = (OF_BATTLES, PROBES)


def do_one(endpoint_id: int) -> calls.Outcome:
    """Take one due judge call of this endpoint to its next state. A Claim says that there may be more."""
    return calls.do_one(endpoint_id, ASKERS)[0]


def finish_runs() -> None:
    for run_id in JudgeRun.objects.filter(status__in=JudgeRun.OPEN).values_list("pk", flat=True):
        ending.finish(run_id)
