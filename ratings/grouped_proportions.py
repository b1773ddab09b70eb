"""The tests of `proportions` for many groups of rows at once, in one pass over all of them.

A group is a pair of competitors, or a pair within a category. Results are arrays (m,) in the order of the
groups; NaN stands where the single test says None, and for a group without rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from ratings.errors import BadValueError, ShapeError
from ratings.proportions import EXACT_BELOW, Floats, check_confidence
from ratings.uncertainty import LEAST_DESIGN_EFFECT

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Means:
    """`proportions.Mean` of each group: arrays (m,)."""

    estimate: Floats
    standard_error: Floats
    lower: Floats
    upper: Floats
    p: Floats
    n: Integers
    clusters: Integers
    effective_clusters: Floats
    confidence: float


@dataclass(frozen=True, eq=False)
class SignTests:
    """`proportions.SignTest` of each group: arrays (m,); lower and upper are Wilson's, of the share won."""

    wins: Integers
    losses: Integers
    p: Floats
    share: Floats
    lower: Floats
    upper: Floats
    confidence: float


@dataclass(frozen=True, eq=False)
class McNemars:
    """`proportions.McNemar` of each group: arrays (m,)."""

    only_first: Integers
    only_second: Integers
    exact_p: Floats
    mid_p: Floats
    chi_squared: Floats
    chi_squared_p: Floats
    corrected: Floats
    corrected_p: Floats
    p: Floats
    odds_ratio: Floats


def clustered_means(
    values: ArrayLike,
    group: ArrayLike,
    n_groups: int,
    cluster: ArrayLike | None = None,
    *,
    confidence: float = 0.95,
) -> Means:
    """`proportions.clustered_mean` of `values` (n,) for the groups (n,) in 0 … n_groups − 1.

    cluster (n,): ids ≥ 0; one that holds rows of several groups counts in each by itself. Raises ShapeError
    for unequal lengths, BadValueError for NaN or infinite values.
    """
    check_confidence(confidence)
    x, of_row = np.asarray(values, dtype=np.float64), np.asarray(group, dtype=np.int64)
    if x.ndim != 1 or x.shape != of_row.shape:
        raise ShapeError(f"groups have shape {of_row.shape}, the values {x.shape}", todo="pass one per row")
    if not np.isfinite(x).all():
        raise BadValueError(f"value {x[~np.isfinite(x)][0]}", row=int(np.argmax(~np.isfinite(x))))
    of, sums, sizes = _cluster_sums(x, of_row, cluster)
    n, total = np.bincount(of_row, minlength=n_groups), np.bincount(of_row, x, n_groups)
    groups = np.bincount(of, minlength=n_groups)
    with np.errstate(invalid="ignore", divide="ignore"):
        estimate = total / n
        effective = n**2 / np.bincount(of, sizes**2, n_groups)
        # a group of one cluster leaves nothing over: 0/0, and is blanked below
        without = (total[of] - sums) / (n[of] - sizes)
        spread = np.bincount(of, (without - estimate[of]) ** 2, n_groups)
        error = np.sqrt((groups - 1) / groups * spread)
        error = np.where(effective >= 2, error, np.nan)
        half = -special.stdtrit(effective - 1, (1 - confidence) / 2) * error
        p = 2 * special.stdtr(effective - 1, -np.abs(estimate) / error)
    p = np.where(error > 0, p, np.where(np.isnan(error), np.nan, estimate == 0))
    ends = estimate - half, estimate + half
    return Means(estimate, error, *ends, p, n, groups, effective, confidence)


def _cluster_sums(x: Floats, group: Integers, cluster: ArrayLike | None) -> tuple[Integers, Floats, Floats]:
    """Of each cluster within a group: the group, the sum of its values and how many they are."""
    if cluster is None:
        return group, x, np.ones_like(x)
    ids = np.asarray(cluster, dtype=np.int64)
    if ids.shape != x.shape:
        raise ShapeError(f"cluster has shape {ids.shape}, the values {x.shape}", todo="pass one id per row")
    width = int(ids.max(initial=0)) + 1
    keys, index = np.unique(group * width + ids, return_inverse=True)
    sums, sizes = np.bincount(index, x, len(keys)), np.bincount(index, minlength=len(keys))
    return keys // width, sums.astype(np.float64), sizes.astype(np.float64)


@dataclass(frozen=True, eq=False)
class Nets:
    """Share won less share lost of each group, within −1 … 1: arrays (m,), NaN where nothing can be said."""

    estimate: Floats
    lower: Floats
    upper: Floats
    p: Floats


