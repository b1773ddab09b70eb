"""Kappa where battles hang together: several votes on a battle, several battles on a prompt."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from ratings.agreement import Sides, agreement_table, cohen_kappa
from ratings.errors import ShapeError
from ratings.proportions import check_confidence

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ClusteredKappa:
    """Kappa over n rows. No interval below two effective clusters, where one cluster carries it alone or
    where none makes a difference.

    symmetric   the two sides are interchangeable raters, so both get the same marginal distribution
    """

    estimate: float
    standard_error: float | None
    lower: float | None
    upper: float | None
    n: int
    clusters: int
    effective_clusters: float
    symmetric: bool
    confidence: float


def clustered_kappa(
    first: ArrayLike,
    second: ArrayLike,
    categories: int,
    cluster: ArrayLike | None = None,
    *,
    symmetric: bool = False,
    sides: Sides | None = None,
    confidence: float = 0.95,
) -> ClusteredKappa:
    """Cohen's kappa of two arrays (n,) of codes 0 ... categories - 1, its interval from clusters (n,).

    Standard error: delete-one-cluster jackknife, (G - 1)/G sum_g (k_(-g) - k)^2, with the t quantile at
    G* - 1 degrees of freedom, G* = N^2/sum n_g^2. Rows are their own clusters when `cluster` is None.
    `symmetric` is for pairs of people in no order: the table and its transpose are added (Scott 1955, pi).
    `sides`: two codes that trade places where a battle is named the other way round; so are the tables
    counted, half the one way and half the other, and kappa doesn't hang on who is called the first.
    Raises as `agreement.agreement_table` and `agreement.cohen_kappa`; ShapeError for unequal lengths.
    """
    check_confidence(confidence)
    agreement_table(first, second, categories)  # refuses what is no code
    tables = _tables(np.asarray(first), np.asarray(second), categories, cluster)
    if symmetric:
        tables = tables + tables.transpose(0, 2, 1)
    tables = _both_ways(tables, sides)
    estimate = cohen_kappa(tables.sum(axis=0)).estimate
    sizes = tables.sum(axis=(1, 2))
    effective = float(sizes.sum() ** 2 / np.sum(sizes**2))
    error = _jackknife(tables, estimate) if effective >= 2 else None
    # the same without whichever cluster, as where one side always says the same: no error to be read off
    error = None if error is None or error < 1e-12 else error
    half = None if error is None else float(stats.t.isf((1 - confidence) / 2, effective - 1)) * error
    return ClusteredKappa(
        estimate=estimate,
        standard_error=error,
        lower=None if half is None else max(-1.0, estimate - half),
        upper=None if half is None else min(1.0, estimate + half),
        n=len(np.asarray(first)),
        clusters=len(tables),
        effective_clusters=effective,
        symmetric=symmetric,
        confidence=confidence,
    )


def _tables(x: NDArray[np.int64], y: NDArray[np.int64], categories: int, cluster: ArrayLike | None) -> Floats:
    ids = np.arange(len(x)) if cluster is None else np.asarray(cluster)
    if ids.shape != x.shape:
        raise ShapeError(f"cluster has shape {ids.shape}, the codes {x.shape}", todo="pass one id per row")
    names, index = np.unique(ids, return_inverse=True)
    cells = categories**2
    place = index * cells + x.astype(np.int64) * categories + y
    counts = np.bincount(place, minlength=len(names) * cells).astype(np.float64)
    return counts.reshape(len(names), categories, categories)


def _both_ways(tables: Floats, sides: Sides | None) -> Floats:
    """(G, C, C): rows and columns change places together, or agreement would be lost."""
    if sides is None:
        return tables
    other = np.arange(tables.shape[1])
    other[list(sides)] = sides[::-1]
    halved: Floats = (tables + tables[:, other][:, :, other]) / 2
    return halved


def _jackknife(tables: Floats, estimate: float) -> float | None:
    """None where a cluster left out leaves a table of one category, which has no kappa."""
    without = tables.sum(axis=0) - tables
    totals = without.sum(axis=(1, 2))
    p = without / totals[:, None, None]
    observed = np.trace(p, axis1=1, axis2=2)
    expected = np.sum(p.sum(axis=2) * p.sum(axis=1), axis=1)
    if np.isclose(expected, 1.0).any():
        return None
    kappas = (observed - expected) / (1 - expected)
    groups = len(tables)
    return sqrt((groups - 1) / groups * float(np.sum((kappas - estimate) ** 2)))
