"""Davidson's (1970) model: a tie is an outcome of its own, as likely as ν·√(π_a π_b) against π_a and π_b.

P(low) = e^{η/2}/D, P(high) = e^{−η/2}/D, P(tie) = ν/D, D = e^{η/2} + e^{−η/2} + ν. Log-concave in (θ, γ,
log ν).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ratings.bradley_terry import Fit, laplacian, spread
from ratings.cluster_runs import Labels
from ratings.clusters import sparse_scores
from ratings.comparisons import Comparisons, Policies, tally
from ratings.connectivity import connectivity
from ratings.errors import BadOptionError, IncomparableError, NotConvergedError, NoVotesError
from ratings.newton import Matrix, Optimum, Vector, gauge, generalised_inverse, maximise
from ratings.rows import Rows, sort_rows


@dataclass(frozen=True, eq=False)
class TieLikelihood:
    """n rows with scores 0, ½, 1; params (K + k + 1,): strengths, coefficients, log ν."""

    rows: Rows

    def evaluate(self, params: Vector) -> tuple[float, Vector, Matrix]:
        """Log-likelihood, gradient, negative Hessian."""
        r = self.rows
        chance, value = self._chances(params)
        residual, tie_residual = self.residuals(chance)
        lead = chance[0] - chance[1]
        decided = chance[0] + chance[1]
        spread_out = r.weight * (decided - lead**2) / 4
        mixed = -r.weight * lead * chance[2] / 2
        tied = float((r.weight * chance[2] * decided).sum())
        gradient = np.concatenate([self._sum(residual), [tie_residual.sum()]])
        strengths = laplacian(r.low, r.high, r.by_pair(spread_out), r.n_competitors)
        cross = np.stack([self._sum_x(spread_out * z) for z in r.z], axis=1) if len(r.z) else None
        own = (r.z * spread_out) @ r.z.T
        top = strengths if cross is None else np.block([[strengths, cross], [cross.T, own]])
        tie_cross = self._sum(mixed)[:, None]
        return value, gradient, np.block([[top, tie_cross], [tie_cross.T, np.array([[tied]])]])

    def residuals(self, chance: Matrix) -> tuple[Vector, Vector]:
        """Scores of η and of log ν for each row."""
        r = self.rows
        observed = r.score - 0.5
        return (
            r.weight * (observed - (chance[0] - chance[1]) / 2),
            r.weight * ((r.score == 0.5) - chance[2]),
        )

    def chances(self, params: Vector) -> Matrix:
        """P(low), P(high), P(tie) of each row (3, n)."""
        return self._chances(params)[0]

    def _chances(self, params: Vector) -> tuple[Matrix, float]:
        r = self.rows
        strength = params[: r.n_competitors]
        half = ((strength[r.low] - strength[r.high])[r.pair] + params[r.n_competitors : -1] @ r.z) / 2
        log_nu = params[-1]
        log_d = np.logaddexp(np.logaddexp(half, -half), log_nu)
        chance = np.exp(np.stack([half, -half, np.full(len(r), log_nu)]) - log_d)
        chosen = np.select([r.score == 1, r.score == 0], [half, -half], log_nu)
        return chance, float(r.weight @ (chosen - log_d))

    def _sum_x(self, values: Vector) -> Vector:
        r = self.rows
        return spread(r.low, r.high, r.by_pair(values), r.n_competitors)

    def _sum(self, values: Vector) -> Vector:
        return np.concatenate([self._sum_x(values), self.rows.z @ values])


@dataclass(frozen=True, eq=False)
class DavidsonFit:
    """`fit` ends in the coefficient "log ν"; rows and residuals (n,) are for sandwiches."""

    fit: Fit
    rows: Rows
    residual: Vector
    tie_residual: Vector

    @property
    def nu(self) -> float:
        """ν: the odds of a tie between equals, against one of them winning."""
        return float(np.exp(self.fit.params[-1]))

    def sandwich(self, labels: Labels | None = None) -> Matrix:
        """HC0 (p, p), or CR1 = G/(G − 1)·CR0 by cluster labels (n,) of the rows."""
        extra = np.vstack([self.residual * self.rows.z, self.tie_residual[None]])
        each = np.arange(len(self.rows)) if labels is None else labels
        count = int(each.max()) + 1
        u = sparse_scores(self.rows, self.residual, extra, each, count)
        correction = 1.0 if labels is None else count / (count - 1)
        covariance: Matrix = correction * self.fit.bread @ (u.T @ u).toarray() @ self.fit.bread
        return covariance


def fit_davidson(comparisons: Comparisons, policies: Policies | None = None) -> DavidsonFit:
    """Fit Davidson's model; draws of a kind whose policy is `half` count as ties.

    Raises BadOptionError where there is no tie (then ν = 0 and dropping ties gives the fit),
    IncomparableError where a strength has no finite estimate.
    """
    policies = policies or Policies(ties="davidson")
    cells = tally(comparisons, policies)
    if not len(cells.low):
        raise NoVotesError("no vote to fit", todo="pass votes, or a policy that keeps some")
    ties = cells.weight[:, 1].sum()
    if ties == 0:
        raise BadOptionError("ties fitted by Davidson's model, but there is no tie", todo="use ties half")
    graph = connectivity(cells)
    if graph.separated.any():
        raise IncomparableError(
            "Davidson's model has no finite estimate here: some competitor only ever won, or only lost",
            todo="use ties half, whose board flags it",
        )
    likelihood = TieLikelihood(sort_rows(comparisons, policies))
    flat = gauge(graph.component, len(likelihood.rows.z) + 1)
    start = np.zeros(len(flat))
    start[-1] = np.log(2 * ties / (cells.total.sum() - ties)) if cells.total.sum() > ties else 0.0
    best, bread = _maximum(likelihood, start, flat)
    fit = Fit(
        params=best.params,
        bread=bread,
        hessian=best.hessian,
        log_likelihood=best.value,
        iterations=best.iterations,
        graph=graph,
        pseudo=None,
        covariate_names=(*comparisons.covariate_names, "log ν"),
        policies=policies,
    )
    return DavidsonFit(fit, likelihood.rows, *likelihood.residuals(likelihood.chances(best.params)))


BEYOND = 30.0
"""Log-odds that no number of votes reaches: where Newton's method stops for want of digits."""


def _maximum(likelihood: TieLikelihood, start: Vector, flat: Matrix) -> tuple[Optimum, Matrix]:
    """The maximum and H⁺ there. Wins of one side and ties alone let ν and a strength run away."""
    try:
        best = maximise(likelihood.evaluate, start, flat)
        bread = generalised_inverse(best.hessian, flat)
    except NotConvergedError:
        best = None
    if best is None or np.abs(best.params).max() > BEYOND:
        raise IncomparableError(
            "Davidson's model has no finite estimate here: wins and ties alone leave the odds of a tie open",
            todo="use ties half, or collect more votes",
        )
    return best, bread
