"""What commands share that start a run of calls, and may work it off in their own process."""

from __future__ import annotations

import re
import time
from argparse import ArgumentTypeError
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation

from django.core.management.base import CommandError

from arena.corpus.models import PromptSet
from arena.endpoints.asking import Asker, do_one
from arena.endpoints.ledger import Later
from arena.endpoints.runs import Run

MOST_SLEEP = 5.0  # seconds


def whole(low: int, high: int) -> Callable[[str], int]:
    """For an option that is a whole number within these bounds."""

    def read(text: str) -> int:
        if not re.fullmatch("-?[0-9]{1,19}", text) or not low <= int(text) <= high:
            raise ArgumentTypeError(f"{text[:40]!r} is no whole number from {low} to {high}")
        return int(text)

    return read


def dollars(text: str) -> Decimal:
    try:
        found = Decimal(text)
    except InvalidOperation:
        found = Decimal("NaN")
    if not (found.is_finite() and 0 <= found < 100_000_000):
        raise ArgumentTypeError(f"{text[:40]!r} is no amount in dollars, like 2.50")
    return found


def newest_set(name: str) -> PromptSet:
    found = PromptSet.objects.filter(name=name).order_by("-version").first()
    if found is None:
        known = ", ".join(sorted(set(PromptSet.objects.values_list("name", flat=True)))) or "none yet"
        raise CommandError(f"no prompt set {name!r}; there are: {known}")
    return found


def work_off(run: Run, askers: Sequence[Asker]) -> None:
    """One call after another. A consumer that runs beside takes its share."""
    while run.is_open and run.status != Run.Status.PAUSED:
        waits = [_serve(endpoint, askers) for endpoint in run.endpoint_ids()]
        for asker in askers:
            asker.tidy()
        run.refresh_from_db()
        if run.is_open:
            time.sleep(min(waits, default=0.0))


def check_ending(run: Run) -> None:
    if run.status != Run.Status.COMPLETED:
        raise CommandError(f"the run is {run.get_status_display()} {run.status_reason}".rstrip())


def _serve(endpoint_id: int, askers: Sequence[Asker]) -> float:
    """Work until nothing is due; seconds until something may be."""
    while (found := do_one(endpoint_id, askers)[0]) is not None:
        if isinstance(found, Later):
            return min(found.seconds, MOST_SLEEP)
    return 0.0
