"""Shares and means with intervals that know about clusters; tests for two competitors on the same prompts.

A cluster (a prompt, a rater) holds rows that resemble each other. Where cluster ids are given, standard
errors are the delete-one-cluster jackknife and the t quantile has G* - 1 degrees of freedom, with the
effective number of clusters G* = N^2 / sum n_g^2 (docs/method.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import asin, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from ratings.errors import BadOptionError, BadValueError, NoVotesError, ShapeError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Share:
    """`successes` of `n` rows, with a Wilson interval; `effective_n` is what clustering leaves of n.

    effective_clusters: G*, None where rows stand for themselves; below 2 the interval says nothing.
    """

    estimate: float
    lower: float
    upper: float
    successes: int
    n: int
    effective_n: float
    clusters: int | None
    confidence: float
    effective_clusters: float | None = None


@dataclass(frozen=True)
class Mean:
    """A mean (or a difference of means) in the unit of its values; the interval is None below two clusters.

    `effective_clusters` is G*, or n when the rows stand for themselves.
    """

    estimate: float
    standard_error: float | None
    lower: float | None
    upper: float | None
    p: float | None
    n: int
    clusters: int
    effective_clusters: float
    confidence: float


@dataclass(frozen=True)
class SignTest:
    """Decisive votes won and lost, the exact two-sided p of a fair coin, and the share won."""

    wins: int
    losses: int
    p: float
    share: Share


@dataclass(frozen=True)
class McNemar:
    """Prompts that only the first got right (`only_first`) against those that only the second did.

    exact_p            two-sided binomial
    mid_p              exact with half the weight on the observed split
    chi_squared, chi_squared_p        (b - c)^2/(b + c)
    corrected, corrected_p            max(|b - c| - 1, 0)^2/(b + c)
    p                  the one to report: exact below 25 discordant prompts, else mid-p
    odds_ratio         b/c given that they differ, None when c = 0
    """

    only_first: int
    only_second: int
    exact_p: float
    mid_p: float
    chi_squared: float
    chi_squared_p: float
    corrected: float
    corrected_p: float
    p: float
    odds_ratio: float | None


EXACT_BELOW = 25


def wilson_interval(successes: float, n: float, *, confidence: float = 0.95) -> tuple[float, float]:
    """Lower and upper end of Wilson's (1927) interval for a share of `successes` in `n` > 0 trials.

    (p + z^2/2n -+ z sqrt(p q/n + z^2/4n^2)) / (1 + z^2/n), z the normal quantile.
    Raises NoVotesError for n = 0 and BadValueError for more successes than trials.
    """
    check_confidence(confidence)
    if n <= 0:
        raise NoVotesError("a share of no rows has no interval", todo="ask only where there are votes")
    if not 0 <= successes <= n:
        raise BadValueError(f"{successes} successes in {n} trials")
    return _wilson(successes / n, n, -float(special.ndtri((1 - confidence) / 2)))


def share(success: ArrayLike, cluster: ArrayLike | None = None, *, confidence: float = 0.95) -> Share:
    """The share of true rows in `success` (n,), with a Wilson interval.

    With `cluster` (n,) integer ids, n is divided by the design effect (jackknife variance over p q/n, at
    least 1) and z becomes the t quantile with G* - 1 degrees of freedom; when all rows agree, each cluster
    counts once.
    Raises NoVotesError without rows, ShapeError when the lengths differ.
    """
    check_confidence(confidence)
    hits = np.asarray(success, dtype=bool)
    if hits.size == 0:
        raise NoVotesError("a share of no rows", todo="ask only where there are votes")
    n, successes, p = len(hits), int(hits.sum()), float(hits.mean())
    if cluster is None:
        lower, upper = wilson_interval(successes, n, confidence=confidence)
        return Share(p, lower, upper, successes, n, float(n), None, confidence)
    mean = clustered_mean(hits.astype(np.float64), cluster, confidence=confidence)
    if mean.standard_error is None or mean.standard_error == 0.0:
        effective = mean.effective_clusters
    else:
        effective = min(float(n), p * (1 - p) / mean.standard_error**2)
    df = max(mean.effective_clusters - 1, 1.0)
    lower, upper = _wilson(p, effective, -float(special.stdtrit(df, (1 - confidence) / 2)))
    clusters = mean.clusters, confidence, mean.effective_clusters
    return Share(p, lower, upper, successes, n, effective, *clusters)


def clustered_mean(values: ArrayLike, cluster: ArrayLike | None = None, *, confidence: float = 0.95) -> Mean:
    """The mean of `values` (n,) with a t interval and the two-sided p of a mean of zero.

    Variance: (G - 1)/G sum_g (m_(-g) - m)^2 over means that leave one cluster out; rows are their own
    clusters when `cluster` is None. Below two effective clusters there is neither interval nor p.
    Raises NoVotesError without rows, BadValueError for NaN or infinite values, ShapeError for unequal
    lengths.
    """
    check_confidence(confidence)
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or x.size == 0:
        raise NoVotesError("a mean of no rows", todo="pass a one-dimensional array with at least one value")
    if not np.isfinite(x).all():
        raise BadValueError(f"value {x[~np.isfinite(x)][0]}", row=int(np.argmax(~np.isfinite(x))))
    sums, sizes = _cluster_sums(x, cluster)
    estimate, groups = float(x.mean()), len(sizes)
    effective = float(len(x) ** 2 / np.sum(sizes**2))
    if effective < 2:
        return Mean(estimate, None, None, None, None, len(x), groups, effective, confidence)
    without = (x.sum() - sums) / (len(x) - sizes)
    error = sqrt((groups - 1) / groups * float(np.sum((without - estimate) ** 2)))
    half = -float(special.stdtrit(effective - 1, (1 - confidence) / 2)) * error
    if error > 0:
        p = float(2 * special.stdtr(effective - 1, -abs(estimate) / error))
    else:
        p = float(estimate == 0)
    return Mean(estimate, error, estimate - half, estimate + half, p, len(x), groups, effective, confidence)


def sign_test(wins: int, losses: int, *, confidence: float = 0.95) -> SignTest:
    """Exact binomial test of `wins` against `losses` decisive votes (ties left out), with Wilson's interval.

    Assumes independent votes; with several per prompt or rater use `clustered_mean` on +1 and -1.
    Raises NoVotesError when there is no decisive vote.
    """
    lower, upper = wilson_interval(wins, wins + losses, confidence=confidence)
    n = wins + losses
    won = Share(wins / n, lower, upper, wins, n, float(n), None, confidence)
    return SignTest(wins, losses, _two_sided(min(wins, losses), n), won)


def mcnemar(only_first: int, only_second: int) -> McNemar:
    """McNemar's (1947) test on discordant prompts: b that only the first, c that only the second got right.

    The continuity correction is clamped at 0, since (|b - c| - 1)^2 turns b = c into evidence; with b + c = 0
    every p is 1. Raises BadValueError for negative counts.
    """
    from scipy import stats  # 30 MB, and only tests of two proportions need it

    b, c = only_first, only_second
    if b < 0 or c < 0:
        raise BadValueError(f"counts {b} and {c} must not be negative")
    n, few = b + c, min(b, c)
    exact = _two_sided(few, n)
    mid = min(1.0, float(2 * stats.binom.cdf(few, n, 0.5) - stats.binom.pmf(few, n, 0.5)))
    plain = (b - c) ** 2 / n if n else 0.0
    corrected = max(abs(b - c) - 1, 0) ** 2 / n if n else 0.0
    return McNemar(
        only_first=b,
        only_second=c,
        exact_p=exact,
        mid_p=mid,
        chi_squared=plain,
        chi_squared_p=float(special.chdtrc(1, plain)),
        corrected=corrected,
        corrected_p=float(special.chdtrc(1, corrected)),
        p=exact if n < EXACT_BELOW else mid,
        odds_ratio=b / c if c else None,
    )


def paired_difference(only_first: int, only_second: int, prompts: int, *, confidence: float = 0.95) -> Mean:
    """Difference (b - c)/n of two shares on the same n prompts, Wald error sqrt(b + c - (b - c)^2/n)/n.

    Raises BadValueError when more prompts differ than there are.
    """
    b, c, n = only_first, only_second, prompts
    check_confidence(confidence)
    if n <= 0 or b < 0 or c < 0 or b + c > n:
        raise BadValueError(f"{b} and {c} discordant prompts of {n}")
    difference, error = (b - c) / n, sqrt(b + c - (b - c) ** 2 / n) / n
    half = -float(special.ndtri((1 - confidence) / 2)) * error
    p = mcnemar(b, c).p
    return Mean(difference, error, difference - half, difference + half, p, n, n, float(n), confidence)


def cohens_h(first: float, second: float) -> float:
    """Cohen's (1988) h = 2 asin sqrt(p1) - 2 asin sqrt(p2), in radians; 0.2 is small, 0.8 large."""
    for p in (first, second):
        if not 0 <= p <= 1:
            raise BadValueError(f"share {p} is outside 0 to 1")
    return 2 * asin(sqrt(first)) - 2 * asin(sqrt(second))


