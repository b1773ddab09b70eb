"""A share as people read it: "53 %", of which no line ends between the figure and its sign."""

from __future__ import annotations

PERCENT = "\u00a0%"


def percent(share: float, decimals: int | None = 0) -> str:
    """None: as many decimals as it has."""
    value = 100 * share
    return f"{value:g}{PERCENT}" if decimals is None else f"{value:.{decimals}f}{PERCENT}"
