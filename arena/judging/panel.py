"""Several judges' findings on one battle become the panel's. Pure.

Each judge votes with what its two orders came to. The winner needs a strict majority of those with a verdict;
ties of every kind vote together. Without a majority the panel is split; below the quorum it says nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, get_args

from arena.counted import counted
from arena.judging.swap import Outcome

PanelOutcome = Literal["model_a", "model_b", "tie", "tie_split", "no_verdict"]

_TIES = ("tie", "tie_unstable", "tie_verbose")


def default_quorum(judges: int) -> int:
    """More than half of the judges of the battle."""
    return judges // 2 + 1


def decide(outcomes: Sequence[str], quorum: int | None = None) -> PanelOutcome:
    """`outcomes` are those of every judge asked about the battle, failed ones too, excluded ones not.

    Raises ValueError for no judge, for an unknown outcome and for a quorum that can't be.
    """
    if not outcomes:
        raise ValueError("a panel has at least one judge: leave out battles that nobody judged")
    needed = default_quorum(len(outcomes)) if quorum is None else quorum
    if not 1 <= needed <= len(outcomes):
        raise ValueError(
            f"a quorum of {needed} among {counted(len(outcomes), 'judge')}: choose 1 to {len(outcomes)}"
        )
    votes = Counter(_vote(outcome) for outcome in outcomes)
    heard = len(outcomes) - votes.pop("no_verdict", 0)
    if heard < needed:
        return "no_verdict"
    winner, count = votes.most_common(1)[0]
    return winner if 2 * count > heard else "tie_split"


def _vote(outcome: str) -> PanelOutcome:
    if outcome not in get_args(Outcome):
        raise ValueError(f"{outcome!r} is no outcome: one of {', '.join(get_args(Outcome))}")
    if outcome in _TIES:
        return "tie"
    return outcome  # type: ignore[return-value]
