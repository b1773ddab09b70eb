"""Whose mean is 1000: the well-measured competitors of each component.

A rating is θ_i − mean of θ over the reference set. Were that the mean of all, the noise of one competitor
with a vote or two would enter everyone's rating and interval with a share of 1/K (docs/method.md, section 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ratings.bradley_terry import Fit
from ratings.cluster_runs import Labels, side_by_side
from ratings.clusters import VoteScores
from ratings.comparisons import Tally
from ratings.connectivity import Connectivity
from ratings.newton import Matrix, Vector
from ratings.rows import sum_by

ENOUGH_VOTES = 30.0
"""With so many (Kish-effective) votes a competitor is well measured, or with half the most anyone has."""

ENOUGH_CLUSTERS = 2.0
"""Likewise so many effective clusters among its own votes: below, no interval could be given."""


@dataclass(frozen=True, eq=False)
class Reference:
    """members (K,): who is in the mean · component (K,): of which component's."""

    members: NDArray[np.bool_]
    component: NDArray[np.int32]

    @property
    def of_all(self) -> bool:
        """Is everyone in it? Fits come so already."""
        return bool(self.members.all())

    @property
    def weights(self) -> Vector:
        """1/size of its component's set for members, 0 for others (K,)."""
        sizes = np.bincount(self.component, self.members)
        weights: Vector = self.members / sizes[self.component]
        return weights

    def less_mean(self, params: Matrix) -> Matrix:
        """Parameters (…, p), strengths first, less the reference mean of each strength's component."""
        if self.of_all:
            return params
        k, across = len(self.members), int(self.component.max()) + 1
        share = np.zeros((k, across))
        share[np.arange(k), self.component] = self.weights
        moved = np.array(params, dtype=np.float64)
        moved[..., :k] -= (moved[..., :k] @ share)[..., self.component]
        return moved

    def both(self, matrix: Matrix) -> Matrix:
        """A covariance or inverse Hessian (p, p) of such differences: T M Tᵀ."""
        return matrix if self.of_all else self.less_mean(self.less_mean(matrix).T).T

    def of_fit(self, fit: Fit) -> Fit:
        """The fit with strengths and H⁻ less the reference mean."""
        if self.of_all:
            return fit
        return replace(fit, params=self.less_mean(fit.params), bread=self.both(fit.bread))


def reference_of(graph: Connectivity, votes: Vector, clusters: Vector) -> Reference:
    """Who is in the mean, from effective votes (K,) and effective clusters (K,) of each one's own votes.

    Of each component those with a finite strength, enough votes and enough clusters; enough is at most half
    of the most anyone there has. Fewer than two: measured by half the median; still fewer: all.
    """
    bounded = ~(graph.unbounded_above | graph.unbounded_below)
    members = np.ones(len(votes), dtype=bool)
    for label in np.unique(graph.component):
        at = np.flatnonzero(graph.component == label)
        for typical in (np.max, np.median):
            enough = bounded[at].copy()
            for amount, limit in ((votes[at], ENOUGH_VOTES), (clusters[at], ENOUGH_CLUSTERS)):
                # a hair less, so that equal amounts summed in another order stay equal
                enough &= amount >= min(limit, float(typical(amount)) / 2) * (1 - 1e-9)
            if enough.sum() >= 2:
                members[at] = enough
                break
    return Reference(members, graph.component)


def effective_votes(cells: Tally) -> Vector:
    """Kish's (Σw)²/Σw² of each competitor's votes (K,)."""
    k, squares = cells.n_competitors, cells.weight_sq.sum(axis=1)
    weight = np.bincount(cells.low, cells.total, k) + np.bincount(cells.high, cells.total, k)
    square = np.bincount(cells.low, squares, k) + np.bincount(cells.high, squares, k)
    effective: Vector = np.divide(weight**2, square, out=np.zeros(k), where=square > 0)
    return effective


def own_clusters(scores: VoteScores, groups: Sequence[Labels]) -> Vector:
    """(Σℓ_g)²/Σℓ_g² (K,) of each competitor's own votes, ℓ_g their information in cluster g; the fewest over
    the dimensions, whose labels (n,) are given. Infinite if there are none."""
    k = scores.rows.n_competitors
    fewest = np.full(k, np.inf)
    for labels in groups:
        total, squares = np.zeros(k), np.zeros(k)
        for run in scores.table.runs(*side_by_side(labels)):
            low, high = run.places
            own = sum_by(low, run.information, run.count * k) + sum_by(high, run.information, run.count * k)
            own = own.reshape(run.count, k)
            total += own.sum(axis=0)
            squares += np.einsum("gk,gk->k", own, own)
        found = np.divide(total**2, squares, out=np.zeros(k), where=squares > 0)
        fewest = np.minimum(fewest, found)
    return fewest
