"""A rater's own page: how many votes, how steady, what was said, and the way to another device."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.utils import timezone

from arena.battles.models import Battle, Outcome, Vote
from arena.battles.own_page import is_same, steadiness
from arena.battles.pair_models import PairCount
from arena.campaigns.models import Campaign, Invite
from arena.raters.models import Rater


def words(answer) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def own_page(desk):
    return desk.client.get("/campaigns/small/my-votes/")


@pytest.mark.parametrize(
    ("again", "first", "swapped", "same"),
    [
        ("model_a", "model_b", True, True),
        ("model_b", "model_a", True, True),
        ("model_a", "model_a", True, False),
        ("model_a", "model_a", False, True),
        ("tie", "tie", True, True),
        ("both_bad", "tie", True, False),
        ("tie", "model_a", True, False),
    ],
)
def test_a_repeat_got_the_same_vote_if_both_went_to_the_same_model(again, first, swapped, same):
    assert is_same(again, first, swapped=swapped) is same


@pytest.fixture
def repeated(desk, vote_on):
    """Votes on a battle and on its repeat with the sides swapped."""

    def repeat(first_outcome: str, again: str) -> Battle:
        first = desk.on_screen()
        desk.vote(first, first_outcome)
        swapped = Battle.objects.create(
            campaign=first.campaign,
            kind=Battle.Kind.REPEAT,
            repeat_of=first,
            rater=first.rater,
            prompt=first.prompt,
            competitor_a=first.competitor_b,
            competitor_b=first.competitor_a,
            response_a=first.response_b,
            response_b=first.response_a,
            drawn_at=first.drawn_at,
            expires_at=first.expires_at,
        )
        vote_on(swapped, again)
        return swapped

    return repeat


def test_the_page_says_how_many_repeats_got_the_same_vote(desk, repeated):
    assert "when a battle came back" not in words(own_page(desk))
    repeated(Outcome.MODEL_A, Outcome.MODEL_B)
    repeated(Outcome.MODEL_A, Outcome.MODEL_A)
    repeated(Outcome.TIE, Outcome.TIE)
    desk.vote(desk.on_screen())
    assert "The same vote when a battle came back 2 of 3" in words(own_page(desk))


def test_while_a_vote_can_be_undone_nothing_tells_that_it_was_on_a_repeat(desk, repeated):
    """Else its rater could take it back and vote as they did before."""
    repeated(Outcome.MODEL_A, Outcome.MODEL_B)
    assert "when a battle came back" not in words(own_page(desk))
    Campaign.objects.update(status=Campaign.Status.CLOSED)
    assert "The same vote when a battle came back 1 of 1" in words(own_page(desk))


def test_an_undone_vote_says_nothing_about_steadiness(desk, repeated):
    again = repeated(Outcome.MODEL_A, Outcome.MODEL_B)
    desk.act(again, "undo")
    assert steadiness(desk.campaign, desk.rater).came_back == 0


def test_the_page_says_how_far_one_is_and_how_far_all_are(make_campaign, sit_down):
    small = make_campaign(quota=5)
    desk, other = sit_down(small), sit_down(small)
    for _ in range(2):
        desk.vote(desk.on_screen())
    other.on_screen()
    page = words(own_page(desk))
    assert "Your votes 2 of 5" in page
    assert "Battles given to all raters fewer than 100" in page


def test_no_figure_moves_with_a_single_battle_that_is_drawn_or_skipped(desk):
    """A gold isn't counted for its pair: a figure that stood still would tell it."""
    PairCount.objects.all().delete()
    low, high = sorted(competitor.pk for competitor in desk.campaign.competitors.all())[:2]
    for drawn in (1200, 1201, 1299):
        PairCount.objects.update_or_create(
            campaign=desk.campaign, low_id=low, high_id=high, defaults={"battles": drawn}
        )
        assert "Battles given to all raters 1200 or more" in words(own_page(desk))


def test_the_history_shows_reasons_and_comments_and_no_name_before_the_reveal(desk, small_campaign):
    battle = desk.on_screen()
    desk.vote(battle)
    desk.act(battle, "reasons", {"reasons": ["facts"], "comment": "<b>3</b>, not 4"})
    page = own_page(desk).content.decode()
    assert "Facts" in page
    assert "&lt;b&gt;3&lt;/b&gt;, not 4" in page
    assert [one.name for one in small_campaign.competitors if one.name in page] == []


