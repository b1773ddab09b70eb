"""Work in the background leaves the database to votes between any two of its transactions."""

import time

LONGEST_PAUSE = 0.2  # seconds


def give_way(held: float) -> None:
    """For twice as long as the database was held, in seconds.

    SQLite has no queue: whoever waits looks now and then, and must find it free more often than not.
    """
    time.sleep(min(2 * held, LONGEST_PAUSE))