def net_rates(
    values: ArrayLike,
    group: ArrayLike,
    n_groups: int,
    clusters: Sequence[ArrayLike] = (),
    *,
    confidence: float = 0.95,
) -> Nets:
    """Means of +1, 0 and −1 (n,) for the groups (n,), knowing each of the `clusters` (n,): none, one or two.

    By rater and prompt V = V_rater + V_prompt − V_cell, never below either and HC0's where far below that, as
    on a board: uncertainty.py; t has min(G*) − 1 degrees of freedom. Below two effective clusters in any
    respect nothing is said. Votes that all say the same leave no variance to be read off. Where each was won
    (lost) the interval is then Wilson's for a share of 1 in min(G*) clusters, with that t, and p the sign
    test's, 2/2^G*; where each was drawn there is neither. Raises as `clustered_means`; ShapeError for more
    than two clusters.
    """
    if len(clusters) > 2:
        raise ShapeError(f"{len(clusters)} ways to cluster", todo="pass none, one or two")
    means = [
        clustered_means(values, group, n_groups, ids, confidence=confidence) for ids in clusters or (None,)
    ]
    fewest = np.min([mean.effective_clusters for mean in means], axis=0)
    estimate = means[0].estimate
    error = _error_by_all(means, np.asarray(values, dtype=np.float64), np.asarray(group), clusters)
    one_way = np.abs(estimate) == 1
    with np.errstate(invalid="ignore", divide="ignore"):
        t = special.stdtrit(fewest - 1, (1 + confidence) / 2)
        p = 2 * special.stdtr(fewest - 1, -np.abs(estimate) / error)
        least = 2 * fewest / (fewest + t**2) - 1  # of the net rate, where all were won
    flat = error == 0
    lower, upper = estimate - t * error, estimate + t * error
    unknown = np.where(one_way, 0.0, np.nan)
    lower = np.where(flat, unknown + np.where(estimate > 0, least, -1.0), lower)
    upper = np.where(flat, unknown + np.where(estimate > 0, 1.0, -least), upper)
    p = np.where(flat, unknown + np.minimum(2 * 0.5**fewest, 1.0), p)
    return Nets(estimate, np.clip(lower, -1, 1), np.clip(upper, -1, 1), p)


def _error_by_all(
    means: Sequence[Means], x: Floats, group: Integers, clusters: Sequence[ArrayLike]
) -> Floats:
    """Standard errors (m,) by all ways to cluster at once; NaN where one of them has none."""
    n_groups = len(means[0].n)
    one_way = np.stack([mean.standard_error for mean in means]) ** 2
    variance = one_way.max(axis=0)
    if len(means) == 2:
        ids = [np.asarray(one, dtype=np.int64) for one in clusters]
        cell = ids[0] * (int(ids[1].max(initial=0)) + 1) + ids[1]
        variance = np.maximum(variance, one_way.sum(axis=0) - _cr0(means[0], x, group, n_groups, cell))
    independent = _cr0(means[0], x, group, n_groups, None)
    far_below = variance < LEAST_DESIGN_EFFECT * independent
    error: Floats = np.sqrt(np.where(far_below, independent, variance))
    # Votes that all agree: what rounding left is no variance.
    return np.where(independent < 1e-24, 0.0 * error, error)


def _cr0(mean: Means, x: Floats, group: Integers, n_groups: int, cluster: ArrayLike | None) -> Floats:
    """Σ_g (Σ_{t∈g} x_t − m)²/n² (m,): of each vote for itself HC0."""
    of, sums, sizes = _cluster_sums(x, group, cluster)
    with np.errstate(invalid="ignore", divide="ignore"):
        squares = np.bincount(of, (sums - sizes * mean.estimate[of]) ** 2, n_groups)
        variance: Floats = squares / mean.n**2
    return variance


def sign_tests(wins: ArrayLike, losses: ArrayLike, *, confidence: float = 0.95) -> SignTests:
    """`proportions.sign_test` of each group; NaN where it has no decisive vote."""
    check_confidence(confidence)
    won, lost = _counts(wins, losses)
    n, z = won + lost, -float(special.ndtri((1 - confidence) / 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        p = won / n
        centre = p + z * z / (2 * n)
        half = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        scale = 1 + z * z / n
    # Exactly 0 and 1 where no (every) vote was won; rounding would leave 1e-17.
    lower = np.where(p == 0, 0.0, (centre - half) / scale)
    upper = np.where(p == 1, 1.0, (centre + half) / scale)
    two_sided = np.where(n > 0, _two_sided(np.minimum(won, lost), n), np.nan)
    return SignTests(won, lost, two_sided, p, lower, upper, confidence)


def mcnemars(only_first: ArrayLike, only_second: ArrayLike) -> McNemars:
    """`proportions.mcnemar` of each group; the odds ratio is NaN where no prompt was the second's."""
    from scipy import stats  # 30 MB, and only tests of two proportions need it

    b, c = _counts(only_first, only_second)
    n, few = b + c, np.minimum(b, c)
    some = np.maximum(n, 1)
    exact = _two_sided(few, n)
    mid = np.minimum(1.0, 2 * stats.binom.cdf(few, n, 0.5) - stats.binom.pmf(few, n, 0.5))
    plain = (b - c) ** 2 / some
    corrected = np.maximum(np.abs(b - c) - 1, 0) ** 2 / some
    return McNemars(
        only_first=b,
        only_second=c,
        exact_p=exact,
        mid_p=mid,
        chi_squared=plain,
        chi_squared_p=special.chdtrc(1, plain),
        corrected=corrected,
        corrected_p=special.chdtrc(1, corrected),
        p=np.where(n < EXACT_BELOW, exact, mid),
        odds_ratio=np.divide(b, c, out=np.full(len(b), np.nan), where=c > 0),
    )


def _two_sided(few: Integers, n: Integers) -> Floats:
    from scipy import stats

    p: Floats = np.where(n > 0, np.minimum(1.0, 2 * stats.binom.cdf(few, n, 0.5)), 1.0)
    return p


def _counts(first: ArrayLike, second: ArrayLike) -> tuple[Integers, Integers]:
    a, b = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    if (a < 0).any() or (b < 0).any():
        raise BadValueError("counts must not be negative")
    return a, b
