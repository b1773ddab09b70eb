"""Cluster-robust covariance: votes of one rater, or about one prompt, aren't independent.

U_g = Σ_{t∈g} residual·x, H_g = Σ_{t∈g} information·x xᵀ for the votes t of cluster g.
CR0: V = H⁻(Σ U_g U_gᵀ)H⁻ (Liang & Zeger 1986). CR3, one step (Bell & McCaffrey 2002; jackknife about θ̂):
V = (G − 1)/G Σ D_g D_gᵀ with D_g = (H − H_g)⁻U_g.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_array

from ratings.bradley_terry import Fit, RowLikelihood, spread
from ratings.cluster_runs import Labels, Run, VoteTable, consecutive, side_by_side
from ratings.deletions import connects_alone
from ratings.intersections import meat_by_pairs
from ratings.newton import Matrix, Vector, gauge, generalised_inverse
from ratings.rows import Floats, Rows, sum_by

DISCONNECTED = 1 - 1e-6
"""λmax(H⁻H_g) from which deleting cluster g is taken to leave some strengths undetermined."""

MOST_HELD = 0.9
"""A cluster with more of a covariate's information than this is deleted directly: the chord would be slow."""

CHORD_ROUNDS = 12
CHORD_TOLERANCE = 1e-9
CHORD_TOLERANCE_SINGLE = 1e-3  # of the largest move; what is left after that is smaller still
BLOCK_ENTRIES = 20_000_000
CARRIED_PAIRS = 512


@dataclass(frozen=True, eq=False)
class VoteScores:
    """What each kept vote (n rows) adds to a fit: residual w(y − p), information w p(1 − p)."""

    rows: Rows
    residual: Floats
    information: Floats
    fit: Fit

    @cached_property
    def table(self) -> VoteTable:
        """The votes as clusters fetch them."""
        return VoteTable.of(self.rows, self.residual, self.information)

    @cached_property
    def pseudo(self) -> Vector:
        """Frozen Firth pseudo-battles w p(1 − p) xᵀH⁻x (n,), for deletions and resamples that need them."""
        return RowLikelihood(self.rows).leverage(self.fit.params, self.fit.bread)


@dataclass(frozen=True, eq=False)
class Dimension:
    """One way in which votes cluster: `labels` (n,) in 0 … count − 1 for the sorted rows.

    effective: G* = N²/Σn_g² · per_parameter (p,): G_c = (Σℓ_g)²/Σℓ_g², ℓ_g = cᵀH⁻H_gH⁻c, for each rating
    less the reference mean and each coefficient: how many equal clusters would carry as much · fallen_back:
    parameters that hang on one cluster alone.
    """

    name: str
    labels: Labels
    count: int
    effective: float
    per_parameter: Vector
    covariance: Matrix
    fallen_back: NDArray[np.bool_]


def cr0(
    scores: VoteScores, bread: Matrix, labels: Labels, count: int, squares: Matrix | None = None
) -> Matrix:
    """V = H⁻(Σ U_g U_gᵀ)H⁻ (p, p): for intersections, which may be as many as the votes.

    labels (n,) in 0 … count − 1; some may be empty. squares (p, p): Σ e² x xᵀ where it's known already.
    """
    meat = None
    if count * len(bread) > BLOCK_ENTRIES:
        pairs = meat_by_pairs(scores.table, labels)
        if pairs is not None:
            if squares is None:
                squares = RowLikelihood(scores.rows).outer(scores.residual**2)
            meat = squares + pairs
    if meat is None:
        found = consecutive(labels)
        u = sparse_scores(scores.rows, scores.residual, scores.residual * scores.rows.z, *found)
        meat = (u.T @ u).toarray()
    covariance: Matrix = bread @ meat @ bread
    return covariance


def sparse_scores(rows: Rows, residual: Floats, extra: Floats, labels: Labels, count: int) -> csr_array:
    """U (G, p): Σ_{t∈g} of residual·(e_low − e_high) and of the further columns `extra` (p − K, n)."""
    k, n = rows.n_competitors, len(rows)
    further = np.repeat(np.arange(k, k + len(extra)), n)
    column = np.concatenate([rows.low[rows.pair], rows.high[rows.pair], further])
    values = np.concatenate([residual, -residual, extra.ravel()])
    return csr_array((values, (np.tile(labels, 2 + len(extra)), column)), shape=(count, k + len(extra)))


