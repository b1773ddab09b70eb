"""How sure a fit is: sandwich, one-way and two-way cluster-robust covariance, and their critical values.

Two-way (Cameron, Gelbach & Miller 2011): V = V_rater + V_prompt − V_cell, cell = (rater, prompt). V may be
indefinite; it is never clipped: each contrast's variance is the largest of cᵀVc, cᵀV_rater c, cᵀV_prompt c.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from ratings.bradley_terry import Fit, RowLikelihood, laplacian
from ratings.clusters import Dimension, VoteScores, cluster, cr0, labels_of
from ratings.comparisons import Comparisons, Tally
from ratings.newton import Matrix, Vector
from ratings.reference import Reference, effective_votes, own_clusters, reference_of
from ratings.rows import Rows

FEW_CLUSTERS = 10.0
"""Below so many effective raters (prompts) a model carries the warning "too few raters" ("prompts")."""

NO_INTERVAL = 2.0
"""Below so many effective clusters no interval is given at all."""


@dataclass(frozen=True, eq=False)
class Covariance:
    """Covariance (p, p) of K strengths less the reference mean, then coefficients, in log-odds.

    matrix: V, may be indefinite if two-way · floors: the one-way terms no contrast's variance falls below ·
    independent: HC0 on the same fit · dimensions: how the votes cluster, empty if assumed independent ·
    conditional_on: dimensions with a single cluster, about which nothing can be said · model: H⁻, below which
    no variance falls where votes are `few` (p,) or clusters are · none (p,): no interval (thin_votes.py) ·
    correction: of the one-way terms for the number of clusters.
    """

    matrix: Matrix
    floors: tuple[Matrix, ...]
    independent: Matrix
    dimensions: tuple[Dimension, ...]
    conditional_on: tuple[str, ...]
    model: Matrix | None = None
    few: NDArray[np.bool_] | None = None
    none: NDArray[np.bool_] | None = None
    correction: str = "CR3"

    @property
    def method(self) -> str:
        """In words, as a board prints it."""
        if not self.dimensions:
            return "sandwich (HC0), assumes independent votes"
        names = " and ".join(d.name for d in self.dimensions)
        return f"cluster-robust ({self.correction}) by {names}"

    def less_mean(self, reference: Reference) -> Covariance:
        """The same of strengths less the mean of a reference set; dimensions keep their own matrices."""
        if reference.of_all:
            return self
        return replace(
            self,
            matrix=reference.both(self.matrix),
            floors=tuple(reference.both(floor) for floor in self.floors),
            independent=reference.both(self.independent),
        )

    @property
    def of_draws(self) -> Matrix:
        """A positive semi-definite matrix (p, p) to draw from: V_rater + V_prompt if two-way, else V."""
        return sum(self.floors, np.zeros_like(self.matrix)) if self.floors else self.matrix

    @cached_property
    def deviations(self) -> Vector:
        """Standard errors (p,) of each rating less the reference mean, and of each coefficient."""
        variances = [np.diag(m) for m in (self.matrix, *self.floors)]
        return self.guarded_deviations(np.max(variances, axis=0))

    def guarded_deviations(self, variances: Vector) -> Vector:
        """Standard errors (p,) from variances, robust or resampled, that may have come out too small."""
        model = None if self.model is None else np.diag(self.model)
        return _guarded(variances, np.diag(self.independent), model, self.leaning)

    @cached_property
    def leaning(self) -> NDArray[np.bool_]:
        """Parameters (p,) whose variance leans on the model's, for their votes or clusters are few."""
        few = np.zeros(len(self.matrix), dtype=bool) if self.few is None else self.few
        leaning: NDArray[np.bool_] = few | (
            (np.minimum(self.effective, self.effective_per_parameter) < FEW_CLUSTERS)
            | bool(self.conditional_on)
        )
        return leaning

    @cached_property
    def floored(self) -> NDArray[np.bool_]:
        """Parameters (p,) whose standard error is the model's, for the robust one came out below it."""
        if self.model is None:
            return np.zeros(len(self.matrix), dtype=bool)
        robust = np.max([np.diag(m) for m in (self.matrix, *self.floors)], axis=0)
        bare = _guarded(robust, np.diag(self.independent), None, self.leaning)
        floored: NDArray[np.bool_] = self.leaning & (bare < np.sqrt(np.diag(self.model)))
        return floored

    @cached_property
    def difference_deviations(self) -> Matrix:
        """Standard errors (p, p) of all differences of two parameters; zero on the diagonal."""
        variances = np.max([_of_differences(m) for m in (self.matrix, *self.floors)], axis=0)
        model = None if self.model is None else _of_differences(self.model)
        leaning = self.leaning[:, None] | self.leaning[None, :]
        deviations: Matrix = _guarded(variances, _of_differences(self.independent), model, leaning)
        np.fill_diagonal(deviations, 0.0)
        return deviations

    def lasting_deviations(self, dimension: int) -> Matrix:
        """What stays of the differences' standard errors (p, p) with ever more clusters of one dimension.

        With k times the raters, each as active, V_rater and V_cell fall to 1/k: V_prompt − V_cell stays, and
        that is V − V_rater.
        """
        if not self.floors:
            return np.zeros_like(self.matrix)
        lasting = _of_differences(self.matrix) - _of_differences(self.floors[dimension])
        deviations: Matrix = np.sqrt(np.maximum(lasting, 0.0))
        return deviations

    @cached_property
    def deviations_of_same_voters(self) -> Matrix:
        """What stays of the differences' standard errors (p, p) with ever more votes of the same clusters.

        V_cell falls, tastes don't average out: V_rater + V_prompt − 2 V_cell stays; V − HC0 by one dimension.
        """
        if not self.dimensions:
            return np.zeros_like(self.matrix)
        cell = sum(self.floors, -self.matrix) if self.floors else self.independent
        whole = np.max([_of_differences(m) for m in (self.matrix, *self.floors)], axis=0)
        deviations: Matrix = np.sqrt(np.maximum(whole - _of_differences(cell), 0.0))
        return deviations

    def deviation(self, contrast: Vector) -> float:
        """Standard error of cᵀθ for a contrast c (p,)."""
        variance = max(0.0, *(float(contrast @ m @ contrast) for m in (self.matrix, *self.floors)))
        model = None if self.model is None else np.array(contrast @ self.model @ contrast)
        leaning = np.array(self.leaning[contrast != 0].any())
        independent = np.array(contrast @ self.independent @ contrast)
        return float(_guarded(np.array(variance), independent, model, leaning))

    @property
    def effective(self) -> float:
        """G*, the fewest over the dimensions; infinite if votes are assumed independent."""
        return min((d.effective for d in self.dimensions), default=np.inf)

    @cached_property
    def effective_per_parameter(self) -> Vector:
        """G_c (p,), the fewest over the dimensions."""
        if not self.dimensions:
            return np.full(len(self.matrix), np.inf)
        fewest: Vector = np.min([d.per_parameter for d in self.dimensions], axis=0)
        return fewest

    def few_clusters(self, dimension: str) -> NDArray[np.bool_]:
        """Parameters (p,) about which fewer than FEW_CLUSTERS raters (prompts) speak, or a single one."""
        few = np.full(len(self.matrix), dimension in self.conditional_on)
        for d in self.dimensions:
            if d.name == dimension:
                few |= d.per_parameter < FEW_CLUSTERS
        return few

    @cached_property
    def degrees(self) -> Vector:
        """Degrees of freedom (p,) of each parameter's t: min(G*, G_c) − 1; 0: no interval can be given."""
        effective = np.minimum(self.effective, self.effective_per_parameter)
        none = effective < NO_INTERVAL if self.none is None else self.none | (effective < NO_INTERVAL)
        return np.where(none, 0.0, effective - 1)

    @cached_property
    def design_effect(self) -> float:
        """Mean cluster-robust variance of the ratings over their mean HC0 variance: 1 if votes don't cluster.

        The model's variance, which stands in where votes are few, says nothing of clusters and isn't in it;
        nor are ratings that lean on it, unless all do.
        """
        independent = np.diag(self.independent)
        variances = np.max([np.diag(m) for m in (self.matrix, *self.floors)], axis=0)
        own = _guarded(variances, independent, None, self.leaning) ** 2
        kept = self.leaning if self.leaning.all() else ~self.leaning
        return float(own[kept].sum() / independent[kept].sum()) if independent[kept].any() else 1.0

    @property
    def fallen_back(self) -> NDArray[np.bool_]:
        """Parameters (p,) that hang on the votes of one cluster alone."""
        flags: NDArray[np.bool_] = np.zeros(len(self.matrix), dtype=bool)
        for dimension in self.dimensions:
            flags |= dimension.fallen_back
        return flags


