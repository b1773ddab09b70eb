"""One's own votes beside the board, after the close."""

from __future__ import annotations

import io
import re

import pandas as pd
import pytest
from django.test import Client
from django.urls import reverse

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


def own_file(kind: str = "json") -> str:
    return reverse("my-votes-file", args=["small", kind])


@pytest.mark.django_db
def test_the_table_is_a_file_for_the_same_browser(rater_with_votes):
    small, client = rater_with_votes
    close(small)
    compared = client.get(PAGE).context["compared"]
    assert [own_file(kind) for kind in ("csv", "json", "parquet")] == re.findall(
        r'href="([^"]+)" download', client.get(PAGE).content.decode()
    )
    answer = client.get(own_file())
    assert "no-store" in answer["Cache-Control"]
    told = [(row["model"], row["battles"], row["own_share"], row["everyones_share"]) for row in answer.json()]
    assert told == [(row.name, row.battles, row.own, row.everyone) for row in compared.rows]
    assert {(row["snapshot"], row["campaign"], row["simulated"]) for row in answer.json()} == {
        (compared.snapshot.pk, "small", False)
    }
    for kind, read in (("csv", pd.read_csv), ("parquet", pd.read_parquet)):
        assert read(io.BytesIO(client.get(own_file(kind)).content)).to_dict("records") == answer.json()
    assert client.get(own_file("xlsx")).status_code == 404


@pytest.mark.django_db
def test_each_raters_file_holds_their_own_votes(rater_with_votes):
    small, client = rater_with_votes
    other = Client()
    other.post(f"/join/{small.token}/")
    draw.draw(small.campaign, Rater.objects.latest("pk"), 12)
    battle = Battle.objects.filter(rater=Rater.objects.latest("pk")).earliest("pk")
    ballot = {"outcome": "model_a", "key": f"key-{battle.public_id}"}
    other.post(f"/battles/{battle.public_id}/vote/", ballot)
    close(small)
    own, others = client.get(own_file()).json(), other.get(own_file()).json()
    assert sum(row["battles"] for row in others) == 2 < sum(row["battles"] for row in own)
    assert {row["model"]: row["own_share"] for row in others} == {
        battle.competitor_a.name: 1.0,
        battle.competitor_b.name: 0.0,
    }


@pytest.mark.django_db
@pytest.mark.parametrize("who", ["stranger", "mallory", "carol", "dora"])
def test_who_is_no_rater_gets_no_file(rater_with_votes, signed_in, who):
    small, _client = rater_with_votes
    close(small)
    visitor = Client() if who == "stranger" else signed_in(who)
    assert visitor.get(own_file()).status_code == 404


@pytest.mark.django_db
def test_where_the_page_shows_no_table_there_is_no_file(rater_with_votes):
    small, client = rater_with_votes
    close(small, "private")
    assert client.get(own_file()).status_code == 404
    Leaderboard.objects.update(visibility="public")
    assert client.get(own_file()).status_code == 200
    Campaign.objects.update(status="open")
    assert client.get(own_file()).status_code == 404
    Campaign.objects.update(status="closed", reveal=Campaign.Reveal.NEVER)
    assert client.get(own_file()).status_code == 404
