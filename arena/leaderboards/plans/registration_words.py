"""Whether boards were registered or explore, and why, in words: beside every number that could be quoted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from arena.campaigns.choice_models import Choice
from arena.campaigns.models import Campaign
from arena.corpus.models import HARD_AT_LEAST
from arena.instants import say_day
from arena.leaderboards import sentences
from arena.leaderboards.models import Leaderboard, Snapshot
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.asked_pairs import say_asked
from arena.leaderboards.plans.asked_tests import asks_about
from arena.leaderboards.plans.late_judges import say_late_judge
from arena.leaderboards.plans.looks import look_of, say_look
from arena.leaderboards.plans.reckoning import reckon, say_unanswered
from arena.leaderboards.plans.registration import (
    Plans,
    Seen,
    board_name,
    hard_means_another,
    holds_recorded,
    options_of,
    plans_of,
    seen_before,
)
from arena.leaderboards.row_words import in_rows

_LATE = {
    Seen.VOTES: gettext_lazy("frozen after votes were in"),
    Seen.VOTES_OF_FILE: gettext_lazy("frozen, but votes came in a file and may have been seen before"),
    Seen.JUDGMENTS: gettext_lazy("frozen after judgments were in"),
    Seen.JUDGMENTS_OF_FILE: gettext_lazy(
        "frozen, but judgments came in a file and may have been seen before"
    ),
}


def say_late(plans: Plans, plan: AnalysisPlan) -> str:
    """Of a plan under which no board is registered, the reason that applies to these boards."""
    seen = seen_before(plans.leaderboard, plan.frozen_at) if plan.frozen_at else None
    return str(_LATE[seen or Seen.VOTES])


def say_registered(
    snapshots: Sequence[Snapshot], plans: Plans | None = None, two: tuple[int, int] | None = None
) -> list[str]:
    """Once for all, or by board where they differ, and what was changed after votes; all of one source.

    plans: theirs, where somebody has them already · two: the models that alone are spoken of, by number.
    """
    if not snapshots:
        return []
    plans = plans or plans_of(snapshots[0].leaderboard, snapshots)
    told: dict[str, dict[str, list[str]]] = {}
    for snapshot in snapshots:
        standing, look = _status(snapshot, plans, two)
        names = told.setdefault(standing, {}).setdefault(look, [])
        if (name := _name_of(snapshot.leaderboard)) not in names:
            names.append(name)
    amended = [say_amended(plans)] if plans.amendments else []
    return [*(_say_of(looks, words, len(told) > 1) for words, looks in told.items()), *amended]


def _say_of(looks: Mapping[str, list[str]], standing: str, is_named: bool) -> str:
    """What boards share is said once, and which look each of them is where these differ."""
    each = list(looks)
    if len(looks) > 1:
        each = [f"{sentences.list_names(names)} {look}" for look, names in looks.items()]
    words = "; ".join(filter(None, [standing, *each]))
    names = [name for names in looks.values() for name in names]
    return f"{sentences.list_names(names)}: {words}" if is_named else words


def address_of_plans(campaign: Campaign) -> str:
    """Where whoever may read the boards reads its frozen plans; empty without one."""
    frozen = AnalysisPlan.objects.frozen().filter(campaign=campaign)
    return reverse("board-plan", args=[campaign.slug]) if frozen.exists() else ""


def say_status(snapshot: Snapshot) -> str:
    """Of one board alone, without what was changed later."""
    return "; ".join(filter(None, _status(snapshot, plans_of(snapshot.leaderboard, [snapshot]))))


def say_amended(plans: Plans) -> str:
    late = _(", ").join(_plan_and_day(plan) for plan in plans.amendments)
    return _("amended after votes were in, which changes no number here: %(plans)s") % {"plans": late}


def _plan_and_day(plan: AnalysisPlan) -> str:
    day = "" if plan.frozen_at is None else say_day(plan.frozen_at)
    return _("analysis plan %(version)d (%(day)s)") % {"version": plan.version, "day": day}


def _status(snapshot: Snapshot, plans: Plans, two: tuple[int, int] | None = None) -> tuple[str, str]:
    """How it stands to the plan, and which look it is; boards most often share the plan of `plans`."""
    before = plans.before
    under = before if before is not None and before.pk == snapshot.plan_id else snapshot.registered_plan
    if under is not None:
        words = {"version": under.version, "asked": say_asked(under.pairs)}
        if two and not asks_about(under, *two):
            told = _("exploratory: it isn’t this pair that analysis plan %(version)d names, %(asked)s")
            return told % words, ""
        told = _("registered under analysis plan %(version)d") % words
        if under.pairs:
            told = f"{told}, {words['asked']}"
        found, look = reckon(under), look_of(snapshot, under)
        if found is not None and not found.answers:
            told = f"{told}, {say_unanswered(found)}"
        return told, say_look(look, snapshot) if look else ""
    return _("exploratory: %(reason)s") % {"reason": _reason(snapshot, plans)}, ""


def _reason(snapshot: Snapshot, plans: Plans) -> str:
    if snapshot.leaderboard.part:
        return _("a part chosen after looking at votes proves nothing")
    plan = plans.followed
    if plan is None:
        return _("no analysis plan was frozen")
    if plans.before is not None:
        late = say_late_judge(plans.late_judge, plan) if plans.late_judge else ""
        return _why_not_under(plan, snapshot, plans) or late or _why_not_then(snapshot, plans)
    if plan.came_from_file:
        return _why_not_under(plan, snapshot, plans) or _of_file(plan, plans)
    first = plans.frozen[0]
    if first.frozen_at is not None and first.frozen_at > snapshot.cutoff:
        return _("analysis plan %(version)d was frozen after this snapshot") % {"version": first.version}
    told = plan if plans.amendments else first
    return _("analysis plan %(version)d was %(late)s") % {
        "version": told.version,
        "late": say_late(plans, told),
    }


def _of_file(plan: AnalysisPlan, plans: Plans) -> str:
    """Of a campaign that came back from an export: what that says of itself is told, and not believed."""
    there = (
        _("by the file analysis plan %(version)d came before the first vote there")
        if plans.is_first and not holds_recorded(plans.leaderboard.campaign)
        else _("by the file votes may have been seen before the plan there too")
    )
    told = _(
        "its plan and votes came from a file, and what was registered where they were collected can’t be"
        " checked here (%(there)s)"
    )
    return told % {"there": there % {"version": plan.version}}


def _why_not_under(plan: AnalysisPlan, snapshot: Snapshot, plans: Plans) -> str:
    """What the plan, or a board of hard prompts, has against it; empty if nothing."""
    if not _names(plan, snapshot):
        return _("analysis plan %(version)d didn’t name this board") % {"version": plan.version}
    if snapshot.leaderboard.subset == Leaderboard.Subset.HARD:
        if hard_means_another(plan, snapshot.counts.get("hard_at_least", HARD_AT_LEAST)):
            return _("hard means another number of criteria than in analysis plan %(version)d") % {
                "version": plan.version
            }
        if plans.is_relabelled:
            return in_rows(
                _("which prompts are hard was changed after votes were in"), snapshot.leaderboard.is_judged
            )
        if plans.is_published_since:
            return in_rows(
                _("prompts came in a set that was published after votes were in"),
                snapshot.leaderboard.is_judged,
            )
    if plans.is_rechosen:
        return in_rows(
            _("prompt sets were added or taken out after votes were in"), snapshot.leaderboard.is_judged
        )
    return ""


def _why_not_then(snapshot: Snapshot, plans: Plans) -> str:
    """Snapshots were taken while a later plan took the place of the first."""
    chosen = chosen_by(snapshot, plans)
    if chosen in plans.amendments:
        words = _("it follows analysis plan %(version)d, which was frozen after votes were in")
        return words % {"version": chosen.version}
    return _("it counts votes from a file, which somebody may have seen before")


def chosen_by(snapshot: Snapshot, plans: Plans) -> AnalysisPlan | None:
    """Whose margin and policies a snapshot was fitted with; None: those that boards have by default."""
    if plans.followed is not None and plans.followed.pk == snapshot.plan_id:
        return plans.followed
    there = [plan for plan in plans.frozen if plan.frozen_at and plan.frozen_at <= snapshot.taken_at]
    # The one that boards follow now; else, as of before, the newest of its day.
    for plan in sorted(there, key=lambda plan: (plan != plans.followed, -plan.version)):
        if options_of(plan).items() <= snapshot.options.items():
            return plan
    return None


@dataclass(frozen=True)
class ChosenMargin:
    """Who chose a board's margin and when, as a sentence. is_late: maybe after votes were in."""

    words: str
    is_late: bool = False


