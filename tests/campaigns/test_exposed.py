"""Where each vote reveals, the campaign's page says how many of its responses are known by name."""

import re

import pytest
from django.test import Client

from arena.campaigns.models import Campaign

pytestmark = pytest.mark.django_db


def said(visitor, slug: str = "small") -> str | None:
    page = " ".join(visitor.get(f"/campaigns/{slug}/").content.decode().replace("&nbsp;", " ").split())
    found = re.search(r"\d+ of \d+ responses \(\d+ %\)", page)
    return found[0] if found else None


@pytest.fixture
def revealing(make_campaign):
    """Three prompts with two responses each: a vote exposes two of the six, which nobody meets again."""
    return make_campaign(prompts=3, names=("Ember", "Fjord"), reveal=Campaign.Reveal.AFTER_VOTE)


def begin(small) -> Client:
    client = Client()
    client.post(f"/join/{small.token}/")
    return client


def test_the_share_is_what_one_counts_by_hand(signed_in, revealing, cast_votes):
    carol, first, second = signed_in("carol"), begin(revealing), begin(revealing)
    assert said(carol) == "0 of 6 responses (0 %)"
    cast_votes(first, 2)
    assert said(carol) == "4 of 6 responses (67 %)"
    cast_votes(second, 3)  # two of the three prompts for the second time
    assert said(carol) == "6 of 6 responses (100 %)"


def test_of_three_responses_to_one_prompt_a_vote_exposes_two(signed_in, make_campaign, cast_votes):
    small = make_campaign(prompts=1, names=("Ember", "Fjord", "Grove"), reveal=Campaign.Reveal.AFTER_VOTE)
    cast_votes(begin(small), 1)
    assert said(signed_in("carol")) == "2 of 3 responses (67 %)"


def test_a_battle_that_was_only_shown_exposes_nothing(signed_in, revealing):
    begin(revealing).get("/campaigns/small/battle/")
    assert revealing.campaign.battles.exists()
    assert said(signed_in("carol")) == "0 of 6 responses (0 %)"


def test_what_another_campaign_showed_of_the_same_responses_counts(signed_in, revealing, cast_votes):
    cast_votes(begin(revealing), 1)
    later = Campaign.objects.create(
        team=revealing.campaign.team, slug="later", name="Later", reveal=Campaign.Reveal.AFTER_VOTE
    )
    later.prompt_sets.set(revealing.campaign.prompt_sets.all())
    later.competitors.set(revealing.campaign.competitors.all())
    assert said(signed_in("carol"), "later") == "2 of 6 responses (33 %)"
    Campaign.objects.filter(slug="small").update(reveal=Campaign.Reveal.AFTER_CLOSE)
    assert said(signed_in("carol"), "later") == "0 of 6 responses (0 %)"
    Campaign.objects.filter(slug="small").update(status=Campaign.Status.CLOSED)
    assert said(signed_in("carol"), "later") == "2 of 6 responses (33 %)"


@pytest.mark.parametrize("reveal", [Campaign.Reveal.NEVER, Campaign.Reveal.AFTER_CLOSE])
def test_where_votes_reveal_nothing_it_says_nothing(signed_in, make_campaign, cast_votes, reveal):
    small = make_campaign(reveal=reveal)
    cast_votes(begin(small), 2)
    assert said(signed_in("carol")) is None


def test_it_is_said_to_admins(signed_in, revealing, cast_votes):
    cast_votes(begin(revealing), 1)
    assert said(signed_in("ravi")) is None
