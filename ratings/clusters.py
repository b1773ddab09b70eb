"""Cluster-robust covariance: votes of one rater, or about one prompt, aren't independent.

U_g = Σ_{t∈g} residual·x, H_g = Σ_{t∈g} information·x xᵀ for the votes t of cluster g.
CR0: V = H⁻(Σ U_g U_gᵀ)H⁻ (Liang & Zeger 1986). CR3, one step (Bell & McCaffrey 2002; jackknife about θ̂):
V = (G − 1)/G Σ D_g D_gᵀ with D_g = (H − H_g)⁻U_g.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ratings.bradley_terry import Fit
from ratings.newton import Matrix, Vector, gauge, generalised_inverse
from ratings.rows import Rows, sum_by

Labels = NDArray[np.int64]

DISCONNECTED = 1 - 1e-6
"""λmax(H⁻H_g) from which deleting cluster g is taken to leave some strengths undetermined."""

CHORD_ROUNDS = 12
CHORD_TOLERANCE = 1e-9
BLOCK_ENTRIES = 20_000_000


@dataclass(frozen=True, eq=False)
class VoteScores:
    """What each kept vote (n rows) adds to the fit at its maximum.

    residual: w(y − p) · information: w p(1 − p) · pseudo: frozen Firth pseudo-battles that a disconnecting
    deletion falls back on, w p(1 − p) xᵀH⁻x.
    """

    rows: Rows
    residual: Vector
    information: Vector
    pseudo: Vector


@dataclass(frozen=True, eq=False)
class Dimension:
    """One way in which votes cluster: `labels` (n,) in 0 … count − 1 for the sorted rows.

    effective: G* = N²/Σn_g² · per_parameter (p,): G_c = (Σℓ_g)²/Σℓ_g², ℓ_g = cᵀH⁻H_gH⁻c, for each rating
    less the mean and each coefficient: how many equal clusters would carry as much · fallen_back: parameters
    that hang on one cluster alone.
    """

    name: str
    labels: Labels
    count: int
    effective: float
    per_parameter: Vector
    covariance: Matrix
    fallen_back: NDArray[np.bool_]


def consecutive(values: NDArray[Any]) -> tuple[Labels, int]:
    """Ids as labels 0 … G − 1, and G."""
    unique, labels = np.unique(values, return_inverse=True)
    return labels.astype(np.int64), len(unique)


def by_cluster(scores: VoteScores, values: Vector, labels: Labels, count: int) -> Matrix:
    """Σ_{t∈g} values·x per cluster, dense (G, p)."""
    r = scores.rows
    k = r.n_competitors
    at = labels * k
    low, high = r.low[r.pair], r.high[r.pair]
    strengths = np.bincount(at + low, values, count * k) - np.bincount(at + high, values, count * k)
    parts = [strengths.reshape(count, k)]
    parts += [np.bincount(labels, values * column, count)[:, None] for column in r.z]
    return np.hstack(parts)


def cr0(scores: VoteScores, bread: Matrix, labels: Labels, count: int) -> Matrix:
    """V = H⁻(Σ U_g U_gᵀ)H⁻ (p, p) with sparse U: for intersections, which may be as many as the votes."""
    u = sparse_scores(scores.rows, scores.residual, scores.residual * scores.rows.z, labels, count)
    covariance: Matrix = bread @ (u.T @ u).toarray() @ bread
    return covariance


def sparse_scores(rows: Rows, residual: Vector, extra: Matrix, labels: Labels, count: int) -> csr_array:
    """U (G, p): Σ_{t∈g} of residual·(e_low − e_high) and of the further columns `extra` (p − K, n)."""
    k, n = rows.n_competitors, len(rows)
    further = np.repeat(np.arange(k, k + len(extra)), n)
    column = np.concatenate([rows.low[rows.pair], rows.high[rows.pair], further])
    values = np.concatenate([residual, -residual, extra.ravel()])
    return csr_array((values, (np.tile(labels, 2 + len(extra)), column)), shape=(count, k + len(extra)))


def cr3(scores: VoteScores, fit: Fit, labels: Labels, count: int) -> tuple[Matrix, NDArray[np.bool_]]:
    """One-step delete-one-cluster covariance (p, p), and the parameters whose deletion was degenerate."""
    p = len(fit.params)
    alone = _holds_alone(scores, labels, count, fit.n_competitors)
    meat, fallen_back = np.zeros((p, p)), np.zeros(p, dtype=bool)
    for part in _blocks(scores, labels, count, max(1, BLOCK_ENTRIES // p)):
        moves, slow = _chord_moves(part, fit)
        for g in np.flatnonzero(slow | alone[part.first : part.first + part.count]):
            moves[g], degenerate = _direct_move(scores, fit, labels == part.first + g)
            fallen_back |= degenerate
        meat += moves.T @ moves
    return meat * (count - 1) / count, fallen_back


@dataclass(frozen=True, eq=False)
class _Block:
    """The votes of clusters first … first + count − 1, labelled from 0."""

    scores: VoteScores
    labels: Labels
    first: int
    count: int


def _blocks(scores: VoteScores, labels: Labels, count: int, size: int) -> Iterator[_Block]:
    """Votes by runs of `size` clusters, so that (G, p) arrays stay small."""
    if count <= size:
        yield _Block(scores, labels, 0, count)
        return
    order = np.argsort(labels, kind="stable")
    firsts = range(0, count + size, size)
    for (start, stop), first in zip(
        pairwise(np.searchsorted(labels[order], list(firsts))), firsts, strict=False
    ):
        rows = order[start:stop]
        part = VoteScores(
            _take_rows(scores.rows, rows),
            scores.residual[rows],
            scores.information[rows],
            scores.pseudo[rows],
        )
        yield _Block(part, labels[rows] - first, first, min(size, count - first))


def _take_rows(rows: Rows, index: NDArray[np.int64]) -> Rows:
    return replace(
        rows,
        pair=rows.pair[index],
        score=rows.score[index],
        weight=rows.weight[index],
        z=rows.z[:, index],
        source=rows.source[index],
    )


def _chord_moves(block: _Block, fit: Fit) -> tuple[Matrix, NDArray[np.bool_]]:
    """θ̂ − θ_(−g) for each cluster (G, p) by the chord D ← (U + H_g D)H⁻, and for which it's too slow."""
    scores, labels, count = block.scores, block.labels, block.count
    u = by_cluster(scores, scores.residual, labels, count)
    moves = u @ fit.bread
    slow = np.ones(count, dtype=bool)
    for _ in range(CHORD_ROUNDS):
        again = (u + by_cluster(scores, _informed(scores, labels, moves), labels, count)) @ fit.bread
        slow = np.abs(again - moves).max(axis=1) > CHORD_TOLERANCE * np.abs(again).max()
        moves = again
        if not slow.any():
            break
    return moves, slow


