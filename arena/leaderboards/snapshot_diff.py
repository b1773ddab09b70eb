"""What moved between two snapshots of one leaderboard.

Each board has the mean 1000 over its own well-measured models. Changes are told with the mean change of the
models that are on both taken off, so that a newcomer doesn't seem to move everybody else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from arena.leaderboards.models import Snapshot, Standing
from arena.leaderboards.snapshot_counts import design_effect_of

COLUMNS = {
    "model": "text",
    "change": "number",
    "rank_lower_before": "count",
    "rank_upper_before": "count",
    "rank_lower_after": "count",
    "rank_upper_after": "count",
    "rating_before": "number",
    "rating_after": "number",
    "outside_older_interval": "flag",
    "other_rank_set": "flag",
}
"""Of the table's file: name to kind; a line's `values` stand in their order."""


@dataclass(frozen=True)
class Moved:
    """One model; None where it isn't on that snapshot, or has no rating there."""

    name: str
    before: Standing | None
    after: Standing | None
    change: float | None

    @property
    def overlaps(self) -> bool:
        """The newer rating lies within the older interval."""
        before, after = self.before, self.after
        if before is None or after is None or before.lower is None or before.upper is None:
            return True
        if before.rating is None or self.change is None:
            return True
        return before.lower <= before.rating + self.change <= before.upper

    @property
    def ranks_differ(self) -> bool:
        return (
            self.before is not None and self.after is not None and rank_of(self.before) != rank_of(self.after)
        )

    @property
    def values(self) -> tuple[Any, ...]:
        both = (self.before, self.after)
        ranks = (end for one in both for end in (rank_of(one) if one else (None, None)))
        ratings = (one.rating if one else None for one in both)
        return (self.name, self.change, *ranks, *ratings, not self.overlaps, self.ranks_differ)


@dataclass(frozen=True)
class Diff:
    before: Snapshot
    after: Snapshot
    moved: list[Moved]
    shift: float
    counts: dict[str, tuple[Any, Any]]
    options: dict[str, tuple[Any, Any]]

    @property
    def same_code(self) -> bool:
        return self.before.code_version == self.after.code_version

    @property
    def same_votes(self) -> bool:
        return self.before.vote_digest == self.after.vote_digest


COUNTED = ("votes", "raters", "prompts", "competitors", "design_effect", "effective_clusters")


def rank_of(standing: Standing) -> tuple[int | None, int | None]:
    return standing.rank_lower, standing.rank_upper


def diff_of(before: Snapshot, after: Snapshot) -> Diff:
    old, new = _standings(before), _standings(after)
    common = [
        new[key].rating - old[key].rating  # type: ignore[operator]
        for key in old.keys() & new.keys()
        if old[key].rating is not None and new[key].rating is not None
    ]
    shift = sum(common) / len(common) if common else 0.0
    return Diff(
        before=before,
        after=after,
        moved=list(_moved(old, new, shift)),
        shift=shift,
        counts=dict(_differing(_counts(before), _counts(after), COUNTED)),
        options=dict(_differing(before.options, after.options, sorted(before.options | after.options))),
    )


def _counts(snapshot: Snapshot) -> dict[str, Any]:
    return snapshot.counts | {"design_effect": design_effect_of(snapshot)}


def _standings(snapshot: Snapshot) -> dict[int, Standing]:
    return {s.competitor_id: s for s in snapshot.standings.as_listed()}


def _moved(old: dict[int, Standing], new: dict[int, Standing], shift: float) -> Iterator[Moved]:
    """In the order of the newer board, those who have left it last."""
    for key, named in (new | {key: old[key] for key in old if key not in new}).items():
        before, after = old.get(key), new.get(key)
        change = None
        if before and after and before.rating is not None and after.rating is not None:
            change = after.rating - before.rating - shift
        yield Moved(named.competitor.name, before, after, change)


def _differing(
    before: Mapping[str, Any], after: Mapping[str, Any], names: tuple[str, ...] | list[str]
) -> Iterator[tuple[str, tuple[Any, Any]]]:
    for name in names:
        if before.get(name) != after.get(name):
            yield name, (before.get(name), after.get(name))
