"""The board of all prompts under a board of hard ones: how far ratings move between the two, and how surely.

Both rest on the hard prompts' votes, so that their intervals don't tell: `ratings.rating_moves` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.leaderboards.fitting.row_digest import digest
from ratings.board_options import LeaderboardOptions
from ratings.comparisons import Comparisons
from ratings.errors import NotConvergedError
from ratings.rating_moves import fit_moves

MOVE_FIELDS = ("move", "move_lower", "move_upper")


@dataclass(frozen=True, eq=False)
class WholeBoard:
    """Rows (n,) of all prompts up to the same cutoff; hard (n,): those of the board itself."""

    comparisons: Comparisons
    competitors: tuple[int, ...]
    hard: NDArray[np.bool_]

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What moves rest on beside the board's own rows: part of what makes a snapshot the same."""
        return {"votes": len(self.comparisons), "digest": digest(self.comparisons)}


@dataclass(frozen=True)
class Moves:
    """by_competitor: ends of each one's move in points, None where there is none; facts: of all."""

    by_competitor: dict[int, tuple[float | None, ...]]
    facts: dict[str, Any]

    def of(self, competitor: int) -> dict[str, float | None]:
        return dict(zip(MOVE_FIELDS, self.by_competitor.get(competitor, (None,) * 3), strict=True))


NO_MOVES = Moves({}, {})


def moves_of(whole: WholeBoard | None, options: LeaderboardOptions) -> Moves:
    """None on other boards than those of hard prompts, and under Davidson's ties, which have none."""
    if whole is None or options.ties == "davidson":
        return NO_MOVES
    try:
        found = fit_moves(whole.comparisons, np.ones(len(whole.hard), dtype=bool), whole.hard, options)
    except NotConvergedError:
        # There is no board of all prompts then that a rating could move from.
        return NO_MOVES
    ends = zip(found.move.tolist(), found.lower.tolist(), found.upper.tolist(), strict=True)
    by_competitor = {pk: _known(each) for pk, each in zip(whole.competitors, ends, strict=True)}
    return Moves(by_competitor, {"mean_of": int(found.members.sum()), "offset": found.offset})


def _known(ends: Sequence[float]) -> tuple[float | None, ...]:
    return tuple(None if end != end else end for end in ends)
