"""Which of several frozen plans a board follows: numbers and words go by one rule."""

from datetime import timedelta

import pytest
from django.utils import timezone

from arena.judging.models import JudgeRun, Judgment
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.models import Leaderboard
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.registration import plans_of
from arena.leaderboards.plans.registration_words import chosen_margin, say_registered
from tests.leaderboards.plans_by_hand import record_votes, write_and_freeze
from tests.leaderboards.test_boards import text_of


@pytest.fixture
def amended(registered, signed_in, settings):
    """A plan before the votes and two after them."""
    settings.BOOTSTRAP_RESAMPLES = 0
    for margin in ("5", "400"):
        write_and_freeze(signed_in("carol"), margin=margin, ties="half", both_bad="half")
    return registered


def options_and_words(board: Leaderboard):
    snapshot = snapshots.take_snapshot(board).snapshot
    chosen = {name: snapshot.options[name] for name in ("margin", "ties", "both_bad")}
    return snapshot, chosen, say_registered([snapshot])


FIRST = {"margin": 25.0, "ties": "drop", "both_bad": "drop"}


def test_a_vote_from_a_file_ends_the_registration_and_lets_no_amendment_change_a_number(
    amended, cast_vote, cast, signed_in
):
    carol = signed_in("carol")
    overall = ensure_leaderboards(amended.campaign)[0]
    long_ago = timezone.now() - timedelta(days=900)
    cast_vote(amended, amended.prompts[0], "Ember", "Fjord", "tie", cast.alice_rater, at=long_ago)
    snapshot, chosen, words = options_and_words(overall)
    assert (snapshot.plan, chosen) == (None, FIRST)
    assert words[0] == "exploratory: it counts votes from a file, which somebody may have seen before"
    assert words[1].startswith("amended after votes were in, which changes no number here: analysis plan 2 (")
    assert "that of analysis plan 1" in chosen_margin(snapshot).words
    write_and_freeze(carol, margin="7")
    assert snapshots.take_snapshot(overall).state == "unchanged"
    page = text_of(carol.get("/campaigns/joust/analysis-plan/"))
    assert "They keep the margin and policies of version 1 and stay exploratory" in page
    assert "a plan frozen now guides the boards" not in page
    report = text_of(carol.get("/boards/joust/report/"))
    assert "an amendment, which changes no number here" in report
    assert "frozen after votes were in, so that its answer" not in report


def test_where_only_files_brought_votes_the_newest_plan_is_followed_and_said_to_be(
    voted_campaign, signed_in, settings
):
    settings.BOOTSTRAP_RESAMPLES = 0
    small = voted_campaign(votes=240)
    carol = signed_in("carol")
    write_and_freeze(carol, margin="5")
    write_and_freeze(carol, margin="7")
    snapshot, chosen, words = options_and_words(ensure_leaderboards(small.campaign)[0])
    assert (snapshot.plan, chosen["margin"]) == (None, 7.0)
    assert not any("amended" in said for said in words)
    assert chosen_margin(snapshot).is_late and "that of analysis plan 2" in chosen_margin(snapshot).words
    assert "a plan frozen now guides the boards" in text_of(carol.get("/campaigns/joust/analysis-plan/"))


def judged_boards(small, make_judge, at) -> tuple[Leaderboard, Leaderboard]:
    """A judge's and the combined board; it spoke of each tenth battle, at that time."""
    judge = make_judge(small, "Sage", {})
    run = JudgeRun.objects.get()
    Judgment.objects.bulk_create(
        Judgment(run=run, judge=judge, battle=battle, outcome="model_a", resolved_at=at)
        for battle in small.campaign.battles.order_by("pk")[:120]
    )
    ensure_leaderboards(small.campaign)
    plain = Leaderboard.objects.filter(subset="all", style_control=False)
    return plain.get(source="judge"), plain.get(source="combined")


@pytest.mark.parametrize("kind", ["asked", "recorded", "came with the campaign"])
def test_boards_of_judges_follow_the_same_plan_whether_asked_here_or_brought_from_a_file(
    amended, make_judge, kind
):
    boards = judged_boards(amended, make_judge, timezone.now())
    first = AnalysisPlan.objects.get(version=1)
    if kind == "asked":
        JudgeRun.objects.update(kind=JudgeRun.Kind.ASKED)
    if kind == "came with the campaign":
        JudgeRun.objects.update(created_at=amended.campaign.created_at - timedelta(days=1))
    for board in boards:
        plans = plans_of(board)
        assert (plans.followed, plans.registers) == (first, kind == "asked")
        assert [plan.version for plan in plans.amendments] == [2, 3]
        _snapshot, chosen, words = options_and_words(board)
        assert chosen == FIRST
        assert ("registered" in words[0]) == (kind == "asked")
        if kind == "recorded":
            assert "judgments came in a file and may have been seen before" in words[0]
            assert "votes" not in words[0]


def test_a_judge_that_spoke_before_every_plan_leaves_its_boards_under_that_of_the_votes(amended, make_judge):
    boards = judged_boards(amended, make_judge, timezone.now() - timedelta(days=3))
    JudgeRun.objects.update(kind=JudgeRun.Kind.ASKED)
    for board in boards:
        snapshot, chosen, _words = options_and_words(board)
        assert (snapshot.plan, chosen) == (None, FIRST)


def test_judgments_before_the_votes_keep_their_boards_under_the_plan_before_them(
    voted_campaign, cast_vote, cast, signed_in, make_judge, settings
):
    settings.BOOTSTRAP_RESAMPLES = 0
    small, carol = voted_campaign(votes=0), signed_in("carol")
    write_and_freeze(carol)
    between = timezone.now()
    write_and_freeze(carol, margin="5")
    record_votes(small, cast_vote, [cast.alice_rater, cast.bob_rater, cast.alice_rater])
    of_judge, _combined = judged_boards(small, make_judge, between)
    JudgeRun.objects.update(kind=JudgeRun.Kind.ASKED)
    assert plans_of(ensure_leaderboards(small.campaign)[0]).before.version == 2
    assert plans_of(of_judge).before.version == 1
