"""Votes as columns sorted by unordered pair: what covariates and clusters need beyond a tally."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratings.comparisons import DROPPED, Comparisons, Policies, pair_codes, scores_of_low


def sum_by(index: NDArray[Any], values: NDArray[Any], size: int) -> NDArray[np.float64]:
    """Sums of values (n,) by index (n,) in 0 … size − 1; (size,)."""
    sums: NDArray[Any] = np.bincount(index, values, minlength=size)
    return sums


LARGE = 200_000
"""From so many votes on columns are kept in single precision: ratings differ by less than 0.001 points."""

BLOCK_ROWS = 32_768
"""Rows worked on at a time, so that their columns stay in the processor's cache."""

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class Rows:
    """n kept votes, those of one pair side by side.

    low < high (P,): the pairs · first (P,): a pair's first row · pair (n,): each row's pair · score (n,): 0,
    ½, 1 of low · weight (n,) · z (k, n): covariates oriented low − high · source (n,): the row of the
    Comparisons. Floats are double precision, single from LARGE votes on.
    """

    n_competitors: int
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    first: NDArray[np.int64]
    pair: NDArray[np.int32]
    score: Floats
    weight: Floats
    z: Floats
    source: NDArray[Any]

    def __len__(self) -> int:
        return len(self.pair)

    @cached_property
    def row_low(self) -> NDArray[np.int32]:
        """Each row's lower competitor (n,)."""
        return np.take(self.low, self.pair, mode="clip")

    @cached_property
    def row_high(self) -> NDArray[np.int32]:
        """Each row's higher competitor (n,)."""
        return np.take(self.high, self.pair, mode="clip")

    def by_pair(self, values: Floats) -> NDArray[np.float64]:
        """Sums of values (n,) within each pair (P,)."""
        sums: NDArray[np.float64] = np.add.reduceat(values, self.first).astype(np.float64, copy=False)
        return sums

    def blocks(self) -> Iterator[tuple[slice, slice]]:
        """Slices of pairs and of their rows, about BLOCK_ROWS at a time."""
        ends = np.append(self.first, len(self))
        start = 0
        while start < len(self.first):
            stop = int(np.searchsorted(ends, ends[start] + BLOCK_ROWS, side="right")) - 1
            stop = max(stop, start + 1)
            yield slice(start, stop), slice(int(ends[start]), int(ends[stop]))
            start = stop

    def every(self, step: int) -> Rows:
        """Each step-th row."""
        return self.part(slice(None, None, step))

    def part(self, rows: slice | NDArray[np.int64]) -> Rows:
        """Some of the rows, in rising order; pairs without one are left out."""
        pair = self.pair[rows]
        starts = np.flatnonzero(np.diff(pair, prepend=-1))
        kept = pair[starts]
        sizes = np.diff(np.append(starts, len(pair)))
        return replace(
            self,
            low=self.low[kept],
            high=self.high[kept],
            first=starts,
            pair=np.repeat(np.arange(len(kept), dtype=np.int32), sizes),
            score=self.score[rows],
            weight=self.weight[rows],
            z=np.ascontiguousarray(self.z[:, rows]),
            source=self.source[rows],
        )


def sort_rows(comparisons: Comparisons, policies: Policies, *, exact: bool = False) -> Rows:
    """Kept votes sorted by pair, in their order within a pair; `exact`: in double precision however many.

    Strengths without a finite maximum need that: their information is what is left of p(1 − p) near 0.
    """
    k = comparisons.n_competitors
    code, source, swapped, quarter_wins = _sorted(comparisons, scores_of_low(comparisons, policies))
    first = np.flatnonzero(np.concatenate([[len(code) > 0], code[1:] != code[:-1]]))
    pairs = code[first]
    sizes = np.diff(np.append(first, len(code)))
    del code  # tens of megabytes on a large board
    width = np.float32 if len(source) >= LARGE and not exact else np.float64
    w = comparisons.weight
    return Rows(
        n_competitors=k,
        low=(pairs // k).astype(np.int32),
        high=(pairs % k).astype(np.int32),
        first=first,
        pair=np.repeat(np.arange(len(pairs), dtype=np.int32), sizes),
        score=quarter_wins * width(0.25),
        # ones that take no memory
        weight=np.broadcast_to(width(1), len(source)) if w is None else w[source].astype(width, copy=False),
        z=_oriented(comparisons.covariates, source, swapped, width),
        source=source,
    )


TAG_BITS = 4  # three for the quarter wins, one for the order of the sides


def _sorted(
    comparisons: Comparisons, scores: NDArray[np.int8]
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.bool_], NDArray[np.int8]]:
    """Pair codes of the kept votes in rising order; their rows, whether a is the higher id, quarter wins.

    All four are sorted as one integer: that is stable, several times faster than an argsort, and spares
    picking the rest from all over the memory afterwards.
    """
    n, k = len(comparisons), comparisons.n_competitors
    row_bits = max(n - 1, 1).bit_length()
    keys, pairs = pair_codes(comparisons), None
    if (k * k).bit_length() + row_bits + TAG_BITS > 63:
        pairs, keys = np.unique(keys, return_inverse=True)
    for start in range(0, n, BLOCK_ROWS):
        part = slice(start, start + BLOCK_ROWS)
        key = keys[part]
        key <<= row_bits
        key += np.arange(start, start + len(key))
        key <<= TAG_BITS
        key += scores[part]
        key += np.int8(8) * (comparisons.a[part] > comparisons.b[part])
    if (scores == DROPPED).any():
        keys = keys[scores != DROPPED]
    keys.sort()
    source = np.empty(len(keys), dtype=np.int32 if n < 2**31 else np.int64)
    swapped, quarter_wins = np.empty(len(keys), dtype=bool), np.empty(len(keys), dtype=np.int8)
    for start in range(0, len(keys), BLOCK_ROWS):
        part = slice(start, start + BLOCK_ROWS)
        key = keys[part]
        quarter_wins[part] = key & 7
        swapped[part] = key & 8
        key >>= TAG_BITS
        source[part] = key & ((1 << row_bits) - 1)
        key >>= row_bits
    return keys if pairs is None else pairs[keys], source, swapped, quarter_wins


def _oriented(z: Floats | None, source: NDArray[Any], swapped: NDArray[np.bool_], width: type) -> Floats:
    """Covariates as columns (k, n) in sorted order, low − high; block by block, to need no second copy."""
    if z is None:
        return np.zeros((0, len(source)), dtype=width)
    columns: Floats = np.empty((z.shape[1], len(source)), dtype=width)
    for start in range(0, len(source), BLOCK_ROWS):
        part = slice(start, start + BLOCK_ROWS)
        sign = swapped[part] * width(-2)
        sign += width(1)
        picked = np.take(z, source[part], axis=0, mode="clip")
        for column, values in zip(columns, picked.T, strict=True):
            np.multiply(values, sign, out=column[part], casting="same_kind")
    return columns
