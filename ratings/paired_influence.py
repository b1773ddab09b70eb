"""The difference of two fits that share votes: its variance from what each vote does to both at once.

A vote t moves the strengths of one fit by H⁻x_t·residual_t, its influence. In θ₁ − θ₂ the influences of a
vote on both are subtracted before anything is squared, so that what the fits share cancels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from ratings.bradley_terry import RowLikelihood
from ratings.cluster_runs import Labels, consecutive
from ratings.clusters import sparse_scores
from ratings.newton import Matrix, Vector
from ratings.rows import Floats, Rows

FEW_CLUSTERS = 4_096
"""Up to so many clusters at a time their scores are full matrices: each holds votes on most competitors."""

SPARSE = 0.12
"""Of more clusters they stay sparse where no larger share of them differs from zero."""


@dataclass(frozen=True, eq=False)
class Influence:
    """What n votes do to the K strengths of one fit.

    residual (n,): w(y − p), zero for a vote the fit doesn't count · towards (K, p): rows of H⁻ in the gauge
    that both fits share; p = K, or K and the covariates of the rows.
    """

    residual: Floats
    towards: Matrix

    def by_cluster(
        self, rows: Rows, chosen: NDArray[np.intp] | slice, labels: Labels, count: int
    ) -> csr_array:
        """U (G, p) of the chosen rows, whose clusters are `labels`."""
        residual = self.residual[chosen]
        extra = residual * rows.z[: self.towards.shape[1] - rows.n_competitors, chosen]
        return sparse_scores(replace(rows, pair=rows.pair[chosen]), residual, extra, labels, count)


@dataclass(frozen=True, eq=False)
class SharedDimension:
    """One way in which the votes cluster: labels (n,) in 0 … count − 1."""

    labels: Labels
    count: int


@dataclass(frozen=True, eq=False)
class Strata:
    """Votes by which of the two fits count them: labels (n,) in 0 … count − 1, weight (n,)."""

    labels: Labels
    count: int
    weight: Floats

    def clusters(self, dimension: SharedDimension) -> Vector:
        """How many clusters have votes in each (S,)."""
        met = np.zeros((self.count, dimension.count), dtype=bool)
        met[self.labels, dimension.labels] = True
        clusters: Vector = met.sum(axis=1).astype(np.float64)
        return clusters

    def shares(self, dimension: SharedDimension, chosen: NDArray[np.bool_]) -> csr_array:
        """Each cluster's share of the weight of each chosen stratum (G, S); nothing of the others."""
        within = np.bincount(self.labels, self.weight, self.count)
        values = self.weight / within[self.labels] * chosen[self.labels]
        return csr_array((values, (dimension.labels, self.labels)), shape=(dimension.count, self.count))


def cr1(count: float) -> float:
    """G/(G − 1)."""
    return count / (count - 1)


def paired_variances(
    rows: Rows,
    first: Influence,
    second: Influence,
    dimensions: Sequence[SharedDimension],
    strata: Strata | None = None,
) -> Vector:
    """Variances (K,) of θ_first − θ_second.

    HC0 by no dimension, CR1 by one; by two with the cell as intersection (CR0), never below a one-way term.
    The scores of a fit sum to zero over its votes, but not over those that the other counts too: with
    `strata` each stratum's scores are taken less their mean, and its own number of clusters corrects them.
    """
    if not dimensions:
        return _between(first, second, independent_meat(rows, first, second))
    if strata is None:
        terms = [cr1(d.count) * _by(rows, first, second, d) for d in dimensions]
    else:
        terms = [_by_strata(rows, first, second, d, strata) for d in dimensions]
    if len(terms) == 1:
        return terms[0]
    one, other = dimensions
    cell = SharedDimension(*consecutive(one.labels * other.count + other.labels))
    largest: Vector = np.max([terms[0] + terms[1] - _by(rows, first, second, cell), *terms], axis=0)
    return largest


def _by_strata(
    rows: Rows, first: Influence, second: Influence, dimension: SharedDimension, strata: Strata
) -> Vector:
    clusters = strata.clusters(dimension)
    several = clusters > 1
    root = np.sqrt(np.divide(clusters, clusters - 1, out=np.ones_like(clusters), where=several))
    factor = root.astype(first.residual.dtype)[strata.labels]
    first, second = (replace(each, residual=each.residual * factor) for each in (first, second))
    if dimension.count > FEW_CLUSTERS:
        # of so many clusters the means say nothing
        return _by(rows, first, second, dimension)
    sums, means = (
        np.hstack([e.by_cluster(rows, slice(None), *by).toarray() for e in (first, second)])
        for by in ((dimension.labels, dimension.count), (strata.labels, strata.count))
    )
    centred = sums - strata.shares(dimension, several) @ means
    return _between(first, second, centred.T @ centred)


def independent_meat(
    rows: Rows, first: Influence, second: Influence, chosen: NDArray[np.bool_] | None = None
) -> Matrix:
    """Σ_t (x₁u, x₂v)ᵀ(x₁u, x₂v) (p + q, p + q), u and v the residuals of vote t; of the chosen votes (n,)."""
    p, q = first.towards.shape[1], second.towards.shape[1]
    u, v = first.residual, second.residual
    whole = RowLikelihood(replace(rows, z=rows.z[: max(p, q) - rows.n_competitors]))
    uu, uv, vv = (whole.outer(each if chosen is None else each * chosen) for each in (u * u, u * v, v * v))
    return np.block([[uu[:p, :p], uv[:p, :q]], [uv[:p, :q].T, vv[:q, :q]]])


def _between(first: Influence, second: Influence, meat: Matrix) -> Vector:
    spread: Matrix = np.hstack([first.towards, -second.towards])
    variances: Vector = np.einsum("ij,ij->i", spread @ meat, spread)
    return variances


def _by(rows: Rows, first: Influence, second: Influence, dimension: SharedDimension) -> Vector:
    """CR0."""
    labels, count = dimension.labels, dimension.count
    if count <= FEW_CLUSTERS:
        return _between(first, second, _meat(rows, first, second, slice(None), labels, count))
    alone = np.take(np.bincount(labels) == 1, labels, mode="clip")
    meat = independent_meat(rows, first, second, alone)
    together = np.flatnonzero(~alone)
    meat += _meat(rows, first, second, together, *consecutive(labels[together]))
    return _between(first, second, meat)


def _meat(
    rows: Rows,
    first: Influence,
    second: Influence,
    chosen: NDArray[np.intp] | slice,
    labels: Labels,
    count: int,
) -> Matrix:
    """Σ_g (U_g, V_g)ᵀ(U_g, V_g) (p + q, p + q) of the chosen rows' clusters."""
    u, v = (each.by_cluster(rows, chosen, labels, count) for each in (first, second))
    width = u.shape[1] + v.shape[1]
    if count > FEW_CLUSTERS and u.nnz + v.nnz < SPARSE * count * width:
        both = hstack([u, v]).tocsr()
        sparse: Matrix = (both.T @ both).toarray()
        return sparse
    meat = np.zeros((width, width))
    for start in range(0, count, FEW_CLUSTERS):
        part = slice(start, start + FEW_CLUSTERS)
        full = np.hstack([u[part].toarray(), v[part].toarray()])
        meat += full.T @ full
    return meat
