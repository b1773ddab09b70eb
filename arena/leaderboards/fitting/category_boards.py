"""The same board once for each category of prompts. Fits: the worker's alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from arena.leaderboards.defaults import MOST_CATEGORIES
from arena.leaderboards.fitting.comparisons import BoardRows
from arena.leaderboards.models import CategoryRating
from ratings.board import FittedBoard, fit_board
from ratings.board_intervals import interval_ends
from ratings.board_options import LeaderboardOptions
from ratings.errors import RatingsError
from ratings.scale import POINTS_PER_LOG_ODDS

Unbounded = CategoryRating.Unbounded
# Fewer votes than this say too little for a rating of their own; the board's own rule for one model.
FEWEST_VOTES = 30


@dataclass(frozen=True, eq=False)
class CategoryBoard:
    """One category's ratings, by competitor number (K,); NaN where there is none.

    unbounded: of those that battles connect with the others, but not by both wins and losses, what it is that
    leaves them without a rating; None for all else.
    """

    name: str
    board: FittedBoard
    rating: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    battles: NDArray[np.int64]
    unbounded: list[Unbounded | None]


def category_boards(rows: BoardRows, options: LeaderboardOptions) -> Iterator[CategoryBoard]:
    """The largest categories first; none of prompts without a category, and of categories with few votes."""
    options = replace(options, bootstrap=0, check=False)
    votes = np.bincount(rows.category[rows.category >= 0], minlength=len(rows.categories))
    largest = np.argsort(-votes, kind="stable")[:MOST_CATEGORIES]
    for number in largest.tolist():
        if rows.categories[number] and votes[number] >= FEWEST_VOTES:
            try:
                yield _fit(rows, number, options)
            except RatingsError:
                # Nothing can be said here: no vote that counts, or no covariate that varies.
                continue


def _fit(rows: BoardRows, number: int, options: LeaderboardOptions) -> CategoryBoard:
    mine = rows.comparisons.select(rows.category == number)
    board = fit_board(mine, options)
    ends, k = interval_ends(board), len(board.order)
    graph = board.fit.graph
    connected = graph.fought & (graph.component == _main(board))
    unbounded = _unbounded(board, connected)
    shown = connected & np.array([kind is None for kind in unbounded])
    rating, lower, upper = (
        _by_number(board, options.anchor_rating + POINTS_PER_LOG_ODDS * values[:k], shown)
        for values in (board.fit.params, ends.lower, ends.upper)
    )
    battles = np.empty(k, dtype=np.int64)
    battles[board.order] = _sums(board, *[board.cells.counts.sum(1)] * 2)
    by_number = [unbounded[place] for place in np.argsort(board.order).tolist()]
    return CategoryBoard(rows.categories[number], board, rating, lower, upper, battles, by_number)


def _unbounded(board: FittedBoard, connected: NDArray[np.bool_]) -> list[Unbounded | None]:
    """By place on the board, not by number; who won or lost all even where all else is measured by it."""
    graph, counts = board.fit.graph, board.cells.counts
    best, worst, every = counts[:, -1], counts[:, 0], counts.sum(1)
    won, lost, met = _sums(board, best, worst), _sums(board, worst, best), _sums(board, every, every)
    no_rating = graph.unbounded_above | graph.unbounded_below
    kinds = {
        Unbounded.WON_ALL: won == met,
        Unbounded.LOST_ALL: lost == met,
        Unbounded.BOTH: graph.unbounded_above & graph.unbounded_below,
        Unbounded.ABOVE: graph.unbounded_above,
        Unbounded.BELOW: no_rating,
    }
    return [
        next((kind for kind, is_so in kinds.items() if connected[place] and is_so[place]), None)
        for place in range(len(connected))
    ]


def _sums(board: FittedBoard, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """A number of each pair summed over a competitor's pairs (K,): `low` where it is the lower of the two."""
    k = len(board.order)
    sums = np.bincount(board.cells.low, low, k) + np.bincount(board.cells.high, high, k)
    return sums.astype(np.float64)


def _main(board: FittedBoard) -> int:
    """The component with the most competitors that fought: ratings of two components share no scale."""
    component = board.fit.graph.component[board.fit.graph.fought]
    return int(np.bincount(component).argmax())


def _by_number(
    board: FittedBoard, values: NDArray[np.float64], shown: NDArray[np.bool_]
) -> NDArray[np.float64]:
    by_number = np.full(len(values), np.nan)
    by_number[board.order[shown]] = values[shown]
    return by_number
