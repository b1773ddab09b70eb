"""What a leaderboard's rows are read from: one source, or people and a judge combined."""

from __future__ import annotations

from dataclasses import dataclass, replace

from arena.leaderboards.fitting import comparisons
from arena.leaderboards.fitting.combined import cutoff_of_judgments, read_combined
from arena.leaderboards.fitting.comparisons import BoardRows, Cutoff, Read, cutoff_now, read_rows
from arena.leaderboards.models import Leaderboard, Snapshot


@dataclass
class Round:
    """Snapshots taken one after the other. Boards of one source share what was read and its cutoff.

    Only the source read last is kept: that of a million votes takes 100 MB.
    """

    source: tuple[object, ...] = ()
    read: Read | None = None

    def rows_of(self, leaderboard: Leaderboard) -> tuple[BoardRows, Cutoff]:
        if leaderboard.source == Leaderboard.Source.COMBINED:
            cutoff = cutoff_of(leaderboard)
            return rows_of(leaderboard, cutoff), cutoff
        source = (
            leaderboard.campaign_id,
            leaderboard.source,
            leaderboard.judge_id,
            leaderboard.policies.get("unstable"),
        )
        if self.read is None or self.source != source:
            self.source, self.read = source, None
            self.read = comparisons.read_source(leaderboard, cutoff_of(leaderboard))
        read = comparisons.narrowed(leaderboard, self.read)
        return comparisons.assemble(leaderboard, read), read.cutoff


def cutoff_of(leaderboard: Leaderboard) -> Cutoff:
    cutoff = cutoff_now(leaderboard)
    if leaderboard.source == Leaderboard.Source.COMBINED:
        return replace(cutoff, last_judgment_id=cutoff_of_judgments())
    return cutoff


def rows_of(leaderboard: Leaderboard, cutoff: Cutoff) -> BoardRows:
    if leaderboard.source == Leaderboard.Source.COMBINED:
        return read_combined(leaderboard, cutoff)
    return read_rows(leaderboard, cutoff)


def cutoff_in(snapshot: Snapshot) -> Cutoff:
    counts = snapshot.counts
    least = counts.get("hard_at_least", Cutoff.hard_at_least)
    return Cutoff(snapshot.cutoff, counts["last_id"], counts.get("last_judgment_id", 0), least)
