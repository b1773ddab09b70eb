import re
from datetime import timedelta

import pytest
from django.utils import timezone

from arena.campaigns.models import Campaign, Invite
from arena.corpus.generation_models import GenerationRun
from arena.exchange.models import Import
from arena.judging.models import JudgeRun
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting.snapshots import take_snapshot
from arena.leaderboards.run_models import SnapshotRun

pytestmark = pytest.mark.django_db


def words_of(visitor) -> str:
    page = visitor.get("/").content.decode().split("<main")[1]
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_an_admin_without_anything_is_told_the_way_in_three_steps(signed_in):
    page = signed_in("carol").get("/").content.decode()
    assert page.count("<li>") == 3
    assert 'class="button primary" href="/imports/new/?kind=prompts"' in page


def test_a_researcher_without_anything_is_not_sent_to_pages_that_are_hidden(signed_in):
    page = signed_in("ravi").get("/").content.decode()
    assert "An admin of your team makes one" in page
    assert "/imports/" not in page


def test_a_rater_sees_how_far_they_are_and_goes_on(client, small_campaign, cast_votes):
    Campaign.objects.update(quota=3)
    client.post(f"/join/{small_campaign.token}/")
    cast_votes(client, 2)
    assert "Small 2 of 3 votes Go on" in words_of(client)
    cast_votes(client)
    assert "Small 3 of 3 votes done, thank you Your votes" in words_of(client)


def test_a_paused_campaign_is_told_to_its_raters(client, small_campaign):
    client.post(f"/join/{small_campaign.token}/")
    Campaign.objects.update(status="paused")
    assert "Small 0 votes paused" in words_of(client)


def test_a_signed_in_rater_finds_the_campaigns_of_their_team(signed_in, small_campaign):
    assert "Where you may rate" not in words_of(signed_in("alice"))
    Campaign.objects.update(admission="login")
    alice = signed_in("alice")
    assert "Where you may rate Small Read the guide and begin" in words_of(alice)
    alice.post("/campaigns/small/begin/")
    said = words_of(alice)
    assert "Where you may rate" not in said
    assert "Small 0 votes Go on" in said


@pytest.mark.parametrize("who", ["carol", "ravi", "mallory", "dora"])
def test_nobody_else_is_offered_to_rate_there(signed_in, small_campaign, who):
    Campaign.objects.update(admission="login")
    assert "Where you may rate" not in words_of(signed_in(who))


def test_an_admin_sees_drafts_and_what_they_lack(signed_in, small_campaign):
    Campaign.objects.update(status="draft")
    assert "nothing is missing: it can be opened" in words_of(signed_in("carol"))
    small_campaign.campaign.prompt_sets.clear()
    assert "“Small” is a draft: one thing is missing." in words_of(signed_in("carol"))


def test_an_open_campaign_that_nobody_can_enter_is_noticed(signed_in, small_campaign):
    assert "nobody can come" not in words_of(signed_in("carol"))
    Invite.objects.update(revoked_at=timezone.now())
    assert "nobody can come" in words_of(signed_in("carol"))
    Campaign.objects.update(admission="open")
    assert "nobody can come" not in words_of(signed_in("carol"))


def test_an_end_that_has_come_is_noticed(signed_in, small_campaign):
    Campaign.objects.update(ends_at=timezone.now() - timedelta(minutes=1))
    assert "has come to its end" in words_of(signed_in("carol"))


def test_failed_work_stands_first(signed_in, small_campaign, cast):
    Campaign.objects.update(status="draft")
    now = timezone.now()
    JudgeRun.objects.create(
        campaign=small_campaign.campaign, status="completed_with_failures", finished_at=now
    )
    GenerationRun.objects.create(
        prompt_set=small_campaign.prompt_set, status="paused", status_reason="the budget is spent"
    )
    board = ensure_leaderboards(small_campaign.campaign)[0]
    SnapshotRun.objects.create(leaderboard=board, state="failed", reason="no space left")
    Import.objects.create(
        team=cast.team, kind="prompts", target="x", file_name="p.csv", state="previewed", added=3
    )
    said = words_of(signed_in("carol"))
    order = [
        said.index(words)
        for words in (
            "Judging “Small”: some calls failed",
            "paused (the budget is spent)",
            "failed: no space left",
            "p.csv is checked and waits",
            "is a draft",
        )
    ]
    assert order == sorted(order)


def test_work_that_failed_long_ago_or_was_paused_by_hand_is_no_task(signed_in, small_campaign):
    old = timezone.now() - timedelta(days=15)
    JudgeRun.objects.create(
        campaign=small_campaign.campaign, status="completed_with_failures", finished_at=old
    )
    JudgeRun.objects.create(campaign=small_campaign.campaign, status="paused")
    board = ensure_leaderboards(small_campaign.campaign)[0]
    for state in ("failed", "published"):
        SnapshotRun.objects.create(leaderboard=board, state=state)
    assert "What to do next" not in words_of(signed_in("carol"))


def test_a_researcher_sees_the_newest_board_of_each_campaign(signed_in, small_campaign, client, cast_votes):
    client.post(f"/join/{small_campaign.token}/")
    cast_votes(client, 8)
    assert "Newest boards" not in words_of(signed_in("ravi"))
    for board in ensure_leaderboards(small_campaign.campaign):
        take_snapshot(board)
    said = words_of(signed_in("ravi")).split("Newest boards")[1].split("Campaigns")[0]
    assert said.count("Small") == 1
    assert "8 votes" in said
    assert "Newest boards" not in words_of(signed_in("dora"))


@pytest.mark.parametrize("who", ["ravi", "alice", "mallory", "dora"])
def test_only_the_teams_admins_see_its_tasks(signed_in, small_campaign, who):
    Campaign.objects.update(status="draft")
    assert "is a draft" not in words_of(signed_in(who))