def cr3(
    scores: VoteScores, fit: Fit, labels: Labels, count: int, carried: Carried | None = None
) -> tuple[Matrix, NDArray[np.bool_]]:
    """One-step delete-one-cluster covariance (p, p), and the parameters whose deletion was degenerate.

    `carried` is told of every run of clusters on the way.
    """
    p = len(fit.params)
    alone = connects_alone(scores.rows, labels, count)
    z_information = np.array([column**2 @ scores.information for column in scores.rows.z])
    meat, fallen_back = np.zeros((p, p)), np.zeros(p, dtype=bool)
    for run in scores.table.runs(*side_by_side(labels)):
        moves, slow = _chord_moves(run, fit)
        held = run.by_cluster(run.information * run.z**2)
        direct = slow | alone[run.first : run.first + run.count]
        direct |= (held > MOST_HELD * z_information[:, None]).any(axis=0)
        for g in np.flatnonzero(direct):
            moves[g], degenerate = _direct_move(scores, fit, labels == run.first + g)
            fallen_back |= degenerate
        meat += moves.T @ moves
        if carried is not None:
            carried.add(run)
    return meat * (count - 1) / count, fallen_back


def _chord_moves(run: Run, fit: Fit) -> tuple[Matrix, NDArray[np.bool_]]:
    """θ̂ − θ_(−g) for each cluster (G, p) by the chord D ← (U + H_g D)H⁻, and for which it's too slow."""
    width = run.information.dtype
    u, bread = run.sums(run.residual), fit.bread.astype(width, copy=False)
    moves: Matrix = u.astype(width, copy=False) @ bread
    tolerance = CHORD_TOLERANCE if width == np.float64 else CHORD_TOLERANCE_SINGLE
    slow = np.ones(run.count, dtype=bool)
    for _ in range(CHORD_ROUNDS):
        pulled = u + run.sums(run.information * run.along(moves))
        again = pulled.astype(width, copy=False) @ bread
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
    u = _sum(scores.rows, np.where(mine, scores.residual, 0.0))
    move: Vector = generalised_inverse(rest, flat) @ u
    spread = np.abs(lost - np.median(lost, axis=0)) if lost.size else np.zeros((len(u), 1))
    return move, (spread > 1e-3 * np.abs(lost).max(initial=1e-300)).any(axis=1)


def _sum(rows: Rows, values: Floats) -> Vector:
    """Σ values·x (p,) over the votes."""
    by_pair = rows.by_pair(values)
    return np.concatenate([spread(rows.low, rows.high, by_pair, rows.n_competitors), rows.z @ values])


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
    """G_c (p,) for the contrasts "rating of i less the reference mean" and each coefficient: H⁻c is column i
    of `bread`, H⁻ in the gauge of that mean.

    On large boards a rating's own votes are counted exactly, and the little that the votes of others carry is
    spread over the clusters by their information.
    """
    if scores.information.dtype == np.float64:
        return _effective(np.maximum(_carried(scores, bread, labels, count), 0))
    carried = Carried(scores.rows, bread)
    for run in scores.table.runs(*side_by_side(labels)):
        carried.add(run)
    return carried.effective()


def _carried(scores: VoteScores, directions: Matrix, labels: Labels, count: int) -> Matrix:
    """ℓ_g (G, m) = Σ_{t∈g} information·(xᵀH⁻c)² for each direction H⁻c, the columns of (p, m).

    Some hundreds of pairs at a time: what their votes add up from then stays in the processor's cache.
    """
    r = scores.rows
    carried = np.zeros((count, directions.shape[1]))
    ends = np.append(r.first, len(r))
    for start in range(0, len(r.low), CARRIED_PAIRS):
        pairs = slice(start, start + CARRIED_PAIRS)
        bounds = ends[start : start + CARRIED_PAIRS + 1]
        mine = slice(int(bounds[0]), int(bounds[-1]))
        along = directions[r.low[pairs]] - directions[r.high[pairs]]  # (pairs, m)

        def by_cluster(
            values: Floats, to: Matrix, mine: slice = mine, at: Labels = bounds - bounds[0]
        ) -> Matrix:
            shares = csr_array((values, labels[mine], at), shape=(len(to), count))
            return np.asarray(shares.T @ to)

        information = scores.information[mine]
        carried += by_cluster(information, along**2)
        for j, column in enumerate(r.z, start=r.n_competitors):
            carried += 2 * by_cluster(information * column[mine], along) * directions[j]
    for j, column in enumerate(r.z, start=r.n_competitors):
        for m, other in enumerate(r.z, start=r.n_competitors):
            both = sum_by(labels, scores.information * column * other, count)
            carried += both[:, None] * (directions[j] * directions[m])
    return carried


