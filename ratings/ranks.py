"""Ranks as sets: what the data supports about a model's place, simultaneously for all models.

Confidence sets for ranks by pairwise max-t (Mogstad, Romano, Shaikh & Wilhelm 2024), the quantile drawn with
an estimated covariance: Z ~ N(0, V), W ~ Wishart(ν, V)/ν, since with few clusters V itself is uncertain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from ratings.newton import Matrix, Vector

DRAWS = 10_000
MANY_CLUSTERS = 100
FEW = 9.0
BLOCK_ENTRIES = 4_000_000
BLOCK_DRAWS = 500


@dataclass(frozen=True, eq=False)
class RankSets:
    """lower, upper (K,): the best and worst place (1 … K) the data leaves to each · critical: the c used."""

    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    critical: float

    @property
    def tied_first(self) -> NDArray[np.bool_]:
        """Whom the data doesn't exclude from the first place (K,)."""
        first: NDArray[np.bool_] = self.lower == 1
        return first


def bonferroni_t(n_competitors: int, degrees: float, confidence: float) -> float:
    """t quantile that holds jointly for all K(K − 1)/2 pairs."""
    return _t((1 - confidence) / max(n_competitors * (n_competitors - 1), 2), degrees)


def critical_values_of_ranks(
    covariance: Matrix, effective: float, confidence: float = 0.95, *, seed: int = 0, draws: int = DRAWS
) -> tuple[float, Vector]:
    """c for all ranks at once, and c_j (K,) for the rank of one competitor chosen beforehand.

    P(max_{j≠k} |Z_j − Z_k|/√(W_jj + W_kk − 2W_jk) ≤ c) = confidence, the maximum over all pairs or over k
    for one j; covariance (K, K) is PSD. effective: G*, infinite if votes are independent. Never above the
    Bonferroni t with G* − 1 degrees of freedom; that one outright if K > G*. From 100 effective clusters W
    = V.
    """
    k, degrees = len(covariance), max(effective - 1, 1.0)
    cap, own_cap = bonferroni_t(k, degrees, confidence), _t((1 - confidence) / (2 * max(k - 1, 1)), degrees)
    if k < 2 or k > effective:
        return cap, np.full(k, own_cap)
    largest = np.concatenate(list(_largest(covariance, effective, seed, draws)))
    joint = min(cap, float(np.quantile(largest.max(axis=1), confidence)))
    own: Vector = np.minimum(own_cap, np.quantile(largest, confidence, axis=0))
    return joint, own


def joint_critical_value(
    covariance: Matrix, effective: float, confidence: float = 0.95, *, seed: int = 0, draws: int = DRAWS
) -> float:
    """The first of `critical_values_of_ranks`."""
    return critical_values_of_ranks(covariance, effective, confidence, seed=seed, draws=draws)[0]


def _t(tail: float, degrees: float) -> float:
    return -float(stdtrit(degrees, tail) if np.isfinite(degrees) else ndtri(tail))


def _wishart_degrees(effective: float) -> int:
    return max(int(np.floor(effective)) - 1, 1)


def _root(covariance: Matrix) -> Matrix:
    """A (K, K) with A Aᵀ = covariance."""
    values, vectors = np.linalg.eigh(covariance)
    root: Matrix = vectors * np.sqrt(np.maximum(values, 0))
    return root


def _largest(covariance: Matrix, effective: float, seed: int, draws: int) -> Iterator[Matrix]:
    """Draws of each competitor's largest studentised difference, in blocks (size, K)."""
    k = len(covariance)
    root, rng = _root(covariance), np.random.default_rng([seed, k])
    floor = 1e-12 * np.trace(covariance) / k  # the diagonal, and competitors that move as one
    degrees = None if effective >= MANY_CLUSTERS else _wishart_degrees(effective)
    inverse = _inverse_errors(covariance[None], floor)[0]
    size = max(1, BLOCK_ENTRIES // (k * k)) if degrees is not None else BLOCK_DRAWS
    for start in range(0, draws, size):
        count = min(size, draws - start)
        z = rng.standard_normal((count, k)) @ root.T
        if degrees is None:
            yield _largest_under(z, inverse)
        else:
            # AᵀA of ν normal rows is Wishart(ν, I)
            normal = rng.standard_normal((count, degrees, k)) @ root.T
            w = np.matmul(normal.transpose(0, 2, 1), normal) / degrees
            differences = np.abs(z[:, :, None] - z[:, None, :])
            differences *= _inverse_errors(w, floor)
            yield differences.max(axis=2)


def _inverse_errors(w: Matrix, floor: float) -> Matrix:
    """1/√(w_jj + w_kk − 2w_jk) of covariances (size, K, K); 0 for a variance not above the floor."""
    diagonal = np.einsum("sii->si", w)
    variance = diagonal[:, :, None] + diagonal[:, None, :] - 2 * w
    inverse: Matrix = np.zeros_like(variance)
    np.sqrt(variance, out=inverse, where=variance > floor)
    np.divide(1.0, inverse, out=inverse, where=variance > floor)
    return inverse


def _largest_under(z: Matrix, inverse: Matrix) -> Matrix:
    """max_k |z_j − z_k| · inverse_jk (size, K), competitor by competitor: a block stays in the cache."""
    across = np.ascontiguousarray(z.T)
    largest = np.zeros_like(across)
    for j in range(len(across) - 1):
        ratio = across[j + 1 :] - across[j]
        np.abs(ratio, out=ratio)
        ratio *= inverse[j, j + 1 :, None]
        np.maximum(largest[j + 1 :], ratio, out=largest[j + 1 :])
        np.maximum(largest[j], ratio.max(axis=0), out=largest[j])
    return largest.T


def rank_sets(strengths: Vector, deviations: Matrix, critical: float | Matrix) -> RankSets:
    """rank_j in [1 + #{k surely above j}, K − #{k surely below j}].

    strengths (K,) · deviations (K, K): standard errors of all differences · critical: c, or one per pair (K,
    K); infinite or NaN entries decide nothing.
    """
    difference = strengths[:, None] - strengths[None, :]
    reach = np.nan_to_num(critical * deviations, nan=np.inf, posinf=np.inf)
    np.fill_diagonal(reach, np.inf)
    above = (difference + reach < 0).sum(axis=1)
    below = (difference - reach > 0).sum(axis=1)
    shown = float(np.min(critical))
    return RankSets(1 + above, len(strengths) - below, shown)


def arena_rank(lower: Vector, upper: Vector) -> NDArray[np.int64]:
    """LMArena's rank, for comparison only: 1 + #{j: lower_j > upper_i}; (K,). NaN decides nothing."""
    better: NDArray[np.int64] = 1 + (lower[None, :] > upper[:, None]).sum(axis=1)
    return better


def pair_critical_values(critical: float | Vector, effective: float, degrees: Vector) -> Matrix:
    """c per pair (K, K): the given c (one, or one per row), wider where few clusters speak about a
    competitor.

    degrees (K,): each rating's own degrees of freedom. Below `FEW` of them the pair's c is the t quantile
    with the same tail as the given c has at G* − 1 degrees of freedom.
    """
    k = len(degrees)
    values = np.broadcast_to(np.reshape(critical, (-1, 1)), (k, k)).astype(np.float64)
    own = np.minimum(degrees[:, None], degrees[None, :])
    few = own < FEW
    if few.any():
        joint = max(effective - 1, 1.0)
        tail = stdtr(joint, -values) if np.isfinite(joint) else ndtr(-values)
        wider = -stdtrit(np.maximum(own[few], 1e-9), tail[few])
        values[few] = np.maximum(values[few], wider)
    return values
