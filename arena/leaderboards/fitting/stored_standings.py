"""What a snapshot keeps of each model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from arena.leaderboards.fitting.comparisons import BoardRows
from arena.leaderboards.fitting.usable import both_bad_of, usable_of
from arena.leaderboards.fitting.whole_board import MOVE_FIELDS, Moves
from ratings.standings import LeaderboardFit
from ratings.standings import Standing as FittedStanding

FLAGS = (
    "provisional",
    "unbounded_above",
    "unbounded_below",
    "too_few_raters",
    "too_few_prompts",
    "no_interval",
)


def stored_standings(fitted: LeaderboardFit, rows: BoardRows, moves: Moves) -> Iterator[dict[str, Any]]:
    """Keyword arguments of a snapshot's standings."""
    both_bad, usable = both_bad_of(rows), usable_of(rows)
    for standing in fitted.standings:
        absolute = {
            "both_bad": int(both_bad[standing.competitor]),
            "usable": usable[standing.competitor],
        }
        move = moves.of(rows.competitors[standing.competitor])
        yield _standing(standing, rows.competitors) | absolute | move


def _standing(fitted: FittedStanding, competitors: Sequence[int]) -> dict[str, Any]:
    flags = [flag for flag in FLAGS if getattr(fitted, flag)]
    if not fitted.ranked:
        flags.append("unranked")
    copied = {name: getattr(fitted, name) for name in COPIED_FIELDS}
    return copied | {
        "competitor_id": competitors[fitted.competitor],
        "flags": flags,
        # The fit says plain less controlled; a reader asks how far style control moves a model.
        "shift": _negative(fitted.style_shift),
        "shift_lower": _negative(fitted.style_shift_upper),
        "shift_upper": _negative(fitted.style_shift_lower),
    }


def clear_shifts(fitted: LeaderboardFit, rows: BoardRows) -> dict[str, Any]:
    """Whom style control moves clearly with all models looked at together; nothing on other boards."""
    told = [s for s in fitted.standings if s.style_shift_adjusted is not None]
    level = 1 - fitted.options.confidence
    clear = [rows.competitors[s.competitor] for s in told if (s.style_shift_adjusted or 0.0) < level]
    return {"clear_shifts": {"of": len(told), "competitors": sorted(clear)}} if told else {}


def _negative(points: float | None) -> float | None:
    return None if points is None else 0.0 - points


COPIED_FIELDS = (
    "rating",
    "lower",
    "upper",
    "bootstrap_lower",
    "bootstrap_upper",
    "standard_error",
    "rank_lower",
    "rank_upper",
    "tied_first",
    "component",
    "battles",
    "wins",
    "losses",
    "ties",
)
OWN_FIELDS = ("competitor_id", "flags", "shift", "shift_lower", "shift_upper", "both_bad", "usable")
STANDING_FIELDS = (*COPIED_FIELDS, *OWN_FIELDS, *MOVE_FIELDS)
