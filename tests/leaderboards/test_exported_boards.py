"""Snapshots of an export: their cautions are those of their pages, asked for all together."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from arena.campaigns.models import Campaign, Reopening
from arena.exchange import export_boards
from arena.exchange.export_extract import Extract
from arena.leaderboards.boards.snapshot_cautions import cautions_in
from arena.leaderboards.models import Snapshot, Standing


def copy_snapshots(times: int, **changes) -> None:
    """Later ones with more prompts each time, so that what changed since the final look differs."""
    for snapshot in list(Snapshot.objects.order_by("pk")):
        standings = list(snapshot.standings.all())
        for number in range(times):
            snapshot.pk, snapshot._state.adding = None, True
            snapshot.counts = snapshot.counts | {"prompts": snapshot.counts["prompts"] + number}
            for name, value in changes.items():
                setattr(snapshot, name, value)
            snapshot.save()
            for standing in standings:
                standing.pk, standing.snapshot = None, snapshot
            Standing.objects.bulk_create(standings)


def told(campaign: Campaign) -> tuple[list[dict], int]:
    with CaptureQueriesContext(connection) as asked:
        rows = list(export_boards.snapshots(Extract(campaign)))
    return rows, len(asked)


@pytest.fixture(params=["open", "closed", "opened again", "explores since", "from a file"])
def many_kinds(registered, request):
    now, campaign = timezone.now(), registered.campaign
    closed = {"status": "closed", "closed_at": now}
    if request.param == "opened again":
        Reopening.objects.create(campaign=campaign, closed_at=now - timedelta(hours=1), at=now)
    changes = {"open": {}, "from a file": closed | {"created_at": now}}.get(request.param, closed)
    Campaign.objects.filter(pk=campaign.pk).update(**changes)
    campaign.refresh_from_db()
    return campaign, {"plan": None} if request.param == "explores since" else {}


def test_cautions_of_many_snapshots_take_no_more_statements_than_those_of_few(many_kinds):
    campaign, changes = many_kinds
    copy_snapshots(1, **changes)
    few, statements = told(campaign)
    copy_snapshots(3, **changes)
    many, at_last = told(campaign)
    assert len(few) == 6 and len(many) == 24
    assert at_last <= statements
    for row in many:
        snapshot = Snapshot.objects.get(pk=row["snapshot"])
        alone = cautions_in(snapshot, list(snapshot.standings.as_listed())).every
        assert row["cautions"] == [{"code": one.code, "text": one.text} for one in alone]


def test_standings_are_read_for_several_snapshots_at_once(registered, monkeypatch):
    copy_snapshots(3)
    for at_once, reads in ((4, 3), (12, 1)):
        monkeypatch.setattr(export_boards, "AT_ONCE", at_once)
        with CaptureQueriesContext(connection) as asked:
            assert len(list(export_boards.snapshots(Extract(registered.campaign)))) == 12
        assert sum('FROM "arena_standing"' in query["sql"] for query in asked) == reads