def _holds_alone(scores: VoteScores, labels: Labels, count: int, k: int) -> NDArray[np.bool_]:
    """Clusters (G,) without which some strength, or all but a tenth of a covariate, isn't determined.

    There the chord would settle on a move of about zero: the lone cluster's own residuals sum to zero.
    """
    rows = scores.rows
    alone = np.zeros(count, dtype=bool)
    for column in rows.z:
        held = sum_by(labels, scores.information * column**2, count)
        alone |= held > 0.9 * held.sum()
    least, most = np.minimum.reduceat(labels, rows.first), np.maximum.reduceat(labels, rows.first)
    own = least == most
    parts = _parts(rows, np.ones(len(own), dtype=bool), k)
    for g in np.unique(least[own]):
        alone[g] |= _parts(rows, ~(own & (least == g)), k) > parts
    return alone


def _parts(rows: Rows, kept: NDArray[np.bool_], k: int) -> int:
    graph = csr_array((np.ones(int(kept.sum())), (rows.low[kept], rows.high[kept])), shape=(k, k))
    return int(connected_components(graph, directed=False)[0])


def _informed(scores: VoteScores, labels: Labels, moves: Matrix) -> Vector:
    """information·xᵀD_g for each vote (n,), g its cluster."""
    r = scores.rows
    k = r.n_competitors
    flat, at = moves.ravel(), labels * moves.shape[1]
    along = flat[at + r.low[r.pair]] - flat[at + r.high[r.pair]]
    for j, column in enumerate(r.z):
        along += column * flat[at + k + j]
    informed: Vector = scores.information * along
    return informed


