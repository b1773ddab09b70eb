"""What a frozen analysis plan means for a campaign's boards: their options, and which are registered."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from functools import cached_property
from typing import Any, TypeVar

from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from arena.battles.models import Battle, Vote
from arena.campaigns.choice_models import Choice
from arena.campaigns.models import Campaign
from arena.corpus.label_models import LabelChange
from arena.corpus.models import PromptSet
from arena.endpoints.models import CallAttempt
from arena.judging.models import Judge, JudgeRun, Judgment
from arena.leaderboards.defaults import BOARDS
from arena.leaderboards.models import Leaderboard, Snapshot
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.late_judges import late_judge

Row = TypeVar("Row")


@dataclass(frozen=True)
class Plans:
    """A board's frozen plans, oldest first.

    followed: the one whose policies and margin the board is fitted with. The last frozen before the first
    vote cast here, on boards of judges before the first judgment too; where none was, the newest.
    registers: nobody can have seen an outcome before it was frozen, and that was here.
    is_first: it came before all votes by their own times, those of files too.
    leaderboard: one of those that have them; what is asked of its votes is asked once.
    """

    leaderboard: Leaderboard = field(compare=False)
    frozen: list[AnalysisPlan]
    followed: AnalysisPlan | None
    registers: bool
    is_first: bool

    @cached_property
    def is_rechosen(self) -> bool:
        return chosen_since_votes(self.leaderboard)

    @cached_property
    def late_judge(self) -> Judge | None:
        return None if self.before is None else late_judge(self.leaderboard, self.before)

    @cached_property
    def is_relabelled(self) -> bool:
        return relabelled_since_votes(self.leaderboard)

    @cached_property
    def is_published_since(self) -> bool:
        return published_since_votes(self.leaderboard)

    @property
    def before(self) -> AnalysisPlan | None:
        """The one under which boards are registered."""
        return self.followed if self.registers else None

    @property
    def amendments(self) -> list[AnalysisPlan]:
        """Those frozen after the one that is followed change no number."""
        if self.followed is None:
            return []
        return [plan for plan in self.frozen if plan.version > self.followed.version]

    @property
    def late(self) -> list[AnalysisPlan]:
        """Those under which nothing is registered, for votes had come."""
        return self.amendments if self.registers else self.frozen


def plans_of(leaderboard: Leaderboard, shown: Sequence[Snapshot] | None = None) -> Plans:
    """shown: snapshots on a page that only reads. What they were registered under, or boards beside them,
    saves looking through all votes for one that came before.
    """
    of_campaign = AnalysisPlan.objects.frozen().filter(campaign=leaderboard.campaign_id)
    frozen = list(of_campaign.select_related("campaign").order_by("version"))
    known = None if shown is None or not frozen else _stored(leaderboard, shown)
    for plan in reversed(frozen):
        if plan.pk == known and not plan.came_from_file:
            return Plans(leaderboard, frozen, plan, registers=True, is_first=True)
        if plan.frozen_at and not own_before(leaderboard, plan.frozen_at):
            registers = not (plan.came_from_file or anything_before(leaderboard, plan.frozen_at))
            is_first = not votes_before(leaderboard, plan.frozen_at).exists()
            return Plans(leaderboard, frozen, plan, registers, is_first)
    if frozen and leaderboard.source != Leaderboard.Source.RATERS:
        # A judge came before every plan: what people's boards follow no amendment changes.
        of_people = plans_of(Leaderboard(campaign_id=leaderboard.campaign_id))
        return replace(of_people, registers=False, is_first=False)
    followed = frozen[-1] if frozen else None
    return Plans(leaderboard, frozen, followed, registers=False, is_first=False)


def _stored(leaderboard: Leaderboard, shown: Sequence[Snapshot]) -> int | None:
    """Number of the plan that a snapshot of these votes was registered under."""
    told = next((snapshot.plan_id for snapshot in shown if snapshot.plan_id), None)
    if told is not None:
        return told
    beside = Leaderboard.objects.filter(
        campaign=leaderboard.campaign_id, source=leaderboard.source, judge=leaderboard.judge_id
    )
    registered = Snapshot.objects.filter(leaderboard__in=beside, plan__isnull=False).order_by("-pk")
    return registered.values_list("plan_id", flat=True).first()


def options_of(plan: AnalysisPlan | None) -> dict[str, Any]:
    """Options of a fit that the plan decides."""
    if plan is None:
        return {}
    return {"ties": plan.ties, "both_bad": plan.both_bad, "margin": plan.margin}


def registered_under(leaderboard: Leaderboard, hard_at_least: int | None = None) -> AnalysisPlan | None:
    """The last plan frozen before the board's first vote, if it names the board; None: the board explores.

    Votes from a file explore too, whatever day it names: nobody here knows who had seen them before. So do
    those of a campaign that came with its plan from a file, which may have been written afterwards.
    hard_at_least: criteria by which a snapshot told hard prompts; else those of the campaign as it stands.
    """
    plan = plans_of(leaderboard).before
    if plan is None or board_name(leaderboard) not in plan.boards:
        return None
    if chosen_since_votes(leaderboard) or late_judge(leaderboard, plan):
        return None
    if leaderboard.subset == Leaderboard.Subset.HARD:
        least = leaderboard.campaign.hard_at_least if hard_at_least is None else hard_at_least
        chosen_since = relabelled_since_votes(leaderboard) or published_since_votes(leaderboard)
        if chosen_since or hard_means_another(plan, least):
            return None
    return plan


def chosen_since_votes(leaderboard: Leaderboard) -> bool:
    """Were prompt sets added or taken out after the first outcome, by somebody who could see numbers?

    Rows of a file aside: they name any day, and register nothing anyway.
    """
    sets = Choice.objects.filter(campaign=leaderboard.campaign_id, of=Choice.Of.PROMPT_SETS)
    last = sets.aggregate(at=Max("at"))["at"]
    return last is not None and own_before(leaderboard, last)


def models_chosen_since_votes(snapshot: Snapshot) -> list[Choice]:
    """The choices of models between the first outcome and the snapshot, asked once a source."""
    board = snapshot.leaderboard
    known = vars(board.campaign).setdefault("_models_chosen", {})
    if (source := (board.source, board.judge_id)) not in known:
        chosen = Choice.objects.filter(campaign=board.campaign_id, of=Choice.Of.MODELS)
        known[source] = from_the_first(chosen, lambda one: one.at, lambda at: own_before(board, at))
    return [choice for choice in known[source] if choice.at <= snapshot.taken_at]


def from_the_first(
    rows: Iterable[Row], time_of: Callable[[Row], datetime], came_before: Callable[[datetime], bool]
) -> list[Row]:
    """In the order of their times, those that something came before. What came before one came before all
    later ones, so that few of them need the question, which is the database's.
    """
    ordered = sorted(rows, key=time_of)
    return ordered[bisect_left(ordered, True, key=lambda row: came_before(time_of(row))) :]


def hard_means_another(plan: AnalysisPlan, least: int) -> bool:
    return plan.hard_at_least is not None and plan.hard_at_least != least


def relabelled_since_votes(leaderboard: Leaderboard) -> bool:
    """Was anything said of the hardness of a campaign's prompts after the first vote?

    Of those in its battles too: a set can be taken out of a campaign for a while, its votes stay.
    """
    campaign = leaderboard.campaign_id
    met = Exists(Battle.objects.filter(campaign=campaign, prompt=OuterRef("prompt")))
    changes = LabelChange.objects.filter(Q(prompt__prompt_set__campaigns=campaign) | met)
    last = changes.aggregate(at=Max("at"))["at"]
    return last is not None and _anything_by(leaderboard, last)


def published_since_votes(leaderboard: Leaderboard) -> bool:
    """Do prompts of its battles come from a set published after the first vote, labels and all?"""
    campaign = leaderboard.campaign
    sets = PromptSet.objects.filter(
        team=campaign.team_id, published_at__gt=campaign.opened_at or campaign.created_at
    )
    met = Battle.objects.filter(campaign=campaign, prompt__prompt_set__in=sets)
    last = met.aggregate(at=Max("prompt__prompt_set__published_at"))["at"]
    return last is not None and _anything_by(leaderboard, last)


def _anything_by(leaderboard: Leaderboard, at: datetime) -> bool:
    return votes_before(leaderboard, at).exists() or own_before(leaderboard, at)


def votes_before(leaderboard: Leaderboard, at: datetime) -> QuerySet[Vote]:
    """A battle is drawn before its vote is cast: that spares a look at the votes of later ones."""
    votes = Vote.objects.filter(battle__campaign=leaderboard.campaign_id)
    return votes.filter(battle__drawn_at__lt=at, voted_at__lt=at)


def own_before(leaderboard: Leaderboard, at: datetime) -> bool:
    """Was there an outcome that the board counts before then? Rows from files added to the campaign aside:
    they name any day, and one of them would choose another plan.
    """
    if votes_before(leaderboard, at).filter(battle__kind=Battle.Kind.REGULAR).exists():
        return True
    if leaderboard.source == Leaderboard.Source.RATERS:
        return False
    # Runs older than their campaign came with it, and are its own.
    own = ~Q(run__kind=JudgeRun.Kind.RECORDED) | Q(run__created_at__lt=F("run__campaign__created_at"))
    judged = Judgment.objects.filter(own, run__campaign=leaderboard.campaign_id)
    return judged.filter(resolved_at__lt=at).exists() or _answered_before(leaderboard, at)


def board_name(leaderboard: Leaderboard) -> str:
    """Of the three that are read together; "" for a leaderboard of another make."""
    for board in BOARDS:
        if (board.subset, board.style_control) == (leaderboard.subset, leaderboard.style_control):
            return "" if leaderboard.policies or leaderboard.part else board.name
    return ""


def holds_recorded(campaign: Campaign) -> bool:
    """Votes from a file; asked once of a campaign that many snapshots share."""
    known = vars(campaign)
    if "_holds_recorded" not in known:
        votes = Vote.objects.filter(battle__campaign=campaign, battle__kind=Battle.Kind.RECORDED)
        known["_holds_recorded"] = votes.exists()
    return bool(known["_holds_recorded"])


def anything_before(leaderboard: Leaderboard, at: datetime) -> bool:
    """Had anybody seen an outcome of this campaign, of people or of a judge that the board counts?"""
    voted = votes_before(leaderboard, at).exists() or holds_recorded(leaderboard.campaign)
    if voted or leaderboard.source == Leaderboard.Source.RATERS:
        return voted
    judged = Judgment.objects.filter(run__campaign=leaderboard.campaign_id)
    if judged.filter(Q(resolved_at__lt=at) | Q(run__kind=JudgeRun.Kind.RECORDED)).exists():
        return True
    return _answered_before(leaderboard, at)


class Seen(Enum):
    """What of a campaign somebody may have seen before a plan was frozen."""

    VOTES = "votes"
    VOTES_OF_FILE = "votes of a file"
    JUDGMENTS = "judgments"
    JUDGMENTS_OF_FILE = "judgments of a file"


def seen_before(leaderboard: Leaderboard, at: datetime) -> Seen | None:
    """The first that applies; None where `anything_before` finds nothing."""
    if votes_before(leaderboard, at).filter(battle__kind=Battle.Kind.REGULAR).exists():
        return Seen.VOTES
    if holds_recorded(leaderboard.campaign):
        return Seen.VOTES_OF_FILE
    if not anything_before(leaderboard, at):
        return None
    return Seen.JUDGMENTS if own_before(leaderboard, at) else Seen.JUDGMENTS_OF_FILE


def is_fixed(leaderboard: Leaderboard, plan: AnalysisPlan | None) -> bool:
    """Came the first outcome after the plan, so that those frozen later are amendments?"""
    at = plan.frozen_at if plan else None
    return at is not None and not own_before(leaderboard, at) and own_before(leaderboard, timezone.now())


def _answered_before(leaderboard: Leaderboard, at: datetime) -> bool:
    """A verdict of one order can be read before its judgment is resolved, and stays when asked again."""
    answered = CallAttempt.objects.filter(call__judge_call__judgment__run__campaign=leaderboard.campaign_id)
    return answered.filter(Q(error_kind="") | ~Q(reply_text=""), finished_at__lt=at).exists()
