"""Fleiss' kappa of several raters, or several wordings of a rubric, where battles hang together."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from ratings.agreement import Sides, fleiss_kappa, named_both_ways
from ratings.errors import BadValueError, ShapeError
from ratings.proportions import check_confidence

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ClusteredFleiss:
    """Kappa of m raters on n units. No interval below two effective clusters, or where one carries it."""

    estimate: float
    standard_error: float | None
    lower: float | None
    upper: float | None
    n: int
    raters: int
    clusters: int
    effective_clusters: float
    confidence: float


def clustered_fleiss(
    codes: ArrayLike,
    categories: int,
    cluster: ArrayLike | None = None,
    *,
    sides: Sides | None = None,
    confidence: float = 0.95,
) -> ClusteredFleiss:
    """Fleiss' (1971) kappa of `codes` (n, m), units by raters, with an interval from clusters (n,).

    Standard error: delete-one-cluster jackknife, (G - 1)/G sum_g (k_(-g) - k)^2, with the t quantile at
    G* - 1 degrees of freedom, G* = N^2/sum n_g^2. Units are their own clusters when `cluster` is None.
    `sides`: two codes that trade places where a unit is named the other way round (`named_both_ways`).
    Raises ShapeError for anything but units by two or more raters, BadValueError for a code outside
    0 ... categories - 1 and when only one category is used, for which kappa isn't defined.
    """
    check_confidence(confidence)
    table = np.asarray(codes)
    if table.ndim != 2 or len(table) == 0 or table.shape[1] < 2:
        raise ShapeError(f"codes have shape {table.shape}", todo="pass units by two or more raters")
    bad = (table < 0) | (table >= categories)
    if bad.any():
        raise BadValueError(
            f"code {table[bad][0]} of {categories} categories", row=int(np.nonzero(bad)[0][0])
        )
    counts = np.stack([(table == code).sum(axis=1) for code in range(categories)], axis=1).astype(np.float64)
    estimate = fleiss_kappa(counts, sides=sides)
    ids = np.arange(len(table)) if cluster is None else np.asarray(cluster)
    if ids.shape != (len(table),):
        raise ShapeError(f"cluster has shape {ids.shape} for {len(table)} units", todo="pass one id per unit")
    names, index, sizes = np.unique(ids, return_inverse=True, return_counts=True)
    effective = float(len(table) ** 2 / np.sum(sizes.astype(np.float64) ** 2))
    error = _jackknife(counts, index, estimate, len(names), sides) if effective >= 2 else None
    half = None if error is None else -float(stdtrit(effective - 1, (1 - confidence) / 2)) * error
    return ClusteredFleiss(
        estimate=estimate,
        standard_error=error,
        lower=None if half is None else max(-1.0, estimate - half),
        upper=None if half is None else min(1.0, estimate + half),
        n=len(table),
        raters=table.shape[1],
        clusters=len(names),
        effective_clusters=effective,
        confidence=confidence,
    )


def _jackknife(
    counts: Floats, index: NDArray[np.intp], estimate: float, clusters: int, sides: Sides | None
) -> float | None:
    """None where a cluster left out leaves one category, which has no kappa."""
    m = counts[0].sum()
    agreed = (np.sum(counts**2, axis=1) - m) / (m * (m - 1))
    units = len(counts) - np.bincount(index, minlength=clusters)
    mean = (agreed.sum() - np.bincount(index, agreed, clusters)) / units
    by_cluster = np.stack([np.bincount(index, column, clusters) for column in counts.T], axis=1)
    without = named_both_ways(counts.sum(axis=0) - by_cluster, sides)
    chance = np.sum((without / (units[:, None] * m)) ** 2, axis=1)
    if np.isclose(chance, 1.0).any():
        return None
    kappas = (mean - chance) / (1 - chance)
    return sqrt((clusters - 1) / clusters * float(np.sum((kappas - estimate) ** 2)))
