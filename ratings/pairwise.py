"""Two competitors at a time: is the difference real, is it large, is it negligible; with many pairs at once.

d = θ_i − θ_j, s its standard error, t the upper tail of Student's t with the pair's degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from ratings.errors import BadOptionError, BadValueError, NoVotesError, ShapeError
from ratings.newton import Matrix, Vector
from ratings.proportions import clustered_mean
from ratings.rows import sum_by
from ratings.scale import POINTS_PER_LOG_ODDS

Adjustment = Literal["holm", "bh", "by", "bonferroni", "none"]
Verdict = Literal["different", "equivalent", "different, negligible", "undecided"]


def adjusted(p: Vector, method: Adjustment = "holm") -> Vector:
    """Adjusted p-values (m,) of m tests, in their order.

    holm (1979) and bonferroni hold the chance of any false claim, bh (Benjamini & Hochberg 1995) the
    expected share of false claims, by (Benjamini & Yekutieli 2001) that under any dependence.
    """
    p = np.asarray(p, dtype=np.float64)
    if ((p < 0) | (p > 1) | np.isnan(p)).any():
        raise BadValueError("p-values lie in [0, 1]", row=int(np.argmax((p < 0) | (p > 1) | np.isnan(p))))
    m, order = len(p), np.argsort(p, kind="stable")
    place = np.arange(1, m + 1)
    ranked = p[order]
    if method == "none":
        return p
    if method == "bonferroni":
        return np.minimum(p * m, 1)
    if method == "holm":
        stepped = np.maximum.accumulate(ranked * (m - place + 1))
    elif method in ("bh", "by"):
        factor = (1 / place).sum() if method == "by" else 1.0
        stepped = np.minimum.accumulate((ranked * m * factor / place)[::-1])[::-1]
    else:
        raise BadOptionError(f"adjustment {method!r}", todo="use holm, bh, by, bonferroni or none")
    result = np.empty(m)
    result[order] = np.minimum(stepped, 1)
    return result


@dataclass(frozen=True, eq=False)
class PairTests:
    """All m = K(K − 1)/2 pairs i < j; arrays (m,), differences in log-odds.

    p: two-sided, d = 0 · p_adjusted: all pairs at once · equivalence, equivalence_adjusted: two one-sided
    tests of |d| ≥ margin, the larger of both p (Holm across pairs) · degrees: of each pair's t.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    difference: Vector
    deviation: Vector
    degrees: Vector
    p: Vector
    p_adjusted: Vector
    equivalence: Vector
    equivalence_adjusted: Vector
    margin: float
    adjustment: Adjustment
    level: float

    def verdicts(self) -> list[Verdict]:
        """Different, equivalent, both at once, or undecided, at the level, after adjustment."""
        return verdicts_of(self.p_adjusted, self.equivalence_adjusted, self.level)


def verdicts_of(p_adjusted: Vector, equivalence_adjusted: Vector, level: float) -> list[Verdict]:
    """Of tests (m,) that were adjusted already."""
    words: dict[tuple[bool, bool], Verdict] = {
        (True, True): "different, negligible",
        (True, False): "different",
        (False, True): "equivalent",
        (False, False): "undecided",
    }
    different, equivalent = p_adjusted < level, equivalence_adjusted < level
    return [words[bool(d), bool(e)] for d, e in zip(different, equivalent, strict=True)]


