"""Clusters as small and many as the cells rater × prompt: their Σ U_g U_gᵀ, worked off vote by vote."""

from __future__ import annotations

import numpy as np

from ratings.cluster_runs import Labels, Run, VoteTable, side_by_side
from ratings.newton import Matrix, Vector
from ratings.rows import sum_by

PAIRED_UP_TO = 20
"""Votes are paired while the squared sizes of the clusters sum to less than 20 per vote."""


def meat_by_pairs(table: VoteTable, labels: Labels) -> Matrix | None:
    """Σ U_g U_gᵀ less Σ e² x xᵀ (p, p): e_s e_t (x_s x_tᵀ + x_t x_sᵀ) of every two votes of a cluster.

    labels (n,) need not be consecutive. None where clusters are so large that pairing their votes is no way.
    """
    label, order = side_by_side(labels)
    change = label[1:] != label[:-1]
    sizes = np.diff(np.flatnonzero(np.concatenate([[True], change, [True]]))).astype(np.float64)
    if (sizes**2).sum() > PAIRED_UP_TO * len(labels):
        return None
    # a vote alone in its cluster is in no pair
    several = np.concatenate([[False], ~change]) | np.concatenate([~change, [False]])
    label, order = label[several], order[several]
    p = table.rows.n_competitors + len(table.rows.z)
    meat = np.zeros((p, p))
    for run in table.runs(label, order, most=len(label)):
        meat += _of_pairs(run)
    return meat


def _of_pairs(run: Run) -> Matrix:
    """Σ e_s e_t (x_s x_tᵀ + x_t x_sᵀ) (p, p) over the pairs of votes within a cluster."""
    k, e = run.n_competitors, run.residual.astype(np.float64)
    strengths = _strengths_of_pairs(run, e)
    weighted = run.z * e
    sums = run.by_cluster(weighted)
    others = np.repeat(sums, run.sizes, axis=1) - weighted
    columns = [sum_by(run.low, e * other, k) - sum_by(run.high, e * other, k) for other in others]
    cross = np.stack(columns, axis=1) if columns else np.zeros((k, 0))
    return np.block([[strengths, cross], [cross.T, sums @ sums.T - weighted @ weighted.T]])


def _strengths_of_pairs(run: Run, e: Vector) -> Matrix:
    """The strengths' part (K, K): votes d places apart in the run's order, for d = 1, 2, …"""
    k, cluster = run.n_competitors, np.repeat(np.arange(run.count), run.sizes)
    low, high = run.low.astype(np.int64), run.high.astype(np.int64)
    square = np.zeros(k * k)
    for distance in range(1, int(run.sizes.max(initial=1))):
        s = np.flatnonzero(cluster[distance:] == cluster[:-distance])
        t, both = s + distance, e[s] * e[s + distance]
        low_s, high_s, low_t, high_t = low[s] * k, high[s] * k, low[t], high[t]
        at = np.concatenate([low_s + low_t, high_s + high_t, low_s + high_t, high_s + low_t])
        square += sum_by(at, np.concatenate([both, both, -both, -both]), k * k)
    matrix = square.reshape(k, k)
    return matrix + matrix.T
