"""What a board's votes are made of, as far as a reader must know it before believing the ratings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ratings.comparisons import Comparisons, pair_codes
from ratings.errors import NoVotesError

HUB_SHARE, HUB_TIMES = 0.25, 4.0
"""A competitor is a hub with this share of all votes, so many times the share of an even board."""
SIDES_TELL_FROM = 5
"""Votes on a pair from which on it says something that the same one always stood first."""


@dataclass(frozen=True)
class Composition:
    """hub: the competitor through which most others are compared, or None; hub_share: of the votes, in it.

    one_sided: share of the votes (0 to 1) that are about pairs of which the same competitor always stood
    first · differing: by covariate, the votes in which it isn't 0.
    """

    hub: int | None
    hub_share: float
    one_sided: float
    differing: tuple[int, ...]


def composition(comparisons: Comparisons) -> Composition:
    """One pass over the votes (n,). Raises NoVotesError without any."""
    n, k = len(comparisons), comparisons.n_competitors
    if not n:
        raise NoVotesError("no vote to look at")
    in_votes = np.bincount(comparisons.a, minlength=k) + np.bincount(comparisons.b, minlength=k)
    most = int(np.argmax(in_votes))
    share = float(in_votes[most]) / n
    is_hub = share >= HUB_SHARE and share >= HUB_TIMES * 2 / max(int((in_votes > 0).sum()), 2)
    z = comparisons.covariates
    return Composition(
        hub=most if is_hub else None,
        hub_share=share if is_hub else 0.0,
        one_sided=_one_sided(comparisons),
        differing=() if z is None else tuple(int(count) for count in (z != 0).sum(axis=0)),
    )


def _one_sided(comparisons: Comparisons) -> float:
    _pairs, place = np.unique(pair_codes(comparisons), return_inverse=True)
    votes = np.bincount(place)
    low_first = np.bincount(place, comparisons.a < comparisons.b)
    always = (votes >= SIDES_TELL_FROM) & ((low_first == 0) | (low_first == votes))
    return float(votes[always].sum() / len(comparisons))
