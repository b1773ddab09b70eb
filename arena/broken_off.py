"""A transaction that the database broke off, because two waited for each other, is done again.

PostgreSQL ends one of the two with nothing of it stored; SQLite has one writer and never does.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import OperationalError, connection

TRIES = 5
_PAUSE = 0.05  # seconds at most before the second try, and twice as many before each further one
BROKEN_OFF = frozenset({"40P01", "40001"})  # deadlock_detected, serialization_failure

P = ParamSpec("P")
R = TypeVar("R")

_log = logging.getLogger(__name__)


def was_broken_off(error: OperationalError) -> bool:
    return getattr(error.__cause__, "sqlstate", None) in BROKEN_OFF


def done_again(act: Callable[P, R]) -> Callable[P, R]:
    """Around one whole transaction that touches nothing but the database.

    A part of a larger one can't be repeated by itself: there the error is for the caller.
    """

    @wraps(act)
    def act_again(*args: P.args, **named: P.kwargs) -> R:
        for tried in range(TRIES - 1):
            is_whole = not connection.in_atomic_block
            try:
                return act(*args, **named)
            except OperationalError as error:
                if not is_whole or not was_broken_off(error):
                    raise
                _log.info("%s was broken off by the database; another try", act.__qualname__)
            time.sleep(random.uniform(0, _PAUSE * 2**tried))
        return act(*args, **named)

    return act_again
