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
from ratings.bootstrap_large import (
    PairSums,
    Sample,
    bootstrap_large,
    sample_clusters,
    sample_votes,
    sums_of_cells,
    sums_of_rows,
)
from ratings.newton import Vector
from ratings.rows import sum_by
from ratings.uncertainty import critical_values

RESAMPLED_BY_PAIR = 50_000
"""From so many votes on resamples are drawn as sums per pair (bootstrap_large), below vote by vote."""

MANY_VOTES_EACH = 300
"""Where every competitor has so many, a tenth of that is enough: a resample is then near the fit, where two
steps on the sums per pair are as good as a refit."""


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
    runs = [run.less_mean(board.reference) for run in _resample(board, progress)]
    if board.options.interval == "percentile":
        boot_lower, boot_upper = _widest(runs, confidence)
        own = np.where(covariance.leaning, reach, 0.0)
        boot_lower, boot_upper = np.fmin(boot_lower, params - own), np.fmax(boot_upper, params + own)
    else:
        boot_reach = critical * _bootstrap_deviations(board, runs)
        boot_lower, boot_upper = params - boot_reach, params + boot_reach
    # too few clusters: the bootstrap knows no more than the sandwich
    blank = np.isnan(critical)
    boot_lower, boot_upper = np.where(blank, np.nan, boot_lower), np.where(blank, np.nan, boot_upper)
    if board.options.interval in ("bootstrap", "percentile"):
        lower, upper = boot_lower, boot_upper
    return Ends(lower, upper, boot_lower, boot_upper, max(r.without_maximum for r in runs))


def _resample(board: FittedBoard, progress: Progress | None) -> list[Resamples]:
    """One run for independent votes, or one for each dimension in which they cluster."""
    options, fit = board.options, board.fit
    settings = {"resamples": options.bootstrap, "seed": options.seed}
    if fit.pseudo is None and _many_votes(board):
        sums, samples = _samples(board)
        return [bootstrap_large(fit, sums, s, **settings, progress=progress) for s in samples]
    units, draws = _draws(board)
    return [bootstrap(fit, units, draw, **settings, progress=progress) for draw in draws]


def _many_votes(board: FittedBoard) -> bool:
    cells, fought = board.cells, board.fit.graph.fought
    votes = cells.counts.sum(axis=1)
    each = sum_by(cells.low, votes, cells.n_competitors) + sum_by(cells.high, votes, cells.n_competitors)
    needed = RESAMPLED_BY_PAIR / 10 if each[fought].min() >= MANY_VOTES_EACH else RESAMPLED_BY_PAIR
    return bool(votes.sum() >= needed)


def _samples(board: FittedBoard) -> tuple[PairSums, list[Sample]]:
    fit, scores = board.fit, board.scores
    plain = fit is board.plain or scores is None
    sums = sums_of_cells(board.cells, fit) if plain or scores is None else sums_of_rows(scores)
    if scores is None or not board.covariance.dimensions:
        return sums, [sample_votes(sums, fit.n_competitors)]
    labels = [(d.labels, d.count) for d in board.covariance.dimensions]
    return sums, [sample_clusters(scores, sums, each, count) for each, count in labels]


def _draws(board: FittedBoard) -> tuple[Units, list[Draw]]:
    fit, scores, plain = board.fit, board.scores, board.fit is board.plain
    if scores is None or (plain and not board.covariance.dimensions):
        return pair_units(board.cells, fit), [draw_votes(board.cells, fit)]
    units = pair_units(board.cells, fit) if plain else row_units(scores, fit)
    if not board.covariance.dimensions:
        return units, [draw_rows(scores)]
    labels = [(d.labels, d.count) for d in board.covariance.dimensions]
    return units, [draw_clusters(scores, each, n, by_pair=plain) for each, n in labels]


def _bootstrap_deviations(board: FittedBoard, runs: list[Resamples]) -> Vector:
    """sd* (p,); two-way: √(rater² + prompt² − cell²), never below a one-way one.

    The cells' own variance is the sandwich's: there may be as many as votes, and it only corrects.
    """
    variances = [run.deviations**2 for run in runs]
    if len(variances) == 2:
        covariance = board.covariance
        cell = np.diag(sum(covariance.floors, -covariance.matrix))
        variances.append(variances[0] + variances[1] - cell)
    return board.covariance.guarded_deviations(np.max(variances, axis=0))


def _widest(runs: list[Resamples], confidence: float) -> tuple[Vector, Vector]:
    """Percentile ends (p,) of the run that spreads each parameter most."""
    ends = np.stack([run.percentiles(confidence) for run in runs])
    widest = (ends[:, 1] - ends[:, 0]).argmax(axis=0)
    at = np.arange(ends.shape[2])
    return ends[widest, 0, at], ends[widest, 1, at]
