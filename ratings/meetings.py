"""Who met whom: through which competitors alone others are compared, as far as the graph of battles says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from ratings.comparisons import Comparisons, pair_codes

BETWEEN_GROUPS = 0.25
"""Of the pairs of others: from such a share on that only one competitor connects, it is said."""
FEW_BETWEEN = 3
"""By at most so many are competitors "compared through these alone": with more there are ways enough."""

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Meetings:
    """Told of the largest group of competitors that battles connect.

    cut: the one without which the others fall into most pieces, or None · pieces: their sizes, falling ·
    alone: competitors that met nobody but `through`, of which there are few · hub: the one that more than
    half of the others meet in most of their votes, or None · leaning: how many do, of `others`.
    """

    cut: int | None
    pieces: tuple[int, ...]
    alone: tuple[int, ...]
    through: tuple[int, ...]
    hub: int | None
    leaning: int
    others: int


NOBODY = Meetings(None, (), (), (), None, 0, 0)


def meetings(*votes: Comparisons) -> Meetings:
    """Of all votes together; O(pairs × competitors) at worst."""
    between = _between(votes)
    met = between > 0
    among = np.flatnonzero(_largest(met))
    if len(among) < 3:
        return NOBODY
    between, met = between[np.ix_(among, among)], met[np.ix_(among, among)]
    cut, pieces = _cut(met)
    alone, through = _alone(met)
    hub, leaning = _hub(between)
    return Meetings(
        cut=None if cut is None else int(among[cut]),
        pieces=pieces,
        alone=tuple(int(among[one]) for one in alone),
        through=tuple(int(among[one]) for one in through),
        hub=None if hub is None else int(among[hub]),
        leaning=leaning,
        others=len(among) - 1,
    )


def _between(votes: tuple[Comparisons, ...]) -> NDArray[np.int64]:
    """Votes on each pair (K, K), symmetric."""
    k = votes[0].n_competitors
    low = sum((np.bincount(pair_codes(some), minlength=k * k) for some in votes), np.zeros(k * k, np.int64))
    counts: NDArray[np.int64] = low.reshape(k, k) + low.reshape(k, k).T
    return counts


def _pieces_of(met: Flags) -> NDArray[np.int32]:
    labels: NDArray[np.int32] = connected_components(met, directed=False)[1]
    return labels


def _largest(met: Flags) -> Flags:
    labels = _pieces_of(met)
    largest: Flags = labels == np.bincount(labels).argmax()
    return largest


def _cut(met: Flags) -> tuple[int | None, tuple[int, ...]]:
    """Which one, left out, parts most pairs of the others; none if these are few of all pairs."""
    k = len(met)
    if 2 * met.sum(axis=1).min() >= k:  # Dirac 1952: nobody can be missed then
        return None, ()
    best: tuple[int | None, tuple[int, ...]] = (None, ())
    pairs = (k - 1) * (k - 2) / 2
    most = BETWEEN_GROUPS * pairs
    for one in range(k):
        rest = np.delete(np.delete(met, one, axis=0), one, axis=1)
        sizes = np.bincount(_pieces_of(rest))
        parted = pairs - (sizes * (sizes - 1) / 2).sum()
        if len(sizes) > 1 and parted >= most and (best[0] is None or parted > most):
            best, most = (one, tuple(sorted((int(n) for n in sizes), reverse=True))), parted
    return best


def _alone(met: Flags) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The most competitors that met nobody but the same few, of those who didn't meet everybody.

    One by itself is told of if it met but one other.
    """
    k = len(met)
    opponents = met.sum(axis=1)
    best: tuple[int, int, tuple[int, ...]] = (0, 0, ())
    for one in np.flatnonzero((opponents <= FEW_BETWEEN) & (opponents < k - 1)):
        few = tuple(int(other) for other in np.flatnonzero(met[one]))
        alone = len(_only_with(met, few))
        if alone > 1 or len(few) == 1:
            best = max(best, (alone, -len(few), few))
    through = best[2]
    return (_only_with(met, through), through) if through else ((), ())


def _only_with(met: Flags, few: tuple[int, ...]) -> tuple[int, ...]:
    elsewhere = met.copy()
    elsewhere[:, few] = False
    only: Flags = np.logical_not(elsewhere.any(axis=1))
    only[list(few)] = False
    return tuple(int(one) for one in np.flatnonzero(only))


def _hub(between: NDArray[np.int64]) -> tuple[int | None, int]:
    """Among three each meets someone most: a hub takes four."""
    if len(between) < 4:
        return None, 0
    leaning = (2 * between > between.sum(axis=1, keepdims=True)).sum(axis=0)
    hub = int(leaning.argmax())
    return (hub, int(leaning[hub])) if 2 * leaning[hub] > len(between) - 1 else (None, 0)
