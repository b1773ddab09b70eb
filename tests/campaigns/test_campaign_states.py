from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from arena.battles.models import Gold
from arena.campaigns.models import Campaign

pytestmark = pytest.mark.django_db


def act(visitor, *names: str, **data) -> str:
    for name in names:
        visitor.post(f"/campaigns/small/{name}/", data)
    return Campaign.objects.get(slug="small").status


def test_pausing_is_undone_by_opening(signed_in, small_campaign):
    carol = signed_in("carol")
    assert act(carol, "pause") == "paused"
    assert "Links stay valid" in carol.get("/campaigns/small/").content.decode()
    assert act(carol, "open") == "open"


def test_closing_without_a_reveal_is_undone_by_opening(signed_in, small_campaign):
    Campaign.objects.update(reveal=Campaign.Reveal.NEVER)
    assert act(signed_in("carol"), "close") == "closed"
    assert act(signed_in("carol"), "open") == "open"
    assert Campaign.objects.get().names_shown_at is None


def test_a_campaign_whose_names_were_shown_opens_again_only_with_consent(signed_in, small_campaign):
    carol = signed_in("carol")
    act(carol, "close")
    answer = carol.post("/campaigns/small/open/", follow=True).content.decode()
    assert "Say that you know" in answer
    assert Campaign.objects.get().status == "closed"
    assert act(carol, "open", though_names_were_shown="on") == "open"
    again = Campaign.objects.get()
    assert again.names_were_shown
    assert not again.names_are_out
    assert "It has been closed once" in carol.get("/campaigns/small/").content.decode()


def test_after_reopening_nobody_meets_a_response_whose_name_they_saw(
    signed_in, make_campaign, client, cast_votes
):
    small = make_campaign(prompts=1)
    client.post(f"/join/{small.token}/")
    cast_votes(client)
    carol = signed_in("carol")
    act(carol, "close")
    assert "A was " in client.get("/campaigns/small/my-votes/").content.decode()
    act(carol, "open", though_names_were_shown="on")
    page = client.get("/campaigns/small/battle/").content.decode()
    assert '<article class="battle"' not in page
    assert 'data-act="undo"' not in page
    other = Client()
    other.post(f"/join/{small.token}/")
    assert '<article class="battle"' in other.get("/campaigns/small/battle/").content.decode()


def test_a_campaign_closed_before_this_was_kept_says_so_too(signed_in, small_campaign):
    closed = timezone.now() - timedelta(days=3)
    Campaign.objects.update(status="closed", closed_at=closed, names_shown_at=None)
    act(signed_in("carol"), "open", though_names_were_shown="on")
    assert Campaign.objects.get().names_shown_at == closed


def test_a_second_closing_keeps_when_names_were_first_shown(signed_in, small_campaign):
    carol = signed_in("carol")
    act(carol, "close")
    first = Campaign.objects.get().names_shown_at
    act(carol, "open", "close", though_names_were_shown="on")
    assert Campaign.objects.get().names_shown_at == first


@pytest.mark.parametrize(("status", "name"), [("draft", "pause"), ("closed", "pause"), ("draft", "close")])
def test_an_act_that_makes_no_sense_changes_nothing(signed_in, small_campaign, status, name):
    opened = None if status == "draft" else timezone.now()
    Campaign.objects.update(status=status, opened_at=opened)
    assert act(signed_in("carol"), name) == status


def test_an_end_date_in_the_past_keeps_a_draft_from_opening(signed_in, small_campaign):
    yesterday = timezone.now() - timedelta(days=1)
    Campaign.objects.update(status="draft", ends_at=yesterday)
    page = signed_in("carol").post("/campaigns/small/open/", follow=True).content.decode()
    assert "Its end date has passed" in page
    assert Campaign.objects.get().status == "draft"


def test_has_ended_turns_at_the_very_moment(small_campaign):
    end = timezone.now()
    campaign = small_campaign.campaign
    assert not campaign.has_ended(end)
    campaign.ends_at = end
    assert campaign.has_ended(end)
    assert not campaign.has_ended(end - timedelta(microseconds=1))


def test_a_copy_has_everything_but_votes_raters_links_and_the_end_date(signed_in, small_campaign, client):
    client.post(f"/join/{small_campaign.token}/")
    client.get("/campaigns/small/battle/")
    kept = {
        "target_votes": 3,
        "repeat_share": 0.2,
        "gold_share": 0.1,
        "leak_policy": "mask",
        "quota": 12,
        "plain_text": True,
    }
    Campaign.objects.update(ends_at=timezone.now() + timedelta(days=1), **kept)
    a, b = small_campaign.responses[:2]
    Gold.objects.create(
        campaign=small_campaign.campaign,
        prompt=small_campaign.prompts[0],
        response_a=a,
        response_b=b,
        expected="model_a",
    )
    assert signed_in("carol").post("/campaigns/small/clone/")["Location"] == "/campaigns/small-copy/"
    copy = Campaign.objects.get(slug="small-copy")
    assert (copy.status, copy.ends_at, copy.opened_at) == ("draft", None, None)
    assert {name: getattr(copy, name) for name in kept} == kept
    assert set(copy.competitors.all()) == set(small_campaign.competitors)
    assert list(copy.prompt_sets.all()) == [small_campaign.prompt_set]
    assert copy.current_guide.text == "Which response helps more?"
    assert copy.golds.count() == small_campaign.campaign.golds.count() == 1
    assert (copy.battles.count(), copy.invites.count()) == (0, 0)


def test_a_second_copy_has_an_address_of_its_own(signed_in, make_campaign):
    small = make_campaign("s" * 60)
    for _time in range(2):
        signed_in("carol").post(f"/campaigns/{small.campaign.slug}/clone/")
    copies = Campaign.objects.exclude(pk=small.campaign.pk).values_list("slug", flat=True)
    assert len(set(copies)) == 2
    assert all(len(slug) <= 60 for slug in copies)
