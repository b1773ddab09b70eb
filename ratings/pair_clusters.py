"""Effective clusters of every difference of two strengths at once: G_c = (Σℓ_g)²/Σℓ_g², c = e_i − e_j.

ℓ_g = cᵀH⁻H_gH⁻c = M_ii + M_jj − 2M_ij with M = H⁻H_gH⁻, and Σ_g ℓ_g = cᵀH⁻c. M has the rank of cluster g's
pairs of competitors, so that a cluster costs K² per pair, and only Σℓ_g² (K, K) is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ratings.cluster_runs import Labels
from ratings.clusters import VoteScores
from ratings.newton import Matrix, Vector
from ratings.rows import sum_by

MOST_WORK = 1_000_000_000
"""Multiplications up to which every cluster's part of every difference is worked out: about a second."""

WORK_OF_A_CLUSTER = 40_000
"""What one cluster costs besides, in multiplications."""

BLOCK_ENTRIES = 4_000_000


@dataclass(frozen=True, eq=False)
class PairClusters:
    """One dimension: effective (K, K), the G_c of each difference, 0 on the diagonal.

    exact: worked out cluster by cluster. Else, on large boards, votes on either of the two are counted
    exactly, and what the votes of others carry is spread over the clusters by their information.
    """

    effective: Matrix
    exact: bool


def clusters_of_pairs(
    scores: VoteScores, bread: Matrix, labels: Labels, count: int, *, most: int = MOST_WORK
) -> PairClusters:
    """G_c of all pairs. labels (n,) in 0 … count − 1 of the sorted rows · most: work spent on exactness."""
    k = scores.rows.n_competitors
    within = bread[:k, :k]
    total = np.diag(within)[:, None] + np.diag(within)[None, :] - 2 * within
    parts = _parts(scores, labels, count)
    exact = parts.nnz * k * k + count * (WORK_OF_A_CLUSTER + 8 * k * k) <= most
    squares = _exact(scores, bread, parts) if exact else _nearly(scores, bread, labels, count, total)
    with np.errstate(invalid="ignore", divide="ignore"):
        effective = np.where((squares > 0) & (total > 0), total**2 / squares, 0.0).round(9)
    np.fill_diagonal(effective, 0.0)
    return PairClusters(effective, exact)


def _parts(scores: VoteScores, labels: Labels, count: int) -> csr_array:
    """Information (G, P) of each cluster on each pair; with covariates (G, n), for no two votes are alike."""
    r, n = scores.rows, len(scores.rows)
    column: NDArray[np.int32] = np.arange(n, dtype=np.int32) if len(r.z) else r.pair
    width = n if len(r.z) else len(r.low)
    information = scores.information.astype(np.float64, copy=False)
    parts = csr_array((information, (labels, column)), shape=(count, width))
    parts.sum_duplicates()
    return parts


def _exact(scores: VoteScores, bread: Matrix, parts: csr_array) -> Matrix:
    """Σ_g ℓ_g² (K, K)."""
    r, k = scores.rows, scores.rows.n_competitors
    squares = np.zeros((k, k))
    size = max(BLOCK_ENTRIES // k, 1)
    for start, stop in zip(parts.indptr[:-1], parts.indptr[1:], strict=True):
        m = np.zeros((k, k))
        for first in range(start, stop, size):
            mine = slice(first, min(first + size, stop))
            at = parts.indices[mine]
            pair = r.pair[at] if len(r.z) else at
            along = bread[r.low[pair], :k] - bread[r.high[pair], :k]
            if len(r.z):
                along += r.z[:, at].T @ bread[k:, :k]
            along *= np.sqrt(parts.data[mine])[:, None]
            m += along.T @ along
        own = np.diag(m)
        carried = own[:, None] + own[None, :] - 2 * m
        squares += carried**2
    return squares


def _nearly(scores: VoteScores, bread: Matrix, labels: Labels, count: int, total: Matrix) -> Matrix:
    """Σ_g ℓ_g² (K, K), ℓ_g being the votes of g on either of the two and g's share of the rest."""
    k = scores.rows.n_competitors
    information = scores.information.astype(np.float64, copy=False)
    share = sum_by(labels, information, count)
    share /= share.sum()
    own, products, mixed = np.zeros(k), np.zeros((k, k)), np.zeros(k)
    table = _own(scores, bread, labels, count)
    for start in range(0, count, max(BLOCK_ENTRIES // k, 1)):
        clusters = slice(start, start + max(BLOCK_ENTRIES // k, 1))
        block = table[clusters].toarray()
        own += block.sum(axis=0)
        products += block.T @ block
        mixed += share[clusters] @ block
    rest = np.maximum(total - own[:, None] - own[None, :], 0.0)
    scale: Matrix = total / np.maximum(own[:, None] + own[None, :] + rest, 1e-300)
    squared: Vector = np.diag(products)
    both = squared[:, None] + squared[None, :] + 2 * products
    squares: Matrix = both + 2 * rest * (mixed[:, None] + mixed[None, :]) + rest**2 * (share @ share)
    return squares * scale**2


def _own(scores: VoteScores, bread: Matrix, labels: Labels, count: int) -> csr_array:
    """(G, K): what a cluster's votes on a competitor carry of its strength."""
    r, k = scores.rows, scores.rows.n_competitors
    diagonal = np.diag(bread)
    to_low = (diagonal[r.low] - bread[r.low, r.high]) ** 2
    to_high = (diagonal[r.high] - bread[r.low, r.high]) ** 2
    information = scores.information.astype(np.float64, copy=False)
    values = np.concatenate([information * to_low[r.pair], information * to_high[r.pair]])
    column: NDArray[np.int32] = np.concatenate([r.low[r.pair], r.high[r.pair]])
    return csr_array((values, (np.tile(labels, 2), column)), shape=(count, k))
