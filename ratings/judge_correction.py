"""The two terms of a combined board (prediction_powered.py): its strengths, its variance, its best lam.

Rows are people's n battles L, which the judge saw too, then the judge's N further ones U, oriented
low - high. The score of a row is s = w x(p - y) or w x(p - f); psi_g is what cluster g adds to g(theta).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit, ndtr, stdtr

from ratings.bradley_terry import Fit, PairLikelihood, laplacian, spread
from ratings.cluster_runs import consecutive
from ratings.clusters import Dimension
from ratings.comparisons import Tally
from ratings.judge_deletions import Terms, delete_one, inverse
from ratings.newton import Matrix, Vector, gauge, generalised_inverse, maximise
from ratings.uncertainty import Covariance

Labels = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BothVotes:
    """L rows, then U rows, of K competitors; `n` of them, the first, have a person's score.

    low < high (n + N,): competitors · person (n,), judge (n + N,): scores 0, ½, 1 of low · weight (n + N,):
    mean 1 in L and in U · component (K,): of people's graph; competitors without votes are alone in theirs.
    """

    component: NDArray[np.int32]
    n: int
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    person: Vector
    judge: Vector
    weight: Vector

    @property
    def competitors(self) -> int:
        """K."""
        return len(self.component)

    @property
    def share(self) -> Vector:
        """1/n on L, 1/N on U: (n + N,)."""
        judged = len(self.low) - self.n
        return np.repeat([1 / self.n, 1 / judged], [self.n, judged])

    def pairs(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.intp]]:
        """Distinct pairs (low, high), (P,) each, and the pair of each row (n + N,)."""
        k = self.competitors
        codes, pair = np.unique(self.low.astype(np.int64) * k + self.high, return_inverse=True)
        return (codes // k).astype(np.int32), (codes % k).astype(np.int32), pair

    def spread(self, values: Vector) -> Vector:
        """Sum of values x over the rows, (K,)."""
        k = self.competitors
        return spread(self.low, self.high, values, k)

    def expected(self, strengths: Vector) -> Vector:
        """p of each row (n + N,)."""
        p: Vector = expit(strengths[self.low] - strengths[self.high])
        return p


@dataclass(frozen=True, eq=False)
class Psi:
    """psi_g = sum_(t in g) v_t x_t - n_g/n mean_L - N_g/N mean_U of G clusters, never made dense.

    sums (G, K): the first term · shares (G, 2): n_g/n, N_g/N · means (2, K): sum_L v x, sum_U v x.
    """

    sums: csr_array
    shares: Matrix
    means: Matrix

    def of(self, clusters: Labels) -> Matrix:
        """psi_g (m, K) of some clusters."""
        dense: Matrix = self.sums[clusters].toarray() - self.shares[clusters] @ self.means
        return dense

    def cross(self, other: Psi) -> Matrix:
        """sum_g psi_g other_g' (K, K)."""
        c, mine, others = self.shares, self.means, other.means
        left, right = np.asarray(self.sums.T @ c), np.asarray(other.sums.T @ c)
        product: Matrix = (self.sums.T @ other.sums).toarray()
        centred: Matrix = product - left @ others - mine.T @ right.T + mine.T @ (c.T @ c) @ others
        return centred


@dataclass(frozen=True, eq=False)
class SharedClusters:
    """One dimension over L and U: labels (n + N,); people's clusters, G*, and G_c (K,) from L alone."""

    name: str
    labels: Labels
    people: int
    effective: float
    per_parameter: Vector

    def dimension(self, covariance: Matrix) -> Dimension:
        """The dimension as a Covariance holds it."""
        nobody = np.zeros(len(covariance), dtype=bool)
        return Dimension(
            self.name, self.labels, self.people, self.effective, self.per_parameter, covariance, nobody
        )


def combined_strengths(votes: BothVotes, fit: Fit, lam: float) -> Vector:
    """Where g vanishes: a weighted Bradley-Terry fit whose pair totals stay >= 0 since lam <= 1."""
    scale = votes.share * votes.weight
    n = votes.n
    total = scale * np.r_[np.full(n, 1 - lam), np.full(len(scale) - n, lam)]
    wins = scale * np.r_[votes.person - lam * votes.judge[:n], lam * votes.judge[n:]]
    low, high, pair = votes.pairs()
    t, s = np.bincount(pair, total), np.bincount(pair, wins)
    weight = np.column_stack([t - s, np.zeros_like(t), s])
    cells = Tally(votes.competitors, low, high, weight, weight, weight)
    likelihood = PairLikelihood(cells)
    flat = gauge(votes.component, 0)
    return maximise(lambda params: likelihood.evaluate(params, None), fit.params, flat).params


def _bread(votes: BothVotes, strengths: Vector) -> Matrix:
    p = votes.expected(strengths)
    information = votes.weight * p * (1 - p) / len(p)
    hessian = _outer(votes, information)
    return generalised_inverse(hessian, gauge(votes.component, 0))


def _outer(votes: BothVotes, values: Vector) -> Matrix:
    """Sum of values x x' (K, K) over rows."""
    low, high, pair = votes.pairs()
    sums: Vector = np.bincount(pair, values).astype(np.float64)
    return laplacian(low, high, sums, votes.competitors)


