"""Whoever has seen votes could choose the prompts that are hard: then the board of hard prompts explores."""

import pytest
from django.urls import reverse
from django.utils import timezone

from arena.corpus.labels import set_labels
from arena.corpus.models import PromptSet
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.registration_words import chosen_margin, say_status
from arena.raters.models import Rater
from tests.leaderboards.plans_by_hand import record_votes, write_and_freeze


@pytest.mark.parametrize("when", ["before the first vote", "after it"])
def test_hard_prompts_chosen_after_the_first_vote_leave_the_board_exploratory(
    voted_campaign, cast_vote, cast, signed_in, when
):
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
    voted_campaign, cast_vote, cast, signed_in, criteria
):
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


def hard_study(voted_campaign, cast_vote, cast, signed_in):
    """A registered board of hard prompts, and who votes on."""
    small = voted_campaign(votes=0)
    write_and_freeze(signed_in("carol"), boards=["overall", "hard"])
    raters = [cast.alice_rater, cast.bob_rater, Rater.objects.create(team=cast.team, pseudonym="third")]
    record_votes(small, cast_vote, raters, numbers=range(160))
    hard = ensure_leaderboards(small.campaign)[1]
    assert snapshots.take_snapshot(hard).snapshot.plan == AnalysisPlan.objects.get()
    return small, hard, lambda numbers: record_votes(small, cast_vote, raters, numbers=numbers)


@pytest.mark.parametrize("back", [False, True], ids=["left out", "chosen again"])
def test_prompts_relabelled_while_their_set_was_out_of_the_campaign_leave_the_board_exploratory(
    voted_campaign, cast_vote, cast, signed_in, settings, back
):
    settings.BOOTSTRAP_RESAMPLES = 0
    small, hard, go_on = hard_study(voted_campaign, cast_vote, cast, signed_in)
    sets = list(small.campaign.prompt_sets.all())
    small.campaign.prompt_sets.clear()
    assert set_labels({small.prompts[1].pk: {"is_hard": True}}, source="hand", by="carol") == 1
    if back:
        small.campaign.prompt_sets.set(sets)
    go_on(range(160, 200))
    snapshot = snapshots.take_snapshot(hard).snapshot
    assert snapshot.plan is None
    assert say_status(snapshot) == "exploratory: which prompts are hard was changed after votes were in"


def test_labels_of_prompts_that_no_battle_and_no_set_of_the_campaign_has_change_nothing(
    voted_campaign, cast_vote, cast, signed_in, settings, make_campaign
):
    settings.BOOTSTRAP_RESAMPLES = 0
    _small, hard, go_on = hard_study(voted_campaign, cast_vote, cast, signed_in)
    other = make_campaign("other", prompts=2)
    assert set_labels({other.prompts[1].pk: {"is_hard": True}}, source="hand", by="carol") == 1
    go_on(range(160, 200))
    assert snapshots.take_snapshot(hard).snapshot.plan == AnalysisPlan.objects.get()


def test_prompts_of_a_set_published_after_the_first_vote_leave_the_board_of_hard_ones_exploratory(
    voted_campaign, cast_vote, cast, signed_in, settings, make_campaign
):
    """As good as labels changed: whoever published it could choose which of its prompts are hard."""
    settings.BOOTSTRAP_RESAMPLES = 0
    small, hard, go_on = hard_study(voted_campaign, cast_vote, cast, signed_in)
    other = make_campaign("other", prompts=2)
    PromptSet.objects.filter(prompts__in=other.prompts).update(published_at=timezone.now())
    go_on(range(160, 180))
    assert snapshots.take_snapshot(hard).snapshot.plan == AnalysisPlan.objects.get()
    small.prompts[18] = other.prompts[0]
    go_on(range(180, 190))
    snapshot = snapshots.take_snapshot(hard).snapshot
    assert snapshot.plan is None
    assert say_status(snapshot) == (
        "exploratory: prompts came in a set that was published after votes were in"
    )


def test_a_number_of_criteria_changed_while_a_snapshot_is_taken_and_changed_back_leaves_it_exploratory(
    voted_campaign, cast_vote, cast, signed_in, settings
):
    """What a snapshot was read with decides, not how the campaign stands when it is stored."""
    settings.BOOTSTRAP_RESAMPLES = 0
    small, hard, go_on = hard_study(voted_campaign, cast_vote, cast, signed_in)
    go_on(range(160, 200))
    small.campaign.hard_at_least = 1
    small.campaign.save()
    hard.refresh_from_db()
    rows, cutoff = snapshots.Round().rows_of(hard)
    computed = snapshots.fit(rows, snapshots.options_for(hard), cutoff)
    small.campaign.hard_at_least = 6
    small.campaign.save()
    run = snapshots.request_snapshot(hard.__class__.objects.get(pk=hard.pk))
    assert run.claim_it()
    assert snapshots.publish(run, computed, cutoff, 0).plan is None