def chosen_margin(snapshot: Snapshot) -> ChosenMargin:
    plans = plans_of(snapshot.leaderboard, [snapshot])
    plan = chosen_by(snapshot, plans)
    words = {"margin": f"{float(snapshot.options['margin']):g}"}
    if plan is None:
        return ChosenMargin(_("The margin of %(margin)s points is the usual one: no plan named it.") % words)
    words |= {"plan": _plan_and_day(plan)}
    if plan == snapshot.registered_plan or (plan == plans.before and _names(plan, snapshot)):
        told = _("The margin of %(margin)s points is that of %(plan)s, frozen before the first vote.")
        return ChosenMargin(told % words)
    if plan == plans.before:
        told = _("The margin of %(margin)s points is that of %(plan)s, which didn’t name this board.")
        return ChosenMargin(told % words)
    if plan.came_from_file:
        told = _(
            "Exploratory: the margin of %(margin)s points is that of %(plan)s, which came from a file: when"
            " it was chosen can’t be checked here."
        )
        return ChosenMargin(told % words, is_late=True)
    if plan == plans.followed and plans.is_first:
        told = _(
            "Exploratory: the margin of %(margin)s points is that of %(plan)s, before which somebody may have"
            " seen what came from a file."
        )
        return ChosenMargin(told % words, is_late=True)
    told = _("Exploratory: the margin of %(margin)s points is that of %(plan)s, %(late)s.")
    return ChosenMargin(told % (words | {"late": say_late(plans, plan)}), is_late=True)


def say_models_chosen(choices: Sequence[Choice]) -> str:
    """As a sentence, of a registered board: its question may be about the pairs of other models now."""
    told = {
        _("added: %(models)s"): {name for choice in choices for name in choice.added},
        _("taken out: %(models)s"): {name for choice in choices for name in choice.taken_out},
    }
    which = [
        words % {"models": sentences.list_names(sorted(names))} for words, names in told.items() if names
    ]
    return _(
        "Models were chosen anew after the first vote (%(which)s): which pairs the plan’s question is about"
        " was decided when numbers could be seen."
    ) % {"which": "; ".join(which)}


def _names(plan: AnalysisPlan, snapshot: Snapshot) -> bool:
    return board_name(snapshot.leaderboard) in plan.boards


def _name_of(leaderboard: Leaderboard) -> str:
    return str(NAMES.get(board_name(leaderboard), leaderboard.name))


NAMES = {
    "overall": gettext_lazy("overall"),
    "hard": gettext_lazy("hard prompts"),
    "style": gettext_lazy("style-controlled"),
}
