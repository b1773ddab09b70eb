"""Clusters without which a fit would fall apart: found on the graph, since no iteration would notice."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from ratings.rows import Rows

Labels = NDArray[np.int64]


def connects_alone(rows: Rows, labels: Labels, count: int) -> NDArray[np.bool_]:
    """Clusters (G,) without which some strength isn't determined.

    There the chord would settle on a move of about zero: the lone cluster's own residuals sum to zero.
    """
    k = rows.n_competitors
    alone = np.zeros(count, dtype=bool)
    least, most = np.minimum.reduceat(labels, rows.first), np.maximum.reduceat(labels, rows.first)
    own = least == most
    parts = _parts(rows, np.ones(len(own), dtype=bool), k)
    for g in _suspects(rows, np.where(own, least, -1), k):
        alone[g] |= _parts(rows, ~(own & (least == g)), k) > parts
    return alone


FORESTS = 4


def _suspects(rows: Rows, owner: Labels, k: int) -> list[int]:
    """Clusters whose deletion might disconnect the graph; `owner` (P,): the one cluster of a pair, or −1.

    Such a cluster owns a pair of every spanning forest. Forests that avoid owned pairs leave few suspects.
    """
    rng, suspects = np.random.default_rng(0), set(owner[owner >= 0].tolist())
    codes = rows.low.astype(np.int64) * k + rows.high
    for _ in range(FORESTS):
        if not suspects:
            break
        length = rng.random(len(owner)) + 1 + 2 * (owner >= 0)
        forest = minimum_spanning_tree(csr_array((length, (rows.low, rows.high)), shape=(k, k))).tocoo()
        used = np.searchsorted(codes, forest.row.astype(np.int64) * k + forest.col)
        suspects &= set(owner[used].tolist())
    return sorted(suspects)


def _parts(rows: Rows, kept: NDArray[np.bool_], k: int) -> int:
    graph = csr_array((np.ones(int(kept.sum())), (rows.low[kept], rows.high[kept])), shape=(k, k))
    return int(connected_components(graph, directed=False)[0])
