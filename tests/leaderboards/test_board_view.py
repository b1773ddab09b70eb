"""A board's table as a visitor asks for it: found, sorted, kept on top, a page at a time, and light."""

import math
import re

import pytest

from arena.corpus.models import Competitor
from arena.leaderboards.boards.board_view import ROWS_AT_ONCE
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.models import Standing

MANY = 250


@pytest.fixture
def joust(voted_campaign):
    small = voted_campaign(votes=300)
    for leaderboard in ensure_leaderboards(small.campaign):
        assert snapshots.take_snapshot(leaderboard).snapshot
    return small


@pytest.fixture
def crowded(joust):
    """The same board as if 250 models had fought: each further one has the numbers of the last."""
    team = joust.campaign.team
    further = Competitor.objects.bulk_create(
        Competitor(
            team=team, name=f"Model {n:03}", name_key=f"model {n:03}", organisation="Lake Laboratories"
        )
        for n in range(MANY - 5)
    )
    for leaderboard in joust.campaign.leaderboards.all():
        snapshot = leaderboard.snapshots.first()
        like = snapshot.standings.order_by("rating").first()
        fields = {
            f.attname: getattr(like, f.attname) for f in Standing._meta.concrete_fields if f.name != "id"
        }
        Standing.objects.bulk_create(
            Standing(**fields | {"competitor_id": one.pk, "rating": like.rating - place})
            for place, one in enumerate(further, start=1)
        )
    return joust


def shown(client, parameters: str = "") -> list[str]:
    page = client.get(f"/boards/joust/{parameters}").content.decode()
    table = page[page.index("<tbody>") : page.index("</tbody>")]
    return re.findall(r'/boards/joust/model/\?name=[^"]*">([^<]*)</a>', table)


def test_a_search_finds_models_by_name_and_organisation(crowded, signed_in):
    client = signed_in("ravi")
    assert shown(client, "?q=FJO") == ["Fjord"]
    assert len(shown(client, "?q=laboratories+lake")) == ROWS_AT_ONCE
    assert shown(client, "?q=lake+model+007") == ["Model 007"]
    page = client.get("/boards/joust/?q=nobody").content.decode()
    assert shown(client, "?q=nobody") == []
    assert "No model is called so." in page
    assert 'value="nobody"' in page


def test_rows_are_sorted_by_what_is_asked_for(joust, signed_in):
    client = signed_in("ravi")
    places = shown(client)
    assert sorted(places) == shown(client, "?sort=name") != places
    boards = {board.slug: board.snapshots.first() for board in joust.campaign.leaderboards.all()}
    styled = boards["joust-style"].standings.order_by("-rating")
    assert shown(client, "?sort=style") == [one.competitor.name for one in styled]
    moved = boards["joust-style"].standings.order_by("-shift")
    assert shown(client, "?sort=style-move") == [one.competitor.name for one in moved]
    hard = {one.competitor.name: one.rating for one in boards["joust-hard"].standings.all()}
    overall = {one.competitor.name: one.rating for one in boards["joust-overall"].standings.all()}
    assert shown(client, "?sort=hard-move") == sorted(hard, key=lambda name: overall[name] - hard[name])
    assert shown(client, "?sort=colour") == places


def test_ticked_models_stay_on_top_whatever_is_searched_and_sorted(joust, signed_in):
    client = signed_in("ravi")
    assert shown(client, "?q=ember&sort=name&pin=Inlet&pin=Nobody") == ["Inlet", "Ember"]
    page = client.get("/boards/joust/?pin=Inlet").content.decode()
    ticked = re.findall(r'name="pin" value="([^"]*)"[^>]* checked', page)
    assert ticked == ["Inlet"]


def test_further_pages_keep_what_was_asked_for(crowded, signed_in):
    client = signed_in("ravi")
    first, asked = shown(client), "?q=model&sort=name&pin=Ember"
    assert len(first) == ROWS_AT_ONCE
    page = client.get(f"/boards/joust/{asked}").content.decode()
    assert f"Models 1 to {ROWS_AT_ONCE} of {MANY - 5}" in page
    (link,) = re.findall(r'href="(\?[^"]*page=2[^"]*)#table"', page)
    second = shown(client, link.replace("&amp;", "&"))
    assert second[:2] == ["Ember", f"Model {ROWS_AT_ONCE:03}"]
    last = math.ceil(MANY / ROWS_AT_ONCE)
    everyone = [name for number in range(last) for name in shown(client, f"?page={number + 1}")]
    assert len(everyone) == len(set(everyone)) == MANY
    assert shown(client, "?page=99") == shown(client, f"?page={last}")
    assert shown(client, "?page=0") == shown(client, "?page=-1") == first


def test_a_page_of_250_models_weighs_less_than_150_kb_and_asks_no_more_than_one_of_5(
    crowded, signed_in, django_assert_max_num_queries
):
    client = signed_in("ravi")
    with django_assert_max_num_queries(25):
        page = client.get("/boards/joust/")
    assert len(page.content) < 150_000


def test_a_report_lists_all_models(crowded, signed_in):
    text = signed_in("ravi").get("/boards/joust/report/").content.decode()
    assert all(f"Model {n:03}" in text for n in range(MANY - 5))
