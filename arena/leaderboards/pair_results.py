"""All pairs of a fitted board: different, equivalent or undecided, with what their direct battles say.

Computed with the snapshot, by the worker: a page only reads what is stored here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.leaderboards.category_boards import CategoryBoard
from arena.leaderboards.comparisons import BoardRows
from arena.leaderboards.direct_battles import DirectBattles, battles_by_pair
from arena.leaderboards.models import PairResult
from ratings.board import FittedBoard
from ratings.compare import contrast_of, effective_clusters_of
from ratings.pairwise import PairTests, adjusted, effect_sizes, non_inferiority, upper_tail
from ratings.planner import Need, direct_votes_needed, new_raters_needed
from ratings.scale import POINTS_PER_LOG_ODDS
from ratings.uncertainty import NO_INTERVAL, critical_values

Verdict = PairResult.Verdict

# Pairs with tests, categories and needs of their own: all those of 32 models, a second's work.
MOST_DETAILED = 500
# Rows looked at for effective clusters of each pair; above it a pair has the fewer of its two models' own.
MOST_ROW_VISITS = 20_000_000
# "Not reachable" above so many new raters or prompts, and so many votes on the pair.
MOST_CLUSTERS, MOST_VOTES = 10_000, 1_000_000
# How far apart two models would have to be, in margins, for the votes needed to tell them apart.
IN_MARGINS = (1, 2, 5)
DECIMALS = 6
DECIMALS_OF_P = 12


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs of a board by competitor number, first < second (m,); differences in log-odds.

    reason: the verdict that says why a pair has no difference, else "".
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    difference: NDArray[np.float64]
    deviation: NDArray[np.float64]
    effective: NDArray[np.float64]
    reason: list[str]

    @property
    def tested(self) -> NDArray[np.bool_]:
        """With a finite difference, and clusters enough to say how sure it is."""
        finite = np.array([not reason for reason in self.reason], dtype=bool)
        return finite & (self.effective >= NO_INTERVAL) & (self.deviation > 0)


def pair_results(
    board: FittedBoard, rows: BoardRows, categories: Sequence[CategoryBoard]
) -> list[dict[str, Any]]:
    """Keyword arguments of PairResult, one for each pair of the board."""
    pairs = pairs_of(board)
    columns = _columns(pairs, board)
    direct = battles_by_pair(rows, board.options)
    battles = [direct.of(i, j) for i, j in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)]
    most = np.argsort([-one.total for one in battles], kind="stable")[:MOST_DETAILED]
    detailed = set(most.tolist())
    results = []
    for m, one in enumerate(battles):
        result = {name: column[m] for name, column in columns.items()}
        result["first_id"] = rows.competitors[pairs.first[m]]
        result["second_id"] = rows.competitors[pairs.second[m]]
        result |= {"wins": one.wins, "losses": one.losses, "ties": one.ties, "details": None}
        if m in detailed:
            result["details"] = _details(pairs, m, board, one, categories)
        results.append(result)
    return results


def pairs_of(board: FittedBoard) -> Pairs:
    first, second = np.triu_indices(len(board.order), 1)
    place = np.argsort(board.order)
    at, to = place[first], place[second]
    return Pairs(
        first=first,
        second=second,
        difference=board.fit.params[at] - board.fit.params[to],
        deviation=board.covariance.difference_deviations[at, to],
        effective=_effective(board, at, to),
        reason=_reasons(board, at, to),
    )


def _reasons(board: FittedBoard, at: NDArray[np.int64], to: NDArray[np.int64]) -> list[str]:
    graph = board.fit.graph
    unbounded = graph.unbounded_above | graph.unbounded_below
    apart = graph.component[at] != graph.component[to]
    endless = unbounded[at] | unbounded[to]
    return [
        Verdict.APART.value if a else Verdict.UNBOUNDED.value if e else ""
        for a, e in zip(apart.tolist(), endless.tolist(), strict=True)
    ]


def _effective(
    board: FittedBoard, at: NDArray[np.int64], to: NDArray[np.int64], calls: int = 1
) -> NDArray[np.float64]:
    """Effective clusters of each difference (m,), asked for so many times."""
    covariance = board.covariance
    visits = 0 if board.scores is None else len(board.scores.rows) * len(covariance.dimensions) * len(at)
    if visits * calls <= MOST_ROW_VISITS:
        contrasts = (contrast_of(board, i, j) for i, j in zip(at.tolist(), to.tolist(), strict=True))
        return np.array([effective_clusters_of(board, contrast) for contrast in contrasts])
    per = covariance.effective_per_parameter
    fewest = np.minimum(covariance.effective, np.minimum(per[at], per[to]))
    if covariance.none is None:
        return fewest
    return np.where(covariance.none[at] | covariance.none[to], 0.0, fewest)


def tests_of(pairs: Pairs, board: FittedBoard) -> PairTests:
    """Tests of the pairs that can be tested, adjusted by Holm over all of them."""
    at, options = pairs.tested, board.options
    difference, deviation, degrees = pairs.difference[at], pairs.deviation[at], pairs.effective[at] - 1
    p = np.minimum(2 * upper_tail(np.abs(difference) / deviation, degrees), 1.0)
    bound = options.margin / POINTS_PER_LOG_ODDS
    equivalence = upper_tail((bound - np.abs(difference)) / deviation, degrees)
    return PairTests(
        first=pairs.first[at],
        second=pairs.second[at],
        difference=difference,
        deviation=deviation,
        degrees=degrees,
        p=p,
        p_adjusted=adjusted(p, "holm"),
        equivalence=equivalence,
        equivalence_adjusted=adjusted(equivalence, "holm"),
        margin=options.margin,
        adjustment="holm",
        level=1 - options.confidence,
    )


def _columns(pairs: Pairs, board: FittedBoard) -> dict[str, list[Any]]:
    """Columns of PairResult (m,); None where there is nothing to say."""
    tests, tested = tests_of(pairs, board), pairs.tested
    finite = np.array([not reason for reason in pairs.reason], dtype=bool)
    reach = critical_values(tests.degrees, board.options.confidence) * tests.deviation
    points = {
        "difference": _spread(pairs.difference[finite], finite),
        "standard_error": _spread(tests.deviation, tested),
        "lower": _spread(tests.difference - reach, tested),
        "upper": _spread(tests.difference + reach, tested),
    }
    shares = {
        "p": tests.p,
        "p_adjusted": tests.p_adjusted,
        "equivalence_p": tests.equivalence,
        "equivalence_adjusted": tests.equivalence_adjusted,
    }
    verdicts = iter(tests.verdicts())
    return {
        **{name: _plain(column * POINTS_PER_LOG_ODDS, DECIMALS) for name, column in points.items()},
        **{name: _plain(_spread(column, tested), DECIMALS_OF_P) for name, column in shares.items()},
        "verdict": [
            reason or (next(verdicts) if sure else Verdict.UNDECIDED.value)
            for reason, sure in zip(pairs.reason, tested.tolist(), strict=True)
        ],
    }


def _spread(values: NDArray[np.float64], at: NDArray[np.bool_]) -> NDArray[np.float64]:
    spread = np.full(len(at), np.nan)
    spread[at] = values
    return spread


def _plain(values: NDArray[np.float64], decimals: int) -> list[float | None]:
    return [None if value != value else round(value, decimals) + 0.0 for value in values.tolist()]


def _details(
    pairs: Pairs, m: int, board: FittedBoard, battles: DirectBattles, categories: Sequence[CategoryBoard]
) -> dict[str, Any]:
    i, j = int(pairs.first[m]), int(pairs.second[m])
    details: dict[str, Any] = {"direct": battles.tests(board.options.confidence)}
    details["categories"] = [
        one | _category_difference(categories, one["category"], i, j) for one in battles.by_category()
    ]
    if not pairs.tested[m]:
        return details | {"effect": None, "needs": [], "worse_p": None, "better_p": None}
    difference, deviation = float(pairs.difference[m]), float(pairs.deviation[m])
    degrees, options = float(pairs.effective[m]) - 1, board.options
    tie_share = battles.ties / max(battles.wins + battles.losses + battles.ties, 1)
    effect = effect_sizes(difference, deviation, degrees, confidence=options.confidence, tie_share=tie_share)
    return details | {
        "effect": {name: [round(v, DECIMALS) for v in three] for name, three in asdict(effect).items()},
        "effective_clusters": None if not np.isfinite(degrees) else round(degrees + 1, DECIMALS),
        # One-sided: "the first (the second) is worse by the margin or more".
        "worse_p": non_inferiority(difference, deviation, degrees, options.margin),
        "better_p": non_inferiority(-difference, deviation, degrees, options.margin),
        "needs": _needs(pairs, m, board),
    }


def _needs(pairs: Pairs, m: int, board: FittedBoard) -> list[dict[str, Any]]:
    """What it takes to find a difference of so many points: of the plan, never of the estimate."""
    options, place = board.options, np.argsort(board.order)
    error = POINTS_PER_LOG_ODDS * float(pairs.deviation[m])
    contrast = contrast_of(board, int(place[pairs.first[m]]), int(place[pairs.second[m]]))
    model = POINTS_PER_LOG_ODDS * float(np.sqrt(contrast @ board.fit.bread @ contrast))
    common: dict[str, Any] = {"confidence": options.confidence, "comparisons": int(pairs.tested.sum())}
    counts = {d.name: d.count for d in board.covariance.dimensions}
    needs = []
    for points in (options.margin * times for times in IN_MARGINS if options.margin):
        clusters = {
            name: _count(
                new_raters_needed(points, standard_error=error, raters=n, cap=MOST_CLUSTERS, **common)
            )
            for name, n in counts.items()
        }
        votes = direct_votes_needed(
            points, model_error=model, design_effect=(error / model) ** 2, cap=MOST_VOTES, **common
        )
        needs.append({"points": points, "new": clusters, "votes": _count(votes)})
    return needs


def _count(need: Need) -> int | str:
    return "not reachable" if need.count is None else need.count


def _category_difference(
    categories: Sequence[CategoryBoard], name: str, i: int, j: int
) -> dict[str, float | None]:
    """First less second in points on the category's own board."""
    board = next((category for category in categories if category.name == name), None)
    if board is None or np.isnan(board.rating[i]) or np.isnan(board.rating[j]):
        return {"difference": None, "lower": None, "upper": None}
    place = np.argsort(board.board.order)
    at, to = np.array([place[i]]), np.array([place[j]])
    difference = float(board.rating[i] - board.rating[j])
    effective = _effective(board.board, at, to, calls=MOST_DETAILED)
    if effective[0] < NO_INTERVAL:
        return {"difference": round(difference, DECIMALS), "lower": None, "upper": None}
    critical = float(critical_values(effective - 1, board.board.options.confidence)[0])
    reach = critical * POINTS_PER_LOG_ODDS * float(board.board.covariance.difference_deviations[at, to][0])
    ends = {"difference": difference, "lower": difference - reach, "upper": difference + reach}
    return {key: round(value, DECIMALS) for key, value in ends.items()}
