"""Counts, days and moments as pages write them: every template knows these filters without loading them."""

from __future__ import annotations

from datetime import datetime

from django import template

from arena import percent as shares
from arena.instants import say_day, say_moment, say_second

register = template.Library()


@register.filter
def thousands(count: int) -> str:
    """ "1,263"."""
    return f"{count:,}"


@register.filter
def percent(share: float, decimals: int = 0) -> str:
    return shares.percent(share, decimals)


@register.filter
def day(at: datetime | None) -> str:
    """ "2026-11-30"; empty of what hasn't been, as with Django's own `date`."""
    return say_day(at) if at else ""


@register.filter
def moment(at: datetime | None) -> str:
    """ "2026-11-30 22:28 UTC"."""
    return say_moment(at) if at else ""


@register.filter
def second(at: datetime | None) -> str:
    """ "2026-11-30 22:28:05 UTC"."""
    return say_second(at) if at else ""
