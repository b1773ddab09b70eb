"""How many votes, raters or prompts a question needs, and what a number of votes can show.

Differences and standard errors are in rating points. Every answer is for a two-sided test at `confidence`
that finds a true difference with probability `power`; `comparisons` > 1 shares the error among that many
tests (Bonferroni, the first step of Holm). Points are the half-win board's: p is the expected score, a tie
counting half, and a share t of ties leaves a vote the variance p q - t/4.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri, stdtrit

from ratings.errors import BadOptionError, BadValueError
from ratings.proportions import check_confidence
from ratings.scale import POINTS_PER_LOG_ODDS, expected_score

Floats = NDArray[np.float64]

CAP = 1_000_000


@dataclass(frozen=True)
class Need:
    """How many `of` it takes; `count` is None when more than `cap`: not reachable."""

    count: int | None
    of: str
    cap: int
    points: float
    confidence: float
    power: float
    comparisons: int

    @property
    def reachable(self) -> bool:
        """Whether the count stays below the cap."""
        return self.count is not None

    def __str__(self) -> str:
        return (
            f"{self.count:,} {self.of}" if self.reachable else f"not reachable (over {self.cap:,} {self.of})"
        )


@dataclass(frozen=True)
class Detectable:
    """The smallest difference that `votes` votes, ties included, can show; None when they can't show any."""

    points: float | None
    expected_score: float | None
    votes: int
    confidence: float
    power: float
    comparisons: int


def votes_to_separate(
    points: float,
    *,
    confidence: float = 0.95,
    power: float = 0.8,
    comparisons: int = 1,
    tie_share: float = 0.0,
    design_effect: float = 1.0,
    degrees: float = np.inf,
    cap: int = CAP,
) -> Need:
    """Votes on one pair, a share of them ties, that separate two competitors `points` apart.

    n = deff (z_(1-alpha/2) sqrt((1 - t)/4) + z_power sqrt(p q - t/4))^2/(p - 1/2)^2, p the stronger one's
    expected score, t = `tie_share`. `design_effect`: variance with clusters over variance without, from a
    board or a pilot. `degrees` of freedom of the test, on a board one less than its raters or prompts are,
    whichever are fewer: with few of them t takes the place of z; infinite: the large-sample score test, and
    below 100 votes the exact sign test needs more. Raises BadValueError unless points > 0 and
    design_effect > 0, BadOptionError for options outside their range.
    """
    z, z_power = _quantiles(confidence, power, comparisons, degrees)
    _positive(points=points, design_effect=design_effect)
    _require_share(tie_share)
    x, decided = expected_score(points) - 0.5, 1 - tie_share
    spread = sqrt(max(decided / 4 - x * x, 0.0))
    votes = design_effect * ((z * sqrt(decided) / 2 + z_power * spread) / x) ** 2
    # An exact sign test needs so many one-sided decided votes to be significant at all.
    least = ceil(1 - log2((1 - confidence) / comparisons)) / decided
    return _need(max(votes, least), "votes", cap, points, confidence, power, comparisons)


def minimum_detectable(
    votes: int,
    *,
    confidence: float = 0.95,
    power: float = 0.8,
    comparisons: int = 1,
    tie_share: float = 0.0,
    design_effect: float = 1.0,
    degrees: float = np.inf,
) -> Detectable:
    """The difference that `votes` votes on one pair, a share of them ties, find with the given power.

    Solves (sqrt(n) x - z/2)^2 = z_power^2 (1/4 - x^2) for x = (p - 1/2)/sqrt(1 - t), n = votes/deff: the
    inverse of `votes_to_separate`. Errors as there.
    """
    z, z_power = _quantiles(confidence, power, comparisons, degrees)
    _positive(votes=votes, design_effect=design_effect)
    _require_share(tie_share)
    if not np.isfinite(z):
        return Detectable(None, None, votes, confidence, power, comparisons)
    n = votes / design_effect
    a, b, c = n + z_power**2, -sqrt(n) * z, (z**2 - z_power**2) / 4
    discriminant = b * b - 4 * a * c
    x = (-b + sqrt(discriminant)) / (2 * a) if discriminant >= 0 else 1.0
    if x >= 0.5 or sqrt(n) * x < z / 2:
        return Detectable(None, None, votes, confidence, power, comparisons)
    x *= sqrt(1 - tie_share)
    points = float(logit(0.5 + x)) * POINTS_PER_LOG_ODDS
    return Detectable(points, 0.5 + x, votes, confidence, power, comparisons)