def _direct_move(scores: VoteScores, fit: Fit, mine: NDArray[np.bool_]) -> tuple[Vector, NDArray[np.bool_]]:
    """θ̂ − θ_(−g) by solving; where g alone determines something, frozen pseudo-battles stand in for it."""
    flat = gauge(fit.graph.component, len(fit.covariate_names))
    own = outer(scores, np.where(mine, scores.information, 0.0))
    share, directions = eigh(own, fit.hessian + np.trace(fit.hessian) * flat @ flat.T)
    lost = directions[:, share > DISCONNECTED]
    rest = fit.hessian - own
    if lost.size:
        rest = rest + outer(scores, scores.pseudo * scores.information / scores.rows.weight)
    u = by_cluster(scores, np.where(mine, scores.residual, 0.0), np.zeros(len(mine), dtype=np.int64), 1)[0]
    move: Vector = generalised_inverse(rest, flat) @ u
    spread = np.abs(lost - np.median(lost, axis=0)) if lost.size else np.zeros((len(u), 1))
    return move, (spread > 1e-3 * np.abs(lost).max(initial=1e-300)).any(axis=1)


def outer(scores: VoteScores, values: Vector) -> Matrix:
    """Σ values·x xᵀ (p, p) over the votes, in any row order."""
    r = scores.rows
    k = r.n_competitors
    low, high = r.low[r.pair].astype(np.int64), r.high[r.pair].astype(np.int64)
    upper = np.bincount(low * k + high, values, k * k).reshape(k, k)
    off = upper + upper.T
    strengths = np.diag(off.sum(axis=1)) - off
    weighted = r.z * values
    cross = [np.bincount(low, c, k) - np.bincount(high, c, k) for c in weighted]
    mixed = np.stack(cross, axis=1) if cross else np.zeros((k, 0))
    return np.block([[strengths, mixed], [mixed.T, weighted @ r.z.T]])


def effective_clusters(labels: Labels) -> float:
    """G* = N²/Σn_g²: as many equally large clusters would be as uneven; (n,) labels."""
    sizes = np.bincount(labels).astype(np.float64)
    return float(sizes.sum() ** 2 / (sizes**2).sum())


def effective_per_parameter(scores: VoteScores, bread: Matrix, labels: Labels, count: int) -> Vector:
    """G_c (p,) for the contrasts "rating of i less the mean" (H⁻c is column i of H⁻) and each coefficient."""
    r = scores.rows
    k = r.n_competitors
    along = (bread[r.low] - bread[r.high]).astype(np.float32)  # (pairs, p)
    shares = csr_array((scores.information, (labels, r.pair)), shape=(count, len(r.low)))
    carried = np.asarray(shares.astype(np.float32) @ along**2, dtype=np.float64)
    for j, column in enumerate(r.z):
        mixed = csr_array((scores.information * column, (labels, r.pair)), shape=shares.shape)
        carried += 2 * np.asarray(mixed.astype(np.float32) @ along) * bread[k + j]
        for m, other in enumerate(r.z):
            both = np.bincount(labels, scores.information * column * other, count)
            carried += both[:, None] * (bread[k + j] * bread[k + m])
    return _effective(np.maximum(carried, 0))


def effective_for(scores: VoteScores, bread: Matrix, labels: Labels, count: int, contrast: Vector) -> float:
    """G_c for one contrast c (p,)."""
    r = scores.rows
    direction = bread @ contrast
    along = (direction[r.low] - direction[r.high])[r.pair] + direction[r.n_competitors :] @ r.z
    carried = sum_by(labels, scores.information * along**2, count)
    return float(_effective(carried[:, None])[0])


def _effective(carried: Matrix) -> Vector:
    total, squares = carried.sum(axis=0), (carried**2).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(squares > 0, total**2 / squares, 0.0)


def cluster(name: str, ids: NDArray[np.int32], scores: VoteScores, fit: Fit) -> Dimension:
    """One dimension of clustering with its CR3 covariance; `ids` are those of the Comparisons' rows."""
    labels, count = consecutive(ids[scores.rows.source])
    if count == 1:
        p = len(fit.params)
        return Dimension(name, labels, 1, 1.0, np.ones(p), np.zeros((p, p)), np.zeros(p, dtype=bool))
    covariance, fallen_back = cr3(scores, fit, labels, count)
    return Dimension(
        name=name,
        labels=labels,
        count=count,
        effective=effective_clusters(labels),
        per_parameter=effective_per_parameter(scores, fit.bread, labels, count),
        covariance=covariance,
        fallen_back=fallen_back,
    )
