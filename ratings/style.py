"""Style control: signed differences of counts as covariates, and coefficients back in units people read.

A covariate of a vote is d = (x_a − x_b)/(x_a + x_b), 0 if both are 0: it changes sign with the sides. It is
divided by its root mean square and *not* centred: a centred difference isn't antisymmetric, and ratings
would then depend on which side a response was listed (docs/method.md, "Style control").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ratings.errors import BadOptionError, BadValueError, ShapeError
from ratings.newton import Matrix, Vector

Transform = Literal["relative", "fastchat", "none"]
TRANSFORMS: tuple[Transform, ...] = ("relative", "fastchat", "none")

NO_VARIATION = 1e-9
MAX_VIF = 10.0

TWICE_AS_LONG = 1 / 3
"""(2x − x)/(2x + x): the relative difference of a response twice as long as the other."""


@dataclass(frozen=True, eq=False)
class Scaled:
    """Covariates ready for a fit: z (n, k) = (d − centre)/scale, centre and scale (k,)."""

    z: NDArray[np.floating[Any]]
    centre: Vector
    scale: Vector


def relative_differences(
    counts_a: ArrayLike, counts_b: ArrayLike, transform: Transform = "relative"
) -> NDArray[np.float64]:
    """Signed differences in [−1, 1] of counts (n,) or (n, k) ≥ 0: (a − b)/(a + b), 0 where both are 0.

    `fastchat` divides by a + b + 1 instead (lm-sys/FastChat, for comparison only).
    """
    a, b = np.asarray(counts_a, dtype=np.float64), np.asarray(counts_b, dtype=np.float64)
    if a.shape != b.shape:
        raise ShapeError(f"counts of side a have shape {a.shape}, of side b {b.shape}")
    for name, side in (("a", a), ("b", b)):
        bad = ~(np.isfinite(side) & (side >= 0))
        if bad.any():
            row = int(np.argwhere(bad)[0][0])
            raise BadValueError(
                f"side {name} has the count {side[bad][0]}", row=row, todo="counts are finite, ≥ 0"
            )
    total = a + b + (transform == "fastchat")
    return np.divide(a - b, total, out=np.zeros_like(a), where=total > 0)


def scale_covariates(differences: NDArray[np.floating[Any]], transform: Transform) -> Scaled:
    """Signed differences (n, k) scaled: `relative` by their root mean square only, `fastchat` z-scored."""
    if transform not in TRANSFORMS:
        raise BadOptionError(f"style transform {transform!r}", todo=f"use one of {', '.join(TRANSFORMS)}")
    k = differences.shape[1]
    centre, scale = np.zeros(k), np.ones(k)
    if transform == "fastchat":
        centre = differences.mean(axis=0, dtype=np.float64)
        scale = differences.std(axis=0, dtype=np.float64)
    elif transform == "relative":
        scale = np.sqrt(np.einsum("nk,nk->k", differences, differences, dtype=np.float64) / len(differences))
    safe = np.where(scale < NO_VARIATION, 1.0, scale)
    return Scaled(((differences - centre) / safe).astype(differences.dtype, copy=False), centre, scale)


def inflation_factors(hessian: Matrix, strengths_inverse: Matrix) -> Vector:
    """VIF (k,) of each covariate: zᵀWz / zᵀMWz, M projecting out the strengths and the other covariates.

    hessian (K + k, K + k) at any fit; strengths_inverse (K, K): H_θθ⁺. Uncentred: a covariate that merely
    says which model answered has an infinite one.
    """
    k = len(strengths_inverse)
    own = np.diag(hessian)[k:]
    mixed = hessian[:k, k:]
    left = hessian[k:, k:] - mixed.T @ strengths_inverse @ mixed
    factors = np.empty(len(own))
    for j in range(len(own)):
        others = np.delete(np.arange(len(own)), j)
        inverse = np.linalg.pinv(left[np.ix_(others, others)], hermitian=True)
        shared = left[j, others] @ inverse @ left[others, j]
        unique = left[j, j] - shared
        factors[j] = own[j] / unique if unique > 1e-12 * own[j] else np.inf
    return factors