LEAST_DESIGN_EFFECT = 0.25
"""A variance below this share of HC0's comes from clusters that cancel by chance: HC0's takes its place."""


def _guarded(
    variances: NDArray[np.float64],
    independent: NDArray[np.float64],
    model: NDArray[np.float64] | None,
    leaning: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Roots of variances (any shape): HC0's where far below it, at least the model's where `leaning`."""
    kept = np.where(variances < LEAST_DESIGN_EFFECT * independent, independent, variances)
    if model is not None:
        kept = np.where(leaning, np.maximum(kept, model), kept)
    roots: NDArray[np.float64] = np.sqrt(np.maximum(kept, 0))
    return roots


def _of_differences(matrix: Matrix) -> Matrix:
    """Variances (p, p) of all differences of two parameters."""
    return np.diag(matrix)[:, None] + np.diag(matrix)[None, :] - 2 * matrix


def critical_values(degrees: Vector, confidence: float) -> Vector:
    """Two-sided t quantiles for degrees of freedom (any shape); normal where infinite, NaN where 0."""
    upper = (1 + confidence) / 2
    finite = np.isfinite(degrees)
    with np.errstate(invalid="ignore"):
        return np.where(
            finite,
            stdtrit(np.where(finite & (degrees > 0), degrees, np.nan), upper),
            ndtri(upper),
        )


def tally_sandwich(cells: Tally, fit: Fit) -> Covariance:
    """HC0 of a plain board from its cells: H⁻(Σw²(y − p)² x xᵀ)H⁻, in O(pairs)."""
    p = 1 / (1 + np.exp(fit.strengths[cells.high] - fit.strengths[cells.low]))
    squares = np.zeros(len(p))
    for score, weight_sq in zip(cells.scores, cells.weight_sq.T, strict=True):
        squares += weight_sq * (score - p) ** 2
    meat = laplacian(cells.low, cells.high, squares, cells.n_competitors)
    hc0 = fit.bread @ meat @ fit.bread
    return Covariance(hc0, (), hc0, (), ())


def vote_scores(rows: Rows, fit: Fit) -> VoteScores:
    """Residual and information of each kept vote at the fit."""
    residual, information = RowLikelihood(rows).scores(fit.params)
    return VoteScores(rows, residual, information, fit)


def robust_covariance(
    comparisons: Comparisons, rows: Rows, fit: Fit, dimensions: tuple[str, ...], cells: Tally
) -> tuple[Covariance, VoteScores, Reference]:
    """HC0, one-way CR3 or two-way covariance by the `dimensions` (of "rater", "prompt") that are given, of
    strengths less the mean of the reference set, which comes back.

    So do the scores, without the table that only clusters need.
    """
    scores = vote_scores(rows, fit)
    squares = RowLikelihood(rows).outer(scores.residual**2)
    hc0 = fit.bread @ squares @ fit.bread
    labelled = {name: labels_of(getattr(comparisons, name), scores) for name in dimensions}
    single = tuple(name for name, (_, count) in labelled.items() if count == 1)
    groups = {name: found for name, found in labelled.items() if name not in single}
    reference = reference_of(
        fit.graph, effective_votes(cells), own_clusters(scores, [labels for labels, _ in groups.values()])
    )
    bread = reference.both(fit.bread)
    several = tuple(cluster(name, *found, scores, fit, bread) for name, found in groups.items())
    matrix, floors = _combined(several, scores, fit, squares, hc0)
    covariance = Covariance(matrix, floors, hc0, several, single)
    return covariance.less_mean(reference), replace(scores), reference


def _combined(
    several: tuple[Dimension, ...], scores: VoteScores, fit: Fit, squares: Matrix, hc0: Matrix
) -> tuple[Matrix, tuple[Matrix, ...]]:
    """V by none, one or two dimensions, and the terms it isn't to fall below."""
    if not several:
        return hc0, ()
    if len(several) == 1:
        return several[0].covariance, ()
    labels = several[0].labels * several[1].count + several[1].labels
    cell = cr0(scores, fit.bread, labels, several[0].count * several[1].count, squares)
    floors = tuple(d.covariance for d in several)
    return floors[0] + floors[1] - cell, floors
