"""Responses are looked at for leaks in the background; a lost message is made up for in a minute."""

import time

from huey import crontab
from huey.contrib.djhuey import db_periodic_task, db_task

from arena.corpus.leak_checks import check_unchecked

# A worker goes back to the queue after so long, and the next minute goes on.
TURN_SECONDS = 20.0


@db_task()
def check_leaks() -> None:
    check_unchecked(until=time.monotonic() + TURN_SECONDS)


@db_periodic_task(crontab(minute="*"))
def check_leaks_by_the_minute() -> None:
    check_unchecked(until=time.monotonic() + TURN_SECONDS)
