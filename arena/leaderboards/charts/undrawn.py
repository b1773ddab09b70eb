"""Which snapshots want charts: asked every minute, so it loads nothing of what drawing takes."""

from collections.abc import Iterator

from arena.leaderboards.models import Leaderboard, Snapshot


def undrawn() -> Iterator[Snapshot]:
    """Every leaderboard's newest snapshot, if it has something to show, and no charts yet or with names that
    are others by now.
    """
    for leaderboard in Leaderboard.objects.order_by("pk"):
        snapshot = leaderboard.snapshots.first()
        if snapshot is not None and snapshot.pairs.exists() and not is_drawn(snapshot):
            yield snapshot


def is_drawn(snapshot: Snapshot) -> bool:
    """Older charts don't say whose names they show."""
    if not snapshot.charts.exists():
        return False
    drawn = snapshot.charts.filter(failure="").values_list("spec__usermeta__models", flat=True).first()
    return drawn is None or drawn == names_of(snapshot)


def names_of(snapshot: Snapshot) -> list[str]:
    return list(snapshot.standings.order_by("competitor").values_list("competitor__name", flat=True))
