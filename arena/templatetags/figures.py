"""Counts as pages write them."""

from __future__ import annotations

from django import template

from arena import percent as shares

register = template.Library()


@register.filter
def thousands(count: int) -> str:
    """ "1,263"."""
    return f"{count:,}"


@register.filter
def percent(share: float, decimals: int = 0) -> str:
    return shares.percent(share, decimals)
