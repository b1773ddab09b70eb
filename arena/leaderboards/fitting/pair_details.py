"""Of the pairs most asked about: effect sizes, what their direct battles say, categories, votes needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.leaderboards.fitting.board_pairs import DECIMALS, Pairs
from arena.leaderboards.fitting.category_boards import CategoryBoard
from arena.leaderboards.fitting.direct_battles import Counted
from ratings.board import FittedBoard
from ratings.compare import Shares, effective_clusters_of_pairs, shares_of
from ratings.pairwise import effects_of, non_inferiorities
from ratings.planner import direct_votes_of_each, new_raters_of_each
from ratings.scale import POINTS_PER_LOG_ODDS
from ratings.uncertainty import NO_INTERVAL, critical_values

Integers = NDArray[np.int64]
Counts = list[int | str]

# Of new raters, prompts or votes; above it "not reachable": only what stays, whatever comes, is left there.
MOST = 1_000_000_000
# How far apart two models would have to be, in margins, for the votes needed to tell them apart.
IN_MARGINS = (1, 2, 5)
UNTESTED: dict[str, Any] = {"effect": None, "needs": [], "worse_p": None, "better_p": None}


def details_of(
    pairs: Pairs, most: Integers, board: FittedBoard, counted: Counted, categories: Sequence[CategoryBoard]
) -> list[dict[str, Any]]:
    """Of the pairs at the places `most` (d,), in their order."""
    first, second = pairs.first[most], pairs.second[most]
    battles = counted.battles(first, second)
    confidence = board.options.confidence
    of_categories = battles.by_category(confidence)
    _add_differences(of_categories, categories, first, second)
    details: list[dict[str, Any]] = [
        {"direct": direct, "categories": each} | UNTESTED
        for direct, each in zip(battles.tests(confidence), of_categories, strict=True)
    ]
    tested = np.flatnonzero(pairs.tested[most])
    if len(tested):
        models = _of_model(pairs, most[tested], board)
        for place, model in zip(tested.tolist(), models, strict=True):
            details[place] |= model
    return details


def _of_model(pairs: Pairs, at: Integers, board: FittedBoard) -> Iterator[dict[str, Any]]:
    """What the fit says of pairs that can be tested."""
    options = board.options
    difference, deviation = pairs.difference[at], pairs.deviation[at]
    degrees = pairs.effective[at] - 1
    odds = board.tie_odds or 0.0
    effects = effects_of(difference, deviation, degrees, confidence=options.confidence, tie_odds=odds)
    rounded = {name: _rounded(values) for name, values in effects.items()}
    clusters = [None if n == np.inf else round(n, DECIMALS) for n in pairs.effective[at].tolist()]
    # One-sided: "the first (the second) is worse by the margin or more".
    worse = non_inferiorities(difference, deviation, degrees, options.margin).tolist()
    better = non_inferiorities(-difference, deviation, degrees, options.margin).tolist()
    for place, needs in enumerate(_needs(pairs, at, board)):
        yield {
            "effect": {name: values[place] for name, values in rounded.items()},
            "effective_clusters": clusters[place],
            "worse_p": worse[place],
            "better_p": better[place],
            "needs": needs,
        }


def _rounded(values: NDArray[np.float64]) -> list[list[float]]:
    return [[round(value, DECIMALS) for value in three] for three in values.tolist()]


def _needs(pairs: Pairs, at: Integers, board: FittedBoard) -> Iterator[list[dict[str, Any]]]:
    """What it takes to find a difference of so many points: of the plan, never of the estimate."""
    options, place = board.options, np.argsort(board.order)
    i, j, bread = place[pairs.first[at]], place[pairs.second[at]], board.fit.bread
    errors = POINTS_PER_LOG_ODDS * pairs.deviation[at]
    models = POINTS_PER_LOG_ODDS * np.sqrt(bread[i, i] + bread[j, j] - 2 * bread[i, j])
    common: dict[str, Any] = {"confidence": options.confidence, "comparisons": int(pairs.tested.sum())}
    shares = shares_of(board, i, j)
    of_same = POINTS_PER_LOG_ODDS * board.covariance.deviations_of_same_voters[i, j]

    def new(points: float, share: Shares) -> Counts:
        found = new_raters_of_each(
            points,
            standard_errors=errors,
            raters=share.count,
            lasting_errors=share.lasting_error,
            effective=share.effective,
            lasting_effective=share.lasting_effective,
            cap=MOST,
            **common,
        )
        return _counts(found)

    def by_same(points: float) -> Counts:
        found = direct_votes_of_each(
            points,
            model_errors=models,
            design_effects=(errors / models) ** 2,
            lasting_errors=of_same,
            effective=pairs.effective[at],
            cap=MOST,
            **common,
        )
        return _counts(found)

    asked = [options.margin * times for times in IN_MARGINS if options.margin]
    found = [(points, {one.name: new(points, one) for one in shares}, by_same(points)) for points in asked]
    for pair in range(len(at)):
        yield [
            {
                "points": points,
                "new": {name: counts[pair] for name, counts in new.items()},
                "votes_by_same": votes[pair],
            }
            for points, new, votes in found
        ]


def _counts(counts: NDArray[np.float64]) -> Counts:
    return ["not reachable" if count == np.inf else int(count) for count in counts.tolist()]


def _add_differences(
    of_pairs: Sequence[list[dict[str, Any]]],
    categories: Sequence[CategoryBoard],
    first: Integers,
    second: Integers,
) -> None:
    """First less second in points on each category's own board, beside its counts."""
    boards = {category.name: category for category in categories}
    among: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for place, of_pair in enumerate(of_pairs):
        for one in of_pair:
            one.update(difference=None, lower=None, upper=None)
            if one["category"] in boards:
                among.setdefault(one["category"], []).append((place, one))
    for name, entries in among.items():
        at = np.array([place for place, _one in entries])
        differences = _differences(boards[name], first[at], second[at])
        for (_place, one), difference in zip(entries, differences, strict=True):
            one.update(difference)


def _differences(category: CategoryBoard, i: Integers, j: Integers) -> list[dict[str, float | None]]:
    """Difference and ends of each pair (m,) of competitor numbers; None where the category says nothing."""
    board, place = category.board, np.argsort(category.board.order)
    at, to = place[i], place[j]
    difference = category.rating[i] - category.rating[j]
    effective = effective_clusters_of_pairs(board, at, to)
    critical = critical_values(effective - 1, board.options.confidence)
    reach = critical * POINTS_PER_LOG_ODDS * board.covariance.difference_deviations[at, to]
    reach = np.where(effective < NO_INTERVAL, np.nan, reach)
    columns = np.stack([difference, difference - reach, difference + reach], axis=1).tolist()
    names = ("difference", "lower", "upper")
    return [
        dict(zip(names, (None if v != v else round(v, DECIMALS) for v in three), strict=True))
        for three in columns
    ]
