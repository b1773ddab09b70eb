"""When something was, as pages and commands write it: "2026-11-30 22:28 UTC", in every language."""

from __future__ import annotations

from datetime import UTC, datetime


def say_moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def say_second(at: datetime) -> str:
    """Where calls or attempts of one minute are told apart."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def say_day(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d}"
