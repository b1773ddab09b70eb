"""Ratings about which the votes say so little that their own variance can't be read off the residuals.

A sandwich estimates a variance from squared residuals. It comes out too small, down to nothing, with few
votes, with votes that are nearly all ties (their residuals vanish where the strengths are equal), and with
few clusters whose scores happen to cancel. There the model's own variance H⁻, which takes each vote for the
toss of a coin and so overstates it where ties are common, stands in as a floor; with still less there is no
interval at all (docs/method.md, "Too little for an interval").
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ratings.bradley_terry import Fit
from ratings.clusters import VoteScores
from ratings.comparisons import Tally
from ratings.newton import Vector
from ratings.rows import sum_by
from ratings.uncertainty import Covariance

FEW_VOTES = 30.0
"""Below so many (Kish-effective) votes an interval is never narrower than the model's own."""

FEW_DECIDED = 10.0
"""Likewise below so many votes' worth of squared residuals, ¼ being that of a fair vote that was decided."""

NO_INTERVAL_VOTES = 5.0
"""Below so many (Kish-effective) votes there is no interval."""

NO_INTERVAL_DECIDED = 1.0
"""Likewise where all squared residuals together are less than those of one fair, decided vote."""


def guarded(
    covariance: Covariance, fit: Fit, plain: Fit, cells: Tally, scores: VoteScores | None
) -> Covariance:
    """The covariance with the model's own as a floor where votes are few, and no interval where too few.

    An unbounded strength keeps its one-sided bound, which isn't read off residuals.
    """
    votes, decided = _evidence(plain, cells, scores)
    k, further = cells.n_competitors, len(covariance.matrix) - cells.n_competitors
    bounded = ~(fit.graph.unbounded_above | fit.graph.unbounded_below)
    none = bounded & ((votes[:k] < NO_INTERVAL_VOTES) | (decided[:k] < NO_INTERVAL_DECIDED))
    few = _few(votes, decided)
    none_of_all = votes[k] < NO_INTERVAL_VOTES or decided[k] < NO_INTERVAL_DECIDED
    return replace(
        covariance,
        model=fit.bread,
        few=np.append(few[:k], np.repeat(few[k], further)),
        none=np.append(none, np.repeat(none_of_all, further)),
    )


def thin(plain: Fit, cells: Tally) -> NDArray[np.bool_]:
    """Competitors (K,) of a plain board with so few votes that its variance leans on the model's."""
    votes, decided = _evidence(plain, cells, None)
    return _few(votes, decided)[: cells.n_competitors]


def _few(votes: Vector, decided: Vector) -> NDArray[np.bool_]:
    return (votes < FEW_VOTES) | (decided < FEW_DECIDED)


def _evidence(plain: Fit, cells: Tally, scores: VoteScores | None) -> tuple[Vector, Vector]:
    """Effective votes, and squared residuals in fair decided votes: of each competitor, then all (K + 1)."""
    count, weight, squares = cells.counts.sum(axis=1), cells.total, cells.weight_sq.sum(axis=1)
    low, high, residual = cells.low, cells.high, _squared_residuals(plain, cells)
    if scores is not None:
        residual = scores.rows.by_pair(scores.residual.astype(np.float64) ** 2)
        low, high = scores.rows.low, scores.rows.high
    n, w, s = (
        _per_competitor(cells.low, cells.high, each, cells.n_competitors) for each in (count, weight, squares)
    )
    e = _per_competitor(low, high, residual, cells.n_competitors)
    votes: Vector = np.divide(w**2, s, out=np.zeros_like(w), where=s > 0)
    decided: Vector = np.divide(4 * e * n, s, out=np.zeros_like(w), where=s > 0)
    return votes, decided


def _squared_residuals(plain: Fit, cells: Tally) -> Vector:
    """Σ w²(y − p)² of each pair (P,) on the plain board."""
    p = expit(plain.strengths[cells.low] - plain.strengths[cells.high])
    scores = np.linspace(0, 1, cells.weight_sq.shape[1])
    squared: Vector = (cells.weight_sq * (scores - p[:, None]) ** 2).sum(axis=1)
    return squared


def _per_competitor(low: NDArray[np.int32], high: NDArray[np.int32], values: Vector, k: int) -> Vector:
    return np.append(sum_by(low, values, k) + sum_by(high, values, k), values.sum())
