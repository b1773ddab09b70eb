"""Snapshots and their standings are added and never changed, as votes are."""

from arena.battles.append_only import APPEND_ONLY
from arena.leaderboards.models import Snapshot, Standing

APPEND_ONLY |= {Snapshot: (), Standing: ()}
