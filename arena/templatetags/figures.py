"""Counts as pages write them."""

from __future__ import annotations

from django import template

register = template.Library()


@register.filter
def thousands(count: int) -> str:
    """ "1,263"."""
    return f"{count:,}"
