"""How few votes the first place of a board hangs on."""

from __future__ import annotations

from typing import Any

from arena.leaderboards.fitting.comparisons import BoardRows
from ratings.board_options import LeaderboardOptions
from ratings.errors import RatingsError
from ratings.influence import flips_first

CHALLENGERS = 2
MOST = 0.02
"""Of the votes: beyond this share a first place hangs on many."""


def first_hangs_on(rows: BoardRows, options: LeaderboardOptions) -> dict[str, Any]:
    """The fewest votes found without which another model is first; empty where it takes more than `MOST`.

    So too where nobody can be first: several groups that no battles connect, or a fit without an end. Under
    style control it isn't looked for: refits cost as much again as the board.
    """
    if options.style:
        return {}
    try:
        flip = flips_first(rows.comparisons, options.policies, challengers=CHALLENGERS, most=MOST)
    except RatingsError:
        return {}
    if flip.count is None or flip.successor is None:
        return {}
    told = {"votes": flip.count, "of": flip.total}
    told |= {"leader": rows.competitors[flip.leader], "successor": rows.competitors[flip.successor]}
    return {"first_hangs_on": told}
