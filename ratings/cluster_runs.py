"""Votes put side by side cluster by cluster, some tens of thousands at a time.

What is summed by cluster then stays in the processor's cache, however many votes and clusters there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratings.newton import Matrix
from ratings.rows import Floats, Rows, sum_by

Labels = NDArray[np.int64]

RUN_ROWS = 65_536
"""Votes in a run, unless one cluster alone has more."""

RUN_CLUSTERS = 4_096
"""Clusters in a run at most: of each there are p sums."""


def consecutive(values: NDArray[Any]) -> tuple[Labels, int]:
    """Ids ≥ 0 as labels 0 … G − 1 in their order, and G."""
    if len(values) and values.max() <= 4 * len(values) + 1000:
        used = np.bincount(values) > 0
        label = np.cumsum(used) - 1
        return np.take(label, values, mode="clip").astype(np.int64, copy=False), int(used.sum())
    unique, labels = np.unique(values, return_inverse=True)
    return labels.astype(np.int64), len(unique)


def side_by_side(labels: Labels) -> tuple[Labels, Labels]:
    """Labels (n,) ≥ 0 in rising order, and the row each came from, in the rows' order within a label."""
    bits = max(len(labels) - 1, 1).bit_length()
    if int(labels.max(initial=0)).bit_length() + bits > 63:
        labels = consecutive(labels)[0]
    key = labels << bits
    key += np.arange(len(labels))
    key.sort()
    order = key & ((1 << bits) - 1)
    key >>= bits
    return key, order


@dataclass(frozen=True, eq=False)
class VoteTable:
    """What clusters need of each vote (n rows) in one place of memory: a vote is then fetched at once.

    fields (n, ≥ 3 + k): pair (its bits), residual, information, covariates.
    """

    rows: Rows
    fields: Floats

    @classmethod
    def of(cls, rows: Rows, residual: Floats, information: Floats) -> VoteTable:
        """The columns (n,) side by side; their number is a power of two, which numpy fetches fastest."""
        columns = (residual, information, *rows.z)
        fields = np.empty((len(rows), 1 << len(columns).bit_length()), dtype=residual.dtype)
        for start in range(0, len(rows), RUN_ROWS):
            part = slice(start, start + RUN_ROWS)
            fields.view(_as_integer(fields))[part, 0] = rows.pair[part]
            for place, column in enumerate(columns, start=1):
                fields[part, place] = column[part]
        return cls(rows, fields)

    def runs(self, labels: Labels, order: Labels, most: int = RUN_CLUSTERS) -> Iterator[Run]:
        """Votes by runs of at most `most` whole clusters; labels (m,) rising, order (m,) their rows, as
        `side_by_side` gives. Clusters are counted by the labels that occur."""
        starts = np.flatnonzero(np.concatenate([[len(labels) > 0], labels[1:] != labels[:-1]]))
        ends = np.append(starts, len(labels))
        first = 0
        while first < len(starts):
            stop = int(np.searchsorted(ends, ends[first] + RUN_ROWS, side="right")) - 1
            stop = min(max(stop, first + 1), first + most)
            at = order[ends[first] : ends[stop]]
            yield self._run(first, starts[first:stop] - ends[first], at)
            first = stop

    def _run(self, first: int, starts: Labels, at: Labels) -> Run:
        rows, fields = self.rows, np.take(self.fields, at, axis=0, mode="clip")
        pair = fields.view(_as_integer(fields))[:, 0].astype(np.int32)
        columns = np.ascontiguousarray(fields[:, 1 : 3 + len(rows.z)].T)
        low, high = (np.take(side, pair, mode="clip") for side in (rows.low, rows.high))
        return Run(rows.n_competitors, first, starts, pair, low, high, columns[0], columns[1], columns[2:])


def _as_integer(fields: Floats) -> type:
    return np.int32 if fields.dtype == np.float32 else np.int64


@dataclass(frozen=True, eq=False)
class Run:
    """m votes of the clusters `first` … `first + count − 1`, in their order.

    starts (count,): each cluster's first vote · pair (m,) · low, high (m,): competitors · residual,
    information (m,) · z (k, m).
    """

    n_competitors: int
    first: int
    starts: Labels
    pair: NDArray[np.int32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    residual: Floats
    information: Floats
    z: Floats

    @property
    def count(self) -> int:
        """Clusters in the run."""
        return len(self.starts)

    @cached_property
    def sizes(self) -> Labels:
        """Votes of each cluster (count,)."""
        sizes: Labels = np.diff(np.append(self.starts, len(self.pair)))
        return sizes

    @cached_property
    def places(self) -> tuple[Labels, Labels]:
        """Where each vote's low and high (m,) stand in a flattened (count, K)."""
        row = np.repeat(np.arange(self.count) * self.n_competitors, self.sizes)
        return row + self.low, row + self.high

    def by_cluster(self, values: Floats) -> Matrix:
        """Sums within each cluster of values (m,) or (j, m)."""
        sums: Matrix = np.add.reduceat(values, self.starts, axis=-1).astype(np.float64, copy=False)
        return sums

    def sums(self, values: Floats) -> Matrix:
        """Σ_{t∈g} values·x per cluster, dense (count, p)."""
        low, high = self.places
        cells = self.count * self.n_competitors
        strengths = sum_by(low, values, cells)
        strengths -= sum_by(high, values, cells)
        strengths = strengths.reshape(self.count, -1)
        return np.hstack([strengths, self.by_cluster(self.z * values).T]) if len(self.z) else strengths

    def along(self, moves: Matrix) -> Floats:
        """xᵀD_g for each vote (m,), g its cluster, D (count, p)."""
        k, width = self.n_competitors, self.residual.dtype
        low, high = self.places
        flat = np.ascontiguousarray(moves[:, :k], dtype=width).ravel()
        along: Floats = flat.take(low, mode="clip")
        along -= flat.take(high, mode="clip")
        for move, column in zip(moves[:, k:].T.astype(width), self.z, strict=True):
            along += column * np.repeat(move, self.sizes)
        return along