def new_raters_needed(
    points: float,
    *,
    standard_error: float,
    raters: int,
    lasting_error: float = 0.0,
    effective: float = np.inf,
    lasting_effective: float = np.inf,
    confidence: float = 0.95,
    power: float = 0.8,
    comparisons: int = 1,
    cap: int = 10_000,
) -> Need:
    """Raters to add, at the present votes per rater, until a difference of `points` is found.

    With k N raters in place of N the variance is (s^2 - l^2)/k + l^2: s the cluster-robust error of the
    difference now, l = `lasting_error` the part that prompts leave however many raters there are. The
    smallest k with (t_(1-alpha/2) + t_power) times the error at most d, the difference that would matter,
    from the plan and never the estimate; t with min(k G_c, G_other) - 1 degrees of freedom, `effective` and
    `lasting_effective`, infinite: normal. More votes by the same raters don't shrink s once taste dominates.
    The same formula serves prompts. Errors as `votes_to_separate`.
    """
    _positive(points=points, standard_error=standard_error, raters=raters)
    found = new_raters_of_each(
        points,
        standard_errors=np.array([standard_error]),
        raters=raters,
        lasting_errors=np.array([lasting_error]),
        effective=np.array([effective]),
        lasting_effective=np.array([lasting_effective]),
        confidence=confidence,
        power=power,
        comparisons=comparisons,
        cap=cap,
    )
    return _need(float(found[0]), "new raters", cap, points, confidence, power, comparisons)


def new_raters_of_each(
    points: float,
    *,
    standard_errors: Floats,
    raters: int,
    lasting_errors: Floats,
    effective: Floats,
    lasting_effective: Floats,
    confidence: float = 0.95,
    power: float = 0.8,
    comparisons: int = 1,
    cap: int = 10_000,
) -> Floats:
    """The counts of `new_raters_needed` for many pairs (m,), one per error; infinite above the cap."""
    _quantiles(confidence, power, comparisons)
    _positive(points=points, raters=raters)
    tail = (1 - confidence) / 2 / comparisons
    lasting = np.minimum(lasting_errors, standard_errors) ** 2
    shrinking = standard_errors**2 - lasting

    def finds(more: Floats, of: NDArray[np.bool_]) -> NDArray[np.bool_]:
        times = 1 + more / raters
        degrees = np.minimum(effective[of] * times, lasting_effective[of]) - 1
        reach = _t(1 - tail, degrees) + _t(power, degrees)
        found: NDArray[np.bool_] = reach**2 * (shrinking[of] / times + lasting[of]) <= points**2 * (1 + 1e-9)
        return found

    # The fewest by bisection: `low` doesn't find it, `high` does.
    every = np.ones(len(standard_errors), dtype=bool)
    low, high = np.zeros(len(every)), np.full(len(every), float(cap))
    reachable, already = finds(high, every), finds(low, every)
    while (open_ := reachable & ~already & (high - low > 1)).any():
        middle = np.floor((low[open_] + high[open_]) / 2)
        found = finds(middle, open_)
        high[open_] = np.where(found, middle, high[open_])
        low[open_] = np.where(found, low[open_], middle)
    return np.where(already, 0.0, np.where(reachable, high, np.inf))


def _t(below: float, degrees: Floats) -> Floats:
    """t quantile; normal where the degrees of freedom are infinite, infinite where there are none."""
    finite, some = np.isfinite(degrees), degrees > 0
    quantile = stdtrit(np.where(finite & some, degrees, 1.0), below)
    return np.where(some, np.where(finite, quantile, ndtri(below)), np.inf)


