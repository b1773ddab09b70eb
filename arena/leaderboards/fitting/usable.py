"""The absolute side of a board: how often both were called bad, and whether a response alone would do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arena.leaderboards.fitting.comparisons import BoardRows
from ratings.comparisons import BOTH_BAD
from ratings.errors import RatingsError
from ratings.rao_kupper import fit_grounded_rao_kupper

FEWEST = 30
"""Both-bad votes, and ties, below which an absolute zero isn't told from noise."""


def both_bad_of(rows: BoardRows) -> NDArray[np.int64]:
    """Votes (K,) that call both bad, by competitor number."""
    comparisons = rows.comparisons
    bad = comparisons.outcome == BOTH_BAD
    sides = np.r_[comparisons.a[bad], comparisons.b[bad]]
    counts: NDArray[np.int64] = np.bincount(sides, minlength=comparisons.n_competitors)
    return counts


def usable_of(rows: BoardRows) -> list[float | None]:
    """Chance (K,) that a response, shown alone, isn't called bad; None where the votes don't say."""
    comparisons = rows.comparisons
    nothing: list[float | None] = [None] * comparisons.n_competitors
    if int((comparisons.outcome == BOTH_BAD).sum()) < FEWEST or comparisons.covariates is not None:
        return nothing
    try:
        fitted = fit_grounded_rao_kupper(comparisons)
    except RatingsError:
        # No ties, models that nothing connects, or no maximum: then there is no absolute zero to speak of.
        return nothing
    return [round(float(chance), 6) for chance in fitted.usable_probability()]
