"""Judges made after a plan was frozen: whoever has seen votes could make judges until one agrees."""

from __future__ import annotations

from django.db.models import Exists, OuterRef
from django.utils.translation import gettext as _

from arena.battles.models import Battle
from arena.judging.models import Judge, Judgment
from arena.leaderboards.models import Leaderboard
from arena.leaderboards.plans.analysis_plan import AnalysisPlan


def late_judge(leaderboard: Leaderboard, plan: AnalysisPlan) -> Judge | None:
    """One that is heard on the board and wasn't there when the plan was frozen. A judge and its rubric never
    change, so that one made before may be asked at any time.
    """
    if leaderboard.source == Leaderboard.Source.RATERS or plan.frozen_at is None:
        return None
    late = Judge.objects.filter(created_at__gt=plan.frozen_at).order_by("pk")
    if leaderboard.judge_id is not None:
        return late.filter(pk=leaderboard.judge_id).first()
    said = Judgment.objects.filter(run__campaign=leaderboard.campaign_id, judge=OuterRef("pk"))
    heard = said.exclude(outcome__in=("", Judgment.Outcome.NO_VERDICT)).exclude(battle__kind=Battle.Kind.GOLD)
    return late.filter(Exists(heard)).first()


def say_late_judge(judge: Judge, plan: AnalysisPlan) -> str:
    return _("its judge %(judge)s was made after analysis plan %(version)d was frozen") % {
        "judge": judge.name,
        "version": plan.version,
    }
