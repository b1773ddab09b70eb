"""Bootstrap of large boards: what a resample needs of its votes is two sums per pair, not the votes.

A resample multiplies each vote by an independent count of mean and variance 1. Per pair that gives the weight
N* = Σ c w and the score R* = Σ c w (y − p̂), and for covariates Q* = Σ c w (y − p̂) z over all pairs. With
many votes these sums are drawn as normal ones with the exact means, variances and covariances of independent
counts; clusters are drawn as they are. The refit is two chord steps on

    g(δ) = g* − Σ_pairs (N*/N) [H_pair δ + third-order term],   δ = θ* − θ̂,

from the shared inverse H⁻: 0.2 points from full refits at 250 competitors and a million votes
(docs/method.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ratings.bootstrap import Progress, Resamples, block_sizes
from ratings.bradley_terry import Fit
from ratings.cluster_runs import Labels
from ratings.clusters import VoteScores, sparse_scores
from ratings.comparisons import Tally
from ratings.newton import Matrix, Vector
from ratings.rows import Floats

Single = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums over each pair's votes at the fit (P,), z-sums (k, P), all sums of zzᵀ (k, k).

    weight: Σw · square: Σw² · score: Σe · cross: Σwe · spread: Σe² · information: Σv · third: Σv(1 − 2p);
    score_z, cross_z, spread_z, information_z likewise times z; e = w(y − p̂), v = w p̂(1 − p̂).
    """

    low: NDArray[np.int32]
    high: NDArray[np.int32]
    weight: Vector
    square: Vector
    score: Vector
    cross: Vector
    spread: Vector
    information: Vector
    third: Vector
    score_z: Matrix
    cross_z: Matrix
    spread_z: Matrix
    information_z: Matrix
    spread_zz: Matrix
    information_zz: Matrix


def sums_of_cells(cells: Tally, fit: Fit) -> PairSums:
    """The sums of a plain board, from its cells."""
    p = 1 / (1 + np.exp(fit.strengths[cells.high] - fit.strengths[cells.low]))
    residual = cells.scores - p[:, None]
    total = cells.total
    v, none = total * p * (1 - p), np.zeros((0, len(p)))
    return PairSums(
        cells.low,
        cells.high,
        total,
        cells.weight_sq.sum(axis=1),
        (cells.weight * residual).sum(axis=1),
        (cells.weight_sq * residual).sum(axis=1),
        (cells.weight_sq * residual**2).sum(axis=1),
        v,
        v * (1 - 2 * p),
        *(none,) * 4,
        *(np.zeros((0, 0)),) * 2,
    )


def sums_of_rows(scores: VoteScores) -> PairSums:
    """The sums of a board with covariates, in one pass over its rows."""
    rows, e, v, w = scores.rows, scores.residual, scores.information, scores.rows.weight
    # 1 − 2p from e = w(y − p)
    lean = 1 - 2 * (rows.score - e / w)
    z = rows.z

    def by_pair(values: Floats) -> Vector:
        return rows.by_pair(values)

    def columns(values: Floats) -> Matrix:
        sums = [rows.by_pair(values * column) for column in z]
        return np.array(sums) if sums else np.zeros((0, len(rows.low)))

    return PairSums(
        rows.low,
        rows.high,
        by_pair(w),
        by_pair(w * w),
        by_pair(e),
        by_pair(w * e),
        by_pair(e * e),
        by_pair(v),
        by_pair(v * lean),
        columns(e),
        columns(w * e),
        columns(e * e),
        columns(v),
        np.asarray((z * (e * e)) @ z.T, dtype=np.float64),
        np.asarray((z * v) @ z.T, dtype=np.float64),
    )


Sample = Callable[[np.random.Generator, int], tuple[Single, Single]]
"""(generator, b) -> scores (p, b), relative weights N*/N (P, b)."""


