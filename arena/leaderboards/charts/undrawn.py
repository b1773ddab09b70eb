"""Which snapshots want charts: asked every minute, so it loads nothing of what drawing takes."""

from collections.abc import Iterator

from arena.leaderboards.models import Leaderboard, Snapshot


def undrawn() -> Iterator[Snapshot]:
    """Every leaderboard's newest snapshot, if it has no charts yet and something to show."""
    for leaderboard in Leaderboard.objects.order_by("pk"):
        snapshot = leaderboard.snapshots.first()
        if snapshot is not None and snapshot.pairs.exists() and not snapshot.charts.exists():
            yield snapshot
