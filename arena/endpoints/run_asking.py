"""Whether a call of a run goes out, and how it is handed back: the same for every room that has runs."""

from __future__ import annotations

from abc import abstractmethod
from datetime import datetime
from typing import Generic, TypeVar

from arena.endpoints import budget, ledger
from arena.endpoints.asking import Asker
from arena.endpoints.keys import KeyMissingError
from arena.endpoints.models import Call
from arena.endpoints.runs import Run

# Of a failure as it's stored with what the call is about.
FAILURE_LENGTH = 40

Row = TypeVar("Row")
R = TypeVar("R", bound=Run)


class NotSentError(Exception):
    """The call ends in this state without being sent; `failure` says why."""

    def __init__(self, state: str, failure: str) -> None:
        super().__init__(state, failure)
        self.state, self.failure = state, failure


class RunAsker(Asker, Generic[Row, R]):
    """`Row` says what a call is about, and in the end what became of it."""

    @abstractmethod
    def take(self, call: Call) -> tuple[Row, R]:
        """Within a transaction: until its end nobody else cancels the run or spends of its budget."""

    @abstractmethod
    def check(self, row: Row, call: Call) -> None:
        """Raises NotSentError where it may not or need not go out."""

    @abstractmethod
    def prepared(self, row: Row, call: Call) -> ledger.Prepared:
        """Raises NotSentError, KeyMissingError, and ValueError for what no server would take."""

    @abstractmethod
    def end_unsent(self, row: Row, call: Call, state: str, failure: str) -> None:
        """Within a transaction."""

    @abstractmethod
    def end_waiting(self, run: R, state: str, abandoned: bool = False) -> None:
        """End the run's calls that wait, `abandoned` ones too, with what hangs on them."""

    @abstractmethod
    def run_of(self, call_id: int) -> R:
        """The call's run."""

    def prepare(self, call: Call) -> ledger.Prepared | ledger.Later | ledger.Ended:
        row, run = self.take(call)
        if run.status == Run.Status.QUEUED:
            run.begin()
        try:
            self.check(row, call)
            if call.attempt_count >= ledger.MOST_ATTEMPTS:
                raise NotSentError(Call.State.GAVE_UP, "too_many_attempts")
            prepared = self.prepared(row, call)
        except NotSentError as why:
            self.end_unsent(row, call, why.state, why.failure)
            return ledger.Ended()
        except KeyMissingError as error:
            run.pause(str(error))
            return ledger.Ended()
        except ValueError as error:
            self.end_unsent(row, call, Call.State.BAD_REQUEST, f"bad_request: {error}")
            return ledger.Ended()
        found = budget.look(run, call, prepared.reserve_usd)
        if isinstance(found, budget.UsedUp):
            self.stop_for_budget(run, found.reason)
            return ledger.Ended()
        return found or prepared

    def stop_for_budget(self, run: R, reason: str) -> None:
        """Within a transaction that holds the run's row. What is on its way is still read."""
        type(run)._default_manager.filter(pk=run.pk).update(status_reason=f"budget: {reason}"[:200])
        self.end_waiting(run, Call.State.BUDGET_STOPPED)

    def reopen(self, claim: ledger.Claim, at: datetime) -> None:
        """In a cancelled run it is cancelled instead."""
        if self.run_of(claim.call_id).status == Run.Status.CANCELLED:
            self.close(claim, Call.State.CANCELLED, Call.State.CANCELLED)
        else:
            ledger.settle(claim, Call.State.RETRY_WAIT, at)

    def pause(self, claim: ledger.Claim, reason: str) -> None:
        self.run_of(claim.call_id).pause(reason)
