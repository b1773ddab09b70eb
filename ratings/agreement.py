"""How far raters, or a judge and people, say the same: raw agreement, Cohen's kappa, Fleiss' kappa, alpha."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isclose, sqrt
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit

from ratings.comparisons import MODEL_A, MODEL_B
from ratings.errors import BadOptionError, BadValueError, NoVotesError, ShapeError, UnknownOutcomeError
from ratings.proportions import Share, check_confidence, share

Floats = NDArray[np.float64]
Weights = Literal["none", "linear", "quadratic"]
Level = Literal["nominal", "ordinal", "interval", "ratio"]

AMBIGUOUS_BELOW = 0.6
"""Two people who agree less than this (kappa) need a clearer rubric."""


@dataclass(frozen=True)
class Agreement:
    """Two sets of outcomes on the same n battles.

    every      share of equal outcomes, all outcomes counting
    decisive   the same among battles where both name a winner; None when there is none
    """

    every: Share
    decisive: Share | None


@dataclass(frozen=True)
class Kappa:
    """Cohen's kappa; the interval is kappa -+ z SE, `standard_error_at_zero` is for testing kappa = 0.

    observed, expected   (weighted) agreement, and what chance would give
    """

    estimate: float
    standard_error: float
    lower: float
    upper: float
    standard_error_at_zero: float
    observed: float
    expected: float
    n: float
    weights: Weights
    confidence: float


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha with a percentile interval from resampled units, or a jackknife's by cluster.

    units       units with at least two ratings, the only ones that tell anything
    clusters    of these units, None where each stands for itself; below two effective ones, or where no
                cluster makes a difference, there is no interval
    undefined   resamples without any variation, left out of the interval
    """

    estimate: float
    lower: float | None
    upper: float | None
    units: int
    clusters: int | None
    ratings: int
    undefined: int
    level: Level
    resamples: int
    seed: int
    confidence: float


def agreement(
    first: ArrayLike, second: ArrayLike, cluster: ArrayLike | None = None, *, confidence: float = 0.95
) -> Agreement:
    """Shares of equal outcomes in two arrays (n,) of outcome codes, with Wilson intervals.

    `cluster` (n,), such as the prompt, widens the intervals (see `proportions.share`). Codes are compared as
    they are: fold tie_unstable or both_bad into tie beforehand if they shall count as the same.
    Raises ShapeError for unequal lengths, NoVotesError without battles, UnknownOutcomeError below 0.
    """
    x, y = np.asarray(first), np.asarray(second)
    if x.shape != y.shape:
        raise ShapeError(f"{x.shape} outcomes against {y.shape}", todo="pass both for the same battles")
    if x.size and min(x.min(), y.min()) < 0:
        raise UnknownOutcomeError("a battle without outcome", todo="leave out battles that have no verdict")
    same = x == y
    both = np.isin(x, (MODEL_A, MODEL_B)) & np.isin(y, (MODEL_A, MODEL_B))
    ids = None if cluster is None else np.asarray(cluster)
    decisive = None
    if both.any():
        decisive = share(same[both], None if ids is None else ids[both], confidence=confidence)
    return Agreement(share(same, ids, confidence=confidence), decisive)


def agreement_table(first: ArrayLike, second: ArrayLike, categories: int) -> NDArray[np.int64]:
    """(C, C) counts of (first, second) from two arrays (n,) of codes 0 ... C - 1.

    Raises ShapeError for unequal lengths, BadValueError for a code outside the categories.
    """
    x, y = np.asarray(first), np.asarray(second)
    if x.shape != y.shape:
        raise ShapeError(f"{x.shape} codes against {y.shape}")
    for codes in (x, y):
        bad = (codes < 0) | (codes >= categories)
        if bad.any():
            raise BadValueError(f"code {codes[bad][0]} of {categories} categories", row=int(np.argmax(bad)))
    counts = np.bincount(x.astype(np.int64) * categories + y, minlength=categories**2)
    return counts.reshape(categories, categories).astype(np.int64)


