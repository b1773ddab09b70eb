"""From strengths (natural log-odds) to rating points: 400 points per factor of ten in the odds, mean 1000."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ratings.errors import BadValueError

POINTS_PER_LOG_ODDS = 400 / math.log(10)
"""173.7178: rating points per unit of natural log-odds."""

MEAN_RATING = 1000.0
"""Where the mean (or the anchor) of a board is put."""


def to_points(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Differences, standard errors or coefficients in log-odds (any shape) as rating points."""
    return log_odds * POINTS_PER_LOG_ODDS


def to_ratings(
    strengths: NDArray[np.float64], *, anchor: int | None = None, at: float = MEAN_RATING
) -> NDArray[np.float64]:
    """Strengths (K,) as ratings `at + 400/ln 10 · (θ − a)`; a is the mean, or the strength of `anchor`."""
    if not np.isfinite(strengths).all():
        raise BadValueError("strengths must be finite to be shown as ratings")
    origin = strengths.mean() if anchor is None else strengths[anchor]
    return at + to_points(strengths - origin)


def win_probability(points: float) -> float:
    """Chance that the stronger of two wins a decisive vote when its rating is `points` higher."""
    return 1 / (1 + 10 ** (-points / 400))
