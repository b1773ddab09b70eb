"""Two more models of ties: Rao-Kupper's threshold, and its grounded form whose zero is "usable".

Rao & Kupper (1967): P(a) = π_a/(π_a + κπ_b), P(b) = π_b/(κπ_a + π_b), tie the rest, κ ≥ 1.
Grounded: P(a) = π_a/(π_a + κπ_b + 1), P(b) = π_b/(κπ_a + π_b + 1), P(both bad) = 1/(1 + π_a + π_b), tie the
rest: a competitor with log π = 0 is as good as the outside option of being bad, so ratings have an absolute
zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from ratings.comparisons import BOTH_BAD, MODEL_A, MODEL_B, Comparisons, Policies, tally
from ratings.connectivity import connectivity
from ratings.errors import BadOptionError, IncomparableError, NotConvergedError, NoVotesError
from ratings.newton import Matrix, Vector
from ratings.rows import sum_by

GRADIENT_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class ThresholdFit:
    """log π (K,) (mean 0 for Rao-Kupper, absolute if grounded), κ, and the covariance (K + 1, K + 1) of log
    π and log(κ − 1): the inverse observed information, by differences of the exact gradient."""

    log_worth: Vector
    kappa: float
    covariance: Matrix
    log_likelihood: float
    grounded: bool

    @property
    def deviations(self) -> Vector:
        """Model-based standard errors (K,) of log π."""
        deviations: Vector = np.sqrt(np.diag(self.covariance)[:-1])
        return deviations

    def usable_probability(self) -> Vector:
        """π/(1 + π) (K,): the chance that a lone response is accepted and not called bad; grounded only."""
        if not self.grounded:
            raise BadOptionError(
                "Rao-Kupper's strengths have no absolute zero", todo="fit the grounded model"
            )
        usable: Vector = 1 / (1 + np.exp(-self.log_worth))
        return usable


Value = Callable[[Vector], tuple[float, Vector]]


def fit_rao_kupper(comparisons: Comparisons, policies: Policies | None = None) -> ThresholdFit:
    """Rao-Kupper on wins and ties; draws whose policy is `half` count as ties. Needs one strongly connected
    board and at least one tie."""
    cells = tally(comparisons, policies or Policies())
    if cells.counts.shape[1] > 3:
        raise BadOptionError(
            "Rao-Kupper's model knows no quarter wins", todo="take half or drop for unstable ties"
        )
    if not len(cells.low):
        raise NoVotesError("no vote to fit", todo="pass votes, or a policy that keeps some")
    _require_connected(connectivity(cells).strong)
    if not cells.weight[:, 1].any():
        raise BadOptionError("Rao-Kupper's model without a tie", todo="use ties half")
    low, high, k = cells.low, cells.high, cells.n_competitors

    def value(params: Vector) -> tuple[float, Vector]:
        t, kappa = params[:k], 1 + np.exp(params[k])
        a, b = t[low], t[high]
        to_a, to_b = np.logaddexp(a, np.log(kappa) + b), np.logaddexp(np.log(kappa) + a, b)
        # P(tie) = (κ² − 1)π_aπ_b / ((π_a + κπ_b)(κπ_a + π_b))
        tie = np.log(kappa**2 - 1) + a + b - to_a - to_b
        lost, tied, won = cells.weight.T
        total = float(won @ (a - to_a) + lost @ (b - to_b) + tied @ tie)
        # share of π_a in each denominator
        in_a, in_b = np.exp(a - to_a), np.exp(np.log(kappa) + a - to_b)
        of_a = won * (1 - in_a) - lost * in_b + tied * (1 - in_a - in_b)
        of_b = -of_a
        slope = (
            -(won + tied) * (1 - in_a) / kappa
            - (lost + tied) * in_b / kappa
            + tied * 2 * kappa / (kappa**2 - 1)
        )
        gradient = np.append(sum_by(low, of_a, k) + sum_by(high, of_b, k), slope.sum() * (kappa - 1))
        return total, gradient

    return _maximum(value, k, grounded=False)


def fit_grounded_rao_kupper(comparisons: Comparisons) -> ThresholdFit:
    """The absolute board from all four outcomes; an unstable tie counts as a tie. Needs wins, ties and
    both-bads, and every pair of competitors connected by battles."""
    k = comparisons.n_competitors
    outcome = comparisons.outcome
    for code, words in ((BOTH_BAD, "both-bad vote"), (None, "tie")):
        found = outcome == code if code is not None else (outcome > MODEL_B) & (outcome != BOTH_BAD)
        if not found.any():
            raise BadOptionError(f"the grounded model without a {words}", todo="use the plain board")
    low, high, counts = _four_outcomes(comparisons)
    _require_connected(connectivity(tally(comparisons, Policies())).component)

    def value(params: Vector) -> tuple[float, Vector]:
        t, log_kappa = params[:k], np.log1p(np.exp(params[k]))
        a, b = t[low], t[high]
        zero = np.zeros_like(a)
        to_a = logsumexp([a, log_kappa + b, zero], axis=0)
        to_b = logsumexp([log_kappa + a, b, zero], axis=0)
        to_bad = logsumexp([a, b, zero], axis=0)
        p = np.exp(np.stack([b - to_b, a - to_a, -to_bad]))
        tie = np.maximum(1 - p.sum(axis=0), 1e-300)
        lost, tied, won, bad = counts.T
        total = float(won @ (a - to_a) + lost @ (b - to_b) + bad @ -to_bad + tied @ np.log(tie))
        gradient = _grounded_gradient(params, (a, b, log_kappa, to_a, to_b, to_bad), p, tie, counts)
        return total, np.append(sum_by(low, gradient[0], k) + sum_by(high, gradient[1], k), gradient[2].sum())

    return _maximum(value, k, grounded=True)


def _grounded_gradient(
    params: Vector, logs: tuple[Any, ...], p: Matrix, tie: Vector, counts: Matrix
) -> tuple[Vector, Vector, Vector]:
    """Derivatives (P,) by log π_a, log π_b and log(κ − 1)."""
    a, b, log_kappa, to_a, to_b, to_bad = logs
    lost, tied, won, bad = counts.T
    p_b, p_a, p_bad = p
    # d log P(a) and d log P(b) and d log P(bad) by (log π_a, log π_b, log κ)
    by_a = np.stack([1 - np.exp(a - to_a), -np.exp(log_kappa + a - to_b), -np.exp(a - to_bad)])
    by_b = np.stack([-np.exp(log_kappa + b - to_a), 1 - np.exp(b - to_b), -np.exp(b - to_bad)])
    by_kappa = np.stack([-np.exp(log_kappa + b - to_a), -np.exp(log_kappa + a - to_b), np.zeros_like(a)])
    chance = np.stack([p_a, p_b, p_bad])
    seen = np.stack([won, lost, bad]) - chance * (tied / tie)
    slope = np.exp(params[-1]) / (1 + np.exp(params[-1]))  # d log κ / d log(κ − 1)
    return (seen * by_a).sum(axis=0), (seen * by_b).sum(axis=0), (seen * by_kappa).sum(axis=0) * slope


def _four_outcomes(comparisons: Comparisons) -> tuple[Any, Any, Matrix]:
    """Pairs and weights (P, 4) of: high won, tie, low won, both bad."""
    k, w = comparisons.n_competitors, comparisons.weights()
    swapped = comparisons.a > comparisons.b
    pair = np.minimum(comparisons.a, comparisons.b).astype(np.int64) * k + np.maximum(
        comparisons.a, comparisons.b
    )
    column = np.select(
        [comparisons.outcome == BOTH_BAD, comparisons.outcome > MODEL_B],
        [3, 1],
        np.where((comparisons.outcome == MODEL_A) != swapped, 2, 0),
    )
    table = sum_by(4 * pair + column, w, 4 * k * k).reshape(-1, 4)
    pairs = np.flatnonzero(table.any(axis=1))
    return pairs // k, pairs % k, table[pairs]


def _require_connected(labels: Any) -> None:
    if labels.any():
        raise IncomparableError(
            "this model needs every two competitors connected by battles, and none without wins or losses",
            todo="leave such competitors out",
        )


def _maximum(value: Value, k: int, *, grounded: bool) -> ThresholdFit:
    """Quasi-Newton to a vanishing gradient, then one covariance from the numeric Hessian."""

    def centred(params: Vector) -> tuple[float, Vector]:
        total, gradient = value(params)
        if not grounded:  # a gauge: only differences of log π are determined
            total -= params[:k].sum() ** 2 / 2
            gradient = gradient - np.append(np.full(k, params[:k].sum()), 0.0)
        return -total, -gradient

    options: Any = {"gtol": 1e-9, "maxiter": 2000}
    found = minimize(centred, np.zeros(k + 1), jac=True, method="BFGS", options=options)
    params = _polish(centred, found.x)
    total, gradient = value(params)
    if np.abs(gradient).max() > GRADIENT_TOLERANCE * max(1.0, abs(total)):
        raise NotConvergedError(f"the gradient is still {np.abs(gradient).max():.2g}")
    covariance = np.linalg.inv(_hessian(centred, params)).astype(np.float64)
    if not grounded:
        covariance[:k, :k] -= 1 / k**2
    kappa = 1 + float(np.exp(params[k]))
    return ThresholdFit(params[:k], kappa, covariance, total, grounded)


def _polish(loss: Value, params: Vector) -> Vector:
    for _ in range(4):
        params = params - np.linalg.solve(_hessian(loss, params), loss(params)[1])
    return params


def _hessian(loss: Value, params: Vector) -> Matrix:
    """Central differences of the exact gradient, symmetrised (p, p)."""
    step = 1e-5
    shifts = step * np.eye(len(params))
    rows = [(loss(params + s)[1] - loss(params - s)[1]) / (2 * step) for s in shifts]
    matrix = np.array(rows)
    return (matrix + matrix.T) / 2
