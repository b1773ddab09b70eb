"""What an analysis plan says, in the words of its form, and what a later one changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.utils.translation import gettext as _

from arena.leaderboards.defaults import BOARDS
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.asked_pairs import say_pairs


def say_boards(names: Sequence[str]) -> str:
    return ", ".join(str(board.title) for board in BOARDS if board.name in names)


def say_changes(before: AnalysisPlan, later: AnalysisPlan) -> list[str]:
    """What is other than in the plan before, as sentences without their full stop."""
    words = _("%(what)s: %(now)s instead of %(before)s")
    old, new = dict(_told(before)), dict(_told(later))
    changed = [
        words % {"what": what, "now": now, "before": old[what]}
        for what, now in new.items()
        if now != old[what]
    ]
    if before.question != later.question:
        changed.insert(0, _("another question"))
    return changed or [_("nothing but its number")]


def _told(plan: AnalysisPlan) -> Iterator[tuple[str, str]]:
    none = _("none")
    yield _("margin"), _("%(points)s points") % {"points": f"{plan.margin:g}"}
    yield _("ties"), str(plan.get_ties_display())
    yield _("both bad"), str(plan.get_both_bad_display())
    yield _("boards"), say_boards(plan.boards)
    yield _("pairs"), say_pairs(plan.pairs)
    yield _("raters"), f"{plan.raters:,}" if plan.raters else none
    yield _("votes"), f"{plan.votes:,}" if plan.votes else none
