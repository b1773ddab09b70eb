"""Whoever has seen people's votes could make judges until one agrees: boards of judges made later explore."""

import pytest
from django.utils import timezone

from arena.judging.models import Judge, JudgeRun, Judgment
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.models import Leaderboard
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.registration_words import say_status
from tests.leaderboards.test_boards import text_of

WHY = "exploratory: its judge Late was made after analysis plan 1 was frozen"


@pytest.fixture
def ask(registered, make_judge, settings):
    """ask(late) by name: judges made before the plan was frozen, or after the votes, all asked now."""
    settings.BOOTSTRAP_RESAMPLES = 0

    def act(**judges: bool) -> dict[str, Leaderboard]:
        battles = list(registered.campaign.battles.order_by("pk")[:120])
        for name, is_late in judges.items():
            late = Judge.objects.create(team=registered.campaign.team, name=name) if is_late else None
            make_judge(registered, name, dict.fromkeys(battles, "model_a"), late)
        JudgeRun.objects.update(kind=JudgeRun.Kind.ASKED)
        Judgment.objects.update(resolved_at=timezone.now())
        plain = [one for one in ensure_leaderboards(registered.campaign) if one.slug.endswith("overall")]
        return {one.judge.name if one.source == "judge" else one.source: one for one in plain}

    return act


def told(board: Leaderboard) -> tuple[AnalysisPlan | None, str]:
    snapshot = snapshots.take_snapshot(board).snapshot
    return snapshot.plan, say_status(snapshot)


def test_a_judge_made_after_the_freeze_leaves_its_boards_exploratory_and_peoples_registered(ask, signed_in):
    boards = ask(Late=True)
    assert set(boards) == {"raters", "Late", "combined"}
    assert told(boards["Late"]) == told(boards["combined"]) == (None, WHY)
    assert told(boards["raters"])[0] == AnalysisPlan.objects.get()
    ravi, judge = signed_in("ravi"), Judge.objects.get()
    page = f"/boards/joust/?source=judge:{judge.pk}"
    assert WHY.removeprefix("exploratory: ") in text_of(ravi.get(page))


def test_a_judge_that_was_there_before_the_freeze_is_registered_however_late_it_is_asked(ask):
    boards, plan = ask(Sage=False), AnalysisPlan.objects.get()
    for name in ("Sage", "combined"):
        assert told(boards[name])[0] == plan


def test_one_late_judge_leaves_a_panel_exploratory_but_not_its_other_judges(ask):
    boards, plan = ask(Sage=False, Late=True), AnalysisPlan.objects.get()
    assert told(boards["panel"]) == told(boards["combined"]) == told(boards["Late"]) == (None, WHY)
    assert told(boards["Sage"])[0] == plan


def test_a_panel_whose_judges_were_all_there_before_the_freeze_is_registered(ask):
    boards, plan = ask(Sage=False, Owl=False), AnalysisPlan.objects.get()
    assert told(boards["panel"])[0] == told(boards["combined"])[0] == plan
