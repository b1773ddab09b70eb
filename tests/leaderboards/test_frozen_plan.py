"""A frozen plan can be read, hashed and cited by whoever may read the boards that stand under it."""

import csv
import hashlib
import io
import json

import pytest
from django.urls import reverse

from arena.leaderboards.citation import cite
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.models import Leaderboard
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from tests.leaderboards.plans_by_hand import write_and_freeze
from tests.leaderboards.test_boards import text_of

PLAN = "/boards/joust/plan/"


@pytest.fixture
def published(registered):
    registered.campaign.leaderboards.update(visibility=Leaderboard.Visibility.PUBLIC)
    registered.campaign.status = "closed"
    registered.campaign.save()
    return registered


def test_whoever_reads_a_public_board_reads_its_plan_and_can_hash_it(published, client):
    board = client.get("/boards/joust/")
    assert f'<a href="{PLAN}">overall and style-controlled: registered under' in board.content.decode()
    page = client.get(PLAN)
    plan = AnalysisPlan.objects.get()
    assert plan.sha256 in text_of(page) and plan.question in text_of(page)
    assert "carol" not in text_of(page)
    saved = client.get(f"{PLAN}1.json")
    assert hashlib.sha256(saved.content).hexdigest() == plan.sha256
    assert json.loads(saved.content)["margin"] == 25
    for other in (reverse("snapshot", args=[overall_of(published).pk]), "/boards/joust/compare/"):
        assert f'href="{PLAN}"' in client.get(other).content.decode()


def overall_of(small):
    return ensure_leaderboards(small.campaign)[0].snapshots.get()


def test_a_plan_hides_where_its_boards_hide(registered, client, signed_in):
    for address in (PLAN, f"{PLAN}1.json"):
        assert client.get(address).status_code == 404
        assert signed_in("mallory").get(address).status_code == 404
        assert signed_in("ravi").get(address).status_code == 200
        assert signed_in("ravi").post(address).status_code == 405
    registered.campaign.leaderboards.update(visibility=Leaderboard.Visibility.PUBLIC)
    registered.campaign.status = "open"  # blind: no board is shown to others, nor its plan
    registered.campaign.save()
    assert client.get(PLAN).status_code == 404


def test_drafts_are_nobody_elses(published, client, signed_in):
    signed_in("carol").post(
        reverse("analysis-plan-save", args=["joust"]),
        {"question": "A draft?", "margin": "5", "ties": "half", "both_bad": "half", "boards": ["hard"]},
    )
    assert "A draft?" not in text_of(client.get(PLAN))
    assert client.get(f"{PLAN}2.json").status_code == 404


def test_amendments_are_told_from_the_plan_before_the_votes(published, client, signed_in):
    write_and_freeze(signed_in("carol"), margin="400")
    page = text_of(client.get(PLAN))
    assert "An amendment, frozen after votes were in: it changes no number." in page
    assert "Margin: 400 points instead of 25 points." in page
    assert "It was frozen before the first vote" in page


def test_a_plan_that_was_changed_behind_its_hash_is_told(published, client):
    assert "doesn’t give the SHA-256" not in text_of(client.get(PLAN))
    AnalysisPlan.objects.update(margin=1)
    assert "This JSON doesn’t give the SHA-256 above" in text_of(client.get(PLAN))


def test_programs_read_under_which_plan_a_snapshot_is_registered(published, client):
    plan, snapshot = AnalysisPlan.objects.get(), overall_of(published)
    told = client.get(f"/api/v1/snapshots/{snapshot.pk}/").json()["plan"]
    assert (told["version"], told["sha256"]) == (1, plan.sha256)
    assert told["frozen_at"]
    listed = client.get("/api/v1/snapshots/").json()["results"]
    assert {one["leaderboard"]: one["plan"] and one["plan"]["version"] for one in listed} == {
        "joust-overall": 1,
        "joust-hard": None,
        "joust-style": 1,
    }
    assert client.get("/boards/joust/joust-overall.json").json()["plan"] == told


def test_every_line_of_a_table_names_the_plan(published, client):
    plan = AnalysisPlan.objects.get()
    for slug, expected in (("joust-overall", ("1", plan.sha256)), ("joust-hard", ("", ""))):
        page = client.get(f"/boards/joust/{slug}.csv").content.decode()
        rows = list(csv.DictReader(io.StringIO(page)))
        assert {(row["plan"], row["plan_sha256"]) for row in rows} == {expected}
        assert bool(rows[0]["plan_frozen_at"]) == bool(expected[0])


def test_a_citation_names_the_plan_with_its_hash_and_time_and_the_whole_digest(published, client):
    plan, snapshot = AnalysisPlan.objects.get(), overall_of(published)
    line = client.get(f"/api/v1/snapshots/{snapshot.pk}/").json()["citation"]
    frozen = f"{plan.frozen_at:%Y-%m-%d %H:%M} UTC"
    assert f"Registered under analysis plan 1, frozen {frozen}, SHA-256 {plan.sha256}." in line
    assert f"SHA-256 of the votes {snapshot.vote_digest}." in line
    assert "Exploratory." in cite(ensure_leaderboards(published.campaign)[1].snapshots.get())
