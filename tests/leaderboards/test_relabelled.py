"""Whoever has seen votes could choose the prompts that are hard: then the board of hard prompts explores."""

import pytest
from django.urls import reverse

from arena.corpus.labels import set_labels
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.registration_words import chosen_margin, say_status
from arena.raters.models import Rater
from tests.leaderboards.plans_by_hand import record_votes, write_and_freeze


@pytest.mark.parametrize("when", ["before the first vote", "after it"])
def test_hard_prompts_chosen_after_the_first_vote_leave_the_board_exploratory(
    voted_campaign, cast_vote, cast, signed_in, settings, when
):
    settings.BOOTSTRAP_RESAMPLES = 50
    small = voted_campaign(votes=0)
    write_and_freeze(signed_in("carol"), boards=["overall", "hard"])
    raters = [cast.alice_rater, cast.bob_rater, Rater.objects.create(team=cast.team, pseudonym="third")]
    label = lambda: set_labels({small.prompts[1].pk: {"is_hard": True}}, source="hand", by="carol")  # noqa: E731
    if when == "before the first vote":
        assert label() == 1
    record_votes(small, cast_vote, raters)
    if when == "after it":
        assert label() == 1
    overall, hard = (
        snapshots.take_snapshot(board).snapshot for board in ensure_leaderboards(small.campaign)[:2]
    )
    plan = AnalysisPlan.objects.get()
    assert overall.plan == plan
    assert "frozen before the first vote" in chosen_margin(hard).words
    page = signed_in("ravi").get(reverse("snapshot", args=[hard.pk])).content.decode()
    if when == "after it":
        assert hard.plan is None
        assert say_status(hard) == "exploratory: which prompts are hard was changed after votes were in"
        assert "which prompts are hard was changed" in page
    else:
        assert hard.plan == plan


@pytest.mark.parametrize("criteria", [1, 6])
def test_another_number_of_criteria_than_the_plan_froze_leaves_the_board_exploratory(
    voted_campaign, cast_vote, cast, signed_in, settings, criteria
):
    settings.BOOTSTRAP_RESAMPLES = 0
    small = voted_campaign(votes=0)
    write_and_freeze(signed_in("carol"), boards=["overall", "hard"])
    plan = AnalysisPlan.objects.get()
    assert (plan.hard_at_least, plan.hash_content()) == (6, plan.sha256)
    assert '"hard_at_least":6' in plan.canonical()
    raters = [cast.alice_rater, cast.bob_rater, Rater.objects.create(team=cast.team, pseudonym="third")]
    record_votes(small, cast_vote, raters)
    small.campaign.hard_at_least = criteria
    small.campaign.save()
    overall, hard = (
        snapshots.take_snapshot(board).snapshot for board in ensure_leaderboards(small.campaign)[:2]
    )
    assert overall.plan == plan
    if criteria == 6:
        assert hard.plan == plan
    else:
        assert hard.plan is None
        said = "exploratory: hard means another number of criteria than in analysis plan 1"
        assert say_status(hard) == said


def test_a_plan_frozen_before_that_was_noted_keeps_its_hash(voted_campaign, signed_in):
    voted_campaign(votes=0)
    write_and_freeze(signed_in("carol"))
    plan = AnalysisPlan.objects.get()
    plan.hard_at_least = None
    assert "hard_at_least" not in plan.canonical()