def pair_tests(
    strengths: Vector,
    deviations: Matrix,
    degrees: Vector | float = np.inf,
    *,
    margin: float = 10.0,
    adjustment: Adjustment = "holm",
    level: float = 0.05,
) -> PairTests:
    """Test all pairs. strengths (K,) · deviations (K, K) of differences · degrees: per competitor (K,), the
    smaller of two counts, or one for all; infinite: normal · margin in points."""
    first, second = np.triu_indices(len(strengths), 1)
    each = np.broadcast_to(np.asarray(degrees, dtype=np.float64), strengths.shape)
    df = np.minimum(each[first], each[second])
    difference, deviation = strengths[first] - strengths[second], deviations[first, second]
    p = np.minimum(2 * upper_tail(np.abs(difference) / deviation, df), 1.0)
    bound = margin / POINTS_PER_LOG_ODDS
    equivalence = upper_tail((bound - np.abs(difference)) / deviation, df)
    return PairTests(
        first=first,
        second=second,
        difference=difference,
        deviation=deviation,
        degrees=df,
        p=p,
        p_adjusted=adjusted(p, adjustment),
        equivalence=equivalence,
        equivalence_adjusted=adjusted(equivalence, "holm"),
        margin=margin,
        adjustment=adjustment,
        level=level,
    )


def upper_tail(t: Vector, degrees: Vector) -> Vector:
    """P(T > t) (any shape) with these degrees of freedom; normal where infinite, 1 where there are none."""
    finite = np.isfinite(degrees)
    safe = np.where(finite & (degrees > 0), degrees, 1.0)
    tail = np.where(finite, stdtr(safe, -t), ndtr(-t))
    return np.where(degrees > 0, tail, 1.0)


def non_inferiority(difference: float, deviation: float, degrees: float, margin: float) -> float:
    """One-sided p of "the first is worse by `margin` points or more"; small: it isn't. d in log-odds."""
    d, error, df = (np.array(value, dtype=np.float64) for value in (difference, deviation, degrees))
    return float(non_inferiorities(d, error, df, margin))


def non_inferiorities(difference: Vector, deviation: Vector, degrees: Vector, margin: float) -> Vector:
    """`non_inferiority` of many pairs (m,)."""
    return upper_tail((difference + margin / POINTS_PER_LOG_ODDS) / deviation, degrees)


@dataclass(frozen=True)
class Effect:
    """How large a difference is, each with its interval end points.

    points: rating gap · expected_score: of the first in a vote between them, a tie counting half (where ties
    are left out: its chance to win) · net_rate: P(win) − P(loss) of all votes that count, 2·score − 1 ·
    cohens_h: 2·arcsin√p − 2·arcsin√½ of the expected score p.
    """

    points: tuple[float, float, float]
    expected_score: tuple[float, float, float]
    net_rate: tuple[float, float, float]
    cohens_h: tuple[float, float, float]


def effect_sizes(
    difference: float, deviation: float, degrees: float, *, confidence: float = 0.95, tie_odds: float = 0.0
) -> Effect:
    """Estimate, lower and upper end of each effect size of d; all rise with d, so the ends carry over.

    tie_odds: ν where ties are an outcome of their own (Davidson); 0 on every other board.
    """
    three = (np.array([value], dtype=np.float64) for value in (difference, deviation, degrees))
    found = effects_of(*three, confidence=confidence, tie_odds=tie_odds)
    return Effect(**{name: _three(values[0]) for name, values in found.items()})


def effects_of(
    difference: Vector, deviation: Vector, degrees: Vector, *, confidence: float = 0.95, tie_odds: float = 0.0
) -> dict[str, Matrix]:
    """The fields of `Effect` for many pairs: of each (m, 3) estimates, lower and upper ends."""
    upper = (1 + confidence) / 2
    finite = np.isfinite(degrees)
    critical = np.where(finite, stdtrit(np.where(finite, degrees, 1.0), upper), ndtri(upper))
    reach = critical * deviation
    d = np.stack([difference, difference - reach, difference + reach], axis=1)
    # Without an outcome of their own for ties this is expit(d): the half-win fit makes that the mean score.
    p = 0.5 + 0.5 * np.tanh(d / 2) / (1 + tie_odds / 2 / np.cosh(np.clip(d / 2, -300, 300)))
    return {
        "points": d * POINTS_PER_LOG_ODDS,
        "expected_score": p,
        "net_rate": 2 * p - 1,
        "cohens_h": 2 * np.arcsin(np.sqrt(p)) - np.pi / 2,
    }