def check_confidence(confidence: float) -> None:
    """Raise BadOptionError unless 0 < confidence < 1."""
    if not 0 < confidence < 1:
        raise BadOptionError(f"confidence {confidence}", todo="pass a number between 0 and 1, such as 0.95")


def _wilson(p: float, n: float, z: float) -> tuple[float, float]:
    centre = p + z * z / (2 * n)
    half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # Exactly 0 and 1 where no (every) row succeeded; rounding would leave 1e-17.
    lower = 0.0 if p == 0 else (centre - half) / scale
    upper = 1.0 if p == 1 else (centre + half) / scale
    return lower, upper


def _two_sided(few: int, n: int) -> float:
    from scipy import stats

    return min(1.0, float(2 * stats.binom.cdf(few, n, 0.5))) if n else 1.0


def _cluster_sums(x: Floats, cluster: ArrayLike | None) -> tuple[Floats, Floats]:
    if cluster is None:
        return x, np.ones_like(x)
    ids = np.asarray(cluster)
    if ids.shape != x.shape:
        raise ShapeError(f"cluster has shape {ids.shape}, the values {x.shape}", todo="pass one id per row")
    _, index = np.unique(ids, return_inverse=True)
    sums: Floats = np.bincount(index, x).astype(np.float64)
    return sums, np.bincount(index).astype(np.float64)
