"""How raters come back to their votes, and to the names behind them, once no more votes are taken."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from arena.campaigns.models import Campaign, Invite
from arena.raters.models import Rater

pytestmark = pytest.mark.django_db

MINE = "/campaigns/small/my-votes/"
OVER = pytest.mark.parametrize(
    "change",
    [{"status": "closed"}, {"status": "paused"}, {"ends_at": timezone.now() - timedelta(hours=1)}],
    ids=["closed", "paused", "ended"],
)


@pytest.fixture
def personal(small_campaign) -> tuple[str, Rater]:
    rater = Rater.objects.create(
        team=small_campaign.campaign.team, pseudonym="rater-1", admission=Rater.Admission.LINK
    )
    _invite, token = Invite.issue(small_campaign.campaign, label="Ada", rater=rater)
    return f"/join/{token}/", rater


def text(answer) -> str:
    return answer.content.decode()


@OVER
def test_a_personal_link_leads_to_my_votes_on_another_device(personal, cast_votes, change):
    path, rater = personal
    laptop, phone = Client(), Client()
    laptop.post(path)
    cast_votes(laptop)
    Campaign.objects.update(**change)
    page = phone.get(path)
    assert page.status_code == 200 and '<form method="post"' in text(page) and "My votes" in text(page)
    assert phone.get(MINE).status_code == 404, "looking has changed nothing"
    assert phone.post(path)["Location"] == MINE
    assert phone.get(MINE).status_code == 200
    assert Rater.objects.get() == rater


def test_the_names_are_there_after_the_close(personal, cast_votes):
    path, _rater = personal
    laptop, phone = Client(), Client()
    laptop.post(path)
    cast_votes(laptop)
    Campaign.objects.update(status="closed", reveal="after_close")
    assert "which model wrote what" in text(phone.get(path))
    page = text(phone.post(path, follow=True))
    assert "A was " in page and "B was " in page


def test_nothing_is_revealed_while_it_is_paused(personal, cast_votes):
    path, _rater = personal
    laptop, phone = Client(), Client()
    laptop.post(path)
    cast_votes(laptop)
    Campaign.objects.update(status="paused", reveal="after_close")
    assert "A was " not in text(phone.post(path, follow=True))


@OVER
@pytest.mark.parametrize("kind", ["personal", "group"])
def test_nobody_new_begins_any_more(personal, small_campaign, change, kind):
    path = personal[0] if kind == "personal" else f"/join/{small_campaign.token}/"
    Campaign.objects.update(**change)
    visitor = Client()
    assert "<button" not in text(visitor.get(path)).split("<main")[1]
    assert visitor.post(path).status_code == 409
    assert Rater.objects.count() == 1 and not Invite.objects.filter(uses__gt=0).exists()
    assert visitor.get(MINE).status_code == 404


@OVER
def test_a_group_link_shows_the_way_to_my_votes_in_the_browser_that_voted(small_campaign, cast_votes, change):
    path = f"/join/{small_campaign.token}/"
    browser = Client()
    browser.post(path)
    cast_votes(browser)
    Campaign.objects.update(**change)
    assert f'href="{MINE}"' in text(browser.get(path))
    assert browser.post(path)["Location"] == MINE
    assert MINE not in text(Client().get(path))


def test_while_votes_are_taken_begin_goes_on_and_my_votes_stands_beside_it(small_campaign, cast_votes):
    path = f"/join/{small_campaign.token}/"
    browser = Client()
    browser.post(path)
    assert MINE not in text(browser.get(path)), "there is no vote yet"
    cast_votes(browser)
    page = text(browser.get(path))
    assert "Begin" in page and f'href="{MINE}"' in page
    assert browser.post(path)["Location"] == "/campaigns/small/battle/"


def test_whoever_voted_signed_in_comes_back_by_the_same_door(small_campaign, signed_in, cast_votes):
    Campaign.objects.update(admission=Campaign.Admission.LOGIN)
    door = "/campaigns/small/begin/"
    laptop = signed_in("mallory")
    laptop.post(door)
    cast_votes(laptop)
    Campaign.objects.update(status="closed")
    laptop.logout()
    phone = signed_in("mallory")
    assert "My votes" in text(phone.get(door))
    assert phone.post(door)["Location"] == MINE
    assert signed_in("dora").post(door).status_code == 409
    assert Rater.objects.filter(user__username="mallory").count() == 1
    assert not Rater.objects.filter(user__username="dora").exists()


def test_an_open_door_makes_no_new_rater_after_the_close(small_campaign):
    Campaign.objects.update(admission=Campaign.Admission.OPEN, status="closed")
    assert Client().post("/campaigns/small/begin/").status_code == 409
    assert not Rater.objects.exists()
