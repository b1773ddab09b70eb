"""What a snapshot counted, as it is told outside: a check that never was counts nothing, not none."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from arena.judging import stability
from arena.judging.models import Judgment
from arena.leaderboards.models import Leaderboard, Snapshot
from ratings.warnings_in_words import NO_INTERVAL, PROVISIONAL


def counts_of(snapshot: Snapshot) -> dict[str, Any]:
    """`unstable` is None where a judge's findings don't say whether both orders were asked.

    `design_effect` is None where no model has an interval to tell it by; the reason stands beside it.
    """
    board, effect = snapshot.leaderboard, design_effect_of(snapshot)
    counts = snapshot.counts | {"design_effect": effect}
    if effect is None:
        counts |= {"design_effect_unknown": say_no_spread()}
    if board.source != Leaderboard.Source.JUDGE or counts.get("unstable"):
        return counts
    return counts if knows_both_orders(snapshot) else counts | {"unstable": None}


def knows_both_orders(snapshot: Snapshot) -> bool:
    """Of a board of judges: is it known that they were asked in both orders? A file may not say it."""
    if snapshot.counts.get("unstable"):
        return True
    board = snapshot.leaderboard
    judged = Judgment.objects.filter(run__campaign=board.campaign_id, resolved_at__lte=snapshot.cutoff)
    if board.source == Leaderboard.Source.JUDGE:
        judged = judged.filter(judge=board.judge_id)
    return stability.is_known(judged)


def design_effect_of(snapshot: Snapshot) -> float | None:
    """None: it can’t be told, and the figure that the fit kept says nothing."""
    return snapshot.counts["design_effect"] if _has_spread(snapshot) else None


def _has_spread(snapshot: Snapshot) -> bool:
    """Has a model an interval of two ends, to tell a design effect by? A fit warns of those without."""
    if not any(phrase in warning for warning in snapshot.warnings for phrase in (NO_INTERVAL, PROVISIONAL)):
        return True
    if "standings" in getattr(snapshot, "_prefetched_objects_cache", {}):
        return any(None not in (one.lower, one.upper) for one in snapshot.standings.all())
    return snapshot.standings.filter(lower__isnull=False, upper__isnull=False).exists()


def say_no_spread() -> str:
    return _("no model has an interval of two ends")
