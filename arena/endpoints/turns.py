"""One writer at a time in a process on SQLite, which has but one anyway.

Fifty threads that poll for its lock starve each other: some give up after the timeout, with a reply in hand
that was paid for. Here they queue up, and SQLite's lock is contended by processes alone.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

_turn = threading.RLock()


@contextmanager
def turn_to_write() -> Iterator[None]:
    """Around a transaction, never around a call."""
    if connection.vendor != "sqlite":
        yield
        return
    with _turn:
        yield
