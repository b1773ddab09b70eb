"""Two competitors of a board: their difference with everything needed to judge it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratings.board import FittedBoard, fit_board
from ratings.board_options import LeaderboardOptions
from ratings.clusters import effective_for
from ratings.comparisons import Comparisons
from ratings.errors import BadOptionError, IncomparableError, UnknownCompetitorError
from ratings.newton import Vector
from ratings.pairwise import Effect, Verdict, effect_sizes, non_inferiority, pair_tests
from ratings.proportions import SignTest, sign_test
from ratings.scale import POINTS_PER_LOG_ODDS
from ratings.uncertainty import NO_INTERVAL

Places = NDArray[np.int64]


@dataclass(frozen=True)
class Duel:
    """first less second, in points, on one board.

    effective_clusters: G_c of this very difference · p: two-sided; equivalence_p: TOST at the margin;
    worse_p: "the first is worse by the margin or more" (small: it isn't) · wins, losses, ties: their direct
    battles · direct: sign test of those, None without a decisive one. Interval and p are None with fewer
    than two effective clusters; limited_by then names the dimensions that have no more.
    """

    first: int
    second: int
    difference: float
    standard_error: float
    lower: float | None
    upper: float | None
    degrees: float | None
    effective_clusters: float | None
    p: float | None
    equivalence_p: float | None
    worse_p: float | None
    verdict: Verdict
    effect: Effect | None
    wins: int
    losses: int
    ties: int
    direct: SignTest | None
    margin: float
    confidence: float
    method: str
    limited_by: tuple[str, ...] = ()


def compare_two(
    comparisons: Comparisons, first: int, second: int, options: LeaderboardOptions | None = None
) -> Duel:
    """The difference of two competitors with interval, tests and effect sizes; options.margin in points.

    Raises UnknownCompetitorError, or IncomparableError if no path of battles connects them or one of them has
    no finite strength.
    """
    options = options or LeaderboardOptions(bootstrap=0)
    for competitor in (first, second):
        if not 0 <= competitor < comparisons.n_competitors:
            raise UnknownCompetitorError(f"competitor {competitor}", todo="take an id of the board")
    if first == second:
        raise IncomparableError("a competitor isn't compared with itself", todo="take two")
    board = fit_board(comparisons, options)
    i, j = (int(np.flatnonzero(board.order == c)[0]) for c in (first, second))
    require_comparable(board, i, j)
    return _duel(board, i, j, first, second)


def require_comparable(board: FittedBoard, i: int, j: int) -> None:
    """Raises BadOptionError for one competitor twice, IncomparableError without a finite difference."""
    if i == j:
        raise BadOptionError("a competitor compared with itself", todo="name two")
    graph = board.fit.graph
    if graph.component[i] != graph.component[j]:
        raise IncomparableError("no path of battles connects the two", todo="let them meet common opponents")
    unbounded = graph.unbounded_above | graph.unbounded_below
    if unbounded[i] or unbounded[j]:
        raise IncomparableError(
            "one of the two won or lost every battle against the rest: their difference isn't finite",
            todo="collect votes until it has both",
        )


def contrast_of(board: FittedBoard, i: int, j: int) -> Vector:
    """e_i − e_j (p,) in the board's own order."""
    contrast = np.zeros(len(board.fit.params))
    contrast[i], contrast[j] = 1.0, -1.0
    return contrast


def effective_clusters_of(board: FittedBoard, contrast: Vector) -> float:
    """min(G*, G_c) over the dimensions for one contrast (p,); infinite for independent votes, 0 where one of
    its parameters has no interval."""
    covariance, touched = board.covariance, contrast != 0
    effective = [covariance.effective]
    if board.scores is None:
        effective += covariance.effective_per_parameter[touched].tolist()
    else:
        for d in covariance.dimensions:
            own = effective_for(board.scores, board.fit.bread, d.labels, d.count, contrast[:, None])
            effective.append(float(own[0]))
    if covariance.none is not None and (touched & covariance.none).any():
        return 0.0
    return min(effective)


def effective_clusters_of_pairs(board: FittedBoard, at: Places, to: Places) -> Vector:
    """`effective_clusters_of` the differences of many pairs (m,) of places on the board.

    On boards of some hundred models or a million votes nearly so: see pair_clusters.py.
    """
    covariance = board.covariance
    effective = np.full(len(at), covariance.effective)
    if board.scores is None:
        per = covariance.effective_per_parameter
        effective = np.minimum(effective, np.minimum(per[at], per[to]))
    for dimension in board.pair_clusters.values():
        effective = np.minimum(effective, dimension.effective[at, to])
    if covariance.none is not None:
        effective = np.where(covariance.none[at] | covariance.none[to], 0.0, effective)
    return effective


@dataclass(frozen=True, eq=False)
class Shares:
    """What more clusters of one dimension would do for differences (m,): see planner.new_raters_needed.

    lasting_error: in points, what stays of the error however many there are · effective: G_c of this
    dimension · lasting_effective: of the others, whose number stays.
    """

    name: str
    count: int
    lasting_error: Vector
    effective: Vector
    lasting_effective: Vector


def shares_of(board: FittedBoard, at: Places, to: Places) -> list[Shares]:
    """Of each dimension, for the pairs (m,) of places on the board."""
    covariance, shares = board.covariance, []
    counted = []
    for d in covariance.dimensions:
        own = board.pair_clusters[d.name].effective[at, to] if board.pair_clusters else None
        own = np.minimum(d.per_parameter[at], d.per_parameter[to]) if own is None else own
        counted.append(np.minimum(d.effective, own))
    for place, d in enumerate(covariance.dimensions):
        others = [one for other, one in enumerate(counted) if other != place]
        shares.append(
            Shares(
                name=d.name,
                count=d.count,
                lasting_error=POINTS_PER_LOG_ODDS * covariance.lasting_deviations(place)[at, to],
                effective=counted[place],
                lasting_effective=np.min(others, axis=0) if others else np.full(len(at), np.inf),
            )
        )
    return shares


def _duel(board: FittedBoard, i: int, j: int, first: int, second: int) -> Duel:
    options, contrast = board.options, contrast_of(board, i, j)
    difference = float(board.fit.params[i] - board.fit.params[j])
    deviation = board.covariance.deviation(contrast)
    effective = effective_clusters_of(board, contrast)
    wins, losses, ties = _direct(board, i, j)
    tests = _tests(board, difference, deviation, effective)
    return Duel(
        first=first,
        second=second,
        difference=POINTS_PER_LOG_ODDS * difference,
        standard_error=POINTS_PER_LOG_ODDS * deviation,
        effective_clusters=effective if np.isfinite(effective) else None,
        wins=wins,
        losses=losses,
        ties=ties,
        direct=sign_test(wins, losses, confidence=options.confidence) if wins + losses else None,
        margin=options.margin,
        confidence=options.confidence,
        method=board.covariance.method,
        limited_by=_limits(board, i, j) if tests["lower"] is None else (),
        **tests,
    )


def _limits(board: FittedBoard, i: int, j: int) -> tuple[str, ...]:
    shares = shares_of(board, np.array([i]), np.array([j]))
    return tuple(share.name for share in shares if share.effective[0] < NO_INTERVAL)


def _tests(board: FittedBoard, difference: float, deviation: float, effective: float) -> dict[str, Any]:
    """Interval, p-values, verdict and effect sizes; none of them below two effective clusters."""
    options = board.options
    if effective < NO_INTERVAL:
        unknown = ("lower", "upper", "degrees", "p", "equivalence_p", "worse_p", "effect")
        return {**dict.fromkeys(unknown), "verdict": "undecided"}
    degrees = effective - 1
    pair = np.array([difference, 0.0]), np.full((2, 2), deviation)
    tests = pair_tests(*pair, degrees, margin=options.margin, level=1 - options.confidence)
    odds = board.tie_odds or 0.0
    effect = effect_sizes(difference, deviation, degrees, confidence=options.confidence, tie_odds=odds)
    return {
        "lower": effect.points[1],
        "upper": effect.points[2],
        "degrees": degrees if np.isfinite(degrees) else None,
        "p": float(tests.p[0]),
        "equivalence_p": float(tests.equivalence[0]),
        "worse_p": non_inferiority(difference, deviation, degrees, options.margin),
        "verdict": tests.verdicts()[0],
        "effect": effect,
    }


def _direct(board: FittedBoard, i: int, j: int) -> tuple[int, int, int]:
    low, high = min(i, j), max(i, j)
    at = np.flatnonzero((board.cells.low == low) & (board.cells.high == high))
    if not len(at):
        return 0, 0, 0
    lost, *draws, won = (int(c) for c in board.cells.counts[at[0]])
    tied = sum(draws)
    return (won, lost, tied) if i == low else (lost, won, tied)
