"""What a snapshot counted, as it is told outside: a check that never was counts nothing, not none."""

from __future__ import annotations

from typing import Any

from arena.judging import stability
from arena.judging.models import Judgment
from arena.leaderboards.models import Leaderboard, Snapshot


def counts_of(snapshot: Snapshot) -> dict[str, Any]:
    """`unstable` is None where a judge's findings don't say whether both orders were asked."""
    board = snapshot.leaderboard
    if board.source != Leaderboard.Source.JUDGE or snapshot.counts.get("unstable"):
        return snapshot.counts
    judged = Judgment.objects.filter(run__campaign=board.campaign_id, judge=board.judge_id)
    is_known = stability.is_known(judged.filter(resolved_at__lte=snapshot.cutoff))
    return snapshot.counts if is_known else snapshot.counts | {"unstable": None}
