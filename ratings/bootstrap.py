"""Bootstrap: refit resampled votes, or resampled clusters of votes, many at once.

All resamples share one inverse Hessian, that of the full fit, and move by chord steps
θ* ← θ* + H⁻ Σ x[R* − N*(p(θ*) − p̂)], where N* and R* are a resample's weight and residual per unit (a pair
on a plain board, a row under style control). The few that a chord doesn't settle are refitted by Newton;
those without a finite maximum get the frozen Firth pseudo-battles of the full fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from ratings.bradley_terry import Fit, PairLikelihood
from ratings.cluster_runs import Labels
from ratings.clusters import VoteScores
from ratings.comparisons import Tally
from ratings.errors import BadOptionError, NotConvergedError
from ratings.newton import Matrix, Vector, gauge, maximise
from ratings.reference import Reference
from ratings.rows import Floats, sum_by

BLOCK = 50
CHORD_ROUNDS = 25
CHORD_TOLERANCE = 1e-6  # log-odds: 0.0002 points
FALLBACK_TOLERANCE = 1e-8

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Units:
    """What resampling reweights: U pairs or rows, with their design x (U, p), p̂ and η̂ (U,) at the fit.

    pseudo (U,): frozen pseudo-battles of the fit · fallback (U,): those for resamples without a maximum.
    """

    design: csr_array
    eta: Vector
    pseudo: Vector
    fallback: Vector

    @property
    def p(self) -> Vector:
        """p̂ (U,)."""
        fitted: Vector = expit(self.eta)
        return fitted


@dataclass(frozen=True, eq=False)
class Resamples:
    """params (B, p) of the resampled fits; `without_maximum` of them needed pseudo-battles to be finite."""

    params: Matrix
    without_maximum: int

    def less_mean(self, reference: Reference) -> Resamples:
        """The same with strengths less the mean of a reference set."""
        return replace(self, params=reference.less_mean(self.params))

    @property
    def deviations(self) -> Vector:
        """Standard deviations (p,)."""
        deviations: Vector = self.params.std(axis=0, ddof=1)
        return deviations

    @property
    def covariance(self) -> Matrix:
        """Covariance (p, p)."""
        return np.atleast_2d(np.cov(self.params, rowvar=False))

    def percentiles(self, confidence: float) -> Matrix:
        """Lower and upper percentile end points (2, p)."""
        tail = (1 - confidence) / 2
        ends: Matrix = np.quantile(self.params, [tail, 1 - tail], axis=0)
        return ends


def pair_units(cells: Tally, fit: Fit) -> Units:
    """Units of a plain board: its P pairs."""
    design = _design(cells.low, cells.high, np.zeros((0, len(cells.low))), cells.n_competitors)
    fallback = PairLikelihood(cells).leverage(fit.params, fit.bread)
    return Units(design, design @ fit.params, _pseudo(fit, len(cells.low)), fallback)


def row_units(scores: VoteScores, fit: Fit) -> Units:
    """Units of a board with covariates: its n rows."""
    r = scores.rows
    design = _design(r.low[r.pair], r.high[r.pair], r.z, r.n_competitors)
    return Units(design, design @ fit.params, _pseudo(fit, len(r)), scores.pseudo)


def _pseudo(fit: Fit, size: int) -> Vector:
    return np.zeros(size) if fit.pseudo is None else fit.pseudo


def _design(low: NDArray[np.int32], high: NDArray[np.int32], z: Floats, n_competitors: int) -> csr_array:
    units, k = len(low), len(z)
    ones = np.ones((1, units))
    after = np.repeat(n_competitors + np.arange(k)[:, None], units, axis=1)
    columns = np.vstack([low[None], high[None], after])
    values = np.vstack([ones, -ones, z])
    starts = np.arange(units + 1) * (k + 2)
    return csr_array((values.T.ravel(), columns.T.ravel(), starts), shape=(units, n_competitors + k))


Draw = Callable[[np.random.Generator, int], tuple[Matrix, Matrix]]
"""(generator, b) -> N*, R*, both (U, b)."""


def draw_votes(cells: Tally, fit: Fit) -> Draw:
    """Votes of a plain board drawn independently: Poisson counts per cell (pair × score).

    The fit doesn't depend on the total weight, so that Poisson and multinomial resampling give the same
    distribution. Weighted votes: Poisson on the scale Σw²/Σw keeps mean and variance.
    """
    p = expit(fit.strengths[cells.low] - fit.strengths[cells.high])
    residual = cells.scores - p[:, None]
    scale = np.divide(cells.weight_sq, cells.weight, out=np.ones_like(cells.weight), where=cells.weight > 0)
    mean = cells.weight / scale

    def draw(rng: np.random.Generator, size: int) -> tuple[Matrix, Matrix]:
        counts = rng.poisson(mean[..., None], (*mean.shape, size)) * scale[..., None]
        return counts.sum(axis=1), np.einsum("ucb,uc->ub", counts, residual)

    return draw


def draw_rows(scores: VoteScores) -> Draw:
    """Votes of a board with covariates drawn independently: a Poisson(1) count for each row.

    The draws go to the rows in the order of their content, so that the order they came in doesn't matter.
    """
    rows = scores.rows
    place = np.argsort(np.lexsort((*rows.z.round(9), rows.score, rows.weight, rows.pair)))

    def draw(rng: np.random.Generator, size: int) -> tuple[Matrix, Matrix]:
        counts = rng.poisson(1.0, (len(place), size))[place].astype(np.float64)
        return counts * rows.weight[:, None], counts * scores.residual[:, None]

    return draw


def draw_clusters(scores: VoteScores, labels: Labels, count: int, *, by_pair: bool) -> Draw:
    """Whole clusters drawn with replacement: multinomial counts, spread over pairs (rows, if covariates)."""
    rows = scores.rows
    units, size = (rows.pair, len(rows.low)) if by_pair else (np.arange(len(rows)), len(rows))
    labels = _numbered_by_content(scores, labels, count)
    weight = csr_array((rows.weight, (units, labels)), shape=(size, count))
    residual = csr_array((scores.residual, (units, labels)), shape=(size, count))

    def draw(rng: np.random.Generator, size: int) -> tuple[Matrix, Matrix]:
        drawn = rng.multinomial(count, np.full(count, 1 / count), size=size).T.astype(np.float64)
        return np.asarray(weight @ drawn), np.asarray(residual @ drawn)

    return draw


def _numbered_by_content(scores: VoteScores, labels: Labels, count: int) -> Labels:
    """Clusters renumbered by what they hold, so that neither their ids nor the row order choose the draws."""
    squares = sum_by(labels, scores.residual**2, count)
    information = sum_by(labels, scores.information, count)
    order = np.lexsort((squares.round(7), information.round(7), np.bincount(labels, minlength=count)))
    rank = np.empty(count, dtype=np.int64)
    rank[order] = np.arange(count)
    return rank[labels]


def bootstrap(
    fit: Fit, units: Units, draw: Draw, *, resamples: int, seed: int, progress: Progress | None = None
) -> Resamples:
    """Refit `resamples` draws; block i is seeded by (seed, i), so the result depends on nothing else."""
    if resamples < 2:
        raise BadOptionError(f"{resamples} resamples", todo="take at least 1,000 for an interval")
    flat = gauge(fit.graph.component, len(fit.covariate_names))
    done: list[Matrix] = []
    without_maximum = 0
    for number, size in enumerate(block_sizes(resamples)):
        total, residual = draw(np.random.default_rng([seed, number]), size)
        params, settled = _chord(fit, units, total, residual)
        for b in np.flatnonzero(~settled):
            params[:, b], finite = _refit(fit, units, total[:, b], residual[:, b], flat)
            without_maximum += not finite
        done.append(params.T)
        if progress is not None:
            progress(sum(len(part) for part in done), resamples)
    return Resamples(np.vstack(done), without_maximum)


def block_sizes(resamples: int) -> Iterator[int]:
    """Sizes of the blocks of resamples, each with a seed of its own."""
    for start in range(0, resamples, BLOCK):
        yield min(BLOCK, resamples - start)


def _chord(fit: Fit, units: Units, total: Matrix, residual: Matrix) -> tuple[Matrix, NDArray[np.bool_]]:
    """Params (p, b) and which of the b resamples have settled."""
    p = units.p[:, None]
    base = residual + (units.pseudo * (0.5 - units.p))[:, None]
    weight = total + units.pseudo[:, None]
    transposed = units.design.T.tocsr()
    moves = fit.bread @ (transposed @ base)
    settled = np.zeros(moves.shape[1], dtype=bool)
    for _ in range(CHORD_ROUNDS):
        drift = expit(units.eta[:, None] + units.design @ moves) - p
        step = fit.bread @ (transposed @ (base - weight * drift))
        size = np.abs(step).max(axis=0)
        settled = size < CHORD_TOLERANCE
        if settled.all() or not np.isfinite(size).all():
            break
        moves = moves + step
    return fit.params[:, None] + moves, settled


def _refit(fit: Fit, units: Units, total: Vector, residual: Vector, flat: Matrix) -> tuple[Vector, bool]:
    """One resample by Newton, with the fallback pseudo-battles if it has no finite maximum."""
    if _finite(fit, units, total, residual):
        try:
            return _newton(fit, units, total, residual, units.pseudo, flat), True
        except NotConvergedError:
            pass
    pseudo = np.maximum(units.pseudo, units.fallback)
    return _newton(fit, units, total, residual, pseudo, flat), False


def _finite(fit: Fit, units: Units, total: Vector, residual: Vector) -> bool:
    """Is every component of the resample still strongly connected (or already held by pseudo-battles)?"""
    k = fit.n_competitors
    low, high = _sides(units, k)
    score = residual + total * units.p
    slack = FALLBACK_TOLERANCE * (1 + total)
    low_scored, high_scored = score + units.pseudo > slack, total - score + units.pseudo > slack
    tail = np.concatenate([low[low_scored], high[high_scored]])
    head = np.concatenate([high[low_scored], low[high_scored]])
    graph = csr_array((np.ones(len(tail)), (tail, head)), shape=(k, k))
    parts = int(connected_components(graph, directed=True, connection="strong")[0])
    return parts == int(fit.graph.component.max()) + 1


def _sides(units: Units, k: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    width = int(units.design.indptr[1])
    columns = units.design.indices.reshape(-1, width)
    return columns[:, 0], columns[:, 1]


def _newton(fit: Fit, units: Units, total: Vector, residual: Vector, pseudo: Vector, flat: Matrix) -> Vector:
    weight = total + pseudo
    wins = residual + total * units.p + pseudo / 2
    design = units.design

    def objective(params: Vector) -> tuple[float, Vector, Matrix]:
        eta = design @ params
        p = expit(eta)
        hessian = (design.T @ design.multiply((weight * p * (1 - p))[:, None])).toarray()
        return float(wins @ eta - weight @ np.logaddexp(0, eta)), design.T @ (wins - weight * p), hessian

    return maximise(objective, fit.params, flat, tolerance=1e-7).params