def cohen_kappa(table: ArrayLike, *, weights: Weights = "none", confidence: float = 0.95) -> Kappa:
    """Cohen's (1960, weighted 1968) kappa of a (C, C) table of counts: first rater's code by second's.

    kappa = (po - pe)/(1 - pe), po = sum w_ij p_ij, pe = sum w_ij p_i. p_.j, w_ij = 1 on the diagonal,
    1 - |i - j|/(C - 1) linear, 1 - (i - j)^2/(C - 1)^2 quadratic. Standard errors: Fleiss, Cohen and
    Everitt (1969). Assumes independent battles.
    Raises ShapeError for a table that isn't square, NoVotesError for an empty one, BadValueError when both
    raters use one and the same category only, for which kappa isn't defined.
    """
    check_confidence(confidence)
    counts, w = _square(table), _agreement_weights(np.shape(table)[0], weights)
    n = float(counts.sum())
    p = counts / n
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    observed, expected = float(np.sum(w * p)), float(rows @ w @ columns)
    if np.isclose(expected, 1.0):
        raise BadValueError("all ratings fall into one category, so kappa isn't defined")
    kappa = (observed - expected) / (1 - expected)
    # Mean weight of each row category against the second rater's habits, and the other way round.
    pull = (w @ columns)[:, None] + (rows @ w)[None, :]
    variance = np.sum(p * (w - pull * (1 - kappa)) ** 2) - (kappa - expected * (1 - kappa)) ** 2
    null = np.sum(np.outer(rows, columns) * (w - pull) ** 2) - expected**2
    error, error0 = (sqrt(max(float(v), 0.0) / n) / (1 - expected) for v in (variance, null))
    half = -float(ndtri((1 - confidence) / 2)) * error
    return Kappa(
        estimate=kappa,
        standard_error=error,
        lower=kappa - half,
        upper=kappa + half,
        standard_error_at_zero=error0,
        observed=observed,
        expected=expected,
        n=n,
        weights=weights,
        confidence=confidence,
    )


Sides = tuple[int, int]
"""Two codes that trade places where the two things compared are named the other way round."""


def named_both_ways(counts: Floats, sides: Sides | None) -> Floats:
    """Counts (..., C) of codes, half as they are and half with the two `sides` exchanged.

    Which of two responses is called the first is nobody's opinion, yet shares of "the first" decide what
    chance would give; so counted, it is the same whichever is called so.
    """
    if sides is None:
        return counts
    other = np.arange(counts.shape[-1])
    other[list(sides)] = sides[::-1]
    halved: Floats = (counts + counts[..., other]) / 2
    return halved


def fleiss_kappa(table: ArrayLike, *, sides: Sides | None = None) -> float:
    """Fleiss' (1971) kappa of a (U, C) table: how many of m >= 2 raters put each unit in each category.

    kappa = (P - Pe)/(1 - Pe), P the mean of [sum_c n_uc^2 - m]/[m(m - 1)], Pe = sum_c p_c^2, p_c counted
    by `named_both_ways` where two codes are `sides`.
    Raises ShapeError when units differ in their number of ratings (use `krippendorff_alpha` then),
    BadValueError when only one category is used.
    """
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2 or counts.size == 0:
        raise ShapeError(f"the table has shape {counts.shape}", todo="pass units by categories")
    m = counts[0].sum()
    if m < 2 or np.any(counts.sum(axis=1) != m):
        raise ShapeError("units differ in their number of ratings, or have fewer than two", todo="use alpha")
    agreed = np.mean((np.sum(counts**2, axis=1) - m) / (m * (m - 1)))
    chance = np.sum((named_both_ways(counts.sum(axis=0), sides) / counts.sum()) ** 2)
    if np.isclose(chance, 1.0):
        raise BadValueError("all ratings fall into one category, so kappa isn't defined")
    return float((agreed - chance) / (1 - chance))


