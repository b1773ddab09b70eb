"""What a board's votes are made of, as far as a reader must know it before believing the ratings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ratings.comparisons import Comparisons, pair_codes
from ratings.errors import NoVotesError

SIDES_TELL_FROM = 5
"""Votes on a pair from which on it says something that the same one always stood first."""


@dataclass(frozen=True)
class Composition:
    """one_sided: share of the votes (0 to 1) that are about pairs of which the same competitor always stood
    first · differing: by covariate, the votes in which it isn't 0.
    """

    one_sided: float
    differing: tuple[int, ...]


def composition(comparisons: Comparisons) -> Composition:
    """One pass over the votes (n,). Raises NoVotesError without any."""
    if not len(comparisons):
        raise NoVotesError("no vote to look at")
    z = comparisons.covariates
    return Composition(
        one_sided=_one_sided(comparisons),
        differing=() if z is None else tuple(int(count) for count in (z != 0).sum(axis=0)),
    )


def _one_sided(comparisons: Comparisons) -> float:
    _pairs, place = np.unique(pair_codes(comparisons), return_inverse=True)
    votes = np.bincount(place)
    low_first = np.bincount(place, comparisons.a < comparisons.b)
    always = (votes >= SIDES_TELL_FROM) & ((low_first == 0) | (low_first == votes))
    return float(votes[always].sum() / len(comparisons))
