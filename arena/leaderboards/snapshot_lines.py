"""A board's snapshots as a list of them has them: on its page and as a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from arena.leaderboards.models import Leaderboard, Snapshot
from arena.leaderboards.plans.looks import Look, looks_of, say_short

COLUMNS = {
    "snapshot": "count",
    "cutoff": "text",
    "votes": "count",
    "raters": "count",
    "simulated_votes": "count",
    "registered": "flag",
    "look": "text",
    "votes_cast": "count",
    "vote_digest": "text",
}


@dataclass(frozen=True)
class Line:
    """`look`: of a registered one."""

    snapshot: Snapshot
    look: Look | None

    @property
    def look_in_words(self) -> str:
        return say_short(self.look) if self.look else ""

    @property
    def values(self) -> tuple[Any, ...]:
        snapshot, look = self.snapshot, self.look
        counts = (snapshot.counts[name] for name in ("votes", "raters", "simulated"))
        looked = (look.kind, look.got) if look else (None, None)
        registered = snapshot.registered_plan is not None
        return (snapshot.pk, snapshot.cutoff.isoformat(), *counts, registered, *looked, snapshot.vote_digest)


def newest_first(leaderboard: Leaderboard) -> QuerySet[Snapshot]:
    """With what their lines say; how they were fitted stays where it is."""
    found = leaderboard.snapshots.select_related("plan__campaign").order_by("-pk")
    return found.defer("options", "coefficients", "warnings")


def lines_of(snapshots: Iterable[Snapshot]) -> list[Line]:
    shown = list(snapshots)
    looks = looks_of(shown)
    return [Line(snapshot, looks.get(snapshot.pk)) for snapshot in shown]
