"""What commands share that start a run over a prompt set, and may work it off in their own process."""

from __future__ import annotations

import time
from typing import Any

from django.core.management.base import CommandError

from arena.corpus.models import PromptSet
from arena.endpoints.asking import do_one
from arena.endpoints.ledger import Later
from arena.endpoints.runs import Run

MOST_SLEEP = 5.0  # seconds


def newest_set(name: str) -> PromptSet:
    found = PromptSet.objects.filter(name=name).order_by("-version").first()
    if found is None:
        known = ", ".join(sorted(set(PromptSet.objects.values_list("name", flat=True)))) or "none yet"
        raise CommandError(f"no prompt set {name!r}; there are: {known}")
    return found


def work_off(run: Any, asker: Any) -> None:
    """One call after another. A consumer that runs beside takes its share."""
    while run.is_open and run.status != Run.Status.PAUSED:
        waits = [_serve(endpoint, asker) for endpoint in run.endpoint_ids()]
        asker.tidy()
        run.refresh_from_db()
        if run.is_open:
            time.sleep(min(waits, default=0.0))


def check_ending(run: Run) -> None:
    if run.status != Run.Status.COMPLETED:
        raise CommandError(f"the run is {run.get_status_display()} {run.status_reason}".rstrip())


def _serve(endpoint_id: int, asker: Any) -> float:
    """Work until nothing is due; seconds until something may be."""
    while (found := do_one(endpoint_id, [asker])[0]) is not None:
        if isinstance(found, Later):
            return min(found.seconds, MOST_SLEEP)
    return 0.0
