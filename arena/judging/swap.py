"""Two verdicts in positions become one judgment in sides. Pure.

The winner is kept as a side of the battle, never as the position a judge saw. Two orders that disagree are
`tie_unstable`; an order that failed makes `no_verdict`, because half a swap is not debiased.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast, get_args

Order = Literal["ab", "ba"]
Position = Literal["first", "second", "tie"]
Side = Literal["model_a", "model_b", "tie"]
Outcome = Literal["model_a", "model_b", "tie", "tie_unstable", "tie_verbose", "no_verdict"]
Flip = Literal["hard", "soft", "none"]

ORDERS: tuple[Order, Order] = get_args(Order)
VERBOSITY_FACTOR = 1.5

_SIDES: dict[tuple[Order, Position], Side] = {
    ("ab", "first"): "model_a",
    ("ab", "second"): "model_b",
    ("ab", "tie"): "tie",
    ("ba", "first"): "model_b",
    ("ba", "second"): "model_a",
    ("ba", "tie"): "tie",
}


@dataclass(frozen=True)
class Resolution:
    """`base_outcome` differs from `outcome` only where the verbosity rule turned a win into `tie_verbose`.

    `leaning`: of a soft flip, the side that won in one order and tied in the other; else empty.
    """

    outcome: Outcome
    base_outcome: Outcome
    flip: Flip
    leaning: Literal["model_a", "model_b", ""] = ""


def to_side(position: str, order: str) -> Side:
    """The side of the battle that a position means in this order."""
    try:
        return _SIDES[cast(Order, order), cast(Position, position)]
    except KeyError:
        raise ValueError(
            f"position {position!r} in order {order!r} is no verdict: "
            "a position is first, second or tie; an order is ab or ba"
        ) from None


def resolve(ab: str | None, ba: str | None) -> Resolution:
    """`ab` and `ba` are the winners' positions in each order; None stands for an order that failed."""
    side_ab = None if ab is None else to_side(ab, "ab")
    side_ba = None if ba is None else to_side(ba, "ba")
    if side_ab is None or side_ba is None:
        return Resolution("no_verdict", "no_verdict", "none")
    if side_ab == side_ba:
        return Resolution(side_ab, side_ab, "none")
    if "tie" not in (side_ab, side_ba):
        return Resolution("tie_unstable", "tie_unstable", "hard")
    leaning: Side = side_ba if side_ab == "tie" else side_ab
    assert leaning != "tie"  # noqa: S101
    return Resolution("tie_unstable", "tie_unstable", "soft", leaning)


def apply_verbosity_rule(
    resolution: Resolution, characters_a: int, characters_b: int, factor: float = VERBOSITY_FACTOR
) -> Resolution:
    """A winner more than `factor` times as long as the loser becomes `tie_verbose`; its base outcome is kept.

    A win over an empty response stands: no length at all could have been concise enough beside it.
    """
    if characters_a < 0 or characters_b < 0 or factor < 1:
        raise ValueError(
            f"lengths are counts and the factor is at least 1: {characters_a}, {characters_b}, {factor}"
        )
    if resolution.outcome == "model_a":
        winner, loser = characters_a, characters_b
    elif resolution.outcome == "model_b":
        winner, loser = characters_b, characters_a
    else:
        return resolution
    if loser == 0 or winner <= factor * loser:
        return resolution
    return Resolution("tie_verbose", resolution.outcome, resolution.flip)
