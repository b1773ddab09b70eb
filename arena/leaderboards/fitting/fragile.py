"""How few votes the first place of a board hangs on."""

from __future__ import annotations

from typing import Any

from arena.leaderboards.fitting.comparisons import BoardRows
from ratings.board import FittedBoard
from ratings.errors import RatingsError
from ratings.influence import Flip, flips_first
from ratings.influence_of_rows import flips_first_of

CHALLENGERS = 2
MOST = 0.02
"""Of the votes: beyond this share a first place hangs on many."""


def first_hangs_on(rows: BoardRows, board: FittedBoard) -> dict[str, Any]:
    """The fewest votes found without which another model is first; empty where it takes more than `MOST`.

    Under style control in the model with the features. Empty too where nobody can be first: several groups
    that no battles connect, or a fit without an end.
    """
    try:
        flip = _flip(rows, board)
    except RatingsError:
        return {}
    if flip is None or flip.count is None or flip.successor is None:
        return {}
    told = {"votes": flip.count, "of": flip.total}
    told |= {"leader": rows.competitors[flip.leader], "successor": rows.competitors[flip.successor]}
    return {"first_hangs_on": told}


def _flip(rows: BoardRows, board: FittedBoard) -> Flip | None:
    """Where the fit keeps no votes, or ties are their own outcome, that of half wins; with features none."""
    if board.scores is not None:
        return flips_first_of(board, challengers=CHALLENGERS, most=MOST)
    if board.options.style:
        return None
    return flips_first(rows.comparisons, board.options.policies, challengers=CHALLENGERS, most=MOST)