def link_on(answer) -> str:
    return re.search(r">http://testserver(/join/[^<]+)<", answer.content.decode())[1]


def test_a_personal_link_goes_on_on_another_device_as_the_same_rater(desk):
    desk.vote(desk.on_screen())
    path = link_on(desk.client.post("/campaigns/small/my-link/"))
    phone = Client()
    assert phone.get(path).status_code == 200
    assert phone.post(path).status_code == 302
    assert "1 vote" in words(phone.get("/campaigns/small/battle/"))
    assert Rater.objects.count() == 1
    assert Vote.objects.get().rater == desk.rater
    assert path not in own_page(desk).content.decode(), "the link is shown once"


def test_a_new_personal_link_ends_the_one_before_and_no_other(desk, small_campaign):
    first = link_on(desk.client.post("/campaigns/small/my-link/"))
    second = link_on(desk.client.post("/campaigns/small/my-link/"))
    assert Client().get(first).status_code == 410
    assert Client().get(second).status_code == 200
    assert Client().get(f"/join/{small_campaign.token}/").status_code == 200


def test_after_the_close_the_device_that_voted_still_makes_a_link_that_shows_the_votes(desk, small_campaign):
    desk.vote(desk.on_screen())
    Campaign.objects.update(status="closed", closed_at=timezone.now())
    page = words(own_page(desk))
    assert "On another device" in page and "Make a personal link" in page and "go on elsewhere" not in page
    path = link_on(desk.client.post("/campaigns/small/my-link/"))
    phone = Client()
    phone.post(path)
    assert "Your votes 1 " in words(phone.get("/campaigns/small/my-votes/"))
    assert (Rater.objects.count(), Vote.objects.get().rater) == (1, desk.rater)
    group = Client().get(f"/join/{small_campaign.token}/")
    assert "makes a personal link that shows your votes on this device too" in words(group)
    assert "Have you voted here?" not in words(Client().get(path))


def test_whoever_is_done_is_offered_a_link_and_who_has_not_voted_or_goes_on_is_not(desk):
    offer = "To see your votes on another device too, also after the close"
    assert offer not in words(desk.look())
    desk.vote(desk.on_screen())
    assert offer not in words(desk.look())
    Campaign.objects.update(quota=1)
    page = desk.look().content.decode()
    assert offer in page and 'formaction="/campaigns/small/my-link/#my-link"' in page
    Campaign.objects.update(status="closed")
    assert offer in words(desk.look())
    Campaign.objects.update(status="paused")
    assert offer not in words(desk.look())


def test_where_votes_are_taken_or_will_be_nobody_is_told_the_way_to_old_ones(desk, small_campaign):
    for status in ("open", "draft"):
        Campaign.objects.update(status=status)
        assert "Have you voted here?" not in words(Client().get(f"/join/{small_campaign.token}/"))


def test_a_link_is_made_by_nobody_without_a_place_and_not_after_a_close_without_votes(desk, signed_in):
    for visitor in (Client(), signed_in("mallory"), signed_in("carol")):
        assert visitor.post("/campaigns/small/my-link/").status_code == 404
    assert Client().get("/campaigns/small/my-link/").status_code == 404
    opened_anew = desk.client.get("/campaigns/small/my-link/")
    assert (opened_anew.status_code, opened_anew["Location"]) == (302, "/campaigns/small/my-votes/")
    Campaign.objects.update(status="closed")
    assert desk.client.post("/campaigns/small/my-link/").status_code == 404
    assert not Invite.objects.filter(rater__isnull=False).exists()
    assert "Make a personal link" not in words(own_page(desk))


def test_the_new_link_comes_first_on_its_page_and_has_the_focus(desk):
    assert 'action="/campaigns/small/my-link/#my-link"' in own_page(desk).content.decode()
    page = desk.client.post("/campaigns/small/my-link/").content.decode()
    field = re.search(r"<textarea[^>]*>", page)
    assert field and 'id="my-link"' in field[0] and "autofocus" in field[0]
    assert field.start() < page.index("<section")
