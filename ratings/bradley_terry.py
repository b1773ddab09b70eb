"""Bradley-Terry with ties as half a win: objective, gradient, Hessian, and the fit.

For a vote t with low and high side, η = θ_low − θ_high + γᵀz and p = 1/(1 + e^−η):
ℓ = Σ w [y η − log(1 + e^η)], score Σ w (y − p) x, H = Σ w p(1 − p) x xᵀ, x = (e_low − e_high, z).
(Bradley & Terry 1952; with ties a quasi-likelihood, whose inverse Hessian overstates the variance.)
Frozen pseudo-battles h (Firth 1993) add h(½ − p) x to the score and h p(1 − p) x xᵀ to H.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ratings.comparisons import Comparisons, Policies, Tally, tally
from ratings.connectivity import Connectivity, connectivity
from ratings.errors import NotConvergedError, NoVotesError
from ratings.newton import Matrix, Vector, gauge, generalised_inverse, maximise
from ratings.rows import Rows, sort_rows, sum_by

FIRTH_TOLERANCE = 1e-9
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

    def evaluate(self, params: Vector, pseudo: Vector | None) -> tuple[float, Vector, Matrix]:
        """See Likelihood; O(pairs), whatever the number of votes."""
        c = self.cells
        total, score = c.total, c.score
        if pseudo is not None:
            total, score = total + pseudo, score + pseudo / 2
        eta = params[c.low] - params[c.high]
        p = expit(eta)
        value = float(score @ eta - total @ np.logaddexp(0, eta))
        gradient = spread(c.low, c.high, score - total * p, c.n_competitors)
        return value, gradient, laplacian(c.low, c.high, total * p * (1 - p), c.n_competitors)

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
        r = self.rows
        k = r.n_competitors
        eta, p = self.predict(params)
        weight, wins = r.weight, r.weight * r.score
        if pseudo is not None:
            weight, wins = weight + pseudo, wins + pseudo / 2
        value = float(wins @ eta - weight @ np.logaddexp(0, eta))
        residual, information = wins - weight * p, weight * p * (1 - p)
        gradient = np.concatenate([spread(r.low, r.high, r.by_pair(residual), k), r.z @ residual])
        return value, gradient, self.information(information)

    def predict(self, params: Vector) -> tuple[Vector, Vector]:
        """η and p for each row (n,)."""
        r = self.rows
        strength = params[: r.n_competitors]
        eta = (strength[r.low] - strength[r.high])[r.pair] + params[r.n_competitors :] @ r.z
        return eta, expit(eta)

    def information(self, v: Vector) -> Matrix:
        """Σ v x xᵀ (p, p) over the rows."""
        r = self.rows
        vz = r.z * v
        cross = np.stack([spread(r.low, r.high, r.by_pair(column), r.n_competitors) for column in vz], axis=1)
        return np.block(
            [[laplacian(r.low, r.high, r.by_pair(v), r.n_competitors), cross], [cross.T, vz @ r.z.T]]
        )

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


def spread(low: NDArray[np.int32], high: NDArray[np.int32], values: Vector, n: int) -> Vector:
    """Σ values·(e_low − e_high), (n,), of values per pair (P,)."""
    return sum_by(low, values, n) - sum_by(high, values, n)


def laplacian(low: NDArray[np.int32], high: NDArray[np.int32], values: Vector, n: int) -> Matrix:
    """Σ values·(e_low − e_high)(e_low − e_high)ᵀ, (n, n), of values per distinct pair (P,)."""
    matrix = np.zeros((n, n))
    matrix[low, high] = matrix[high, low] = -values
    matrix[np.arange(n), np.arange(n)] = np.bincount(low, values, n) + np.bincount(high, values, n)
    return matrix


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
    rows = sort_rows(comparisons, policies)
    if start is None:
        plain = fit_likelihood(PairLikelihood(cells), cells, policies)
        start = np.concatenate([plain.params, np.zeros(len(rows.z))])
    fit = fit_likelihood(RowLikelihood(rows), cells, policies, start=start)
    return replace(fit, covariate_names=comparisons.covariate_names)


def fit_likelihood(
    likelihood: Likelihood, cells: Tally, policies: Policies, *, start: Vector | None = None
) -> Fit:
    """Fit any Likelihood over the pairs of `cells`."""
    if not len(cells.low):
        raise NoVotesError("no vote to fit", todo="pass votes, or a policy that keeps some")
    graph = connectivity(cells)
    flat = gauge(graph.component, likelihood.n_covariates)
    separated = graph.separated
    at = np.zeros(len(flat)) if start is None else start
    pseudo = None
    if separated.any():
        rows = separated[_low_of(likelihood)]
        at, pseudo = firth(likelihood, at, flat, rows)
    best = maximise(lambda params: likelihood.evaluate(params, pseudo), at, flat)
    value = best.value if pseudo is None else likelihood.evaluate(best.params, None)[0]
    bread = generalised_inverse(best.hessian, flat)
    names = tuple(f"covariate {i}" for i in range(likelihood.n_covariates))
    return Fit(best.params, bread, best.hessian, value, best.iterations, graph, pseudo, names, policies)


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
    params = start
    pseudo = np.where(where, 1.0, 0.0)
    for _ in range(FIRTH_ROUNDS):
        frozen = pseudo
        new = maximise(lambda at, h=frozen: likelihood.evaluate(at, h), params, flat, tolerance=1e-8).params
        moved = float(np.abs(new - params).max())
        params = new
        information = likelihood.evaluate(params, None)[2]
        pseudo = likelihood.leverage(params, generalised_inverse(information, flat)) * where
        if moved < FIRTH_TOLERANCE:
            return params, pseudo
    raise NotConvergedError(f"Firth's estimate still moves by {moved:.2g} after {FIRTH_ROUNDS} rounds")