def _psi(votes: BothVotes, values: Vector, labels: Labels) -> Psi:
    """psi of rows whose score is values x, by cluster."""
    rows, k, n = len(values), votes.competitors, votes.n
    column = np.r_[votes.low, votes.high]
    count = int(labels.max()) + 1
    sums = csr_array((np.r_[values, -values], (np.tile(labels, 2), column)), shape=(count, k))
    part = np.repeat([0, 1], [n, rows - n])
    shares: Matrix = csr_array((votes.share, (labels, part)), shape=(count, 2)).toarray()
    means: Matrix = np.stack([votes.spread(values * (part == i)) for i in (0, 1)])
    return Psi(sums, shares, means)


def _terms(votes: BothVotes, strengths: Vector) -> tuple[Vector, Vector]:
    """Row values of the two terms: people's (r_y/n, 0) and the judge's (-r_f/n, r_f/N), r = w(p - score)."""
    p, scale, n = votes.expected(strengths), votes.share * votes.weight, votes.n
    mine = np.r_[scale[:n] * (p[:n] - votes.person), np.zeros(len(p) - n)]
    judge = scale * (p - votes.judge) * np.repeat([-1.0, 1.0], [n, len(p) - n])
    return mine, judge


def best_lam(votes: BothVotes, clusters: list[SharedClusters], fit: Fit) -> float:
    """The lam in [0, 1] that makes tr V least, at people's own strengths."""
    bread = _bread(votes, fit.strengths)
    mine, judge = _terms(votes, fit.strengths)
    linear = square = 0.0
    for labels in [c.labels for c in clusters]:
        a, b = _psi(votes, mine, labels), _psi(votes, judge, labels)
        linear += float(np.trace(bread @ a.cross(b) @ bread))
        square += float(np.trace(bread @ b.cross(b) @ bread))
    if not clusters:
        linear, square = _independent_terms(votes, mine, judge, bread)
    return float(np.clip(-linear / square, 0, 1)) if square > 0 else 0.0


def _independent_terms(votes: BothVotes, mine: Vector, judge: Vector, bread: Matrix) -> tuple[float, float]:
    """The same for independent rows, with the judge's variance from L and U at once."""
    rows, n = len(mine), votes.n
    a, b = (_psi(votes, values, np.arange(rows)) for values in (mine, judge))
    scores = judge / votes.share * np.repeat([-1.0, 1.0], [n, rows - n])
    mean = votes.spread(scores)
    variance = _outer(votes, scores**2) / rows - np.outer(mean, mean) / rows**2
    square = (1 / n + 1 / (rows - n)) * float(np.trace(bread @ variance @ bread))
    return float(np.trace(bread @ a.cross(b) @ bread)), square


def combined_covariance(
    votes: BothVotes, clusters: list[SharedClusters], strengths: Vector, lam: float
) -> Covariance:
    """V (K, K) at `strengths`: HC0 for independent rows; CR3 by one dimension; two-way with its floors."""
    mine, judge = _terms(votes, strengths)
    values = mine + lam * judge
    bread = _bread(votes, strengths)
    alone = _psi(votes, values, np.arange(len(values)))
    independent: Matrix = bread @ alone.cross(alone) @ bread
    if not clusters:
        return Covariance(independent, (), independent, (), ())
    terms = _rows_of(votes, strengths, values, lam)
    dimensions = tuple(c.dimension(delete_one(terms, c.labels, c.people)) for c in clusters)
    if len(dimensions) == 1:
        return Covariance(dimensions[0].covariance, (), independent, dimensions, ())
    rater, prompt = dimensions
    cells, _ = consecutive(rater.labels * (int(prompt.labels.max()) + 1) + prompt.labels)
    within, bread = _psi(votes, values, cells), inverse(terms)
    matrix = rater.covariance + prompt.covariance - bread @ within.cross(within) @ bread
    floors = (rater.covariance, prompt.covariance)
    return Covariance(matrix, floors, independent, dimensions, ())


def _rows_of(votes: BothVotes, strengths: Vector, values: Vector, lam: float) -> Terms:
    p, rows, n = votes.expected(strengths), len(values), votes.n
    share, judged = votes.share * votes.weight, np.arange(rows) >= n
    slope = share * p * (1 - p) * np.where(judged, lam, 1 - lam)
    return Terms(votes.low, votes.high, values, slope, share, judged, votes.component)


def helps(votes: BothVotes, clusters: list[SharedClusters], fit: Fit) -> float:
    """One-sided p of "the judge's help narrows nothing", the largest over the dimensions.

    With lam the summed variance falls by -2 sum_g (H^- psi_g of people's)'(H^- psi_g of the judge's): is that
    sum more than chance makes of clusters whose two parts have nothing to do with each other?
    """
    bread = _bread(votes, fit.strengths)
    mine, judge = _terms(votes, fit.strengths)
    found = []
    dimensions = [(c.labels, c.people, c.effective) for c in clusters]
    for labels, people, effective in dimensions or [(np.arange(len(mine)), votes.n, np.inf)]:
        a, b = (_psi(votes, values, labels) for values in (mine, judge))
        own = np.unique(labels[: votes.n])
        parts = (each.of(own) @ bread for each in (a, b))
        gains: Vector = -np.einsum("gk,gk->g", *parts)
        error = float(np.sqrt(people * gains.var(ddof=1)))
        t = float(gains.sum()) / error if error > 0 else 0.0
        found.append(float(ndtr(-t) if np.isinf(effective) else stdtr(effective - 1, -t)))
    return max(found)
