"""Online Elo in the order of the votes: a secondary view, shown with how much the order alone moves it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from ratings.comparisons import Comparisons, Policies
from ratings.errors import BadOptionError, BadValueError, NoVotesError
from ratings.proportions import check_confidence
from ratings.scale import MEAN_RATING, POINTS_PER_LOG_ODDS

Floats = NDArray[np.float64]
SHUFFLE_BYTES = 200_000_000
BLOCK_ENTRIES = 1_000_000


@dataclass(frozen=True, eq=False)
class OnlineElo:
    """Final ratings (K,) in points after the votes as cast, and the band (K,) that shuffled orders span.

    lower, upper   the central `confidence` of final ratings over `permutations` random orders: not an
                   interval for strength, only the share of the rating that is owed to the order
    votes          votes counted
    """

    ratings: Floats
    lower: Floats
    upper: Floats
    votes: int
    k: float
    start: float
    permutations: int
    seed: int
    confidence: float
    policies: Policies


def online_elo(
    comparisons: Comparisons,
    policies: Policies | None = None,
    *,
    k: float = 4.0,
    start: float = MEAN_RATING,
    permutations: int = 200,
    seed: int = 0,
    confidence: float = 0.95,
) -> OnlineElo:
    """R_a += k (s - 1/(1 + 10^((R_b - R_a)/400))), R_b -= the same, vote after vote (Elo 1978).

    s is 1, 1/2 or 0 by the policies; dropped votes move nothing; weights play no part. Costs about 16 us per
    vote with 200 permutations. Raises NoVotesError when no vote counts, BadOptionError for k <= 0 or
    permutations < 1.
    """
    policies = policies or Policies()
    check_confidence(confidence)
    if k <= 0 or permutations < 1:
        raise BadOptionError(
            f"k = {k} with {permutations} permutations", todo="k > 0, at least 1 permutation"
        )
    quarter_wins = policies.quarter_wins()[comparisons.outcome]
    kept = np.flatnonzero(quarter_wins >= 0)
    if not len(kept):
        raise NoVotesError(
            "no vote counts under these policies", todo="pass votes, or policies that keep some"
        )
    a, b = comparisons.a[kept].astype(np.int64), comparisons.b[kept].astype(np.int64)
    score = quarter_wins[kept] / 4
    competitors = comparisons.n_competitors
    cast = _replay(a, b, score, np.arange(len(kept))[:, None], competitors, k)[0]
    shuffled = [
        _replay(a, b, score, orders, competitors, k) for orders in _orders(len(kept), permutations, seed)
    ]
    lower, upper = np.quantile(np.vstack(shuffled), [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return OnlineElo(
        ratings=start + cast,
        lower=start + lower,
        upper=start + upper,
        votes=len(kept),
        k=k,
        start=start,
        permutations=permutations,
        seed=seed,
        confidence=confidence,
        policies=policies,
    )


def _orders(votes: int, permutations: int, seed: int) -> Iterator[NDArray[np.int32]]:
    """Random orders of the votes, a column each, as many at a time as memory should hold."""
    rng = np.random.default_rng(seed)
    per_batch = max(1, min(permutations, SHUFFLE_BYTES // (4 * votes)))
    for first in range(0, permutations, per_batch):
        orders = np.empty((votes, min(per_batch, permutations - first)), dtype=np.int32)
        for column in orders.T:
            column[:] = rng.permutation(votes)
        yield orders


def elo_path(
    comparisons: Comparisons,
    moments: ArrayLike,
    policies: Policies | None = None,
    *,
    k: float = 4.0,
    start: float = MEAN_RATING,
) -> Floats:
    """Ratings (m, K) in points after the first `moments` (m,) votes, rising, in the order they are given.

    The same updates as `online_elo`; votes that the policies drop move nothing. Raises BadValueError for
    moments that fall or lie outside 0 … n.
    """
    policies = policies or Policies()
    quarter_wins = policies.quarter_wins()[comparisons.outcome]
    ends = np.asarray(moments, dtype=np.int64)
    if np.any(np.diff(ends, prepend=0) < 0) or np.any(ends > len(quarter_wins)):
        raise BadValueError(f"moments {ends.tolist()}", todo="let them rise within the number of votes")
    a, b = comparisons.a.astype(np.int64), comparisons.b.astype(np.int64)
    gains: Floats = np.zeros((1, comparisons.n_competitors))
    path, first = [], 0
    for end in ends.tolist():
        kept = first + np.flatnonzero(quarter_wins[first:end] >= 0)
        gains = _replay(a, b, quarter_wins / 4, kept[:, None], comparisons.n_competitors, k, gains)
        path.append(start + gains[0])
        first = end
    return np.array(path).reshape(len(ends), comparisons.n_competitors)


def _replay(
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    score: Floats,
    orders: NDArray[np.integer],
    competitors: int,
    k: float,
    before: Floats | None = None,
) -> Floats:
    """Gains (P, K) in points after playing the votes in each of P orders, the columns of `orders` (n, P).

    before: gains (P, K) to begin with, else 0.
    """
    replays = orders.shape[1]
    gains: Floats = np.zeros(replays * competitors)
    if before is not None:
        gains = before.ravel() / POINTS_PER_LOG_ODDS
    row = np.arange(replays) * competitors
    rate = k / POINTS_PER_LOG_ODDS
    # Looking up a block of votes at once leaves six small operations per vote.
    block = max(1, BLOCK_ENTRIES // replays)
    for first in range(0, len(orders), block):
        votes = orders[first : first + block]
        for at_a, at_b, scored in zip(row + a[votes], row + b[votes], rate * score[votes], strict=True):
            won = scored - rate * expit(gains[at_a] - gains[at_b])
            gains[at_a] += won
            gains[at_b] -= won
    return gains.reshape(replays, competitors) * POINTS_PER_LOG_ODDS
