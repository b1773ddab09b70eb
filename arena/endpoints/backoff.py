"""When a failed call is tried again. Pure; the one retry layer, for the SDK's own is switched off."""

from __future__ import annotations

import email.utils
import math
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random

from arena.counted import counted

MAX_ATTEMPTS = 6
FIRST_WAIT = 1.0  # seconds
LONGEST_WAIT = 60.0  # seconds
# A server that wants more than this is not busy but closed to us: the endpoint rests, not only the call.
CIRCUIT_AFTER = 600.0  # seconds
LONGEST_PAUSE = 86_400.0  # seconds


@dataclass(frozen=True)
class Retry:
    """Try again after `wait` seconds; `pause` also rests the endpoint for as long."""

    wait: float
    pause: bool = False


@dataclass(frozen=True)
class GiveUp:
    reason: str


def next_step(attempts: int, retryable: bool, retry_after: float | None, random: Random) -> Retry | GiveUp:
    """What follows the failure of attempt number `attempts` (1 for the first)."""
    if attempts < 1:
        raise ValueError(f"attempts are counted from 1, not {attempts}")
    if not retryable:
        return GiveUp("the failure is none that passes by itself")
    if attempts >= MAX_ATTEMPTS:
        return GiveUp(f"{counted(attempts, 'attempt')} failed")
    wait = max(jittered_wait(attempts, random), min(retry_after or 0.0, LONGEST_PAUSE))
    return Retry(wait, pause=wait > CIRCUIT_AFTER)


def jittered_wait(attempts: int, random: Random) -> float:
    """Full jitter under a doubling ceiling, so that calls that failed together don't come back together."""
    ceiling = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(attempts, 16))
    return random.uniform(FIRST_WAIT, ceiling)


def read_retry_after(seconds: str | None, milliseconds: str | None, now: datetime) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `Retry-After` (seconds or a date); None if unreadable."""
    if milliseconds:
        wait = _number(milliseconds)
        if wait is not None:
            return wait / 1000
    if not seconds:
        return None
    wait = _number(seconds)
    if wait is not None:
        return wait
    return _until_date(seconds, now)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _until_date(text: str, now: datetime) -> float | None:
    try:
        then = email.utils.parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    return max(0.0, (then - now).total_seconds())
