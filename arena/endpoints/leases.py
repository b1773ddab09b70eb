"""Leases on claimed calls, renewed by one thread a process while their workers wait for a server."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import close_old_connections, connection
from django.db.utils import DatabaseError
from django.utils import timezone

from arena.endpoints.models import Call

LEASE = timedelta(seconds=30)
HEARTBEAT_SECONDS = 10.0

_log = logging.getLogger(__name__)


class _Keeper:
    """The thread starts with the first lease and ends when none is left: an idle process has none."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tokens: set[str] = set()
        self._thread: threading.Thread | None = None

    def add(self, token: str) -> None:
        with self._lock:
            self._tokens.add(token)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="leases", daemon=True)
                self._thread.start()

    def drop(self, token: str) -> None:
        with self._lock:
            self._tokens.discard(token)

    def _run(self) -> None:
        pause = threading.Event()
        while True:
            pause.wait(HEARTBEAT_SECONDS)
            with self._lock:
                tokens = list(self._tokens)
                if not tokens:
                    self._thread = None
                    break
            self._renew(tokens)
        connection.close()

    def _renew(self, tokens: list[str]) -> None:
        close_old_connections()
        try:
            renew(tokens)
        except DatabaseError:
            # The next beat comes before the lease ends.
            _log.exception("leases could not be renewed")


_keeper = _Keeper()


def renew(tokens: list[str]) -> int:
    held = Call.objects.filter(state=Call.State.CLAIMED, lease_token__in=tokens)
    return held.update(lease_until=timezone.now() + LEASE)


@contextmanager
def keep_lease(token: str) -> Iterator[None]:
    _keeper.add(token)
    try:
        yield
    finally:
        _keeper.drop(token)
