"""What all charts share: the page's colours in light and dark, and labels that don't cover each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

ROW = 22
LABEL = 16


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


def spread_labels(labelled: list[dict[str, Any]], values: Sequence[dict[str, Any]], height: int) -> None:
    """Names a line apart, from the top down, as near to their points as that allows."""
    ratings_ = [point["rating"] for point in values]
    line = (max(ratings_) - min(ratings_)) * LABEL / height
    above = float("inf")
    for point in sorted(labelled, key=lambda point: -point["rating"]):
        above = point["label_at"] = min(point["rating"], above - line)
