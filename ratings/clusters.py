"""Cluster-robust covariance: votes of one rater, or about one prompt, aren't independent.

U_g = Σ_{t∈g} residual·x, H_g = Σ_{t∈g} information·x xᵀ for the votes t of cluster g.
CR0: V = H⁻(Σ U_g U_gᵀ)H⁻ (Liang & Zeger 1986). CR3, one step (Bell & McCaffrey 2002; jackknife about θ̂):
V = (G − 1)/G Σ D_g D_gᵀ with D_g = (H − H_g)⁻U_g.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_array

from ratings.bradley_terry import Fit, RowLikelihood
from ratings.deletions import holds_alone
from ratings.newton import Matrix, Vector, gauge, generalised_inverse
from ratings.rows import Floats, Rows, sum_by

Labels = NDArray[np.int64]

DISCONNECTED = 1 - 1e-6
"""λmax(H⁻H_g) from which deleting cluster g is taken to leave some strengths undetermined."""

CHORD_ROUNDS = 12
CHORD_TOLERANCE = 1e-9
CHORD_TOLERANCE_SINGLE = 1e-3  # of the largest move; what is left after that is smaller still
BLOCK_ENTRIES = 20_000_000


@dataclass(frozen=True, eq=False)
class VoteScores:
    """What each kept vote (n rows) adds to a fit: residual w(y − p), information w p(1 − p)."""

    rows: Rows
    residual: Floats
    information: Floats
    fit: Fit

    @cached_property
    def pseudo(self) -> Vector:
        """Frozen Firth pseudo-battles w p(1 − p) xᵀH⁻x (n,), for deletions and resamples that need them."""
        return RowLikelihood(self.rows).leverage(self.fit.params, self.fit.bread)


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
    """Ids ≥ 0 as labels 0 … G − 1 in their order, and G."""
    if len(values) and values.max() <= 4 * len(values) + 1000:
        used = np.bincount(values) > 0
        label = np.cumsum(used) - 1
        return label[values].astype(np.int64, copy=False), int(used.sum())
    unique, labels = np.unique(values, return_inverse=True)
    return labels.astype(np.int64), len(unique)


@dataclass(frozen=True, eq=False)
class _Places:
    """Where each vote adds to a (G, K) table: its cluster's row, its competitors' columns."""

    scores: VoteScores
    labels: Labels
    count: int

    @cached_property
    def _low(self) -> Labels:
        return self.labels * self.scores.rows.n_competitors + self.scores.rows.row_low

    @cached_property
    def _high(self) -> Labels:
        return self.labels * self.scores.rows.n_competitors + self.scores.rows.row_high

    def sums(self, values: Floats) -> Matrix:
        """Σ_{t∈g} values·x per cluster, dense (G, p)."""
        rows, cells = self.scores.rows, self.count * self.scores.rows.n_competitors
        strengths = sum_by(self._low, values, cells) - sum_by(self._high, values, cells)
        further = [sum_by(self.labels, values * column, self.count)[:, None] for column in rows.z]
        return np.hstack([strengths.reshape(self.count, -1), *further])

    def along(self, moves: Matrix) -> Floats:
        """xᵀD_g for each vote (n,), g its cluster, D (G, p)."""
        k = self.scores.rows.n_competitors
        width = self.scores.residual.dtype
        flat = np.ascontiguousarray(moves[:, :k], dtype=width).ravel()
        along: Floats = flat.take(self._low, mode="clip") - flat.take(self._high, mode="clip")
        for move, column in zip(moves[:, k:].T.astype(width), self.scores.rows.z, strict=True):
            along += column * move.take(self.labels, mode="clip")
        return along


def cr0(scores: VoteScores, bread: Matrix, labels: Labels, count: int) -> Matrix:
    """V = H⁻(Σ U_g U_gᵀ)H⁻ (p, p): for intersections, which may be as many as the votes."""
    if count * len(bread) <= BLOCK_ENTRIES:
        dense = _Places(scores, labels, count).sums(scores.residual)
        meat = dense.T @ dense
    else:
        sizes = np.bincount(labels, minlength=count)
        if (sizes.astype(np.float64) ** 2).sum() <= PAIRED_UP_TO * len(labels):
            meat = _meat_by_pairs(scores, labels)
        else:
            u = sparse_scores(scores.rows, scores.residual, scores.residual * scores.rows.z, labels, count)
            meat = (u.T @ u).toarray()
    covariance: Matrix = bread @ meat @ bread
    return covariance


PAIRED_UP_TO = 20
"""Clusters are worked off vote by vote while their squared sizes sum to less than 20 per vote."""

PAIRS_AT_A_TIME = 1_000_000


def _meat_by_pairs(scores: VoteScores, labels: Labels) -> Matrix:
    """Σ U_g U_gᵀ (p, p): Σ e² x xᵀ, and e_s e_t (x_s x_tᵀ + x_t x_sᵀ) of every two votes of a cluster."""
    rows, n = scores.rows, len(labels)
    meat = RowLikelihood(rows).outer(scores.residual**2)
    key = labels * n + np.arange(n)
    key.sort()
    label = key // n
    order = key - label * n
    for distance in range(1, n):
        together = np.flatnonzero(label[distance:] == label[:-distance])
        if not len(together):
            break
        for part in np.array_split(together, 1 + len(together) // PAIRS_AT_A_TIME):
            meat += _cross(scores, order[part], order[part + distance])
    return meat


def _cross(scores: VoteScores, s: Labels, t: Labels) -> Matrix:
    """Σ e_s e_t (x_s x_tᵀ + x_t x_sᵀ) (p, p) over pairs of votes (m,)."""
    rows, k = scores.rows, scores.rows.n_competitors
    both = scores.residual[s] * scores.residual[t]
    low_s, high_s, low_t, high_t = (
        rows.row_low[s] * k,
        rows.row_high[s] * k,
        rows.row_low[t],
        rows.row_high[t],
    )
    strengths = sum_by(low_s + low_t, both, k * k) + sum_by(high_s + high_t, both, k * k)
    strengths -= sum_by(low_s + high_t, both, k * k) + sum_by(high_s + low_t, both, k * k)
    z_s, z_t = rows.z[:, s], rows.z[:, t]
    mixed = [
        sum_by(low_s // k, both * to, k) - sum_by(high_s // k, both * to, k)
        + sum_by(low_t, both * of, k) - sum_by(high_t, both * of, k)
        for of, to in zip(z_s, z_t, strict=True)
    ]  # fmt: skip
    cross = np.stack(mixed, axis=1) if mixed else np.zeros((k, 0))
    further = np.asarray((z_s * both) @ z_t.T, dtype=np.float64)
    square = strengths.reshape(k, k)
    return np.block([[square + square.T, cross], [cross.T, further + further.T]])


def sparse_scores(rows: Rows, residual: Floats, extra: Floats, labels: Labels, count: int) -> csr_array:
    """U (G, p): Σ_{t∈g} of residual·(e_low − e_high) and of the further columns `extra` (p − K, n)."""
    k, n = rows.n_competitors, len(rows)
    further = np.repeat(np.arange(k, k + len(extra)), n)
    column = np.concatenate([rows.low[rows.pair], rows.high[rows.pair], further])
    values = np.concatenate([residual, -residual, extra.ravel()])
    return csr_array((values, (np.tile(labels, 2 + len(extra)), column)), shape=(count, k + len(extra)))


def cr3(scores: VoteScores, fit: Fit, labels: Labels, count: int) -> tuple[Matrix, NDArray[np.bool_]]:
    """One-step delete-one-cluster covariance (p, p), and the parameters whose deletion was degenerate."""
    p = len(fit.params)
    alone = holds_alone(scores.rows, scores.information, labels, count)
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
            _take_rows(scores.rows, rows), scores.residual[rows], scores.information[rows], scores.fit
        )
        yield _Block(part, labels[rows] - first, first, min(size, count - first))


def _take_rows(rows: Rows, index: NDArray[np.int64]) -> Rows:
    """These rows without their order by pair."""
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
    places, information = _Places(block.scores, block.labels, block.count), block.scores.information
    u = places.sums(block.scores.residual)
    moves = u @ fit.bread
    tolerance = CHORD_TOLERANCE if information.dtype == np.float64 else CHORD_TOLERANCE_SINGLE
    slow = np.ones(block.count, dtype=bool)
    for _ in range(CHORD_ROUNDS):
        again = (u + places.sums(information * places.along(moves))) @ fit.bread
        # what is left shrinks by the same factor again
        slow = np.abs(again - moves).max(axis=1) > tolerance * np.abs(again).max()
        moves = again
        if not slow.any():
            break
    return moves, slow


def _direct_move(scores: VoteScores, fit: Fit, mine: NDArray[np.bool_]) -> tuple[Vector, NDArray[np.bool_]]:
    """θ̂ − θ_(−g) by solving; where g alone determines something, frozen pseudo-battles stand in for it."""
    flat = gauge(fit.graph.component, len(fit.covariate_names))
    own = outer(scores, np.where(mine, scores.information, 0.0))
    share, directions = eigh(own, fit.hessian + np.trace(fit.hessian) * flat @ flat.T)
    lost = directions[:, share > DISCONNECTED]
    rest = fit.hessian - own
    if lost.size:
        rest = rest + outer(scores, scores.pseudo * scores.information / scores.rows.weight)
    one = np.zeros(len(mine), dtype=np.int64)
    u = _Places(scores, one, 1).sums(np.where(mine, scores.residual, 0.0))[0]
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
    cross = [sum_by(low, c, k) - sum_by(high, c, k) for c in weighted]
    mixed = np.stack(cross, axis=1) if cross else np.zeros((k, 0))
    return np.block([[strengths, mixed], [mixed.T, weighted @ r.z.T]])


def effective_clusters(labels: Labels) -> float:
    """G* = N²/Σn_g²: as many equally large clusters would be as uneven; (n,) labels."""
    sizes = np.bincount(labels).astype(np.float64)
    return float(sizes.sum() ** 2 / (sizes**2).sum())


def effective_per_parameter(scores: VoteScores, bread: Matrix, labels: Labels, count: int) -> Vector:
    """G_c (p,) for the contrasts "rating of i less the mean" (H⁻c is column i of H⁻) and each coefficient.

    On large boards a rating's own votes are counted exactly, and the little that the votes of others carry is
    spread over the clusters by their information.
    """
    if scores.information.dtype == np.float64:
        return _effective(np.maximum(_carried(scores, bread, labels, count), 0))
    return _effective(_carried_mostly(scores, bread, labels, count))


def _carried(scores: VoteScores, bread: Matrix, labels: Labels, count: int) -> Matrix:
    """ℓ_g (G, p) = Σ_{t∈g} information·(xᵀH⁻c)² for each contrast."""
    r = scores.rows
    k = r.n_competitors
    along = bread[r.low] - bread[r.high]  # (pairs, p)
    shares = csr_array((scores.information, (labels, r.pair)), shape=(count, len(r.low)))
    carried: Matrix = np.asarray(shares @ along**2)
    for j, column in enumerate(r.z):
        mixed = csr_array((scores.information * column, (labels, r.pair)), shape=shares.shape)
        carried += 2 * np.asarray(mixed @ along) * bread[k + j]
        for m, other in enumerate(r.z):
            both = sum_by(labels, scores.information * column * other, count)
            carried += both[:, None] * (bread[k + j] * bread[k + m])
    return carried


def _carried_mostly(scores: VoteScores, bread: Matrix, labels: Labels, count: int) -> Matrix:
    r, k, v = scores.rows, scores.rows.n_competitors, scores.information
    diagonal, width = np.diag(bread)[:k], v.dtype
    to_low = ((diagonal[r.low] - bread[r.low, r.high]) ** 2).astype(width)
    to_high = ((diagonal[r.high] - bread[r.low, r.high]) ** 2).astype(width)
    at = labels * k
    own = sum_by(at + r.row_low, v * to_low.take(r.pair, mode="clip"), count * k)
    own += sum_by(at + r.row_high, v * to_high.take(r.pair, mode="clip"), count * k)
    carried = own.reshape(count, k)
    share = sum_by(labels, v, count)
    rest = np.maximum(diagonal - carried.sum(axis=0), 0)
    carried += share[:, None] / share.sum() * rest
    further = []
    for j in range(k, len(bread)):
        gap = (bread[r.low, j] - bread[r.high, j]).astype(width)
        along = gap.take(r.pair, mode="clip") + bread[j, k:].astype(width) @ r.z
        further.append(sum_by(labels, v * along**2, count)[:, None])
    return np.hstack([carried, *further])


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
