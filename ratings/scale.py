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


def expected_score(points: float, *, tie_odds: float = 0.0) -> float:
    """What a competitor `points` above another scores on average in a vote between them: 1, ½ or 0.

    On a half-win board a tie counts half, and this is P(win) + P(tie)/2; where ties are left out it is the
    chance to win a vote that counts. tie_odds: ν of a board with ties as an outcome of their own (Davidson).
    The net rate, P(win) − P(loss), is twice this less 1.
    """
    half = 10 ** (-abs(points) / 800)
    of_stronger = (1 + tie_odds * half / 2) / (1 + half * half + tie_odds * half)
    return of_stronger if points >= 0 else 1 - of_stronger
