"""How few votes the first place of a board hangs on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from arena.leaderboards.fitting.comparisons import BoardRows
from ratings.board import FittedBoard, fit_board
from ratings.errors import RatingsError
from ratings.influence import Flip, flips_first, leader_of
from ratings.influence_of_rows import flips_first_of

CHALLENGERS = 2
MOST = 0.02
"""Of the votes: beyond this share a first place hangs on many."""


def first_hangs_on(rows: BoardRows, board: FittedBoard, *, is_helped: bool = False) -> dict[str, Any]:
    """The fewest votes found without which another model is first; empty where it takes more than `MOST`.

    Under style control in the model with the features. Empty too where nobody can be first: several groups
    that no battles connect, or a fit without an end. Where nobody looks, it says why: is_helped, a judge's
    verdicts are in the fit, and each vote without which it would be fitted corrects them too.
    """
    if is_helped:
        return {"first_not_searched": "combined"}
    try:
        leader = int(board.order[leader_of(board.fit)])
        flip = _flip(rows, board)
    except RatingsError:
        return {}
    if flip is None:
        return {"first_not_searched": "no_votes_kept"}
    if flip.leader != leader:
        return {"first_not_searched": "other_leader"}
    if flip.count is None or flip.successor is None:
        return {}
    told = {"votes": flip.count, "of": flip.total}
    told |= {"leader": rows.competitors[flip.leader], "successor": rows.competitors[flip.successor]}
    return {"first_hangs_on": told}


def _flip(rows: BoardRows, board: FittedBoard) -> Flip | None:
    """Where the fit keeps no votes, or ties are their own outcome, that of half wins; None: there is none."""
    if board.scores is None and board.options.style and board.options.ties == "davidson":
        board = fit_board(rows.comparisons, replace(board.options, ties="half"))
    if board.scores is not None:
        return flips_first_of(board, challengers=CHALLENGERS, most=MOST)
    if board.options.style:
        return None
    return flips_first(rows.comparisons, board.options.policies, challengers=CHALLENGERS, most=MOST)
