"""One's own votes beside the board, after the close."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from arena.battles import draw
from arena.battles.models import Battle, Vote
from arena.campaigns.models import Campaign
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting.snapshots import take_snapshot
from arena.leaderboards.models import Leaderboard
from arena.leaderboards.my_votes import compare
from arena.raters.models import Rater

PAGE = "/campaigns/small/my-votes/board/"


def words(answer) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


@pytest.fixture
def rater_with_votes(make_campaign):
    """Two raters who agree on every battle that Ember beats Fjord beats Grove; the first one's browser."""
    small = make_campaign(prompts=6)
    browsers = []
    for _ in range(2):
        client = Client()
        client.post(f"/join/{small.token}/")
        browsers.append(client)
        rater = Rater.objects.latest("pk")
        while draw.draw(small.campaign, rater, 12):
            pass  # all there are: of a few by chance two models may come out even
        for battle in Battle.objects.filter(rater=rater):
            first, second = battle.competitor_a.name, battle.competitor_b.name
            outcome = "model_a" if first < second else "model_b"
            if battle.prompt.external_id == "p3":
                outcome = {"model_a": "model_b", "model_b": "model_a"}[outcome]
            ballot = {"outcome": outcome, "key": f"key-{battle.public_id}"}
            client.post(f"/battles/{battle.public_id}/vote/", ballot)
    return small, browsers[0]


def close(small, visibility: str = "public") -> None:
    ensure_leaderboards(small.campaign)
    Leaderboard.objects.update(visibility=visibility)
    for board in small.campaign.leaderboards.all():
        take_snapshot(board)
    Campaign.objects.update(status="closed")


@pytest.mark.django_db
def test_before_the_close_there_is_nothing_to_see(rater_with_votes):
    small, client = rater_with_votes
    for board in ensure_leaderboards(small.campaign):
        take_snapshot(board)
    assert client.get(PAGE).status_code == 404
    assert "Compare them" not in words(client.get("/campaigns/small/my-votes/"))


@pytest.mark.django_db
def test_after_the_close_the_page_counts_votes_for_the_model_with_more_points(rater_with_votes):
    small, client = rater_with_votes
    close(small)
    rater = Rater.objects.earliest("pk")
    small.campaign.refresh_from_db()
    compared = compare(small.campaign, rater, client.get("/").wsgi_request.user)
    votes = Vote.objects.filter(rater=rater)
    against = votes.filter(battle__prompt__external_id="p3").count()
    assert (compared.decided, compared.agreed) == (votes.count(), votes.count() - against)
    assert compared.decided / 2 < compared.expected <= compared.decided
    assert sum(row.battles for row in compared.rows) == 2 * votes.count()
    page = words(client.get(PAGE))
    assert f"Your votes with a winner {compared.decided} of {compared.counted}" in page
    assert "Ember" in page
    assert "Compare them" in words(client.get("/campaigns/small/my-votes/"))


@pytest.mark.django_db
def test_a_private_boards_figures_stay_private(rater_with_votes):
    small, client = rater_with_votes
    close(small, "private")
    page = words(client.get(PAGE))
    assert "Your votes with a winner" in page
    assert "Of all raters" not in page
    assert "To the board" not in page


@pytest.mark.django_db
def test_without_a_snapshot_the_page_says_so(rater_with_votes):
    _small, client = rater_with_votes
    Campaign.objects.update(status="closed")
    assert "There is no board to compare with yet" in words(client.get(PAGE))


@pytest.mark.django_db
@pytest.mark.parametrize("who", ["stranger", "mallory", "carol"])
def test_who_is_no_rater_sees_no_votes(rater_with_votes, signed_in, who):
    small, _client = rater_with_votes
    close(small)
    visitor = Client() if who == "stranger" else signed_in(who)
    assert "Your votes with a winner" not in words(visitor.get(PAGE))


@pytest.mark.django_db
def test_a_script_gets_the_part_alone(rater_with_votes):
    small, client = rater_with_votes
    close(small)
    part = client.get(PAGE, headers={"HX-Request": "true"})
    assert "<html" not in part.content.decode()
    assert "HX-Request" in part["Vary"]
