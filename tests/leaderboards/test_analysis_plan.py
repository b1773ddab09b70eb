"""A plan is written, frozen, and from then on decides what boards are and whether they are registered."""

import itertools

import pytest
from django.db import DatabaseError, transaction
from django.urls import reverse
from django.utils import timezone

from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.models import Snapshot, Standing
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.raters.models import Rater
from tests.leaderboards.conftest import NAMES

DRAFT = {
    "question": "Is Ember better than Fjord?",
    "margin": "25",
    "ties": "drop",
    "both_bad": "drop",
    "boards": ["overall", "style"],
    "raters": "20",
    "votes": "600",
}


@pytest.fixture(autouse=True)
def few_resamples(settings):
    settings.BOOTSTRAP_RESAMPLES = 50


def plan_page(visitor, slug="joust") -> str:
    return visitor.get(reverse("analysis-plan", args=[slug])).content.decode()


def write_and_freeze(carol, slug="joust", **changes):
    assert carol.post(reverse("analysis-plan-save", args=[slug]), DRAFT | changes).status_code == 302
    assert carol.post(reverse("analysis-plan-freeze", args=[slug])).status_code == 302


def test_boards_named_by_a_plan_frozen_before_the_first_vote_are_registered(
    voted_campaign, cast_vote, cast, signed_in
):
    small = voted_campaign(votes=0)
    write_and_freeze(signed_in("carol"))
    raters = [cast.alice_rater, cast.bob_rater, Rater.objects.create(team=cast.team, pseudonym="third")]
    record_votes(small, cast_vote, raters)
    overall, hard, style = ensure_leaderboards(small.campaign)
    taken = {board.slug: snapshots.take_snapshot(board).snapshot for board in (overall, hard, style)}
    plan = AnalysisPlan.objects.get()
    assert taken[overall.slug].plan == plan
    assert taken[style.slug].plan == plan
    assert taken[hard.slug].plan is None
    assert taken[overall.slug].options["margin"] == 25
    assert taken[overall.slug].options["ties"] == taken[overall.slug].options["both_bad"] == "drop"
    page = signed_in("ravi").get(reverse("snapshot", args=[taken[overall.slug].pk])).content.decode()
    assert "registered under analysis plan 1" in page
    assert plan.sha256 in page


def record_votes(small, cast_vote, raters, kind="regular"):
    """240 votes by two people, on all pairs in turn."""
    pairs = list(itertools.combinations(NAMES, 2))
    for number in range(240):
        prompt, (a, b) = small.prompts[number // 10], pairs[number % 10]
        outcome = "model_b" if number % 7 == 0 else "model_a"
        cast_vote(small, prompt, a, b, outcome, raters[number % 3], at=timezone.now(), kind=kind)


def test_votes_from_a_file_leave_every_board_exploratory_whatever_their_date(
    voted_campaign, cast_vote, cast, signed_in
):
    small, carol = voted_campaign(votes=0), signed_in("carol")
    write_and_freeze(carol)
    raters = [cast.alice_rater, cast.bob_rater, Rater.objects.create(team=cast.team, pseudonym="third")]
    record_votes(small, cast_vote, raters, kind="recorded")
    assert snapshots.take_snapshot(ensure_leaderboards(small.campaign)[0]).snapshot.plan is None
    assert "votes that came in a file" in plan_page(carol)


def test_a_plan_frozen_after_a_vote_leaves_every_board_exploratory(voted_campaign, signed_in):
    small = voted_campaign(votes=300)
    carol = signed_in("carol")
    write_and_freeze(carol)
    snapshot = snapshots.take_snapshot(ensure_leaderboards(small.campaign)[0]).snapshot
    assert snapshot.plan is None
    assert snapshot.options["margin"] == 25
    assert "There were votes before it was frozen" in plan_page(carol)


def test_a_draft_changes_no_number(voted_campaign, signed_in):
    small = voted_campaign(votes=300)
    signed_in("carol").post(reverse("analysis-plan-save", args=["joust"]), DRAFT)
    snapshot = snapshots.take_snapshot(ensure_leaderboards(small.campaign)[0]).snapshot
    assert snapshot.options["margin"] == 10
    assert snapshot.plan is None


def test_a_frozen_plan_never_changes_and_a_change_of_mind_is_the_next_version(voted_campaign, signed_in):
    voted_campaign(votes=0)
    carol = signed_in("carol")
    write_and_freeze(carol)
    first = AnalysisPlan.objects.get()
    carol.post(reverse("analysis-plan-save", args=["joust"]), DRAFT | {"margin": "50"})
    carol.post(reverse("analysis-plan-save", args=["joust"]), DRAFT | {"margin": "60"})
    second = AnalysisPlan.objects.get(version=2)
    assert second.frozen_at is None
    assert second.margin == 60
    first.refresh_from_db()
    assert first.margin == 25
    assert not first.freeze(None)


def test_a_plan_that_changed_since_it_was_read_is_not_frozen(voted_campaign, signed_in):
    voted_campaign(votes=0)
    signed_in("carol").post(reverse("analysis-plan-save", args=["joust"]), DRAFT)
    read = AnalysisPlan.objects.get()
    AnalysisPlan.objects.update(question="Something else?")
    assert not read.freeze(None)
    assert AnalysisPlan.objects.get().frozen_at is None


@pytest.mark.parametrize(
    "wrong", [{"question": ""}, {"margin": "0"}, {"margin": "nan"}, {"ties": "maybe"}, {"boards": ["best"]}]
)
def test_a_wrong_plan_is_refused_with_words(voted_campaign, signed_in, wrong):
    voted_campaign(votes=0)
    response = signed_in("carol").post(reverse("analysis-plan-save", args=["joust"]), DRAFT | wrong)
    assert response.status_code == 422
    assert "errorlist" in response.content.decode()
    assert not AnalysisPlan.objects.exists()


def test_researchers_read_a_plan_and_admins_alone_write_it(voted_campaign, signed_in):
    voted_campaign(votes=0)
    ravi = signed_in("ravi")
    assert (
        "An admin of the team can write one"
        in ravi.get(reverse("analysis-plan", args=["joust"])).content.decode()
    )
    assert ravi.post(reverse("analysis-plan-save", args=["joust"]), DRAFT).status_code == 404


def test_the_plan_says_what_its_raters_and_votes_can_find(make_campaign, signed_in):
    make_campaign("joust", prompts=60)
    carol = signed_in("carol")
    carol.post(reverse("analysis-plan-save", args=["joust"]), DRAFT | {"raters": "60", "votes": "6000"})
    assert "find a difference of about" in plan_page(carol)
    carol.post(reverse("analysis-plan-save", args=["joust"]), DRAFT | {"raters": "1", "votes": "1"})
    assert "can’t tell any two models apart" in plan_page(carol)


@pytest.mark.parametrize("model", [Snapshot, Standing])
@pytest.mark.parametrize("act", ["update", "delete"])
def test_snapshots_and_standings_are_append_only(voted_campaign, model, act):
    snapshots.take_snapshot(ensure_leaderboards(voted_campaign(votes=300).campaign)[0])
    rows = model.objects.all()
    field = "seed" if model is Snapshot else "rating"
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        rows.update(**{field: 1}) if act == "update" else rows._raw_delete(rows.db)
