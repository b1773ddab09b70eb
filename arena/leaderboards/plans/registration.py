"""What a frozen analysis plan means for a campaign's boards: their options, and which are registered."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import Q

from arena.battles.models import Battle, Vote
from arena.campaigns.models import Campaign
from arena.judging.models import JudgeRun, Judgment
from arena.leaderboards.defaults import BOARDS
from arena.leaderboards.models import Leaderboard
from arena.leaderboards.plans.analysis_plan import AnalysisPlan


def frozen_plan(campaign: Campaign | int) -> AnalysisPlan | None:
    """The newest one that is frozen: a draft changes no number."""
    return AnalysisPlan.objects.frozen().filter(campaign=campaign).first()


def options_of(plan: AnalysisPlan | None) -> dict[str, Any]:
    """Options of a fit that the plan decides."""
    if plan is None:
        return {}
    return {"ties": plan.ties, "both_bad": plan.both_bad, "margin": plan.margin}


def registered_under(leaderboard: Leaderboard) -> AnalysisPlan | None:
    """The plan that names this board and was frozen before its first vote; None: the board explores.

    Votes from a file explore too, whatever day it names: nobody here knows who had seen them before.
    """
    plan = frozen_plan(leaderboard.campaign_id)
    if plan is None or plan.frozen_at is None or board_name(leaderboard) not in plan.boards:
        return None
    return None if anything_before(leaderboard, plan.frozen_at) else plan


def board_name(leaderboard: Leaderboard) -> str:
    """Of the three that are read together; "" for a leaderboard of another make."""
    for board in BOARDS:
        if (board.subset, board.style_control) == (leaderboard.subset, leaderboard.style_control):
            return "" if leaderboard.policies or leaderboard.part else board.name
    return ""


def anything_before(leaderboard: Leaderboard, at: datetime) -> bool:
    """Had anybody seen an outcome of this campaign, of people or of a judge that the board counts?"""
    votes = Vote.objects.filter(battle__campaign=leaderboard.campaign_id)
    voted = votes.filter(Q(voted_at__lt=at) | Q(battle__kind=Battle.Kind.RECORDED)).exists()
    if voted or leaderboard.source == Leaderboard.Source.RATERS:
        return voted
    judged = Judgment.objects.filter(run__campaign=leaderboard.campaign_id)
    return judged.filter(Q(resolved_at__lt=at) | Q(run__kind=JudgeRun.Kind.RECORDED)).exists()
