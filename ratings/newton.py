"""Newton's method for concave objectives whose flat directions (one per component) are known exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from ratings.errors import NotConvergedError

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Objective = Callable[[Vector], tuple[float, Vector, Matrix]]
"""params (p,) -> value, gradient (p,), negative Hessian (p, p)."""

STEP_TOLERANCE = 1e-6
"""Newton stops at a step below this: what is left is about its square, a billionth of a rating point."""

MAX_ITERATIONS = 60
MAX_STEP = 2.0


@dataclass(frozen=True, eq=False)
class Optimum:
    """The maximum: params (p,), value, negative Hessian (p, p) there, iterations."""

    params: Vector
    value: float
    hessian: Matrix
    iterations: int


def gauge(component: NDArray[np.int32], n_covariates: int) -> Matrix:
    """Unit vectors (p, C) of the flat directions: all strengths of one component move together."""
    labels = np.arange(component.max(initial=-1) + 1)
    indicator = (component[:, None] == labels).astype(np.float64)
    unit = indicator / np.sqrt(indicator.sum(axis=0))
    return np.vstack([unit, np.zeros((n_covariates, len(labels)))])


def generalised_inverse(hessian: Matrix, flat: Matrix) -> Matrix:
    """H⁺ (p, p) of an H whose null space is spanned by `flat`; adding it is a gauge and no ridge."""
    scale = _scale(hessian)
    factor, fault = lapack.dpotrf(_gauged(hessian, flat, scale), lower=1)
    inverse, other = lapack.dpotri(factor, lower=1)
    if fault or other:
        raise NotConvergedError("the covariates or strengths can't be told apart (singular Hessian)")
    # LAPACK leaves the upper triangle zero
    diagonal = inverse.diagonal().copy()
    inverse = inverse + inverse.T
    np.fill_diagonal(inverse, diagonal)
    inverse -= (flat / scale) @ flat.T
    return np.asarray(inverse)


def maximise(
    objective: Objective, start: Vector, flat: Matrix, *, tolerance: float = STEP_TOLERANCE
) -> Optimum:
    """Newton from `start`, steps capped at 2 and halved while they don't help; raises if not converged.

    The step solves (H + c·FFᵀ) s = gradient with F = `flat`; the gradient is orthogonal to F, so c never
    matters.
    """
    params = start - flat @ (flat.T @ start)
    value, gradient, hessian = objective(params)
    for iteration in range(1, MAX_ITERATIONS + 1):
        step = newton_step(gradient, hessian, flat)
        largest = float(np.abs(step).max(initial=0.0))
        step *= min(1.0, MAX_STEP / largest) if largest else 0.0
        trial = objective(params + step)
        # 1e-12 of the value is what rounding leaves of a sum over a million votes.
        while trial[0] < value - 1e-12 * (1 + abs(value)) and np.abs(step).max() > tolerance:
            step /= 2
            trial = objective(params + step)
        params = params + step
        value, gradient, hessian = trial
        if largest < tolerance:
            return Optimum(params, value, hessian, iteration)
    raise NotConvergedError(
        f"no maximum after {MAX_ITERATIONS} Newton steps (last step {largest:.2g})",
        todo="look for a covariate that tells every outcome",
    )


def approach(objective: Objective, start: Vector, flat: Matrix, *, small: float = 3e-4) -> Optimum:
    """Newton from a good start, ended by the first step below `small`, whose error is about its square.

    The Hessian is the one before that last step, so that the last pass over the votes isn't repeated. Falls
    back on `maximise` where the steps don't shrink at once.
    """
    params, before = start - flat @ (flat.T @ start), np.inf
    for iteration in range(1, 6):
        value, gradient, hessian = objective(params)
        step = newton_step(gradient, hessian, flat)
        largest = float(np.abs(step).max(initial=0.0))
        if largest > before / 2:
            break
        params, before = params + step, largest
        if largest < small:
            return Optimum(params, value, hessian, iteration)
    return maximise(objective, start, flat, tolerance=small)


def _scale(hessian: Matrix) -> float:
    return float(np.trace(hessian)) / max(len(hessian), 1) or 1.0


def newton_step(gradient: Vector, hessian: Matrix, flat: Matrix) -> Vector:
    """(H + c·FFᵀ)⁻¹ gradient (p,); raises NotConvergedError where more than that is singular."""
    factor, fault = lapack.dpotrf(_gauged(hessian, flat, _scale(hessian)), lower=1, clean=0)
    if fault:
        raise NotConvergedError(
            "the covariates or strengths can't be told apart (singular Hessian)",
            todo="drop a covariate that repeats another",
        )
    step: Vector = lapack.dpotrs(factor, gradient, lower=1)[0]
    return step


def _gauged(hessian: Matrix, flat: Matrix, scale: float) -> Matrix:
    """H + c·FFᵀ (p, p), laid out as LAPACK wants it; H is symmetric."""
    gauged: Matrix = (scale * flat) @ flat.T
    gauged += hessian
    return gauged.T
