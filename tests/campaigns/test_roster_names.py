"""A name on the roster stays the person's, whatever links they make for themselves."""

from __future__ import annotations

import csv
import io

import pytest
from django.test import Client

from arena.campaigns.models import Invite
from arena.raters.models import Rater

pytestmark = pytest.mark.django_db

LINKS = "/campaigns/small/invites/"


def token_in(answer) -> str:
    return answer.content.decode().split("/join/")[1].split("/")[0].split("<")[0]


@pytest.fixture
def ada(signed_in, small_campaign, cast_votes) -> tuple[Client, str, str]:
    """Ada's browser, the link that she was sent and the one she made for another device."""
    sent = token_in(signed_in("carol").post(f"{LINKS}personal/", {"names": "Ada"}))
    browser = Client()
    browser.post(f"/join/{sent}/")
    cast_votes(browser)
    return browser, sent, token_in(browser.post("/campaigns/small/my-link/"))


def rows(visitor: Client) -> list[dict[str, str]]:
    text = visitor.get(f"{LINKS}roster.csv").content.decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


def test_the_roster_calls_a_person_by_name_and_tells_the_other_link(signed_in, ada):
    carol = signed_in("carol")
    (row,) = rows(carol)
    assert (row["name"], row["came_by"]) == ("Ada", "personal link")
    page = carol.get(LINKS).content.decode()
    assert "<bdi>Ada</bdi>" in page and "+ another device" in page
    assert "1 personal link" in carol.get("/campaigns/small/").content.decode()


def test_revoking_a_person_ends_all_their_links_at_once(signed_in, ada):
    browser, sent, made = ada
    carol = signed_in("carol")
    carol.post(f"{LINKS}{Invite.objects.get(label='Ada').pk}/revoke/")
    for token in (sent, made):
        assert "This link no longer works" in Client().get(f"/join/{token}/").content.decode()
        assert Client().post(f"/join/{token}/").status_code == 410
    assert browser.get("/campaigns/small/battle/").status_code == 404
    assert "+ another device" not in carol.get(LINKS).content.decode()


def test_a_suspended_raters_link_says_so_before_begin(ada):
    Rater.objects.update(is_active=False)
    _browser, sent, _made = ada
    assert Client().get(f"/join/{sent}/").status_code == 410


def test_a_new_link_lets_a_revoked_person_in_again(signed_in, ada):
    _browser, sent, made = ada
    carol, invite = signed_in("carol"), Invite.objects.get(label="Ada")
    carol.post(f"{LINKS}{invite.pk}/revoke/")
    fresh = token_in(carol.post(f"{LINKS}{invite.pk}/anew/"))
    assert Client().post(f"/join/{fresh}/").status_code == 302
    assert {Client().get(f"/join/{token}/").status_code for token in (sent, made)} == {410}
    assert [row["name"] for row in rows(carol)] == ["Ada"]


def test_whoever_came_by_a_group_link_stays_nameless_and_can_be_revoked(
    signed_in, small_campaign, cast_votes
):
    browser = Client()
    browser.post(f"/join/{small_campaign.token}/")
    cast_votes(browser)
    made = token_in(browser.post("/campaigns/small/my-link/"))
    carol, rater = signed_in("carol"), Rater.objects.latest("pk")
    (row,) = rows(carol)
    assert (row["name"], row["pseudonym"], row["came_by"]) == ("", rater.pseudonym, "link")
    carol.post(f"{LINKS}revoke/", {"invite": [Invite.objects.get(rater=rater).pk]})
    assert Client().get(f"/join/{made}/").status_code == 410
    assert Client().get(f"/join/{small_campaign.token}/").status_code == 200


def test_nobody_can_be_named_like_the_links_that_raters_make(signed_in, small_campaign):
    answer = signed_in("carol").post(f"{LINKS}personal/", {"names": Invite.OTHER_DEVICE})
    assert answer.status_code == 422
    assert not Invite.objects.filter(rater__isnull=False).exists()
