"""The features of style by the names that readers see, and what each is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from ratings.scale import POINTS_PER_LOG_ODDS


def feature(name: str, length_unit: str) -> str:
    names = {
        "length": _("length in tokens") if length_unit == "tokens" else _("length in characters"),
        "headings": _("headings"),
        "list_items": _("list items"),
        "bold": _("bold passages"),
    }
    return names[name]


WORTH = {
    "name": "text",
    "points": "number",
    "lower": "number",
    "upper": "number",
    "doubled": "number",
    "doubled_lower": "number",
    "doubled_upper": "number",
    "times": "number",
}
"""Of a table's file: name to kind; `values` stand in their order."""


@dataclass(frozen=True)
class Worth:
    """Points for a typical difference in a feature and for twice as much of it, with the interval of each.

    times: so many times as much one response has as the other at a typical difference; None: not relative.
    """

    name: str
    points: float
    lower: float | None
    upper: float | None
    doubled: float | None
    doubled_lower: float | None
    doubled_upper: float | None
    times: float | None

    @property
    def values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in WORTH)


def worth_of(coefficient: Mapping[str, Any], length_unit: str) -> Worth:
    points, doubled, scale = (coefficient.get(name) for name in ("points", "per_doubling", "scale"))
    ends = [
        None if end is None else end * POINTS_PER_LOG_ODDS
        for end in (coefficient["lower"], coefficient["upper"])
    ]
    # The same coefficient in another unit: both have the same share of uncertainty.
    ratio = doubled / points if doubled is not None and points else None
    both = [None if end is None or ratio is None else end * ratio for end in ends]
    relative = doubled is not None and scale is not None and 0 < scale < 1
    return Worth(
        name=feature(coefficient["name"], length_unit),
        points=points or 0.0,
        lower=ends[0],
        upper=ends[1],
        doubled=doubled,
        doubled_lower=both[0],
        doubled_upper=both[1],
        times=(1 + scale) / (1 - scale) if relative and scale is not None else None,
    )


def say_typical(worths: Sequence[Worth]) -> str:
    """What a typical difference is; empty where none is relative."""
    told = [
        _("%(feature)s %(ratio)s to 1") % {"feature": one.name, "ratio": f"{one.times:.1f}"}
        for one in worths
        if one.times is not None
    ]
    if not told:
        return ""
    words = _(
        "A typical difference (the root mean square, over the battles that count, of the difference divided"
        " by the sum): one response has so much more than the other: %(features)s."
    )
    return words % {"features": ", ".join(told)}
