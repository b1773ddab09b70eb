"""Calls in the background. The queue may lose or repeat a message: the calls' rows are the truth."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterable

from django.db import transaction
from django.utils import timezone
from huey import crontab
from huey.contrib.djhuey import HUEY, db_periodic_task, db_task, on_startup

from arena.endpoints import ledger
from arena.endpoints.asking import Asker, do_one
from arena.endpoints.desk import Desk
from arena.endpoints.leases import LEASE
from arena.endpoints.models import Call, Endpoint
from arena.endpoints.runs import Run

# A worker goes back to the queue after so long: others get their turn, and a consumer told to stop can stop.
TURN_SECONDS = 5.0
# A wait this short is slept through; a longer one gives the worker back.
SHORT_WAIT = 2.0
# The minute's sweep comes before any longer wait is over.
LONGEST_WAKE = 60.0

_desk = Desk()
_started = threading.Event()
_askers: list[Asker] = []
_turns = itertools.count()


def serve_calls_of(asker: Asker) -> None:
    """A room's tasks name its asker here, for the rooms below don't know the rooms above."""
    _askers.append(asker)


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
    askers = _in_turn()
    while time.monotonic() < until:
        found, asker = do_one(endpoint.pk, askers)
        if found is None:
            return None
        if not isinstance(found, ledger.Later):
            if alone:
                call_worker(endpoint)
            alone = False
            # Whoever had a call is asked first for the rest of the turn; the next turn begins with another.
            askers.sort(key=lambda other: other is not asker)
        elif found.seconds <= SHORT_WAIT and not HUEY.immediate:
            time.sleep(found.seconds)
        else:
            return max(found.seconds, SHORT_WAIT)
    return 0.0


def _in_turn() -> list[Asker]:
    """Every asker, each turn beginning with another, so that no kind of calls waits for all of another."""
    start = next(_turns) % max(1, len(_askers))
    return [*_askers[start:], *_askers[:start]]


def call_worker(endpoint: Endpoint) -> None:
    if _desk.call(endpoint.pk, endpoint.concurrency):
        work(endpoint.pk)


def wake(endpoint_id: int, seconds: float) -> None:
    seconds = min(seconds, LONGEST_WAKE)
    if _desk.should_wake(endpoint_id, time.monotonic() + seconds):
        work.schedule(args=(endpoint_id,), delay=seconds)


def enqueue(run: Run) -> None:
    """Once the transaction around it is committed."""
    transaction.on_commit(lambda: call_workers(run.endpoint_ids()))


def call_workers(endpoint_ids: Iterable[int]) -> None:
    for endpoint_id in endpoint_ids:
        work(endpoint_id)


@db_periodic_task(crontab(minute="*"))
def sweep_calls() -> None:
    """Takes up what a lost message or a killed worker left behind."""
    for asker in _askers:
        asker.tidy()
    call_workers(endpoints_with_due_calls(_askers))


@on_startup()
def sweep_at_start() -> None:
    """Leases of the consumer that was killed run out half a minute later."""
    # Each worker of the consumer starts; one of them is enough.
    if not _started.is_set():
        _started.set()
        sweep_calls()
        sweep_calls.schedule(delay=LEASE.total_seconds() + 1)


def endpoints_with_due_calls(askers: Iterable[Asker]) -> set[int]:
    now = timezone.now()
    due: set[int] = set()
    for asker in askers:
        open_calls = Call.objects.filter(asker.eligible, state__in=Call.OPEN)
        for endpoint in Endpoint.objects.filter(pk__in=open_calls.values("endpoint")).exclude(pk__in=due):
            if ledger.next_due(endpoint, asker.eligible, now):
                due.add(endpoint.pk)
    return due
