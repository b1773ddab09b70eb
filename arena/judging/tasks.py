"""Judging in the background. The queue may lose or repeat a message: the calls' rows are the truth."""

from __future__ import annotations

import threading
import time
from collections import Counter

from django.db import transaction
from huey import crontab
from huey.contrib.djhuey import HUEY, db_periodic_task, db_task, on_startup

from arena.endpoints.leases import LEASE
from arena.endpoints.ledger import Claim, Ended
from arena.endpoints.models import Endpoint
from arena.judging.models import JudgeRun
from arena.judging.runner import do_one, endpoints_with_due_calls, sweep

# A worker goes back to the queue after so long: others get their turn, and a consumer told to stop can stop.
TURN_SECONDS = 5.0
# A wait this short is slept through; a longer one gives the worker back.
SHORT_WAIT = 2.0
# The minute's sweep comes before any longer wait is over.
LONGEST_WAKE = 60.0


class _Desk:
    """Which workers of this process serve an endpoint or are called to: keeps messages as few as seats."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._serving: Counter[int] = Counter()
        self._called: Counter[int] = Counter()
        self._wakes: dict[int, float] = {}

    def call(self, endpoint_id: int, seats: int) -> bool:
        with self._lock:
            if self._serving[endpoint_id] + self._called[endpoint_id] >= seats:
                return False
            self._called[endpoint_id] += 1
            return True

    def arrive(self, endpoint_id: int, seats: int) -> bool:
        with self._lock:
            self._called[endpoint_id] = max(0, self._called[endpoint_id] - 1)
            if self._serving[endpoint_id] >= seats:
                return False
            self._serving[endpoint_id] += 1
            return True

    def leave(self, endpoint_id: int) -> None:
        with self._lock:
            self._serving[endpoint_id] -= 1

    def should_wake(self, endpoint_id: int, at: float) -> bool:
        """False when somebody is called at that time or before."""
        with self._lock:
            planned = self._wakes.get(endpoint_id)
            if planned is not None and time.monotonic() <= planned <= at:
                return False
            self._wakes[endpoint_id] = at
            return True


_desk = _Desk()
_started = threading.Event()


@db_task()
def work(endpoint_id: int) -> None:
    """Serve an endpoint for a turn."""
    endpoint = Endpoint.objects.filter(pk=endpoint_id).first()
    if endpoint is None or not _desk.arrive(endpoint_id, endpoint.concurrency):
        return
    try:
        wait = serve(endpoint, time.monotonic() + TURN_SECONDS)
    finally:
        _desk.leave(endpoint_id)
    if wait == 0:
        call_worker(endpoint)
    elif wait is not None:
        wake(endpoint_id, wait)


def serve(endpoint: Endpoint, until: float) -> float | None:
    """Calls one after another until `until`; seconds after which to come back, None when nothing is left.

    The first call found is a sign that there are more: a colleague is called.
    """
    alone = not HUEY.immediate
    while time.monotonic() < until:
        found = do_one(endpoint.pk)
        if found is None:
            return None
        if isinstance(found, Claim | Ended):
            if alone:
                call_worker(endpoint)
            alone = False
        elif found.seconds <= SHORT_WAIT and not HUEY.immediate:
            time.sleep(found.seconds)
        else:
            return max(found.seconds, SHORT_WAIT)
    return 0.0


def call_worker(endpoint: Endpoint) -> None:
    if _desk.call(endpoint.pk, endpoint.concurrency):
        work(endpoint.pk)


def wake(endpoint_id: int, seconds: float) -> None:
    seconds = min(seconds, LONGEST_WAKE)
    if _desk.should_wake(endpoint_id, time.monotonic() + seconds):
        work.schedule(args=(endpoint_id,), delay=seconds)


def enqueue(run: JudgeRun) -> None:
    """Once the transaction around it is committed."""
    transaction.on_commit(lambda: _call_workers(endpoints_with_due_calls([run])))


@db_periodic_task(crontab(minute="*"))
def sweep_runs() -> None:
    """Takes up what a lost message or a killed worker left behind."""
    _call_workers(sweep())


@on_startup()
def sweep_at_start() -> None:
    """Leases of the consumer that was killed run out half a minute later."""
    # Each worker of the consumer starts; one of them is enough.
    if not _started.is_set():
        _started.set()
        sweep_runs()
        sweep_runs.schedule(delay=LEASE.total_seconds() + 1)


def _call_workers(endpoint_ids: set[int]) -> None:
    for endpoint_id in endpoint_ids:
        work(endpoint_id)
