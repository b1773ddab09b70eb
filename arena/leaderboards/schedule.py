"""When snapshots are asked for: by a button, by a command, and on a schedule that saves idle campaigns."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import IntegrityError
from django.db.models import Exists, Max, OuterRef, Q, Subquery
from django.utils import timezone

from arena.battles.models import Exclusion, Retraction, Vote
from arena.campaigns.models import Campaign
from arena.corpus.label_models import LabelChange
from arena.corpus.models import HARD_AT_LEAST
from arena.judging.models import Judgment
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.models import Leaderboard, Snapshot
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.run_models import SnapshotRun

CLAIMED_MEANWHILE = 5
"""Times that the run of another who asked at this moment may be claimed before it is read."""


def request_snapshots(campaign: Campaign) -> list[SnapshotRun]:
    """A run for every leaderboard of all votes, to be computed from what is there by now or later.

    Those that still wait are returned, not doubled. A board of a part is asked for by itself.
    """
    ensure_leaderboards(campaign)
    now = timezone.now()
    return [
        request_snapshot(leaderboard, now) for leaderboard in campaign.leaderboards.whole().order_by("pk")
    ]


def request_snapshot(leaderboard: Leaderboard, at: datetime | None = None) -> SnapshotRun:
    asked = {"requested_at": at or timezone.now()}
    silent = leaderboard.runs.silent().first()
    if silent:
        return silent
    queued = SnapshotRun.objects.filter(state=SnapshotRun.State.QUEUED)
    for _time in range(CLAIMED_MEANWHILE):
        try:
            return queued.get_or_create(leaderboard=leaderboard, defaults=asked)[0]
        except IntegrityError:
            continue  # somebody else asked, and a worker claimed theirs before it was read
    return queued.get_or_create(leaderboard=leaderboard, defaults=asked)[0]


def request_due() -> None:
    voted = Exists(Vote.objects.filter(battle__campaign=OuterRef("pk")))
    judged = Exists(Judgment.objects.filter(run__campaign=OuterRef("pk")))
    for campaign in Campaign.objects.filter(voted | judged).order_by("pk"):
        if is_due(campaign):
            request_snapshots(campaign)


def is_due(campaign: Campaign) -> bool:
    """Something new since the last round, or it failed; SNAPSHOT_MINUTES gone or the campaign closed then."""
    runs = SnapshotRun.objects.filter(leaderboard__campaign=campaign, leaderboard__part={})
    last_asked = runs.aggregate(at=Max("requested_at"))["at"]
    if last_asked is None:
        return True
    if runs.open().exists():
        return False
    has_waited = timezone.now() - last_asked >= timedelta(minutes=settings.SNAPSHOT_MINUTES)
    has_closed = campaign.closed_at is not None and campaign.closed_at > last_asked
    has_failed = runs.filter(requested_at=last_asked, state=SnapshotRun.State.FAILED).exists()
    return (has_waited or has_closed) and (has_failed or _anything_new(campaign, last_asked))


def _anything_new(campaign: Campaign, since: datetime) -> bool:
    """What boards are made of: votes and judgments, what takes them out, what prompts are said to be, and how
    to count. Whatever of it leaves every board as it is costs one round, which finds that nothing changed.
    """
    return (
        Vote.objects.filter(battle__campaign=campaign, pk__gt=_last_read(campaign)).exists()
        or Retraction.objects.filter(vote__battle__campaign=campaign, at__gt=since).exists()
        or Exclusion.objects.filter(Q(since__gt=since) | Q(revoked_at__gt=since), campaign=campaign).exists()
        or Judgment.objects.filter(run__campaign=campaign, resolved_at__gt=since).exists()
        or AnalysisPlan.objects.frozen().filter(campaign=campaign, frozen_at__gt=since).exists()
        or _hard_means_another(campaign)
        or LabelChange.objects.filter(prompt__prompt_set__campaigns=campaign, at__gt=since).exists()
    )


def _hard_means_another(campaign: Campaign) -> bool:
    """Does a board that could be fitted last time go by another number of criteria than the campaign now?"""
    run = SnapshotRun.objects.filter(leaderboard=OuterRef("pk")).order_by("-pk")
    snapshot = Snapshot.objects.filter(leaderboard=OuterRef("pk")).order_by("-pk")
    fitted = campaign.leaderboards.whole().annotate(state=Subquery(run.values("state")[:1]))
    fitted = fitted.filter(state__in=(SnapshotRun.State.PUBLISHED, SnapshotRun.State.UNCHANGED))
    newest = fitted.values_list(Subquery(snapshot.values("pk")[:1]), flat=True)
    known = Snapshot.objects.filter(pk__in=list(newest)).values_list("counts__hard_at_least", flat=True)
    return any((HARD_AT_LEAST if least is None else least) != campaign.hard_at_least for least in known)


def _last_read(campaign: Campaign) -> int:
    """The number of the newest vote in any snapshot: imported votes carry old dates, but new numbers."""
    boards = campaign.leaderboards.whole().filter(source=Leaderboard.Source.RATERS)
    newest = [board.snapshots.first() for board in boards]
    return max((snapshot.counts["last_id"] for snapshot in newest if snapshot), default=0)
