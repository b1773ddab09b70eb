"""Where marks stand: intervals as percentages of a shared axis. Drawn by templates as inline SVG."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

MEAN = 1000.0
# An interval wider than so many typical ones would squeeze all others into a few pixels: it is cut.
WIDEST = 2.5
MARGIN = 0.04
STEPS = (1, 2, 3, 5, 8, 10, 15, 20, 30, 40, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1000, 1500, 2000)
FEWEST_TICKS = 3


@dataclass(frozen=True)
class Estimate:
    """A rating with its interval in points; a bound that doesn't exist is None."""

    rating: float
    lower: float | None
    upper: float | None

    @property
    def half_width(self) -> float | None:
        if self.lower is None or self.upper is None:
            return None
        return (self.upper - self.lower) / 2


@dataclass(frozen=True)
class Mark:
    """Positions as SVG percentages; `cut_start`, `cut_end`: the interval goes on beyond the axis."""

    point: str
    start: str
    end: str
    cut_start: bool
    cut_end: bool


@dataclass(frozen=True)
class Tick:
    label: str
    place: str
    is_mean: bool


@dataclass(frozen=True)
class Axis:
    low: float
    high: float

    def share(self, value: float) -> float:
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    def place(self, value: float) -> str:
        # Never through a template filter: a German comma would break the SVG.
        return f"{100 * self.share(value):.2f}%"

    @property
    def mean(self) -> str:
        return self.place(MEAN)

    @property
    def ticks(self) -> list[Tick]:
        """Round distances from the mean, or from 0: as few as let a bar be read off, three to six."""
        enough = (numbers for step in reversed(STEPS) if len(numbers := self._round(step)) >= FEWEST_TICKS)
        shown = next(enough, self._round(STEPS[0]))
        return [Tick(f"{n}".replace("-", "−"), self.place(n), n == MEAN) for n in shown]

    def _round(self, step: int) -> list[int]:
        """Multiples of the step, counted from the mean where the axis shows it, within the axis."""
        origin = int(MEAN) if self.low <= MEAN <= self.high else 0
        first, last = math.ceil((self.low - origin) / step), math.floor((self.high - origin) / step)
        return [origin + n * step for n in range(first, last + 1)]

    @property
    def zero(self) -> str:
        return self.place(0.0)

    def mark(self, estimate: Estimate) -> Mark:
        lower = self.low if estimate.lower is None else estimate.lower
        upper = self.high if estimate.upper is None else estimate.upper
        return Mark(
            point=self.place(estimate.rating),
            start=self.place(lower),
            end=self.place(upper),
            cut_start=estimate.lower is None or lower < self.low,
            cut_end=estimate.upper is None or upper > self.high,
        )


def shared_axis(estimates: Iterable[Estimate], *, around: float = MEAN) -> Axis:
    """Covers every estimate, what they lie around, and all intervals but a few far wider than the others."""
    shown = list(estimates)
    widths = [e.half_width for e in shown if e.half_width is not None]
    reach = WIDEST * median(widths) if widths else 100.0
    ends = [around]
    for e in shown:
        ends.append(e.rating)
        for bound in (e.lower, e.upper):
            if bound is not None:
                ends.append(min(max(bound, e.rating - reach), e.rating + reach))
    low, high = min(ends), max(ends)
    room = MARGIN * (high - low) or 100.0
    return Axis(low - room, high + room)
