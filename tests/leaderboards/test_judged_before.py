"""A judge's word that could be read before a plan was frozen leaves its boards exploratory."""

from datetime import timedelta

import pytest
from django.utils import timezone

from arena.endpoints.models import Call, CallAttempt, Endpoint
from arena.judging.models import JudgeCall, JudgeRun, Judgment
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.models import Leaderboard
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.registration import registered_under


@pytest.fixture
def asked(registered, cast, make_judge):
    """asked(minutes, reply, error): one order of an open judgment came so long after the freeze."""
    endpoint = Endpoint.objects.create(team=cast.team, name="E", base_url="https://e.invalid/v1")
    frozen_at = AnalysisPlan.objects.get().frozen_at

    def ask(minutes: int, reply: str, error: str = "") -> Leaderboard:
        judge = make_judge(registered, "Sage", {})
        JudgeRun.objects.update(kind=JudgeRun.Kind.ASKED)
        run = JudgeRun.objects.get()
        judgment = Judgment.objects.create(run=run, judge=judge, battle=registered.campaign.battles.first())
        call = Call.objects.create(endpoint=endpoint, key="ab")
        JudgeCall.objects.create(judgment=judgment, order="ab", call=call)
        CallAttempt.objects.create(
            call=call,
            number=1,
            request={},
            reply_text=reply,
            error_kind=error,
            started_at=frozen_at - timedelta(hours=1),
            finished_at=frozen_at + timedelta(minutes=minutes),
        )
        Judgment.objects.create(
            run=run,
            judge=judge,
            battle=registered.campaign.battles.last(),
            outcome="tie",
            resolved_at=timezone.now(),
        )
        ensure_leaderboards(registered.campaign)
        return Leaderboard.objects.get(source="judge", subset="all", style_control=False)

    return ask


@pytest.mark.parametrize(
    ("minutes", "reply", "error", "is_registered"),
    [
        (-1, "[[A]]", "", False),
        (-1, "", "", False),  # its text is gone since
        (-1, "no verdict in it", "parse_failed", False),
        (-1, "", "timeout", True),
        (1, "[[A]]", "", True),
    ],
)
def test_one_order_in_before_the_freeze_leaves_a_judges_board_exploratory(
    asked, minutes, reply, error, is_registered
):
    of_judge = asked(minutes, reply, error)
    assert (registered_under(of_judge) is not None) == is_registered


def test_what_a_judge_said_takes_nothing_from_peoples_boards(asked):
    asked(-1, "[[A]]")
    people = Leaderboard.objects.get(source="raters", subset="all", style_control=False)
    assert registered_under(people) == AnalysisPlan.objects.get()
