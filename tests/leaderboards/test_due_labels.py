"""Boards are taken anew when it is said anew what is hard, as after votes; and once, not over and over."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from arena.corpus.labels import set_labels
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting.snapshots import do_round
from arena.leaderboards.models import Snapshot
from arena.leaderboards.run_models import SnapshotRun
from arena.leaderboards.schedule import is_due, request_due, request_snapshots
from tests.leaderboards.plans_by_hand import write_and_freeze

State = SnapshotRun.State


@pytest.fixture
def joust(voted_campaign, settings):
    """Three boards taken long ago; nothing is new."""
    settings.BOOTSTRAP_RESAMPLES = 2
    small = voted_campaign("joust", votes=200)
    go_round(small.campaign)
    assert Snapshot.objects.count() == 3
    return small


def go_round(campaign) -> dict[str, str]:
    """By board, how its attempt ended; as if an hour and a minute ago."""
    campaign.refresh_from_db()
    runs = request_snapshots(campaign)
    do_round(runs)
    an_hour_ago = timezone.now() - timedelta(minutes=61)
    SnapshotRun.objects.update(requested_at=an_hour_ago)
    # What was changed before this round lies before it.
    from arena.corpus.label_models import LabelChange
    from arena.leaderboards.plans.analysis_plan import AnalysisPlan

    LabelChange.objects.update(at=an_hour_ago)
    AnalysisPlan.objects.frozen().update(frozen_at=an_hour_ago)
    return {run.leaderboard.slug.removeprefix("joust-"): run.state for run in runs}


def prompt_of(small, hard: bool):
    voted = small.campaign.battles.values("prompt")
    return next(prompt for prompt in small.prompts if prompt.is_hard == hard and voted.filter(prompt=prompt))


def test_a_prompt_called_hard_makes_boards_due_once(joust):
    assert not is_due(joust.campaign)
    set_labels({prompt_of(joust, hard=False).pk: {"is_hard": True}}, source="hand", by="carol")
    assert is_due(joust.campaign)
    assert set(go_round(joust.campaign).values()) == {State.PUBLISHED}
    assert not is_due(joust.campaign)


def test_a_criterion_that_makes_nothing_hard_costs_one_round_and_no_snapshot(joust):
    set_labels({prompt_of(joust, hard=True).pk: {"creativity": True}}, source="llm")
    assert is_due(joust.campaign)
    assert set(go_round(joust.campaign).values()) == {State.UNCHANGED}
    assert not is_due(joust.campaign)
    assert Snapshot.objects.count() == 3


def test_labels_of_prompts_that_the_campaign_does_not_have_make_nothing_due(joust, make_campaign):
    other = make_campaign("other")
    set_labels({other.prompts[1].pk: {"is_hard": True}}, source="hand")
    assert not is_due(joust.campaign)


def test_another_number_of_criteria_makes_boards_due_once(joust):
    joust.campaign.hard_at_least = 5
    joust.campaign.save()
    assert is_due(joust.campaign)
    go_round(joust.campaign)
    assert not is_due(joust.campaign)
    assert {snapshot.counts["hard_at_least"] for snapshot in Snapshot.objects.order_by("-pk")[:3]} == {5}


def test_a_board_that_could_not_be_fitted_anew_is_not_tried_for_a_number_of_criteria_alone(joust):
    """What can't be fitted keeps its old snapshot: it would be asked for with every round."""
    joust.campaign.hard_at_least = 5
    joust.campaign.save()
    SnapshotRun.objects.update(state=State.NOT_ENOUGH)
    assert not is_due(joust.campaign)


def test_a_plan_frozen_after_votes_counts_draws_otherwise_from_the_next_round_on(joust, signed_in):
    write_and_freeze(signed_in("carol"), ties="drop", both_bad="drop")
    assert is_due(joust.campaign)
    assert set(go_round(joust.campaign).values()) == {State.PUBLISHED}
    assert Snapshot.objects.first().options["ties"] == "drop"
    assert not is_due(joust.campaign)


def test_the_sweep_asks_for_relabelled_boards(joust):
    set_labels({prompt_of(joust, hard=False).pk: {"is_hard": True}}, source="file")
    request_due()
    assert SnapshotRun.objects.open().count() == 3
    request_due()
    assert SnapshotRun.objects.open().count() == 3


def test_whether_an_idle_campaign_is_due_takes_the_same_few_questions_however_much_it_holds(
    joust, voted_campaign
):
    def asked(campaign) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert not is_due(campaign)
        return len(queries)

    few = asked(joust.campaign)
    large = voted_campaign("large", votes=600, raters=40)
    ensure_leaderboards(large.campaign)
    go_round(large.campaign)
    assert asked(large.campaign) == few <= 16
