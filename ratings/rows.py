"""Votes as columns sorted by unordered pair: what covariates and clusters need beyond a tally."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from ratings.comparisons import DROPPED, Comparisons, Policies, pair_codes, scores_of_low


def sum_by(index: NDArray[Any], values: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Sums of values (n,) by index (n,) in 0 … size − 1; (size,)."""
    sums: NDArray[Any] = np.bincount(index, values, minlength=size)
    return sums


@dataclass(frozen=True, eq=False)
class Rows:
    """n kept votes, those of one pair side by side.

    low < high (P,): the pairs · first (P,): a pair's first row · pair (n,): each row's pair · score (n,): 0,
    ½, 1 of low · weight (n,) · z (k, n): covariates oriented low − high · source (n,): the row of the
    Comparisons.
    """

    n_competitors: int
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    first: NDArray[np.int64]
    pair: NDArray[np.int32]
    score: NDArray[np.float64]
    weight: NDArray[np.float64]
    z: NDArray[np.float64]
    source: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.pair)

    def by_pair(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums of values (n,) within each pair (P,)."""
        sums: NDArray[np.float64] = np.add.reduceat(values, self.first)
        return sums


def sort_rows(comparisons: Comparisons, policies: Policies) -> Rows:
    """Kept votes sorted by pair (a counting sort: O(n + K²)), in their order within a pair."""
    k = comparisons.n_competitors
    half_wins = scores_of_low(comparisons, policies)
    kept = np.flatnonzero(half_wins != DROPPED)
    codes = pair_codes(comparisons)[kept]
    by_code = coo_array((kept, (codes, np.arange(len(kept)))), shape=(k * k, max(len(kept), 1))).tocsr()
    source: NDArray[np.int64] = by_code.data
    sizes = np.diff(by_code.indptr)
    pairs = np.flatnonzero(sizes)
    first = by_code.indptr[pairs].astype(np.int64)
    z = comparisons.covariates
    sign = np.where(comparisons.a[source] < comparisons.b[source], 1.0, -1.0)
    return Rows(
        n_competitors=k,
        low=(pairs // k).astype(np.int32),
        high=(pairs % k).astype(np.int32),
        first=first,
        pair=np.repeat(np.arange(len(pairs), dtype=np.int32), sizes[pairs]),
        score=half_wins[source] / 2,
        weight=comparisons.weights()[source],
        z=np.zeros((0, len(source))) if z is None else np.ascontiguousarray((z[source] * sign[:, None]).T),
        source=source,
    )
