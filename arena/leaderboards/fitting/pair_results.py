"""All pairs of a fitted board: different, equivalent or undecided, with what their direct battles say.

Computed with the snapshot, by the worker: a page only reads what is stored here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.leaderboards.fitting.board_pairs import DECIMALS, Pairs, asked_about, pairs_of
from arena.leaderboards.fitting.category_boards import CategoryBoard
from arena.leaderboards.fitting.comparisons import BoardRows
from arena.leaderboards.fitting.direct_battles import counted_battles
from arena.leaderboards.fitting.pair_details import details_of
from arena.leaderboards.models import PairResult
from ratings.board import FittedBoard
from ratings.pairwise import PairTests, adjusted, upper_tail
from ratings.scale import POINTS_PER_LOG_ODDS
from ratings.uncertainty import critical_values

Verdict = PairResult.Verdict

DECIMALS_OF_P = 12


def pair_results(
    board: FittedBoard, rows: BoardRows, categories: Sequence[CategoryBoard]
) -> list[dict[str, Any]]:
    """Keyword arguments of PairResult, one for each pair of the board."""
    pairs = pairs_of(board)
    counted = counted_battles(rows, board.options)
    counts = counted.counts(pairs.first, pairs.second)
    most = asked_about(pairs, board, counts.sum(axis=1))
    wins, losses, ties = counts.T.tolist()
    ids = np.array(rows.competitors)
    columns = _columns(pairs, board) | {
        "first_id": ids[pairs.first].tolist(),
        "second_id": ids[pairs.second].tolist(),
        "wins": wins,
        "losses": losses,
        "ties": ties,
    }
    results = [
        dict(zip(columns, values, strict=True), details=None)
        for values in zip(*columns.values(), strict=True)
    ]
    details = details_of(pairs, most, board, counted, categories)
    for place, one in zip(most.tolist(), details, strict=True):
        results[place]["details"] = one
    return results


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
    return [None if value != value else value for value in (values.round(decimals) + 0.0).tolist()]
