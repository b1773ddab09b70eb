from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from arena.battles.models import Battle
from arena.campaigns.models import Campaign
from arena.campaigns.progress import bars, possible_cells, time_bar
from arena.corpus.models import Response

pytestmark = pytest.mark.django_db


@pytest.fixture
def people_vote(small_campaign, cast_votes):
    def go(people: int, votes: int) -> None:
        for _person in range(people):
            client = Client()
            client.post(f"/join/{small_campaign.token}/")
            cast_votes(client, votes)

    return go


def test_every_pair_on_every_prompt_can_be_voted_on(small_campaign):
    assert possible_cells(small_campaign.campaign) == 4 * 3


def test_a_pair_with_one_text_is_no_battle_unless_another_sample_differs(small_campaign, make_response):
    first, second, _third = Response.objects.filter(prompt=small_campaign.prompts[0]).order_by("pk")
    Response.objects.filter(pk=second.pk).update(text_hash=first.text_hash)
    assert possible_cells(small_campaign.campaign) == 11
    make_response(second.prompt, second.competitor, "Another try.", sample=2)
    assert possible_cells(small_campaign.campaign) == 12


def test_votes_beyond_the_target_do_not_count_towards_it(small_campaign, people_vote):
    people_vote(people=3, votes=2)
    pairs = Battle.objects.filter(vote__isnull=False)
    cells = {(battle.prompt_id, battle.pair) for battle in pairs}
    campaign = small_campaign.campaign
    campaign.target_votes = 1
    (bar,) = bars(campaign)
    assert (bar.done, bar.of, bar.is_full) == (len(cells), 12, False)


def test_raters_are_counted_once_a_prompt(small_campaign, people_vote):
    people_vote(people=2, votes=3)
    pairs = {(battle.prompt_id, battle.rater_id) for battle in Battle.objects.filter(vote__isnull=False)}
    campaign = small_campaign.campaign
    campaign.target_raters = 5
    (bar,) = bars(campaign)
    assert (bar.done, bar.of) == (len(pairs), 5 * 4)


def test_the_time_passes_from_the_opening_to_the_end():
    start = timezone.now()
    bar = time_bar(start, start + timedelta(hours=10), start + timedelta(hours=4, minutes=5))
    assert (bar.done, bar.of) == (4, 10)
    assert time_bar(start, start + timedelta(hours=10), start + timedelta(days=9)).is_full


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_the_page_shows_a_bar_for_each_target(signed_in, small_campaign, headers):
    end = timezone.now() + timedelta(days=1)
    Campaign.objects.update(target_votes=2, target_raters=3, ends_at=end)
    assert "campaigns/small/progress/" in signed_in("ravi").get("/campaigns/small/").content.decode()
    page = signed_in("ravi").get("/campaigns/small/progress/", headers=headers).content.decode()
    assert page.count("<progress") == 3


def test_a_rater_who_comes_after_the_end_is_told_kindly(client, small_campaign):
    Campaign.objects.update(ends_at=timezone.now())
    page = client.get(f"/join/{small_campaign.token}/").content.decode()
    assert "has come to its end" in page
    assert "Begin</button>" not in page


def test_a_rater_at_work_is_thanked_when_the_end_comes(client, small_campaign, cast_votes):
    client.post(f"/join/{small_campaign.token}/")
    cast_votes(client)
    Battle.objects.filter(vote=None).update(expires_at=timezone.now())
    Campaign.objects.update(ends_at=timezone.now())
    page = client.get("/campaigns/small/battle/").content.decode()
    assert "This campaign has come to its end" in page
    assert "My votes" in page


def test_a_rater_who_finds_the_targets_met_is_thanked(client, small_campaign, people_vote):
    Campaign.objects.update(target_raters=1)
    people_vote(people=1, votes=4)
    client.post(f"/join/{small_campaign.token}/")
    page = client.get("/campaigns/small/battle/").content.decode()
    assert "all the votes that it asked for" in page


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"status": "draft", "opened_at": None}, "No target is set, and it isn’t open yet."),
        ({"status": "open", "opened_at": timezone.now()}, "No target is set: it goes on until you close it."),
        ({"status": "closed", "opened_at": timezone.now()}, "No target was set."),
    ],
)
def test_without_a_target_the_page_says_what_ends_it(small_campaign, signed_in, state, words):
    Campaign.objects.update(target_votes=None, target_raters=None, ends_at=None, **state)
    assert words in signed_in("ravi").get("/campaigns/small/progress/").content.decode()