def krippendorff_alpha(
    ratings: ArrayLike,
    cluster: ArrayLike | None = None,
    *,
    level: Level = "nominal",
    sides: tuple[float, float] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Alpha:
    """Krippendorff's (2011) alpha of `ratings` (R, U): R raters by U units, NaN where a rater gave none.

    alpha = 1 - (n - 1) sum o_cd D_cd / sum n_c n_d D_cd over the coincidences o of values within units; the
    distance D is 1 (nominal), (sum of n_g from c to d - (n_c + n_d)/2)^2 (ordinal), (c - d)^2 (interval),
    ((c - d)/(c + d))^2 (ratio). The interval resamples whole units, since ratings of a unit hang together.
    Units that hang together too, like pairs of responses to one prompt, have one `cluster` (U,): then it is
    that of the jackknife that leaves one cluster out, (G - 1)/G sum_g (a_(-g) - a)^2, with t at G* - 1
    degrees of freedom. `sides`: two values that trade places where a unit is named the other way round; the
    n_c are those of `named_both_ways` then (nominal level only).
    Raises NoVotesError when no unit has two ratings, ShapeError for clusters of another number, BadValueError
    when no two ratings differ, for infinite values, and for negative ones on the ratio level, BadOptionError
    for sides on another level than the nominal one.
    """
    check_confidence(confidence)
    if level not in get_args(Level) or resamples < 1:
        raise BadOptionError(f"level {level!r}, {resamples} resamples", todo=f"levels: {get_args(Level)}")
    if sides is not None and level != "nominal":
        raise BadOptionError(f"sides on the {level} level", todo="order and distance know no sides")
    values, counts = _unit_counts(ratings, level, sides or ())
    places = None if sides is None else _places(values, sides)
    estimate = _alpha(counts, np.ones(len(counts)), values, level, places)
    if estimate is None:
        raise BadValueError("no two ratings differ, so alpha isn't defined")
    of = None if cluster is None else _of_units(ratings, cluster)
    weights = _resamples(len(counts), resamples, seed) if of is None else _all_but_one(of)
    replicates = [_alpha(counts, weight, values, level, places) for weight in weights]
    defined = [value for value in replicates if value is not None]
    ends: tuple[float, float] | None
    if of is None:
        ends = _middle(defined or [estimate], confidence)
    elif len(defined) == len(replicates):
        ends = _jackknifed(estimate, np.array(defined), np.bincount(of), confidence)
    else:
        # Where nothing varies without one cluster, alpha hangs on that cluster alone.
        ends = None
    lower, upper = ends or (None, None)
    return Alpha(
        estimate=estimate,
        lower=lower,
        upper=upper,
        units=len(counts),
        clusters=None if of is None else int(of.max()) + 1,
        ratings=int(counts.sum()),
        undefined=len(replicates) - len(defined),
        level=level,
        resamples=resamples,
        seed=seed,
        confidence=confidence,
    )


def _resamples(units: int, resamples: int, seed: int) -> Iterator[Floats]:
    """How often each unit (U,) is drawn, resample by resample."""
    rng = np.random.default_rng(seed)
    for _ in range(resamples):
        yield np.bincount(rng.integers(units, size=units), minlength=units).astype(np.float64)


def _all_but_one(of: NDArray[np.int64]) -> Iterator[Floats]:
    """Weights (U,) that leave out the units of one cluster after the other."""
    for g in range(int(of.max()) + 1):
        yield (of != g).astype(np.float64)


def _middle(replicates: list[float], confidence: float) -> tuple[float, float]:
    lower, upper = np.quantile(replicates, [(1 - confidence) / 2, (1 + confidence) / 2]).tolist()
    return lower, upper


def _jackknifed(
    estimate: float, without: Floats, sizes: NDArray[np.int64], confidence: float
) -> tuple[float, float] | None:
    effective, groups = float(sizes.sum() ** 2 / (sizes**2).sum()), len(sizes)
    error = sqrt((groups - 1) / groups * float(np.sum((without - estimate) ** 2)))
    if effective < 2 or isclose(error, 0, abs_tol=1e-12):
        return None
    half = -float(stdtrit(effective - 1, (1 - confidence) / 2)) * error
    return estimate - half, min(1.0, estimate + half)


def _of_units(ratings: ArrayLike, cluster: ArrayLike) -> NDArray[np.int64]:
    """Labels 0 … G − 1 of the clusters of the units that count."""
    rated, ids = ~np.isnan(np.asarray(ratings, dtype=np.float64)), np.asarray(cluster)
    if ids.shape != rated.shape[1:]:
        raise ShapeError(
            f"cluster has shape {ids.shape}, for {rated.shape[1]} units", todo="pass one per unit"
        )
    labels: NDArray[np.int64] = np.unique(ids[rated.sum(axis=0) >= 2], return_inverse=True)[1]
    return labels


def _square(table: ArrayLike) -> Floats:
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or counts.shape[0] < 2:
        raise ShapeError(f"the table has shape {counts.shape}", todo="pass counts, categories by categories")
    if counts.min() < 0 or counts.sum() == 0:
        raise NoVotesError("the table holds no ratings, or negative counts")
    return counts


def _agreement_weights(categories: int, weights: Weights) -> Floats:
    apart = np.abs(np.subtract.outer(np.arange(categories), np.arange(categories))) / (categories - 1)
    if weights == "none":
        return np.eye(categories)
    if weights == "linear":
        return 1.0 - apart
    if weights == "quadratic":
        return 1.0 - apart**2
    raise BadOptionError(f"weights {weights!r}", todo=f"use one of {', '.join(get_args(Weights))}")


def _places(values: Floats, sides: tuple[float, float]) -> Sides:
    one, other = np.searchsorted(values, sides).tolist()
    return one, other


def _unit_counts(ratings: ArrayLike, level: Level, more: tuple[float, ...] = ()) -> tuple[Floats, Floats]:
    """The distinct values (V,), and `more`, in rising order, and how often each was given (units with >= 2
    ratings, V).
    """
    table = np.array(ratings, dtype=np.float64)
    if table.ndim != 2:
        raise ShapeError(f"ratings have shape {table.shape}", todo="pass raters by units")
    if np.isinf(table).any() or (level == "ratio" and np.any(table < 0)):
        raise BadValueError("ratings must be finite, and not negative on the ratio level")
    rated = ~np.isnan(table)
    table = table[:, rated.sum(axis=0) >= 2]
    if table.size == 0:
        raise NoVotesError("no unit has two ratings", todo="let raters overlap")
    rater, unit = np.nonzero(~np.isnan(table))
    given = table[rater, unit]
    values = np.unique(np.concatenate([given, more]))
    code = np.searchsorted(values, given)
    counts = np.bincount(unit * len(values) + code, minlength=table.shape[1] * len(values))
    return values, counts.reshape(table.shape[1], len(values)).astype(np.float64)


def _alpha(
    counts: Floats, weight: Floats, values: Floats, level: Level, sides: Sides | None = None
) -> float | None:
    """Alpha when unit u (a row of `counts`) counts `weight[u]` times; None when nothing varies."""
    per_pair = weight / (counts.sum(axis=1) - 1)
    coincidence = (counts * per_pair[:, None]).T @ counts
    coincidence[np.diag_indices(len(values))] -= per_pair @ counts
    totals = named_both_ways(weight @ counts, sides)
    delta = _squared_distances(values, totals, level)
    expected = totals @ delta @ totals
    if expected <= 0:
        return None
    return float(1 - (totals.sum() - 1) * np.sum(coincidence * delta) / expected)


def _squared_distances(values: Floats, totals: Floats, level: Level) -> Floats:
    if level == "nominal":
        return 1.0 - np.eye(len(values))
    if level == "ordinal":
        # Half of c, all in between, half of d: the distance between the mid-ranks of c and d.
        middle = np.cumsum(totals) - totals / 2
        return np.subtract.outer(middle, middle) ** 2
    apart = np.subtract.outer(values, values)
    if level == "interval":
        return apart**2
    total = np.add.outer(values, values)
    ratio = np.divide(apart, total, out=np.zeros_like(apart), where=total > 0)
    squared: Floats = ratio**2
    return squared