def direct_votes_needed(
    points: float,
    *,
    model_error: float,
    design_effect: float = 1.0,
    lasting_error: float = 0.0,
    effective: float = np.inf,
    confidence: float = 0.95,
    power: float = 0.8,
    comparisons: int = 1,
    cap: int = CAP,
) -> Need:
    """Further votes on this very pair by the present raters on the present prompts.

    m = [(deff V - l^2)/(V (d^2/(t_(1-alpha/2) + t_power)^2 - l^2)) - 1/V]/(p q), in log-odds: V =
    `model_error`^2 the model-based variance of the difference now, deff = cluster-robust variance over V,
    which carries the tie share too, l = `lasting_error` (in points) the part that the tastes of these raters
    and the nature of these prompts leave however many votes they give: where it alone exceeds
    d/(t + t) no number is enough. t with `effective` - 1 degrees of freedom, infinite: normal. With l = 0
    votes are taken to come from ever new raters on new prompts, clustered as now. Errors as
    `votes_to_separate`.
    """
    _positive(points=points, model_error=model_error, design_effect=design_effect)
    found = direct_votes_of_each(
        points,
        model_errors=np.array([model_error]),
        design_effects=np.array([design_effect]),
        lasting_errors=np.array([lasting_error]),
        effective=np.array([effective]),
        confidence=confidence,
        power=power,
        comparisons=comparisons,
        cap=cap,
    )
    return _need(float(found[0]), "votes on the pair", cap, points, confidence, power, comparisons)


def direct_votes_of_each(
    points: float,
    *,
    model_errors: Floats,
    design_effects: Floats,
    lasting_errors: Floats | None = None,
    effective: Floats | None = None,
    confidence: float = 0.95,
    power: float = 0.8,
    comparisons: int = 1,
    cap: int = CAP,
) -> Floats:
    """The counts of `direct_votes_needed` for many pairs (m,), one per error; infinite above the cap."""
    _quantiles(confidence, power, comparisons)
    _positive(points=points)
    degrees = np.full(len(model_errors), np.inf) if effective is None else effective - 1
    reach = _t(1 - (1 - confidence) / 2 / comparisons, degrees) + _t(power, degrees)
    d, model = points / POINTS_PER_LOG_ODDS, (model_errors / POINTS_PER_LOG_ODDS) ** 2
    whole = design_effects * model
    lasting = np.zeros(len(model)) if lasting_errors is None else lasting_errors / POINTS_PER_LOG_ODDS
    lasting = np.minimum(lasting**2, whole)
    p = float(expit(d))
    allowed = (d / reach) ** 2 - lasting
    some = allowed > 0
    information = (whole - lasting) / model / np.where(some, allowed, 1.0) - 1 / model
    votes = np.where(some, np.maximum(information, 0.0) / (p * (1 - p)), np.inf)
    already = whole <= (d / reach) ** 2 * (1 + 1e-9)
    return _whole(np.where(already, 0.0, votes), cap)


def _whole(counts: Floats, cap: int) -> Floats:
    whole: Floats = np.where(counts > cap, np.inf, np.ceil(counts - 1e-9))
    return whole


def _need(
    count: float, of: str, cap: int, points: float, confidence: float, power: float, comparisons: int
) -> Need:
    # 1e-9 keeps a whole number that rounding left a hair above itself from costing one more.
    whole = None if count > cap else ceil(count - 1e-9)
    return Need(whole, of, cap, points, confidence, power, comparisons)


def _quantiles(
    confidence: float, power: float, comparisons: int, degrees: float = np.inf
) -> tuple[float, float]:
    check_confidence(confidence)
    if not 0.5 <= power < 1 or comparisons < 1:
        raise BadOptionError(
            f"power {power} for {comparisons} comparisons",
            todo="power from 0.5 to below 1, comparisons from 1",
        )
    of = np.array(degrees)
    return abs(float(_t((1 - confidence) / 2 / comparisons, of))), float(_t(power, of))


def _require_share(tie_share: float) -> None:
    if not 0 <= tie_share < 1:
        raise BadValueError(f"tie_share is {tie_share}", todo="a share of votes from 0 to below 1")


def _positive(**numbers: float) -> None:
    for name, value in numbers.items():
        if not 0 < value < float("inf"):
            raise BadValueError(f"{name} is {value}", todo="it must be finite and above 0")
