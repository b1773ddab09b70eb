"""Replays a snapshot's votes as online Elo, in the worker, when charts are drawn."""

from __future__ import annotations

import numpy as np
from django.db.models import Count, Q

from arena.battles.models import Battle, Vote
from arena.leaderboards.fitting.comparisons import BoardRows
from arena.leaderboards.fitting.elo_track import MOST_VOTES, PERMUTATIONS, POINTS, EloTrack, K
from arena.leaderboards.fitting.sources import cutoff_in, rows_of
from arena.leaderboards.models import Leaderboard, Snapshot
from ratings.elo import elo_path, online_elo
from ratings.errors import NoVotesError


def track_of(snapshot: Snapshot) -> EloTrack | None:
    """None for boards that aren't plain votes by people, and where no vote counts."""
    leaderboard = snapshot.leaderboard
    if leaderboard.style_control or leaderboard.source != Leaderboard.Source.RATERS:
        return None
    rows = rows_of(leaderboard, cutoff_in(snapshot))
    return replayed(rows, one_moment_of(leaderboard), recorded_of(leaderboard))


def one_moment_of(leaderboard: Leaderboard) -> float:
    """Votes of a file without times all bear that of its import: their order is the file's."""
    votes = Vote.objects.filter(battle__campaign=leaderboard.campaign_id).order_by()
    most = votes.values("voted_at").annotate(n=Count("pk")).order_by("-n").first()
    return most["n"] / votes.count() if most else 0.0


def recorded_of(leaderboard: Leaderboard) -> float:
    """Battles of a file are numbered by its lines, whatever times it gives."""
    votes = Vote.objects.filter(battle__campaign=leaderboard.campaign_id)
    recorded = Count("pk", filter=Q(battle__kind=Battle.Kind.RECORDED))
    found = votes.aggregate(every=Count("pk"), recorded=recorded)
    return found["recorded"] / found["every"] if found["every"] else 0.0


def replayed(rows: BoardRows, one_moment: float, recorded: float) -> EloTrack | None:
    votes = len(rows.comparisons)
    comparisons = rows.comparisons.select(np.arange(max(votes - MOST_VOTES, 0), votes))
    try:
        elo = online_elo(comparisons, k=K, permutations=PERMUTATIONS)
    except NoVotesError:
        return None
    moments = np.unique(np.linspace(1, len(comparisons), POINTS).astype(int))
    path = elo_path(comparisons, moments, k=K)
    return EloTrack(rows.competitors, elo, moments.tolist(), path.tolist(), one_moment, recorded)