@dataclass(frozen=True)
class CostRatio:
    """What the first costs for each unit (dollar, token) of the second, and how sure that is.

    lower, upper: None below two effective clusters · pairs: responses compared · clusters: of their prompts.
    """

    ratio: float
    lower: float | None
    upper: float | None
    pairs: int
    clusters: int
    confidence: float


def cost_ratio(
    first: ArrayLike, second: ArrayLike, cluster: ArrayLike | None = None, *, confidence: float = 0.95
) -> CostRatio:
    """Mean cost of the first (n,) over that of the second (n,), answers to one prompt side by side.

    The interval is that of the log ratio: each pair moves it by x/x̄ − y/ȳ (delta method), by clusters (n,),
    the prompts. Raises ShapeError, NoVotesError without rows, BadValueError for costs below 0, NaN or all 0.
    """
    costs = [np.asarray(side, dtype=np.float64) for side in (first, second)]
    if costs[0].shape != costs[1].shape or costs[0].ndim != 1:
        raise ShapeError(f"costs have shapes {costs[0].shape} and {costs[1].shape}", todo="pass n of each")
    for name, side in zip(("first", "second"), costs, strict=True):
        bad = ~(np.isfinite(side) & (side >= 0))
        if bad.any():
            raise BadValueError(f"the {name} costs {side[bad][0]}", row=int(np.argmax(bad)))
        if len(side) and not side.any():
            raise BadValueError(f"the {name} costs nothing", todo="a ratio needs costs above 0")
    if not len(costs[0]):
        raise NoVotesError("no costs to compare", todo="pass the costs of at least one pair of responses")
    x, y = costs[0].mean(), costs[1].mean()
    moved = clustered_mean(costs[0] / x - costs[1] / y, cluster, confidence=confidence)
    lower, upper = (None if e is None else float(x / y * np.exp(e)) for e in (moved.lower, moved.upper))
    return CostRatio(float(x / y), lower, upper, len(costs[0]), moved.clusters, confidence)


def _three(values: Vector) -> tuple[float, float, float]:
    estimate, lower, upper = (float(v) for v in values)
    return estimate, lower, upper


@dataclass(frozen=True, eq=False)
class QuasiVariances:
    """q (K,): Var(θ_i − θ_j) ≈ q_i + q_j, so that one error per competitor serves every pair.

    worst (2,): the most negative and most positive relative error of a standard error over all pairs.
    """

    values: Vector
    worst: tuple[float, float]


def quasi_variances(covariance: Matrix) -> QuasiVariances:
    """Quasi-variances of a covariance (K, K), K ≥ 3: least squares of log(q_i + q_j) on log Var(θ_i − θ_j)
    (Firth & de Menezes 2004). For K = 2 half the variance each."""
    k = len(covariance)
    first, second = np.triu_indices(k, 1)
    variance = covariance[first, first] + covariance[second, second] - 2 * covariance[first, second]
    if (variance <= 0).any():
        raise BadValueError("a difference has no positive variance", todo="leave such competitors out")
    target = np.log(variance)

    def loss(log_q: Vector) -> tuple[float, Vector]:
        q = np.exp(log_q)
        total = q[first] + q[second]
        error = np.log(total) - target
        share = 2 * error / total
        gradient = sum_by(first, share, k) + sum_by(second, share, k)
        return float(error @ error), gradient * q

    start = np.full(k, np.log(variance.mean() / 2))
    # A quasi-variance may be about zero in data with one precise competitor; the bound keeps exp() in range.
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(-40, 40)] * k, tol=1e-15)
    values = np.exp(found.x)
    errors = np.sqrt((values[first] + values[second]) / variance) - 1
    return QuasiVariances(values, (float(errors.min()), float(errors.max())))
