"""What one rater's requests may do to each other when they come at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.test import Client

from arena.battles import draw
from arena.battles.models import Battle
from arena.campaigns.models import Campaign
from arena.raters.models import Rater

TABS = 8


def at_once(client: Client, path: str, times: int = TABS) -> list[int]:
    def look(_number: int) -> int:
        tab = Client()
        tab.cookies = client.cookies
        try:
            return tab.get(path).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(look, range(times)))


@pytest.mark.django_db(transaction=True)
def test_many_tabs_hold_no_more_battles_than_one(desk):
    assert set(at_once(desk.client, "/campaigns/small/battle/")) == {200}
    assert len(desk.open_battles()) <= draw.LEASES


@pytest.mark.django_db(transaction=True)
def test_where_votes_reveal_tabs_never_hold_one_text_in_two_battles(make_campaign, sit_down):
    small = make_campaign("many", prompts=1, names=("Ash", "Birch", "Cedar", "Doum"))
    Campaign.objects.update(reveal=Campaign.Reveal.AFTER_VOTE)
    desk = sit_down(small)
    at_once(desk.client, "/campaigns/many/battle/")
    texts = [text for one in desk.open_battles() for text in (one.response_a_id, one.response_b_id)]
    assert len(texts) == len(set(texts))


@pytest.mark.django_db(transaction=True)
def test_a_double_begin_makes_one_rater(small_campaign, signed_in):
    Campaign.objects.update(admission=Campaign.Admission.LOGIN)
    ravi = signed_in("ravi")

    def begin(_number: int) -> int:
        tab = Client()
        tab.cookies = ravi.cookies
        try:
            return tab.post("/campaigns/small/begin/").status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(TABS) as pool:
        assert set(pool.map(begin, range(TABS))) == {302}
    assert Rater.objects.filter(user__username="ravi").count() == 1
    assert not Battle.objects.exists()
