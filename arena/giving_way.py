"""Work in the background leaves the database to votes between any two of its transactions."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

LONGEST_PAUSE = 0.2  # seconds


@contextmanager
def short_transaction() -> Iterator[None]:
    """One transaction, and then for twice as long none.

    SQLite has no queue: whoever waits looks now and then, and must find it free more often than not.
    """
    begun = time.monotonic()
    with transaction.atomic():
        yield
    time.sleep(min(2 * (time.monotonic() - begun), LONGEST_PAUSE))
