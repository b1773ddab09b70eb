"""Which pair to ask about next: how much a vote on each pair would settle, and drawing by it.

The web app stores the weights (one per pair) and, at draw time, turns those of the eligible pairs into
propensities; every propensity is logged with its battle, so that a board of actively chosen pairs can be
fitted with inverse propensities (docs/method.md, section 7, says when that is worth its price).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from ratings.errors import BadOptionError, BadValueError, NoVotesError, ShapeError

Floats = NDArray[np.float64]

LEAST_EXPLORATION = 0.2
"""Below this share of evenly drawn pairs, inverse propensities get too large to be of use."""


def contested_pairs(
    strengths: ArrayLike, covariance: ArrayLike, *, critical: float = 1.96
) -> NDArray[np.bool_]:
    """(K, K) bool: pairs whose order isn't settled, |theta_i - theta_j| <= critical * s_ij; False on the
    diagonal.

    strengths (K,) and covariance (K, K) in log-odds; s_ij^2 = V_ii + V_jj - 2 V_ij. With the simultaneous
    critical value of the rank sets, the pairs that still keep ranks apart.
    Raises ShapeError, BadValueError for NaN or infinite numbers.
    """
    theta, v = _checked(strengths, covariance)
    apart = np.abs(np.subtract.outer(theta, theta))
    close = apart <= critical * np.sqrt(difference_variance(v))
    np.fill_diagonal(close, False)
    return close


def pair_information(strengths: ArrayLike, covariance: ArrayLike, contested: ArrayLike) -> Floats:
    """(K, K), symmetric, 0 on the diagonal: by how much one vote on (a, b) cuts the contested pairs'
    variance.

    score(a, b) = sum over contested i < j of (x_ij' V x_ab)^2 w/(1 + w x_ab' V x_ab), w = p q, x_ij = e_i
    - e_j: exactly the fall of sum Var(theta_i - theta_j) when H gains w x_ab x_ab' (Sherman & Morrison 1950).
    strengths (K,); covariance (K, K) model-based, H^-1; contested (K, K) bool, or weights of pairs >= 0,
    symmetric. All pairs at once through M = V L V, L the Laplacian of the contested pairs: O(K^3).
    Raises ShapeError, BadValueError for NaN, infinite or negative numbers.
    """
    theta, v = _checked(strengths, covariance)
    weight = np.array(contested, dtype=np.float64)
    if weight.shape != v.shape or not np.array_equal(weight, weight.T) or np.any(weight < 0):
        raise ShapeError("contested must be a symmetric (K, K) matrix of bools or weights >= 0")
    np.fill_diagonal(weight, 0.0)
    spread = difference_variance(v @ (np.diag(weight.sum(axis=1)) - weight) @ v)
    p = expit(np.subtract.outer(theta, theta))
    w = p * (1 - p)
    score: Floats = np.maximum(spread, 0.0) * w / (1 + w * difference_variance(v))
    np.fill_diagonal(score, 0.0)
    return (score + score.T) / 2


def pair_propensities(weights: ArrayLike, *, exploration: float = LEAST_EXPLORATION) -> Floats:
    """(P,) probabilities of P eligible pairs: exploration/P + (1 - exploration) weight/sum of weights.

    When all weights are 0 (nothing is contested), every pair is as likely. So no eligible pair has a
    propensity below exploration/P, which bounds the inverse weights.
    Raises NoVotesError without pairs, BadOptionError for exploration below 0.2 or above 1, BadValueError for
    NaN, infinite or negative weights.
    """
    w = np.asarray(weights, dtype=np.float64)
    if w.ndim != 1 or not w.size:
        raise NoVotesError("no pair is eligible", todo="open the campaign to more pairs")
    if not LEAST_EXPLORATION <= exploration <= 1:
        raise BadOptionError(f"exploration {exploration}", todo=f"use {LEAST_EXPLORATION} to 1")
    bad = ~(np.isfinite(w) & (w >= 0))
    if bad.any():
        raise BadValueError(
            f"weight {w[bad][0]}", row=int(np.argmax(bad)), todo="weights are finite and >= 0"
        )
    even = np.full(len(w), 1 / len(w))
    # Dividing by the largest first keeps the sum of huge weights finite.
    scaled = w / w.max() if w.max() > 0 else even
    propensities: Floats = exploration * even + (1 - exploration) * scaled / scaled.sum()
    return propensities


def draw_pair(propensities: ArrayLike, uniform: float) -> int:
    """Index of the pair on which a uniform number in [0, 1) falls; pass one from a CSPRNG.

    Raises BadValueError unless 0 <= uniform < 1 and the propensities (P,) are >= 0 and sum to 1.
    """
    p = np.asarray(propensities, dtype=np.float64)
    if not 0 <= uniform < 1:
        raise BadValueError(f"uniform number {uniform}", todo="pass one in [0, 1)")
    if not p.size or not np.all(p >= 0) or abs(p.sum() - 1) > 1e-9:
        raise BadValueError("propensities must be >= 0 and sum to 1", todo="take them from pair_propensities")
    ends = np.cumsum(p)
    return int(np.searchsorted(ends, uniform * ends[-1], side="right"))


def difference_variance(covariance: Floats) -> Floats:
    """(K, K): x_ij' V x_ij = V_ii + V_jj - 2 V_ij for all i, j of a (K, K) matrix, never below 0."""
    diagonal = np.diag(covariance)
    return np.maximum(diagonal[:, None] + diagonal[None, :] - covariance - covariance.T, 0.0)


def _checked(strengths: ArrayLike, covariance: ArrayLike) -> tuple[Floats, Floats]:
    theta, v = np.asarray(strengths, dtype=np.float64), np.asarray(covariance, dtype=np.float64)
    if theta.ndim != 1 or v.shape != (len(theta), len(theta)):
        raise ShapeError(f"strengths {theta.shape}, covariance {v.shape}", todo="pass (K,) and (K, K)")
    if not (np.isfinite(theta).all() and np.isfinite(v).all()):
        raise BadValueError("strengths and covariance must be finite")
    return theta, v
