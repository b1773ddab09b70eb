"""Bradley-Terry with ties as half a win: objective, gradient, Hessian, and the fit.

For a vote t with low and high side, η = θ_low − θ_high + γᵀz and p = 1/(1 + e^−η):
ℓ = Σ w [y η − log(1 + e^η)], score Σ w (y − p) x, H = Σ w p(1 − p) x xᵀ, x = (e_low − e_high, z).
(Bradley & Terry 1952; with ties a quasi-likelihood, whose inverse Hessian overstates the variance.)
Frozen pseudo-battles h (Firth 1993) add h(½ − p) x to the score and h p(1 − p) x xᵀ to H.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ratings.comparisons import Comparisons, Policies, Tally, tally
from ratings.connectivity import Connectivity, connectivity
from ratings.errors import NotConvergedError, NoVotesError
from ratings.newton import STEP_TOLERANCE, Matrix, Vector, approach, gauge, generalised_inverse, maximise
from ratings.rows import Floats, Rows, sort_rows, sum_by

SAMPLE_STEP = 8
"""Every eighth row of a large board tells enough for a starting point and for variance inflation."""

MOST = 80.0  # e^80 is still a float32
DENSE_FROM = 8  # grids of all pairs are used where more than one in 8 × 2 has met
FIRTH_TOLERANCE = 1e-9
SINGLE_TOLERANCE = 5e-6
FIRTH_ROUNDS = 500


class Likelihood(Protocol):
    """What a fit needs of its votes: tallied pairs, or rows where there are covariates."""

    @property
    def n_covariates(self) -> int:
        """Number of covariates k."""

    def evaluate(self, params: Vector, pseudo: Vector | None) -> tuple[float, Vector, Matrix]:
        """Log-likelihood, gradient (p,), negative Hessian (p, p) at params (p,) = strengths, coefficients."""

    def leverage(self, params: Vector, bread: Matrix) -> Vector:
        """w p(1 − p) xᵀ bread x for each pair or row."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted board of K competitors and k covariates, p = K + k.

    params (p,): strengths in natural log-odds, mean 0 in each component, then coefficients · bread (p, p):
    H⁺ · pseudo: frozen Firth pseudo-battles per pair or row, None where every strength is finite ·
    log_likelihood: of the votes alone.
    """

    params: Vector
    bread: Matrix
    hessian: Matrix
    log_likelihood: float
    iterations: int
    graph: Connectivity
    pseudo: Vector | None
    covariate_names: tuple[str, ...]
    policies: Policies

    @property
    def n_competitors(self) -> int:
        return len(self.params) - len(self.covariate_names)

    @property
    def strengths(self) -> Vector:
        """θ (K,), mean 0 in each component."""
        return self.params[: self.n_competitors]

    @property
    def coefficients(self) -> Vector:
        """γ (k,)."""
        return self.params[self.n_competitors :]


@dataclass(frozen=True, eq=False)
class PairLikelihood:
    """The likelihood of a plain board: everything from the cells of a tally."""

    cells: Tally

    @property
    def n_covariates(self) -> int:
        """None: covariates need rows."""
        return 0

    @cached_property
    def _grid(self) -> tuple[Matrix, Matrix]:
        """Votes and half-win scores (K, K) of the row against the column competitor."""
        c, k = self.cells, self.cells.n_competitors
        votes, score = np.zeros((2, k * k))
        there, back = _both_ways(c.low, c.high, k)
        total, of_low = c.total, c.score
        votes[there] = votes[back] = total
        score[there], score[back] = of_low, total - of_low
        return votes.reshape(k, k), score.reshape(k, k)

    def evaluate(self, params: Vector, pseudo: Vector | None) -> tuple[float, Vector, Matrix]:
        """See Likelihood; O(pairs), whatever the number of votes."""
        c = self.cells
        if len(c.low) * DENSE_FROM > c.n_competitors**2:
            return self._evaluate_grid(params, pseudo)
        total, score = c.total, c.score
        if pseudo is not None:
            total, score = total + pseudo, score + pseudo / 2
        eta = params[c.low] - params[c.high]
        p = expit(eta)
        value = float(score @ eta - total @ np.logaddexp(0, eta))
        gradient = spread(c.low, c.high, score - total * p, c.n_competitors)
        return value, gradient, laplacian(c.low, c.high, total * p * (1 - p), c.n_competitors)

    def _evaluate_grid(self, params: Vector, pseudo: Vector | None) -> tuple[float, Vector, Matrix]:
        """The same on (K, K) grids, which is faster where most pairs have met."""
        votes, score = self._grid
        if pseudo is not None:
            c = self.cells
            extra = np.zeros_like(votes)
            extra[c.low, c.high] = extra[c.high, c.low] = pseudo
            votes, score = votes + extra, score + extra / 2
        lost_by = params[None, :] - params[:, None]
        p = np.minimum(lost_by, 700, out=lost_by)
        np.exp(p, out=p)
        p += 1
        # each ordered pair (i, j) adds the score of i times log P(i beats j) = −log(1 + e^(θ_j − θ_i))
        value = -float(np.vdot(score, np.log(p)))
        np.reciprocal(p, out=p)
        expected = votes * p
        gradient: Vector = score.sum(axis=1) - expected.sum(axis=1)
        p -= 1
        hessian = np.multiply(expected, p, out=expected)  # off the diagonal −v·p(1 − p)
        np.fill_diagonal(hessian, -hessian.sum(axis=1))
        return value, gradient, hessian

    def leverage(self, params: Vector, bread: Matrix) -> Vector:
        """See Likelihood; (P,)."""
        c = self.cells
        p = expit(params[c.low] - params[c.high])
        return c.total * p * (1 - p) * _difference_variance(bread, c.low, c.high)


@dataclass(frozen=True, eq=False)
class RowLikelihood:
    """The likelihood of a board with covariates, from rows sorted by pair."""

    rows: Rows

    @property
    def n_covariates(self) -> int:
        """Number of covariates k."""
        return len(self.rows.z)

    def evaluate(self, params: Vector, pseudo: Vector | None) -> tuple[float, Vector, Matrix]:
        """See Likelihood; one pass over the rows."""
        r, k = self.rows, self.n_covariates
        residual, information = np.zeros(len(r.low)), np.zeros((1 + k, len(r.low)))
        value, slope, curvature = 0.0, np.zeros(k), np.zeros((k, k))
        for pairs, rows in r.blocks():
            eta, p = self._predict(params, pairs, rows)
            w, z, first = r.weight[rows], r.z[:, rows], r.first[pairs] - rows.start
            wins = w * r.score[rows]
            if pseudo is not None:
                w, wins = w + pseudo[rows], wins + pseudo[rows] / 2
            value += float(wins @ eta - w @ _softplus(eta))
            e, v = wins - w * p, w * p * (1 - p)
            vz = z * v
            residual[pairs] = np.add.reduceat(e, first)
            information[0, pairs] = np.add.reduceat(v, first)
            if k:
                information[1:, pairs] = np.add.reduceat(vz, first, axis=1)
            slope += z @ e
            curvature += vz @ z.T
        gradient = np.concatenate([spread(r.low, r.high, residual, r.n_competitors), slope])
        return value, gradient, _bordered(r, information, curvature)

    def _predict(self, params: Vector, pairs: slice, rows: slice) -> tuple[Floats, Floats]:
        r = self.rows
        strength, width = params[: r.n_competitors], r.score.dtype
        gap = (strength[r.low[pairs]] - strength[r.high[pairs]]).astype(width)
        eta = np.take(gap, r.pair[rows] - pairs.start, mode="clip")
        eta += params[r.n_competitors :].astype(width) @ r.z[:, rows]
        return eta, 1 / (1 + np.exp(np.minimum(-eta, MOST)))

    def predict(self, params: Vector) -> tuple[Floats, Floats]:
        """η and p for each row (n,)."""
        whole = slice(0, len(self.rows.low)), slice(0, len(self.rows))
        return self._predict(params, *whole)

    def scores(self, params: Vector) -> tuple[Floats, Floats]:
        """Residual w(y − p) and information w p(1 − p) of each row (n,)."""
        r = self.rows
        residual, information = np.empty_like(r.score), np.empty_like(r.score)
        for pairs, rows in r.blocks():
            p = self._predict(params, pairs, rows)[1]
            residual[rows] = r.weight[rows] * (r.score[rows] - p)
            information[rows] = r.weight[rows] * p * (1 - p)
        return residual, information

    def outer(self, values: Floats) -> Matrix:
        """Σ values·x xᵀ (p, p) over the rows."""
        r, k = self.rows, self.n_covariates
        by_pair, curvature = np.zeros((1 + k, len(r.low))), np.zeros((k, k))
        for pairs, rows in r.blocks():
            z, first = r.z[:, rows], r.first[pairs] - rows.start
            weighted = z * values[rows]
            by_pair[0, pairs] = np.add.reduceat(values[rows], first)
            if k:
                by_pair[1:, pairs] = np.add.reduceat(weighted, first, axis=1)
            curvature += weighted @ z.T
        return _bordered(r, by_pair, curvature)

    def leverage(self, params: Vector, bread: Matrix) -> Vector:
        """See Likelihood; (n,)."""
        r, k = self.rows, self.rows.n_competitors
        _, p = self.predict(params)
        variance = _difference_variance(bread, r.low, r.high)[r.pair]
        mixed = (bread[r.low, k:] - bread[r.high, k:])[r.pair]
        variance = variance + 2 * np.einsum("nk,kn->n", mixed, r.z)
        variance += np.einsum("kn,kl,ln->n", r.z, bread[k:, k:], r.z, optimize=True)
        leverage: Vector = r.weight * p * (1 - p) * variance
        return leverage


def _softplus(eta: Floats) -> Floats:
    """log(1 + e^η) without overflow; several times faster than logaddexp."""
    softplus: Floats = np.maximum(eta, 0) + np.log1p(np.exp(-np.abs(eta)))
    return softplus


def _bordered(rows: Rows, by_pair: Matrix, curvature: Matrix) -> Matrix:
    """Σ v x xᵀ (p, p) from the pairs' Σv and Σvz (1 + k, P) and Σvzzᵀ (k, k)."""
    n = rows.n_competitors
    strengths = laplacian(rows.low, rows.high, by_pair[0], n)
    columns = [spread(rows.low, rows.high, column, n) for column in by_pair[1:]]
    cross = np.stack(columns, axis=1) if columns else np.zeros((n, 0))
    return np.block([[strengths, cross], [cross.T, curvature]])


