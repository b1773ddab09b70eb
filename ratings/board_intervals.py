"""The intervals of a fitted board: robust or resampled, a bootstrap run per way in which votes cluster."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ratings.board import FittedBoard
from ratings.bootstrap import (
    Draw,
    Progress,
    Resamples,
    Units,
    bootstrap,
    draw_clusters,
    draw_rows,
    draw_votes,
    pair_units,
    row_units,
)
from ratings.clusters import consecutive
from ratings.newton import Vector
from ratings.uncertainty import critical_values


@dataclass(frozen=True, eq=False)
class Ends:
    """Lower and upper ends (p,) of the intervals in log-odds, NaN where there is none; resampled likewise."""

    lower: Vector
    upper: Vector
    boot_lower: Vector
    boot_upper: Vector
    without_maximum: int


def interval_ends(board: FittedBoard, progress: Progress | None = None) -> Ends:
    """Intervals of every parameter as the board's options ask for."""
    covariance, confidence = board.covariance, board.options.confidence
    params = board.fit.params
    critical = critical_values(covariance.degrees, confidence)
    reach = critical * covariance.deviations
    lower, upper = params - reach, params + reach
    none = np.full(len(params), np.nan)
    if not board.options.bootstrap or board.options.ties == "davidson":
        return Ends(lower, upper, none, none, 0)
    runs = _resample(board, progress)
    if board.options.interval == "percentile":
        boot_lower, boot_upper = _widest(runs, confidence)
    else:
        boot_reach = critical * _bootstrap_deviations(runs)
        boot_lower, boot_upper = params - boot_reach, params + boot_reach
    # too few clusters: the bootstrap knows no more than the sandwich
    blank = np.isnan(critical)
    boot_lower, boot_upper = np.where(blank, np.nan, boot_lower), np.where(blank, np.nan, boot_upper)
    if board.options.interval in ("bootstrap", "percentile"):
        lower, upper = boot_lower, boot_upper
    return Ends(lower, upper, boot_lower, boot_upper, max(r.without_maximum for r in runs))


def _resample(board: FittedBoard, progress: Progress | None) -> list[Resamples]:
    """One run for independent votes, one by one dimension, or three for two-way: rater, prompt, cell."""
    options, fit = board.options, board.fit
    units, draws = _draws(board)
    return [
        bootstrap(fit, units, draw, resamples=options.bootstrap, seed=options.seed, progress=progress)
        for draw in draws
    ]


def _draws(board: FittedBoard) -> tuple[Units, list[Draw]]:
    fit, scores, plain = board.fit, board.scores, board.fit is board.plain
    dimensions = board.covariance.dimensions
    if scores is None or (plain and not dimensions):
        return pair_units(board.cells, fit), [draw_votes(board.cells, fit)]
    units = pair_units(board.cells, fit) if plain else row_units(scores, fit)
    if not dimensions:
        return units, [draw_rows(scores)]
    labels = [(d.labels, d.count) for d in dimensions]
    if len(labels) == 2:
        labels.append(consecutive(dimensions[0].labels * dimensions[1].count + dimensions[1].labels))
    return units, [draw_clusters(scores, each, count, by_pair=plain) for each, count in labels]


def _bootstrap_deviations(runs: list[Resamples]) -> Vector:
    """sd* (p,); two-way: √(rater² + prompt² − cell²), never below a one-way one."""
    variances = [run.deviations**2 for run in runs]
    if len(variances) == 3:
        variances = [variances[0] + variances[1] - variances[2], variances[0], variances[1]]
    deviations: Vector = np.sqrt(np.max(variances, axis=0))
    return deviations


def _widest(runs: list[Resamples], confidence: float) -> tuple[Vector, Vector]:
    """Percentile ends (p,) of the run that spreads each parameter most."""
    ends = np.stack([run.percentiles(confidence) for run in runs[:2]])
    widest = (ends[:, 1] - ends[:, 0]).argmax(axis=0)
    at = np.arange(ends.shape[2])
    return ends[widest, 0, at], ends[widest, 1, at]
