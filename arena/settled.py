"""What can't change behind a reader's back: rows up to a number, and what is stamped up to a time.

A row gets its number, and the time that it bears, before it can be seen. Whoever notes down both and reads at
once misses what was on its way, and finds it when the same is read again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.utils import timezone

PATIENCE, BREATH = 30.0, 0.2  # seconds

T = TypeVar("T")

# Those of this database, prepared for a second phase or not, and never the one that asks. The server counts
# the transactions of all its databases as one row of numbers: what another database writes is nothing to us.
_RUNNING = """
    WITH elsewhere AS (
        SELECT held.transactionid AS xid FROM pg_locks held JOIN pg_stat_activity USING (pid)
        WHERE held.locktype = 'transactionid' AND held.mode = 'ExclusiveLock' AND held.granted
          AND datname <> current_database()
        UNION ALL SELECT transaction FROM pg_prepared_xacts WHERE database <> current_database()
    )
    SELECT count(*) FROM pg_snapshot_xip(pg_current_snapshot()) AS running
    WHERE running < %s::text::xid8 AND NOT EXISTS (SELECT FROM elsewhere WHERE xid = running::xid)
"""
# Of the caller's own sessions the one that has been at it for longest.
_LONGEST = """
    SELECT pid, xact_start FROM pg_stat_activity
    WHERE backend_xid IS NOT NULL AND pid <> pg_backend_pid() AND datname = current_database()
      AND xact_start IS NOT NULL ORDER BY xact_start LIMIT 1
"""


class UnsettledError(Exception):
    """Something was being written, and wasn't done in time; args[0] says by whom."""


def settled(note_down: Callable[[], T], patience: float = PATIENCE) -> T:
    """What `note_down` finds: highest numbers first, then the clock. No row below them can appear any more,
    nor one that `stamp()` gave an earlier time.

    Nobody is made to wait for it. SQLite writes one transaction at a time: noted down in one of its own,
    everything before is there. On PostgreSQL whatever was running then has to end first: what has a number
    before that of a transaction which begins now, and ends at once; within a larger one fewer are seen.
    """
    if connection.vendor == "sqlite":
        with transaction.atomic():
            return note_down()
    found = note_down()
    with connection.cursor() as cursor:
        # Not pg_snapshot_xmax: that is the first after those that have ended, and others run beyond it.
        cursor.execute("SELECT pg_current_xact_id()::text")
        (own,) = cursor.fetchone()
        end = time.monotonic() + patience
        while True:
            cursor.execute(_RUNNING, [own])
            if not cursor.fetchone()[0]:
                return found
            if time.monotonic() >= end:
                raise UnsettledError(_say_longest(cursor))
            time.sleep(BREATH)


def _say_longest(cursor: CursorWrapper) -> str:
    cursor.execute(_LONGEST)
    found = cursor.fetchone()
    if found is None:
        return "a session of the database that this one can't see has been writing all the while"
    return f"process {found[0]} of the database has been writing since {found[1]:%Y-%m-%d %H:%M:%S%z}"


def stamp() -> datetime:
    """The time now, for a row that this transaction is about to write: `settled()` waits for that row.

    PostgreSQL gives a transaction its number with its first write or lock of a row, and knows it by that.
    """
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("stamp() belongs in the transaction that writes the row")
    if connection.vendor != "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_current_xact_id()")
    return timezone.now()
