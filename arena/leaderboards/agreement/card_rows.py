"""Figures of judges as rows: a number with its interval and n as written, and as values for a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arena.leaderboards.agreement.judge_figures import has_interval
from arena.percent import percent

Plain = dict[str, Any]
NOTHING = (None,) * 5
VALUES = {"value": "number", "lower": "number", "upper": "number", "successes": "count", "n": "count"}
"""Of a row's `values` in a file: name to kind. Shares are of 1, unless the label says percentage points."""


def columns_of(*names: str) -> dict[str, str]:
    """Of rows with several cells, each column under the cell's name."""
    return {f"{name}_{column}": kind for name in names for column, kind in VALUES.items()}


@dataclass(frozen=True)
class Row:
    label: str
    figure: str
    interval: str = ""
    n: str = ""
    values: tuple[Any, ...] = NOTHING


@dataclass(frozen=True)
class AgreementRow:
    """`cells`: all outcomes, decisive only, kappa."""

    label: str
    cells: tuple[Row, Row, Row]

    @property
    def values(self) -> tuple[Any, ...]:
        return (self.label, *(value for cell in self.cells for value in cell.values))


def tenths(share: float) -> str:
    return percent(share, 1)


def of_share(label: str, found: Plain | None) -> Row:
    if found is None:
        return Row(label, "—")
    ends = (found["lower"], found["upper"]) if has_interval(found) else (None, None)
    return Row(
        label,
        tenths(found["estimate"]),
        f"{100 * found['lower']:.1f} … {100 * found['upper']:.1f}" if has_interval(found) else "",
        f"{found['successes']:,} / {found['n']:,}",
        (found["estimate"], *ends, found["successes"], found["n"]),
    )


def of_mean(label: str, found: Plain | None, places: int = 2, scale: float = 1, unit: str = "") -> Row:
    if found is None:
        return Row(label, "—")

    def written(value: Any) -> str:
        return f"{value:z,.{places}f}".replace("-", "−")  # z: no minus before a zero

    bounded = found["lower"] is not None
    ends = tuple(scale * found[end] if bounded else None for end in ("lower", "upper"))
    return Row(
        label,
        written(scale * found["estimate"]) + unit,
        " … ".join(written(end) for end in ends) if bounded else "",
        f"{found['n']:,}",
        (scale * found["estimate"], *ends, None, found["n"]),
    )


def agreement_row(label: str, found: Plain) -> AgreementRow:
    return AgreementRow(
        label, (of_share("", found["every"]), of_share("", found["decisive"]), of_mean("", found["kappa"]))
    )
