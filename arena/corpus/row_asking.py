"""Calls that each have a row in this room, of a response or of labels: how they and their runs end."""

from __future__ import annotations

from typing import Generic, TypeVar

from django.db import models, transaction
from django.utils import timezone

from arena.broken_off import done_again
from arena.endpoints import ledger
from arena.endpoints.models import Call
from arena.endpoints.run_asking import FAILURE_LENGTH, RunAsker
from arena.endpoints.runs import Run

Row = TypeVar("Row", bound=models.Model)
R = TypeVar("R", bound=Run)


class RowAsker(RunAsker[Row, R], Generic[Row, R]):
    """needless: what stands as a row's failure where nothing failed, so that it isn't asked again."""

    def __init__(
        self, rows: type[Row], runs: type[R], *, run_of_row: str, needless: tuple[str, ...] = ()
    ) -> None:
        self.rows, self.runs = rows._default_manager, runs._default_manager
        self.run_of_row, self.needless = run_of_row, needless

    def run_of(self, call_id: int) -> R:
        return self.runs.get(pk__in=self.rows.filter(call=call_id).values(self.run_of_row))

    def rows_of(self, run: R) -> models.QuerySet[Row]:
        return self.rows.filter(**{self.run_of_row: run})

    def close(self, claim: ledger.Claim, state: str, failure: str) -> None:
        with transaction.atomic():
            if not ledger.settle(claim, state):
                return
            self.rows.filter(call=claim.call_id).update(failure=failure[:FAILURE_LENGTH])
        self.finish(self.run_of(claim.call_id))

    def end_unsent(self, row: Row, call: Call, state: str, failure: str) -> None:
        if ledger.end(call, state):
            self.rows.filter(pk=row.pk).update(failure=failure[:FAILURE_LENGTH])

    def end_waiting(self, run: R, state: str, abandoned: bool = False) -> None:
        for chunk in run.end_waiting(state, abandoned):
            self.rows.filter(call__in=chunk).update(failure=state)

    def finish(self, run: R) -> bool:
        """A run is complete when no call is open; with a failed one it is complete with failures."""
        if run.calls().filter(state__in=Call.OPEN).exists():
            return False
        failed = self.rows_of(run).exclude(failure__in=("", *self.needless))
        return run.complete(with_failures=failed.exists())

    def tidy(self) -> None:
        for run in self.runs.filter(status__in=Run.OPEN):
            self.finish(run)
        dead = Call.objects.filter(state=Call.State.CLAIMED, lease_until__lte=timezone.now())
        holding = self.rows.filter(call__in=dead).values(self.run_of_row)
        for run in self.runs.filter(status=Run.Status.CANCELLED, pk__in=holding):
            self.end_waiting(run, Call.State.CANCELLED, abandoned=True)

    @done_again
    def cancel(self, run: R) -> bool:
        """No new call goes out; what was answered so far stays."""
        with transaction.atomic():
            if not run.cancel():
                return False
            self.end_waiting(run, Call.State.CANCELLED)
        return True

    @done_again
    def retry_failed(self, run: R) -> int:
        """Plan the failed calls of a run anew; how many."""
        with transaction.atomic():
            if not run.take_up_again():
                return 0
            wanted = self.rows_of(run).exclude(failure__in=self.needless).values("call")
            chunks = run.plan_again(Call.objects.filter(state__in=Call.FAILED, pk__in=wanted))
            for chunk in chunks:
                self.rows.filter(call__in=chunk).update(failure="")
        return sum(map(len, chunks))