def spread(low: NDArray[np.int32], high: NDArray[np.int32], values: Vector, n: int) -> Vector:
    """Σ values·(e_low − e_high), (n,), of values per pair (P,)."""
    return sum_by(low, values, n) - sum_by(high, values, n)


def laplacian(low: NDArray[np.int32], high: NDArray[np.int32], values: Vector, n: int) -> Matrix:
    """Σ values·(e_low − e_high)(e_low − e_high)ᵀ, (n, n), of values per distinct pair (P,)."""
    matrix = np.zeros(n * n)
    there, back = _both_ways(low, high, n)
    matrix[there] = matrix[back] = -values
    square = matrix.reshape(n, n)
    np.fill_diagonal(square, -square.sum(axis=1))
    return square


def _both_ways(
    low: NDArray[np.int32], high: NDArray[np.int32], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places of (low, high) and of (high, low) in a flattened (n, n)."""
    return low.astype(np.int64) * n + high, high.astype(np.int64) * n + low


def _difference_variance(bread: Matrix, low: NDArray[np.int32], high: NDArray[np.int32]) -> Vector:
    diagonal = np.diag(bread)
    variance: Vector = diagonal[low] + diagonal[high] - 2 * bread[low, high]
    return variance


def fit_bradley_terry(
    comparisons: Comparisons, policies: Policies | None = None, *, start: Vector | None = None
) -> Fit:
    """Fit strengths, and coefficients where the comparisons have covariates.

    Components that aren't strongly connected have no finite maximum; theirs is the Firth estimate, with
    `pseudo` set (method: docs/method.md, "When no maximum exists"). Raises NoVotesError, NotConvergedError.
    """
    policies = policies or Policies()
    cells = tally(comparisons, policies)
    if comparisons.covariates is None:
        return fit_likelihood(PairLikelihood(cells), cells, policies, start=start)
    plain = fit_likelihood(PairLikelihood(cells), cells, policies)
    rows = sort_rows(comparisons, policies, exact=plain.pseudo is not None)
    if start is None:
        fit = fit_rows(rows, cells, plain)
    else:
        fit = fit_likelihood(RowLikelihood(rows), cells, policies, start=start)
    return replace(fit, covariate_names=comparisons.covariate_names)


def fit_rows(rows: Rows, cells: Tally, plain: Fit) -> Fit:
    """Strengths and coefficients from sorted rows, starting at the plain fit of the same votes.

    From LARGE votes on: two or three passes, ended by the first step below 3e-4, whose error is its square.
    """
    if rows.score.dtype == np.float64:
        start = np.concatenate([plain.params, np.zeros(len(rows.z))])
        return fit_likelihood(RowLikelihood(rows), cells, plain.policies, start=start)
    flat = gauge(plain.graph.component, len(rows.z))
    likelihood = RowLikelihood(rows)
    best = approach(lambda at: likelihood.evaluate(at, None), _near(rows, plain, flat), flat)
    names = tuple(f"covariate {i}" for i in range(len(rows.z)))
    return replace(
        plain,
        params=best.params,
        bread=generalised_inverse(best.hessian, flat),
        hessian=best.hessian,
        log_likelihood=best.value,
        iterations=best.iterations,
        covariate_names=names,
    )


def _near(rows: Rows, plain: Fit, flat: Matrix) -> Vector:
    """A start (p,) near the optimum: coefficients from every eighth row, strengths moved along with them.

    The strengths of the sample itself would be noisier than those of the plain board.
    """
    k, sample = plain.n_competitors, RowLikelihood(rows.every(SAMPLE_STEP))
    start = np.concatenate([plain.params, np.zeros(len(rows.z))])
    found = approach(lambda at: sample.evaluate(at, None), start, flat, small=3e-3)
    moved = SAMPLE_STEP * plain.bread @ found.hessian[:k, k:] @ found.params[k:]
    return np.concatenate([plain.params - moved, found.params[k:]])


def fit_likelihood(
    likelihood: Likelihood, cells: Tally, policies: Policies, *, start: Vector | None = None
) -> Fit:
    """Fit any Likelihood over the pairs of `cells`."""
    if not len(cells.low):
        raise NoVotesError("no vote to fit", todo="pass votes, or a policy that keeps some")
    graph = connectivity(cells)
    flat = gauge(graph.component, likelihood.n_covariates)
    separated = graph.separated
    at = _guess(cells, len(flat)) if start is None else start
    pseudo = None
    if separated.any():
        rows = separated[_low_of(likelihood)]
        at, pseudo = firth(likelihood, at, flat, rows)
    tolerance = _tolerance(likelihood)
    best = maximise(lambda params: likelihood.evaluate(params, pseudo), at, flat, tolerance=tolerance)
    value = best.value if pseudo is None else likelihood.evaluate(best.params, None)[0]
    bread = generalised_inverse(best.hessian, flat)
    names = tuple(f"covariate {i}" for i in range(likelihood.n_covariates))
    return Fit(best.params, bread, best.hessian, value, best.iterations, graph, pseudo, names, policies)


def _tolerance(likelihood: Likelihood) -> float:
    """The step to stop at: single-precision sums can't settle below a thousandth of a point."""
    single = isinstance(likelihood, RowLikelihood) and likelihood.rows.score.dtype == np.float32
    return SINGLE_TOLERANCE if single else STEP_TOLERANCE


def _guess(cells: Tally, size: int) -> Vector:
    """Log-odds of each competitor's mean score (p,), drawn in by a vote: near enough to save Newton steps."""
    k = cells.n_competitors
    score = sum_by(cells.low, cells.score, k) + sum_by(cells.high, cells.total - cells.score, k)
    votes = sum_by(cells.low, cells.total, k) + sum_by(cells.high, cells.total, k)
    share = (score + 0.5) / (votes + 1)
    return np.concatenate([np.log(share / (1 - share)), np.zeros(size - k)])


def _low_of(likelihood: Likelihood) -> NDArray[np.int32]:
    if isinstance(likelihood, RowLikelihood):
        of_row: NDArray[np.int32] = likelihood.rows.low[likelihood.rows.pair]
        return of_row
    assert isinstance(likelihood, PairLikelihood)  # noqa: S101
    return likelihood.cells.low


def firth(
    likelihood: Likelihood, start: Vector, flat: Matrix, where: NDArray[np.bool_]
) -> tuple[Vector, Vector]:
    """Firth's (1993) bias-reduced estimate: params (p,) and the pseudo-battles h, zero outside `where`.

    Solves Σ x[w(y − p) + h(½ − p)] = 0 with h = w p(1 − p) xᵀI⁻¹x by freezing h, refitting and renewing h.
    Over a component of m competitors h sums to m − 1 (plus the coefficients).
    """
    params, single = start, _tolerance(likelihood)
    pseudo = np.where(where, 1.0, 0.0)
    settled, inner = max(FIRTH_TOLERANCE, 2 * single), max(1e-8, single)
    for _ in range(FIRTH_ROUNDS):
        objective = partial(likelihood.evaluate, pseudo=pseudo)
        new = maximise(objective, params, flat, tolerance=inner).params
        moved = float(np.abs(new - params).max())
        params = new
        information = likelihood.evaluate(params, None)[2]
        pseudo = likelihood.leverage(params, generalised_inverse(information, flat)) * where
        if moved < settled:
            return params, pseudo
    raise NotConvergedError(f"Firth's estimate still moves by {moved:.2g} after {FIRTH_ROUNDS} rounds")
