"""Calibrations in words: what is fixed, and the measurements side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext_lazy

from arena.battles.models import Vote
from arena.judging.calibration_models import Calibration, Measurement, Part
from arena.judging.models import JudgeRun
from arena.leaderboards.agreement.card_models import RunFigures
from arena.leaderboards.agreement.card_rows import Row, columns_of, of_mean, of_share
from arena.raters.models import Rater

Plain = dict[str, Any]


MEASUREMENTS = {
    "judge": "text",
    "rubric": "text",
    "part": "text",
    "is_first": "flag",
    "started_at": "text",
    "run": "count",
    **columns_of("every", "decisive", "kappa", "consistency", "gain"),
}
LABELS = {"category": "text", "development": "count", "held_out": "count"}
"""Of the tables' files: name to kind; a row's `values` stand in their order."""


@dataclass(frozen=True)
class CategoryRow:
    name: str
    dev: int
    held_out: int
    values: tuple[str, int, int]


@dataclass(frozen=True)
class MeasurementRow:
    """`cells`: all outcomes, decisive only, kappa, swap consistency, gain over the first."""

    measurement: Measurement
    part: str
    is_first: bool
    cells: tuple[Row, ...]
    waiting: bool

    @property
    def values(self) -> tuple[Any, ...]:
        one = self.measurement
        rubric = str(one.judge.rubric) if one.judge.rubric else None
        what = (one.judge.name, rubric, one.part, self.is_first, one.started_at.isoformat(), one.run_id)
        return (*what, *(value for cell in self.cells for value in cell.values))


@dataclass(frozen=True)
class CalibrationPage:
    categories: tuple[CategoryRow, ...]
    dev: int
    held_out: int
    left_out: tuple[str, ...]
    outcomes: tuple[tuple[str, int], ...]
    rows: tuple[MeasurementRow, ...]
    simulated: int


def build(calibration: Calibration) -> CalibrationPage:
    labels = list(calibration.labels.values_list("part", "category", "outcome"))
    counted = Counter((category, part) for part, category, _outcome in labels)
    names = sorted({category for _part, category, _outcome in labels}, key=lambda name: (not name, name))
    return CalibrationPage(
        categories=tuple(
            CategoryRow(name or _("no category"), *counts, values=(name, *counts))
            for name in names
            for counts in [(counted[name, Part.DEV], counted[name, Part.HELD_OUT])]
        ),
        dev=sum(part == Part.DEV for part, *_rest in labels),
        held_out=sum(part == Part.HELD_OUT for part, *_rest in labels),
        left_out=tuple(_say_left_out(calibration.left_out)),
        outcomes=tuple(sorted(Counter(outcome for *_rest, outcome in labels).items())),
        rows=tuple(_rows(calibration)),
        simulated=Vote.objects.filter(
            battle__campaign=calibration.campaign_id, rater__admission=Rater.Admission.SIMULATED
        ).count(),
    )


def _say_left_out(left_out: dict[str, int]) -> Iterator[str]:
    words = {
        "few_votes": ngettext_lazy(
            "%(n)s pair has fewer votes than asked for",
            "%(n)s pairs have fewer votes than asked for",
            "count",
        ),
        "split": ngettext_lazy(
            "%(n)s pair has no majority: people disagree",
            "%(n)s pairs have no majority: people disagree",
            "count",
        ),
        "identical": ngettext_lazy(
            "%(n)s pair is two identical texts", "%(n)s pairs are two identical texts", "count"
        ),
    }
    for reason, count in left_out.items():
        yield words[reason] % {"count": count, "n": f"{count:,}"}


def _rows(calibration: Calibration) -> Iterator[MeasurementRow]:
    """Held out before development, each in the order of time: before above after."""
    found = calibration.measurements.select_related("judge__rubric", "judge__endpoint", "run").order_by("pk")
    figures = {f.run_id: f.figures["labels"] for f in RunFigures.objects.filter(run__measurement__in=found)}
    labels = dict(Part.choices)
    for part in (Part.HELD_OUT, Part.DEV):
        mine = [measurement for measurement in found if measurement.part == part]
        for place, measurement in enumerate(mine):
            yield MeasurementRow(
                measurement,
                str(labels[part]),
                place == 0,
                cells_of(figures.get(measurement.run_id)),
                measurement.run_id not in figures,
            )


def cells_of(found: Plain | None) -> tuple[Row, ...]:
    if found is None:
        return tuple(Row("", "—") for _column in range(5))
    agreement, swap = found["agreement"] or {}, found["swap"] or {}
    gain = of_mean("", found["gain"], 1, 100) if found["gain"] else Row("", "")
    return (
        of_share("", agreement.get("every")),
        of_share("", agreement.get("decisive")),
        of_mean("", agreement.get("kappa")),
        of_share("", swap.get("consistency")),
        gain,
    )


@dataclass(frozen=True)
class WordingsPage:
    names: tuple[tuple[str, str], ...]
    figures: tuple[Row, ...]
    pairs: tuple[Row, ...]


def build_wordings(run: JudgeRun) -> WordingsPage | None:
    """None before the worker has computed them."""
    stored = RunFigures.objects.filter(run=run).first()
    found = stored.figures["wordings"] if stored else None
    if not found:
        return None
    return WordingsPage(
        names=tuple((one["name"], one["rubric"]) for one in found["wordings"]),
        figures=(
            of_mean(_("agreement of all wordings beyond chance (Fleiss' κ)"), found["kappa"]),
            of_share(_("flips: battles on which not all wordings say the same"), found["flips"]),
        ),
        pairs=tuple(
            of_share(_("%(one)s and %(other)s say the same") % {"one": one, "other": other}, pair["same"])
            for pair in found["pairs"]
            for one, other in [pair["names"]]
        ),
    )
