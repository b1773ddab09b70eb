"""What to be careful about in one snapshot: the same on its page and in the API, where each has its code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arena.leaderboards.boards.board_cautions import Care, Caution, care_of
from arena.leaderboards.boards.board_facts import say_simulated
from arena.leaderboards.boards.board_rows import Column
from arena.leaderboards.boards.board_sources import source_of
from arena.leaderboards.defaults import BOARDS, Board
from arena.leaderboards.models import Snapshot, Standing
from arena.leaderboards.plans.registration import Plans, board_name
from arena.leaderboards.plans.registration_words import say_registered


@dataclass(frozen=True)
class SnapshotCautions:
    """simulated: "" without such votes · registered: clauses, whether it is and what was amended."""

    simulated: str
    registered: list[str]
    is_registered: bool
    care: Care

    @property
    def every(self) -> list[Caution]:
        """All of them as sentences, the gravest first."""
        status, *amended = self.registered
        told = [Caution("simulated", self.simulated)] if self.simulated else []
        told.append(Caution("registered" if self.is_registered else "exploratory", _sentence(status)))
        told += [Caution("amended", _sentence(clause)) for clause in amended]
        return [*told, *self.care.every]


def cautions_in(
    snapshot: Snapshot, standings: Sequence[Standing], plans: Plans | None = None
) -> SnapshotCautions:
    """`standings`: the snapshot's, with their competitors; `plans`: its board's, where they are known."""
    return SnapshotCautions(
        simulated=say_simulated([snapshot]),
        registered=say_registered([snapshot], plans),
        is_registered=snapshot.registered_plan is not None,
        care=care_of([_column_of(snapshot, standings)], source_of(snapshot.leaderboard)),
    )


def _column_of(snapshot: Snapshot, standings: Sequence[Standing]) -> Column:
    """A board of a part, or with policies of its own, goes by its name."""
    leaderboard = snapshot.leaderboard
    known = board_name(leaderboard)
    board = next(
        (board for board in BOARDS if board.name == known),
        Board(known, leaderboard.name, leaderboard.subset, leaderboard.style_control),
    )
    return Column(board, leaderboard, snapshot, None, {one.competitor_id: one for one in standings})


def _sentence(clause: str) -> str:
    return f"{clause[0].upper()}{clause[1:]}."
