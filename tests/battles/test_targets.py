"""Drawing pauses where a campaign has enough; what is gone in the meantime is replaced."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from arena.battles import draw
from arena.battles.models import Battle, Vote
from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor, Response


def test_a_pair_on_a_prompt_gets_its_votes_and_no_more(make_campaign, make_rater, draw_all):
    small = make_campaign(target_votes=2)
    raters = [make_rater(small.campaign.team) for _ in range(4)]
    drawn = [len(draw_all(small.campaign, rater)) for rater in raters]
    assert drawn == [12, 12, 0, 0]
    cells = Counter((battle.prompt_id, battle.pair) for battle in Battle.objects.all())
    assert set(cells.values()) == {2}


def test_what_was_skipped_expired_or_undone_is_given_to_somebody_else(
    make_campaign, make_rater, draw_all, sit_down, vote_on
):
    small = make_campaign(prompts=1, target_votes=1)
    desk = sit_down(small)
    desk.look()
    first, second, third = Battle.objects.order_by("pk")
    desk.act(first, "skip")
    desk.vote(second)
    other = make_rater(small.campaign.team)
    assert {battle.pair for battle in draw_all(small.campaign, other)} == {first.pair}
    Battle.objects.filter(pk=third.pk).update(expires_at=timezone.now() - timedelta(minutes=1))
    assert {battle.pair for battle in draw_all(small.campaign, other)} == {third.pair}
    desk.act(second, "undo")
    assert draw_all(small.campaign, make_rater(small.campaign.team)) == [], "it came back to the same rater"


def test_a_prompt_gets_its_raters_and_no_more(make_campaign, make_rater, draw_all):
    small = make_campaign(target_raters=2)
    for _ in range(2):
        (battle,) = draw.draw(small.campaign, make_rater(small.campaign.team))
        while battle.prompt_id != small.prompts[0].pk:
            (battle,) = draw.draw(small.campaign, battle.rater)
    late = draw_all(small.campaign, make_rater(small.campaign.team))
    assert small.prompts[0].pk not in {battle.prompt_id for battle in late}
    raters = Counter(prompt for prompt, _ in Battle.objects.values_list("prompt", "rater").distinct())
    assert max(raters.values()) == 2


def test_a_rater_who_has_begun_a_prompt_stays_with_it_until_it_has_its_raters(
    make_campaign, make_rater, draw_all
):
    small = make_campaign(prompts=1, target_raters=2)
    assert len(draw_all(small.campaign, make_rater(small.campaign.team))) == 3


@pytest.mark.parametrize(("ends", "drawn"), [(-1, 0), (1, 1), (None, 1)])
def test_after_its_end_a_campaign_draws_nothing(small_campaign, make_rater, ends, drawn):
    campaign = small_campaign.campaign
    campaign.ends_at = None if ends is None else timezone.now() + timedelta(minutes=ends)
    assert len(draw.draw(campaign, make_rater(campaign.team))) == drawn


def test_a_battle_in_hand_may_be_voted_on_after_the_end(desk, small_campaign):
    battle = desk.on_screen()
    Campaign.objects.update(ends_at=timezone.now() - timedelta(seconds=1))
    assert desk.vote(battle).status_code == 200
    assert Vote.objects.get().battle == battle


@pytest.mark.parametrize("taken_out", ["withdrawn", "redacted"])
def test_what_is_taken_out_is_replaced_with_words(desk, small_campaign, taken_out):
    battle = desk.on_screen()
    if taken_out == "withdrawn":
        Competitor.objects.filter(pk=battle.competitor_b_id).update(status="withdrawn")
    else:
        Response.objects.filter(pk=battle.response_b_id).update(tombstone={"why": "personal data"})
    answer = desk.vote(battle)
    words = answer.content.decode()
    assert answer.status_code == 410
    assert "has been taken out since" in words
    assert not Vote.objects.exists()
    shown = desk.on_screen()
    assert shown != battle
    if taken_out == "withdrawn":
        assert all(battle.competitor_b_id not in each.pair for each in desk.open_battles())
    else:
        assert battle.response_b_id not in (shown.response_a_id, shown.response_b_id)


def test_a_retired_model_finishes_the_battles_it_is_in(desk):
    battle = desk.on_screen()
    Competitor.objects.filter(pk=battle.competitor_b_id).update(status="retired")
    assert desk.on_screen() == battle
    assert desk.vote(battle).status_code == 200
