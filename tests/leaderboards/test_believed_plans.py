"""Snapshots registered by a version that believed plans of files: everything says that they explore."""

import csv
import io
import json
import re

import pytest
from django.urls import reverse
from django.utils import timezone

from arena.campaigns.models import Campaign
from arena.exchange.exports import export
from arena.leaderboards.boards.snapshot_cautions import cautions_in
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.models import Leaderboard, Snapshot
from arena.leaderboards.plans.registration_words import chosen_margin
from tests.leaderboards.test_boards import text_of

REGISTERED = re.compile(r"(?<!no board is )(?<!by the file it was )registered under|>registered<", re.I)


@pytest.fixture
def believed(registered):
    """The plan is older than its campaign here, so that it came with it from a file."""
    assert Snapshot.objects.exclude(plan=None).count() == 2
    registered.campaign.leaderboards.update(visibility=Leaderboard.Visibility.PUBLIC)
    Campaign.objects.update(created_at=timezone.now(), status="closed")
    registered.campaign.refresh_from_db()
    return ensure_leaderboards(registered.campaign)[0]


@pytest.mark.parametrize("page", ["board", "board-compare", "board-plan", "board-report", "board-charts"])
def test_no_page_of_a_campaign_calls_its_boards_registered(believed, client, signed_in, page):
    for reader in (signed_in("ravi"), *([] if page == "board-report" else [client])):
        answer = reader.get(reverse(page, args=["joust"]))
        assert answer.status_code == 200
        html = answer.content.decode()
        assert not REGISTERED.search(html)
        assert "interim look at" not in text_of(answer)


def test_no_page_of_snapshots_calls_them_registered(believed, client, fit_again):
    first, second = believed.snapshots.order_by("pk")
    assert first.plan and not second.plan
    of_board = ["joust", believed.slug]
    two = f"?before={first.pk}&after={second.pk}"
    for address in (
        reverse("snapshot", args=[first.pk]),
        reverse("snapshot-list", args=of_board),
        reverse("snapshot-diff", args=of_board) + two,
    ):
        html = client.get(address).content.decode()
        assert "exploratory" in html
        assert not REGISTERED.search(html)
        assert first.plan.sha256 not in html and "interim" not in html


@pytest.fixture
def fit_again(believed):
    from arena.leaderboards.fitting import snapshots

    return snapshots.take_snapshot(believed)


def test_programs_read_no_plan_no_look_and_the_same_caution(believed, client):
    pk = believed.snapshots.get().pk
    told = [
        *client.get("/api/v1/snapshots/").json()["results"],
        client.get(f"/api/v1/snapshots/{pk}/").json(),
        client.get(f"/boards/joust/{believed.slug}.json").json(),
    ]
    assert [(one["plan"], one["look"]) for one in told] == [(None, None)] * 5
    for one in told[-2:]:
        codes = [caution["code"] for caution in one["cautions"]]
        assert "exploratory" in codes and not {"registered", "interim_look"} & set(codes)
        assert "Exploratory." in one["citation"]


@pytest.mark.parametrize("table", ["standings", "cautions"])
def test_lines_of_tables_name_no_plan(believed, client, table):
    pk = believed.snapshots.get().pk
    page = client.get(f"/api/v1/snapshots/{pk}/{table}.csv").content.decode()
    rows = list(csv.DictReader(io.StringIO(page)))
    assert rows
    assert {(row["plan"], row["plan_sha256"], row["look"]) for row in rows} == {("", "", "")}


def test_the_report_and_its_table_say_the_same(believed, signed_in):
    ravi = signed_in("ravi")
    page = ravi.get("/api/v1/campaigns/joust/tables/report-snapshots.json")
    assert page.status_code == 200
    assert [row["registered"] for row in page.json()] == [False] * 3


def test_the_margin_is_told_as_chosen_elsewhere(believed):
    chosen = chosen_margin(believed.snapshots.get())
    assert chosen.is_late and "which came from a file" in chosen.words


def test_an_export_passes_nothing_on_as_registered(believed, tmp_path):
    export(believed.campaign, tmp_path / "out")
    lines = (tmp_path / "out/jsonl/snapshots.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert [(row["plan"], row["look"], row["votes_cast"]) for row in rows] == [(None, None, None)] * 3
    assert {caution["code"] for row in rows for caution in row["cautions"]} >= {"exploratory"}
    assert not [c for row in rows for c in row["cautions"] if c["code"] == "registered"]
    assert "snapshot" not in (tmp_path / "out/CITATION.cff").read_text().split("identifiers:")[1]


def test_what_was_registered_here_is_still_told_so(registered):
    snapshot = ensure_leaderboards(registered.campaign)[0].snapshots.get()
    assert snapshot.registered_plan == snapshot.plan is not None
    assert cautions_in(snapshot, list(snapshot.standings.as_listed())).every[0].code == "registered"