def sample_votes(sums: PairSums, n_competitors: int) -> Sample:
    """Votes drawn independently: two normals per pair, and one per covariate for what they leave of Q*."""
    deviation = np.sqrt(sums.square)
    along = sums.cross / deviation
    across = np.sqrt(np.maximum(sums.spread - along**2, 1e-30))
    z_along = sums.cross_z / deviation
    z_across = (sums.spread_z - along * z_along) / across
    left = sums.spread_zz - z_along @ z_along.T - z_across @ z_across.T
    values, vectors = np.linalg.eigh(left) if len(left) else (np.zeros(0), left)
    root = vectors * np.sqrt(np.maximum(values, 0))
    mean = np.concatenate([incidence(sums, n_competitors) @ sums.score, sums.score_z.sum(axis=1)])
    to_strengths = incidence(sums, n_competitors).astype(np.float32)
    per_weight, along32 = (
        (deviation / sums.weight).astype(np.float32)[:, None],
        along.astype(np.float32)[:, None],
    )
    across32, one, two = (
        across.astype(np.float32)[:, None],
        z_along.astype(np.float32),
        z_across.astype(np.float32),
    )

    def sample(rng: np.random.Generator, size: int) -> tuple[Single, Single]:
        shape = (len(sums.low), size)
        first, second = (rng.standard_normal(shape, dtype=np.float32) for _ in range(2))
        rest = root @ rng.standard_normal((len(root), size))
        further = one @ first + two @ second + rest.astype(np.float32)
        second *= across32
        second += along32 * first
        scores = np.vstack([to_strengths @ second, further]) + mean.astype(np.float32)[:, None]
        first *= per_weight
        first += 1
        return scores, np.maximum(first, 0, out=first)

    return sample


def sample_clusters(scores: VoteScores, sums: PairSums, labels: Labels, count: int) -> Sample:
    """Whole clusters drawn with replacement: multinomial counts."""
    rows = scores.rows
    u = sparse_scores(rows, scores.residual, scores.residual * rows.z, labels, count)
    to_scores = u.T.tocsr().astype(np.float32)
    by_pair = csr_array((rows.weight, (rows.pair, labels)), shape=(len(rows.low), count)).astype(np.float32)
    per_pair = (1 / sums.weight).astype(np.float32)[:, None]

    def sample(rng: np.random.Generator, size: int) -> tuple[Single, Single]:
        drawn = rng.multinomial(count, np.full(count, 1 / count), size=size).T.astype(np.float32)
        return np.asarray(to_scores @ drawn), np.asarray(by_pair @ drawn) * per_pair

    return sample


def incidence(sums: PairSums, n_competitors: int) -> csr_array:
    """(K, P): +1 where a pair's low, −1 where its high is the competitor."""
    pairs = np.arange(len(sums.low))
    ones = np.ones(len(pairs))
    entries = (np.concatenate([ones, -ones]), (np.concatenate([sums.low, sums.high]), np.tile(pairs, 2)))
    return csr_array(entries, shape=(n_competitors, len(pairs)))


def bootstrap_large(
    fit: Fit, sums: PairSums, sample: Sample, *, resamples: int, seed: int, progress: Progress | None = None
) -> Resamples:
    """Refit `resamples` samples; block i is seeded by (seed, i). For boards with finite strengths only."""
    solve = _Chord.of(fit, sums)
    done: list[Matrix] = []
    for number, size in enumerate(block_sizes(resamples)):
        scores, relative = sample(np.random.default_rng([seed, number]), size)
        done.append(fit.params + solve.moves(scores, relative).T)
        if progress is not None:
            progress(sum(len(part) for part in done), resamples)
    return Resamples(np.vstack(done), 0)


@dataclass(frozen=True, eq=False)
class _Chord:
    """Single-precision copies of what every block of resamples reuses."""

    bread: Single
    to_strengths: csr_array
    to_pairs: csr_array
    information: Single
    third: Single
    information_z: Single
    information_zz: Single
    share: Single

    @classmethod
    def of(cls, fit: Fit, sums: PairSums) -> _Chord:
        to_strengths = incidence(sums, fit.n_competitors).astype(np.float32)
        return cls(
            bread=fit.bread.astype(np.float32),
            to_strengths=to_strengths,
            to_pairs=to_strengths.T.tocsr(),
            information=sums.information.astype(np.float32)[:, None],
            third=(sums.third / 2).astype(np.float32)[:, None],
            information_z=sums.information_z.astype(np.float32),
            information_zz=sums.information_zz.astype(np.float32),
            share=(sums.information / sums.information.sum()).astype(np.float32),
        )

    def moves(self, scores: Single, relative: Single) -> Single:
        """δ (p, b): the linear step, and one more with the resample's own curvature."""
        first = self.bread @ scores
        moved: Single = first + self.bread @ (scores - self._pull(first, relative))
        return moved

    def _pull(self, move: Single, relative: Single) -> Single:
        """What the resample's likelihood takes back at δ (p, b)."""
        k = self.to_strengths.shape[0]
        gap = np.asarray(self.to_pairs @ move[:k])
        pull = self.third * gap
        pull += self.information
        pull *= gap
        if len(self.information_z):
            pull += self.information_z.T @ move[k:]
        pull *= relative
        gap *= relative
        overall = self.share @ relative
        further = self.information_z @ gap + (self.information_zz @ move[k:]) * overall
        return np.vstack([np.asarray(self.to_strengths @ pull), further])
