"""What a leaderboard's rows are read from: one source, or people and a judge combined."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from arena.leaderboards.fitting import comparisons
from arena.leaderboards.fitting.combined import read_combined
from arena.leaderboards.fitting.comparisons import BoardRows, Cutoff, Read, cutoff_now, read_rows
from arena.leaderboards.fitting.lookups import numbered
from arena.leaderboards.fitting.prompt_texts import prompt_clusters
from arena.leaderboards.fitting.whole_board import WholeBoard
from arena.leaderboards.models import Leaderboard, Snapshot
from arena.settled import UnsettledError


@dataclass
class Round:
    """Snapshots taken one after the other. Boards of one source share what was read and its cutoff.

    Only the source read last is kept: that of a million votes takes 100 MB. Where one had to wait for
    another session in vain, those after it don't wait again.
    """

    source: tuple[object, ...] = ()
    read: Read | None = None
    unsettled: UnsettledError | None = None

    def rows_of(self, leaderboard: Leaderboard) -> tuple[BoardRows, Cutoff]:
        if leaderboard.source == Leaderboard.Source.COMBINED:
            cutoff = self._cutoff_of(leaderboard)
            return rows_of(leaderboard, cutoff), cutoff
        source = (
            leaderboard.campaign_id,
            leaderboard.source,
            leaderboard.judge_id,
            leaderboard.policies.get("unstable"),
        )
        if self.read is None or self.source != source:
            self.source, self.read = source, None
            self.read = comparisons.read_source(leaderboard, self._cutoff_of(leaderboard))
        return _with_whole(leaderboard, self.read), self.read.cutoff

    def _cutoff_of(self, leaderboard: Leaderboard) -> Cutoff:
        if self.unsettled:
            raise self.unsettled
        try:
            return cutoff_now(leaderboard)
        except UnsettledError as error:
            self.unsettled = error
            raise


def rows_of(leaderboard: Leaderboard, cutoff: Cutoff) -> BoardRows:
    if leaderboard.source == Leaderboard.Source.COMBINED:
        return read_combined(leaderboard, cutoff)
    return read_rows(leaderboard, cutoff)


def rows_to_fit(leaderboard: Leaderboard, cutoff: Cutoff) -> BoardRows:
    """The same, with what moves from the board of all prompts rest on."""
    if leaderboard.source == Leaderboard.Source.COMBINED:
        return read_combined(leaderboard, cutoff)
    return _with_whole(leaderboard, comparisons.read_source(leaderboard, cutoff))


def _with_whole(leaderboard: Leaderboard, read: Read) -> BoardRows:
    mine = comparisons.narrowed(leaderboard, read)
    hard = leaderboard.subset == Leaderboard.Subset.HARD and not leaderboard.style_control
    if not hard or not len(mine.columns["pk"]):
        return comparisons.assemble(leaderboard, mine)
    every = comparisons.narrowed(_of_all_prompts(leaderboard), read).columns
    prompt = prompt_clusters(every["prompt"])
    whole, competitors = comparisons.compared(leaderboard, every, prompt)
    counted = np.isin(every["pk"], mine.columns["pk"], assume_unique=True)
    own = None if prompt is None else numbered(prompt[counted])
    return replace(
        comparisons.assemble(leaderboard, mine, own), whole=WholeBoard(whole, competitors, counted)
    )


def _of_all_prompts(leaderboard: Leaderboard) -> Leaderboard:
    """The board that a board of hard prompts is compared with; not stored."""
    return Leaderboard(
        campaign_id=leaderboard.campaign_id,
        slug=leaderboard.slug,
        source=leaderboard.source,
        judge_id=leaderboard.judge_id,
        policies=leaderboard.policies,
        part=leaderboard.part,
    )


def cutoff_in(snapshot: Snapshot) -> Cutoff:
    counts = snapshot.counts
    least = counts.get("hard_at_least", Cutoff.hard_at_least)
    return Cutoff(snapshot.cutoff, counts["last_id"], counts.get("last_judgment_id", 0), least)
