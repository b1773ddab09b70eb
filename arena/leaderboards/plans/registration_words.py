"""Whether boards were registered or explore, and why, in words: beside every number that could be quoted."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from arena.leaderboards import sentences
from arena.leaderboards.models import Leaderboard, Snapshot
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.reckoning import reckon, say_unanswered
from arena.leaderboards.plans.registration import board_name, frozen_plan


def say_registered(snapshots: Sequence[Snapshot]) -> list[str]:
    """Once for all, or by board where they differ. The snapshots are of one campaign."""
    if not snapshots:
        return []
    plan = frozen_plan(snapshots[0].leaderboard.campaign_id)
    told: dict[str, list[str]] = {}
    for snapshot in snapshots:
        name = _name_of(snapshot.leaderboard)
        names = told.setdefault(_status(snapshot, plan), [])
        if name not in names:
            names.append(name)
    if len(told) == 1:
        return list(told)
    return [f"{sentences.list_names(names)}: {words}" for words, names in told.items()]


def _status(snapshot: Snapshot, plan: AnalysisPlan | None) -> str:
    """`plan`: the newest that is frozen, which most often is the one a board is registered under."""
    under = plan if plan is not None and plan.pk == snapshot.plan_id else snapshot.plan
    if under is not None:
        told = _("registered under analysis plan %(version)d") % {"version": under.version}
        found = reckon(under)
        return told if found is None or found.answers else f"{told}, {say_unanswered(found)}"
    return _("exploratory: %(reason)s") % {"reason": _reason(snapshot, plan)}


def _reason(snapshot: Snapshot, plan: AnalysisPlan | None) -> str:
    if snapshot.leaderboard.part:
        return _("a part chosen after looking at votes proves nothing")
    if plan is None or plan.frozen_at is None:
        return _("no analysis plan was frozen")
    if plan.frozen_at > snapshot.cutoff:
        return _("the analysis plan was frozen after this snapshot")
    if board_name(snapshot.leaderboard) not in plan.boards:
        return _("the analysis plan doesn’t name this board")
    return _("votes came before the analysis plan was frozen, or from a file")


def _name_of(leaderboard: Leaderboard) -> str:
    return str(NAMES.get(board_name(leaderboard), leaderboard.name))


NAMES = {
    "overall": gettext_lazy("overall"),
    "hard": gettext_lazy("hard prompts"),
    "style": gettext_lazy("style-controlled"),
}
