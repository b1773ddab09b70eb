"""Whoever opens a rater's address without being one is told how to become one, and learns nothing else."""

from __future__ import annotations

import re
import uuid

import pytest
from django.test import Client

from arena.battles.models import Battle
from arena.campaigns.models import Campaign

RATERS_PAGES = ("battle/", "my-votes/")
INVITED_ONLY = "You need an invite link to rate here"


def body(answer) -> str:
    own = r'"x-csrftoken": "\w+"|value="\w{64}"|name="next" value="[^"]*"'
    return re.sub(own, "", answer.content.decode())


@pytest.fixture
def visitor(signed_in):
    return lambda who: Client() if who == "stranger" else signed_in(who)


@pytest.mark.parametrize("path", RATERS_PAGES)
@pytest.mark.parametrize("who", ["stranger", "mallory", "alice", "dora"])
def test_without_a_place_the_page_asks_for_an_invite_link(small_campaign, visitor, who, path):
    answer = visitor(who).get(f"/campaigns/small/{path}")
    assert answer.status_code == 404
    assert INVITED_ONLY in body(answer)
    assert "another team" not in body(answer)
    assert "preview" not in body(answer)


@pytest.mark.parametrize("path", RATERS_PAGES)
@pytest.mark.parametrize("who", ["stranger", "mallory", "alice", "dora", "carol"])
def test_a_campaign_and_none_at_all_look_the_same(make_campaign, visitor, who, path):
    make_campaign(name="Secret tournament")
    someone = visitor(who)
    hidden = someone.get(f"/campaigns/none/{path}")
    assert (hidden.status_code, INVITED_ONLY in body(hidden)) == (404, True)
    if who != "carol":
        found = someone.get(f"/campaigns/small/{path}")
        assert body(found) == body(hidden)
        assert "Secret tournament" not in body(found)


@pytest.mark.parametrize("who", ["stranger", "mallory", "alice", "dora"])
def test_the_guide_is_for_who_has_a_place_and_says_how_to_get_one(make_campaign, visitor, who):
    make_campaign(name="Secret tournament")
    someone = visitor(who)
    here, nowhere = (someone.get(f"/campaigns/{slug}/guide/") for slug in ("small", "none"))
    assert here.status_code == nowhere.status_code == 404
    assert INVITED_ONLY in body(here)
    assert body(here) == body(nowhere)


@pytest.mark.parametrize("path", RATERS_PAGES)
@pytest.mark.parametrize("who", ["ravi", "carol"])
def test_the_team_is_led_to_the_preview(small_campaign, visitor, who, path):
    answer = visitor(who).get(f"/campaigns/small/{path}")
    assert answer.status_code == 200
    assert INVITED_ONLY in body(answer)
    assert 'href="/campaigns/small/preview/"' in body(answer)
    assert "no-store" in answer["Cache-Control"]
    assert not Battle.objects.exists()


@pytest.mark.parametrize("act", ["vote", "undo", "skip", "flag"])
def test_an_act_on_a_battle_of_someone_else_and_on_none_look_the_same(desk, visitor, act):
    battle = desk.on_screen()
    for who in ("stranger", "carol"):
        someone = visitor(who)
        theirs = someone.post(f"/battles/{battle.public_id}/{act}/")
        nobodys = someone.post(f"/battles/{uuid.uuid4()}/{act}/")
        assert theirs.status_code == nobodys.status_code == 404
        assert INVITED_ONLY in body(theirs)
        assert body(theirs) == body(nobodys)


def test_going_on_without_a_place_is_refused(small_campaign, visitor):
    for who in ("stranger", "carol"):
        assert visitor(who).post("/campaigns/small/battle/more/").status_code == 404
    Campaign.objects.update(admission=Campaign.Admission.OPEN)
    assert Client().post("/campaigns/small/battle/more/").status_code == 404
