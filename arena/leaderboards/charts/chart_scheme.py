"""What all charts share: the page's colours in light and dark, and labels that don't cover each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

ROW = 22
LABEL = 16
# Beyond so many models a matrix, a slope or a line is a wall of ink: the table says it better.
MOST_IN_A_MATRIX = 40
MOST_SLOPES = 25
MOST_LINES = 12


@dataclass(frozen=True)
class Scheme:
    """The page's own colours (static/tiltyard.css) in light or dark."""

    paper: str
    ink: str
    quiet: str
    rule: str
    side_a: str
    side_b: str
    third: str


LIGHT = Scheme("#fbfaf6", "#1b1c20", "#5d6067", "#e1dfd8", "#1f56a5", "#a4520f", "#1d7158")
DARK = Scheme("#15171a", "#e9e7e1", "#a3a6ad", "#33373d", "#86b4f2", "#eda45f", "#6cc7a8")


class NothingToDrawError(Exception):
    """The snapshot has no rows for this chart; the words say which are missing."""


def need(there: Any, missing: str) -> None:
    if not there:
        raise NothingToDrawError(missing)


def spread_labels(labelled: list[dict[str, Any]], shown: Sequence[float], height: int) -> None:
    """Names a line apart, as near to their points as that allows: a crowd spreads around its middle.

    shown: all that the axis has to reach.
    """
    line = (max(shown) - min(shown)) * LABEL / height
    crowds: list[list[dict[str, Any]]] = []
    for point in sorted(labelled, key=lambda point: -point["rating"]):
        crowds.append([point])
        while len(crowds) > 1 and _top(crowds[-1], line) > _top(crowds[-2], line) - len(crowds[-2]) * line:
            last = crowds.pop()
            crowds[-1] += last
    for crowd in crowds:
        top = _top(crowd, line)
        for place, point in enumerate(crowd):
            point["label_at"] = top - place * line


def _top(crowd: Sequence[dict[str, Any]], line: float) -> float:
    """Where the first name of a crowd stands when its middle is that of its points."""
    return sum(point["rating"] for point in crowd) / len(crowd) + (len(crowd) - 1) * line / 2
