"""A run's caps on calls and dollars: worst cost is reserved before sending, and settled by usage."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Sum

from arena.counted import counted
from arena.endpoints import ledger
from arena.endpoints.models import Call
from arena.endpoints.runs import Run

# Another look, when what is on its way may turn out cheaper than reserved.
_WAIT = 5.0


@dataclass(frozen=True)
class UsedUp:
    reason: str


def look(run: Run, call: Call, reserve_usd: Decimal) -> ledger.Later | UsedUp | None:
    """None when the call may be sent. The caller holds the run's row, so no two spend the same dollar."""
    if run.max_calls is None and run.budget_usd is None:
        return None
    attempts = run.attempts()
    if run.max_calls is not None and attempts.count() >= run.max_calls:
        return UsedUp(f"used up: {counted(run.max_calls, 'call')}")
    if run.budget_usd is None:
        return None
    spent = attempts.aggregate(sum=Sum("cost_usd"))["sum"] or Decimal(0)
    held = run.calls().filter(state=Call.State.CLAIMED).exclude(pk=call.pk)
    reserved = held.aggregate(sum=Sum("reserved_usd"))["sum"] or Decimal(0)
    if spent + reserved + reserve_usd <= run.budget_usd:
        return None
    return ledger.Later(_WAIT) if reserved else UsedUp(f"the next call could exceed ${run.budget_usd}")
