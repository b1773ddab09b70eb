"""What raters flag is read, whether they voted on it or not."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from arena.battles.models import Battle, BattleNote, Vote
from arena.leaderboards.reading.read_battles import choose
from arena.leaderboards.reading.reading_models import Reading

pytestmark = pytest.mark.django_db


@pytest.fixture
def flagged(small_campaign) -> Battle:
    """A rater flags the battle on the screen and then skips it."""
    rater = Client()
    rater.post(f"/join/{small_campaign.token}/")
    page = rater.get("/campaigns/small/battle/").content.decode()
    battle = Battle.objects.get(
        public_id=re.search(r'<article class="battle" data-battle="([^"]+)"', page)[1]
    )
    for act, data in (("flag", {"text": "B is cut short"}), ("skip", {})):
        assert rater.post(f"/battles/{battle.public_id}/{act}/", data).status_code == 303
    assert not Vote.objects.exists()
    return battle


@pytest.mark.parametrize("pick", ["flagged", "noted"])
def test_a_battle_flagged_and_skipped_is_read_with_who_stood_where(flagged, signed_in, pick):
    page = signed_in("ravi").get(reverse("battle-reader", args=["small"]), {"pick": pick}).content.decode()
    text = " ".join(re.sub(r"<[^>]+>", "", page).split())
    assert "B is cut short" in text and "no vote that counts" in text
    a, b = flagged.competitor_a.name, flagged.competitor_b.name
    assert f"To this rater A was {a}, B was {b}." in text


def test_a_flag_on_the_pair_turned_round_names_the_models_as_its_rater_saw_them(
    small_campaign, cast_vote, cast, signed_in
):
    small, prompt = small_campaign, small_campaign.prompts[0]
    cast_vote(small, prompt, "Ember", "Fjord", "model_a", cast.alice_rater)
    turned = cast_vote(small, prompt, "Fjord", "Ember", "model_a", cast.bob_rater)
    BattleNote.objects.create(battle=turned.battle, rater=cast.bob_rater, kind="flag", text="B is cut short")
    page = signed_in("ravi").get(reverse("battle-reader", args=["small"]), {"pick": "flagged"})
    assert "To this rater A was <bdi>Fjord</bdi>, B was <bdi>Ember</bdi>." in page.content.decode()


def test_a_flagged_pair_stands_once_with_its_votes_and_narrows_by_model(
    small_campaign, cast_vote, cast, flagged
):
    small = small_campaign
    a, b = flagged.competitor_a, flagged.competitor_b
    cast_vote(small, flagged.prompt, b.name, a.name, "model_a", cast.bob_rater)
    (pair,) = choose(small.campaign, "flagged", None, None, 0)
    assert pair.won_by(b.pk) == 1
    (third,) = (one for one in small.competitors if one not in (a, b))
    assert choose(small.campaign, "flagged", third.pk, None, 0) == []
    assert len(choose(small.campaign, "flagged", a.pk, b.pk, 0)) == 1


def test_a_comment_alone_is_no_flag(small_campaign, cast_vote, cast):
    vote = cast_vote(small_campaign, small_campaign.prompts[0], "Ember", "Fjord", "tie", cast.alice_rater)
    BattleNote.objects.create(battle=vote.battle, rater=cast.alice_rater, kind="comment", text="fine")
    assert choose(small_campaign.campaign, "flagged", None, None, 0) == []
    assert len(choose(small_campaign.campaign, "noted", None, None, 0)) == 1


def test_what_is_found_on_a_flagged_battle_is_kept_and_on_a_battle_of_neither_kind_isnt(
    flagged, signed_in, small_campaign
):
    ravi, found = signed_in("ravi"), {"side": "b", "failure": "incomplete", "comment": ""}
    assert ravi.post(reverse("battle-read", args=[flagged.public_id]), found).status_code == 302
    other = Battle.objects.exclude(pk=flagged.pk).filter(vote=None, notes=None).first()
    assert ravi.post(reverse("battle-read", args=[other.public_id]), found).status_code == 404
    assert Reading.objects.get().battle == flagged


def test_the_campaigns_page_counts_flags_and_leads_to_them(flagged, signed_in):
    for name in ("carol", "ravi"):
        page = signed_in(name).get("/campaigns/small/").content.decode()
        (link,) = re.findall(r'<a href="([^"]+)"><strong>1</strong> flag</a>', page)
        assert "B is cut short" in signed_in(name).get(link).content.decode()


def test_without_a_flag_the_campaigns_page_says_nothing_of_flags(small_campaign, signed_in):
    assert "pick=flagged" not in signed_in("carol").get("/campaigns/small/").content.decode()