class Carried:
    """ℓ_g of a large board, summed run by run: for each contrast Σℓ_g and Σℓ_g² are all that G_c needs."""

    def __init__(self, rows: Rows, bread: Matrix) -> None:
        k, width = rows.n_competitors, rows.score.dtype
        self.bread, self.diagonal = bread, np.diag(bread)[:k]
        self.to_low = ((self.diagonal[rows.low] - bread[rows.low, rows.high]) ** 2).astype(width)
        self.to_high = ((self.diagonal[rows.high] - bread[rows.low, rows.high]) ** 2).astype(width)
        self.gaps = (bread[rows.low, k:] - bread[rows.high, k:]).T.astype(width)
        self.own, self.own_sq, self.mixed = np.zeros((3, k))
        self.further, self.further_sq = np.zeros((2, len(bread) - k))
        self.share = self.share_sq = 0.0

    def add(self, run: Run) -> None:
        """One more run of clusters."""
        k, v = run.n_competitors, run.information
        low, high = run.places
        own = sum_by(low, v * self.to_low.take(run.pair, mode="clip"), run.count * k)
        own += sum_by(high, v * self.to_high.take(run.pair, mode="clip"), run.count * k)
        own, share = own.reshape(run.count, k), run.by_cluster(v)
        self.own += own.sum(axis=0)
        self.own_sq += np.einsum("gk,gk->k", own, own)
        self.mixed += share @ own
        self.share += float(share.sum())
        self.share_sq += float(share @ share)
        mine = self.bread[k:, k:].astype(v.dtype)
        for j, gap in enumerate(self.gaps):
            along = gap.take(run.pair, mode="clip") + mine[j] @ run.z
            carried = run.by_cluster(v * along**2)
            self.further[j] += carried.sum()
            self.further_sq[j] += carried @ carried

    def effective(self) -> Vector:
        """G_c (p,); ℓ_g of a rating is its own votes' and g's share of the rest."""
        rest = np.maximum(self.diagonal - self.own, 0) / self.share
        total = self.own + rest * self.share
        squares = self.own_sq + 2 * rest * self.mixed + rest**2 * self.share_sq
        return ratio_of_sums(np.append(total, self.further), np.append(squares, self.further_sq))


def effective_for(scores: VoteScores, bread: Matrix, labels: Labels, count: int, contrasts: Matrix) -> Vector:
    """G_c (m,) for the contrasts c that are the columns of (p, m)."""
    return _effective(np.maximum(_carried(scores, bread @ contrasts, labels, count), 0))


def _effective(carried: Matrix) -> Vector:
    return ratio_of_sums(carried.sum(axis=0), (carried**2).sum(axis=0))


def ratio_of_sums(total: Vector, squares: Vector) -> Vector:
    """(Σℓ)²/Σℓ² of such sums (any shape); 0 where nothing is carried.

    To nine decimals: ten clusters that carry the same are ten, on whichever side the last bits fall.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio: Vector = np.where(squares > 0, total**2 / squares, 0.0).round(9)
    return ratio


def labels_of(ids: NDArray[np.int32], scores: VoteScores) -> tuple[Labels, int]:
    """The clusters of the kept votes (n,), 0 … G − 1, and G; `ids` are those of the Comparisons' rows."""
    return consecutive(np.take(ids, scores.rows.source, mode="clip"))


def cluster(name: str, labels: Labels, count: int, scores: VoteScores, fit: Fit, bread: Matrix) -> Dimension:
    """One dimension of clustering with its CR3 covariance; G_c are of the contrasts that `bread` (p, p), H⁻
    in some gauge, stands for."""
    if count == 1:
        p = len(fit.params)
        return Dimension(name, labels, 1, 1.0, np.ones(p), np.zeros((p, p)), np.zeros(p, dtype=bool))
    large = scores.information.dtype == np.float32
    carried = Carried(scores.rows, bread) if large else None
    covariance, fallen_back = cr3(scores, fit, labels, count, carried)
    per_parameter = carried.effective() if carried else effective_per_parameter(scores, bread, labels, count)
    return Dimension(
        name=name,
        labels=labels,
        count=count,
        effective=effective_clusters(labels),
        per_parameter=per_parameter,
        covariance=covariance,
        fallen_back=fallen_back,
    )
