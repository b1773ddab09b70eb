"""The same board once for each category of prompts. Fits: the worker's alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from arena.leaderboards.comparisons import BoardRows
from arena.leaderboards.defaults import MOST_CATEGORIES
from ratings.board import FittedBoard, fit_board
from ratings.board_intervals import interval_ends
from ratings.board_options import LeaderboardOptions
from ratings.errors import RatingsError
from ratings.scale import POINTS_PER_LOG_ODDS

# Fewer votes than this say too little for a rating of their own; the board's own rule for one model.
FEWEST_VOTES = 30


@dataclass(frozen=True, eq=False)
class CategoryBoard:
    """One category's ratings, by competitor number (K,); NaN where there is none.

    comparable: of those that battles connect with both wins and losses; the others have no rating here.
    """

    name: str
    board: FittedBoard
    rating: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    battles: NDArray[np.int64]


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
    shown = graph.fought & ~graph.unbounded_above & ~graph.unbounded_below & (graph.component == _main(board))
    battles = np.bincount(np.r_[board.cells.low, board.cells.high], np.tile(board.cells.counts.sum(1), 2), k)
    rating, lower, upper = (
        _by_number(board, options.anchor_rating + POINTS_PER_LOG_ODDS * values[:k], shown)
        for values in (board.fit.params, ends.lower, ends.upper)
    )
    by_number = np.empty(k, dtype=np.int64)
    by_number[board.order] = battles
    return CategoryBoard(rows.categories[number], board, rating, lower, upper, by_number)


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
