"""Before "Begin" a rater reads what is kept, and who can tell whose it is."""

from __future__ import annotations

import csv
import html
import io

import pytest
from django.test import Client

from arena.campaigns import invites
from arena.campaigns.models import Campaign, Invite

pytestmark = pytest.mark.django_db

ANONYMOUS = "You stay anonymous"
BY_NAME = "This link was made for you by name."
BY_ACCOUNT = "what you do here is kept beside your account"
SENTENCES = {ANONYMOUS, BY_NAME, BY_ACCOUNT}


def said(visitor: Client, path: str) -> set[str]:
    page = html.unescape(visitor.get(path).content.decode())
    assert "What is kept" in page
    assert "the reasons, comments and flags you give" in page
    assert "which of them you skip" in page
    return {sentence for sentence in SENTENCES if sentence in page}


def test_who_comes_by_a_personal_link_reads_that_admins_know_the_name_and_they_do(signed_in, small_campaign):
    (link,) = invites.issue_personal(small_campaign.campaign, ["Ada Lovelace"])
    ada = Client()
    assert said(ada, f"/join/{link.token}/") == {BY_NAME}
    ada.post(f"/join/{link.token}/")
    roster = signed_in("carol").get("/campaigns/small/invites/roster.csv").content.decode("utf-8-sig")
    (row,) = csv.DictReader(io.StringIO(roster))
    assert (row["name"], row["pseudonym"]) == (
        "Ada Lovelace",
        Invite.objects.get(label="Ada Lovelace").rater.pseudonym,
    )
    page = signed_in("carol").get("/campaigns/small/invites/").content.decode()
    assert "nowhere else" not in page and "in the roster’s CSV alone" in page


def test_a_group_link_leaves_its_raters_anonymous(small_campaign):
    assert said(Client(), f"/join/{small_campaign.token}/") == {ANONYMOUS}


@pytest.mark.parametrize("named", [True, False])
def test_a_link_that_the_rater_made_says_what_the_first_one_said(small_campaign, named):
    first = small_campaign.token
    if named:
        first = invites.issue_personal(small_campaign.campaign, ["Ada"])[0].token
    rater = Client()
    rater.post(f"/join/{first}/")
    made = rater.post("/campaigns/small/my-link/").content.decode()
    path = "/join/" + made.partition("/join/")[2].partition("<")[0]
    assert said(Client(), path) == {BY_NAME if named else ANONYMOUS}


def test_a_named_rater_who_opens_the_group_link_is_still_named(small_campaign):
    """ "Begin" leads to their own place."""
    (link,) = invites.issue_personal(small_campaign.campaign, ["Ada"])
    ada = Client()
    ada.post(f"/join/{link.token}/")
    assert said(ada, f"/join/{small_campaign.token}/") == {BY_NAME}


def test_where_one_signs_in_the_account_is_named(signed_in, make_campaign):
    make_campaign("inside", admission=Campaign.Admission.LOGIN)
    assert said(signed_in("alice"), "/campaigns/inside/begin/") == {BY_ACCOUNT}


def test_an_open_door_leaves_its_raters_anonymous(make_campaign):
    make_campaign("door", admission=Campaign.Admission.OPEN)
    assert said(Client(), "/campaigns/door/begin/") == {ANONYMOUS}


@pytest.mark.parametrize(
    ("language", "words"), [("fr", "Ce lien a été créé à votre nom."), ("ar", "أُنشئ هذا الرابط باسمك.")]
)
def test_it_is_said_in_the_language_of_the_rater(small_campaign, language, words):
    (link,) = invites.issue_personal(small_campaign.campaign, ["Ada"])
    page = Client().get(f"/join/{link.token}/", headers={"Accept-Language": language})
    assert words in page.content.decode()


def test_only_a_link_that_ended_another_says_so(small_campaign):
    rater = Client()
    rater.post(f"/join/{small_campaign.token}/")
    ended = "the one that you made before no longer works"
    first, second = (rater.post("/campaigns/small/my-link/").content.decode() for _ in range(2))
    assert "It is shown only now:" in first and ended not in first
    assert ended in second
