"""Looks at the votes of a registered board: interim ones before the planned number, and the final one.

The final snapshot is the first with as many votes as its plan names, or, once the campaign is closed, the
first with all of them; it stays so when the campaign is opened again, for it was published as final. Votes
are counted as cast, whether they count on a board or not, as in the plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db.models import QuerySet, prefetch_related_objects
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from arena.battles.models import Battle, Vote
from arena.campaigns.models import Reopening
from arena.judging.models import Judgment
from arena.leaderboards.models import Leaderboard, Snapshot
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.by_hand import by_hand_since_votes, clause_by_hand

UNCAST = ("retracted", "after_cutoff")
"""Of what a snapshot leaves out: votes that had been taken back, or weren't there yet."""


INTERIM, FINAL, LATER = "interim look", "final", "later than final"
KINDS = (INTERIM, FINAL, LATER)

OVER = 1.1
"""Times the planned votes, up to which a final look is taken for one at their number."""

LOOKED_AT = 5_000
"""Votes of all campaigns; of a thousand a minute the newest five minutes."""


@dataclass(frozen=True)
class Look:
    """final: number of the final snapshot, None while there is none; closed: no more votes come.

    before: the final snapshot, where a later one was told of it.
    """

    snapshot: int
    got: int
    planned: int | None
    final: int | None
    closed: bool
    before: Snapshot | None = field(default=None, compare=False)

    @property
    def is_interim(self) -> bool:
        return self.final is None

    @property
    def kind(self) -> str:
        if self.final is None:
            return INTERIM
        return FINAL if self.final == self.snapshot else LATER

    @property
    def is_short(self) -> bool:
        return self.planned is not None and self.got < self.planned

    @property
    def is_over(self) -> bool:
        """With so many more votes than planned its moment could be chosen."""
        return self.kind == FINAL and self.planned is not None and self.got > OVER * self.planned


def look_of(snapshot: Snapshot, plan: AnalysisPlan) -> Look | None:
    """None: of a judge's board, for a plan says how many votes of people it takes."""
    if snapshot.known_look is not False and plan.pk == snapshot.plan_id:
        known: Look | None = snapshot.known_look
        return known
    leaderboard = snapshot.leaderboard
    if leaderboard.source not in (Leaderboard.Source.RATERS, Leaderboard.Source.COMBINED):
        return None
    all_in = cast(snapshot.counts) if holds_all(snapshot) else None

    def is_done(counts: dict) -> bool:
        enough = plan.votes is not None and cast(counts) >= plan.votes
        return enough or cast(counts) == all_in

    final = snapshot.pk if is_done(snapshot.counts) else None
    if final or _may_follow_final(snapshot.counts, plan):
        earlier = leaderboard.snapshots.filter(plan=plan, pk__lt=snapshot.pk).order_by("-pk")
        for pk, counts in earlier.values_list("pk", "counts").iterator(chunk_size=20):
            if is_done(counts):
                final = pk
            elif not _may_follow_final(counts, plan):
                break
    final = min(filter(None, [final, *_finals_of_before(snapshot, plan)]), default=None)
    return Look(snapshot.pk, cast(snapshot.counts), plan.votes, final, leaderboard.campaign.is_closed)


def other_look(snapshot: Snapshot) -> Look | None:
    """The look at a registered board if it isn't the final one, of which the plan speaks."""
    look = registered_look(snapshot)
    return look if look and look.kind != FINAL else None


def registered_look(snapshot: Snapshot) -> Look | None:
    plan = snapshot.registered_plan
    return None if plan is None else look_of(snapshot, plan)


def plan_and_look(snapshot: Snapshot) -> tuple[int | None, str | None]:
    """For the rows of a file: the version of the plan it is registered under, and the kind of its look."""
    plan, look = snapshot.registered_plan, registered_look(snapshot)
    return None if plan is None else plan.version, None if look is None else look.kind


def final_under(plan: AnalysisPlan | None, leaderboard: Leaderboard) -> Snapshot | None:
    """The snapshot that answers the plan's question, whatever was taken after it; None: there is none yet."""
    if plan is None or plan.came_from_file or leaderboard.pk is None:
        return None
    newest = leaderboard.snapshots.filter(plan=plan).order_by("-pk").first()
    look = newest and look_of(newest, plan)
    if not look or look.final is None:
        return None
    return Snapshot.objects.select_related("leaderboard__campaign", "plan").get(pk=look.final)


def _finals_of_before(snapshot: Snapshot, plan: AnalysisPlan) -> Iterator[int]:
    """The first snapshot with all votes of each time that the campaign was closed and then opened again."""
    if snapshot.pk is None:
        return
    taken = snapshot.leaderboard.snapshots.filter(plan=plan, pk__lte=snapshot.pk).order_by("-pk")
    for reopening in _reopenings_of(snapshot):
        last = taken.filter(cutoff__lt=reopening.at).first()
        if last is None or not _held_all(last, reopening.closed_at):
            continue
        first = last.pk
        earlier = taken.filter(pk__lt=last.pk).values_list("pk", "counts")
        for pk, counts in earlier.iterator(chunk_size=20):
            if cast(counts) != cast(last.counts):
                break
            first = pk
        yield first


def _reopenings_of(snapshot: Snapshot) -> list[Reopening]:
    """Of its campaign, which boards of one page share: read once for all of them."""
    campaign = snapshot.leaderboard.campaign
    prefetch_related_objects([campaign], "reopenings")
    return list(campaign.reopenings.all())


def _held_all(snapshot: Snapshot, closed_at: datetime) -> bool:
    """Of the votes cast until then; unsure where more came at that time than are looked at."""
    if snapshot.cutoff >= closed_at:
        return True
    newer = Vote.objects.filter(pk__gt=snapshot.counts["last_id"], retraction=None).order_by("pk")
    told = list(newer.values_list("battle_id", "voted_at")[: LOOKED_AT + 1])
    missed = [battle for battle, at in told if at <= closed_at]
    campaign = snapshot.leaderboard.campaign_id
    return len(missed) <= LOOKED_AT and not _rated(campaign, missed).exists()


def _changed_since(before: Snapshot, snapshot: Snapshot) -> Iterator[str]:
    """By what the two say of themselves."""
    old, new = before.counts, snapshot.counts
    if any(reopening.at > before.cutoff for reopening in _reopenings_of(snapshot)):
        yield _("the campaign was opened again")
    if (n := cast(new) - cast(old)) > 0:
        yield ngettext("%(n)s more vote was cast", "%(n)s more votes were cast", n) % {"n": f"{n:,}"}
    if (n := new["prompts"] - old["prompts"]) > 0:
        yield ngettext("%(n)s more prompt came in", "%(n)s more prompts came in", n) % {"n": f"{n:,}"}
    if (n := new["competitors"] - old["competitors"]) > 0:
        yield ngettext("%(n)s more model came in", "%(n)s more models came in", n) % {"n": f"{n:,}"}
    if (n := _excluded(new) - _excluded(old)) > 0:
        yield ngettext("%(n)s more vote is left out", "%(n)s more votes are left out", n) % {"n": f"{n:,}"}


def _excluded(counts: dict) -> int:
    return sum(n for reason, n in counts["left_out"].items() if reason.startswith("excluded"))


def _may_follow_final(counts: dict, plan: AnalysisPlan) -> bool:
    """Were there as many votes as planned, before some were taken back? A final look stays the final one."""
    taken_back = sum(counts["left_out"].get(reason, 0) for reason in UNCAST)
    return plan.votes is not None and cast(counts) + taken_back >= plan.votes


def looks_of(snapshots: Iterable[Snapshot]) -> dict[int, Look]:
    """Of each registered one by its number, of whichever boards they are: a board's final snapshot under a
    plan is looked for once.
    """
    told: dict[int, Look] = {}
    last: dict[tuple[int, int], Look | None] = {}
    for snapshot in snapshots:
        plan = snapshot.registered_plan
        if plan is None:
            continue
        key = snapshot.leaderboard_id, plan.pk
        if key not in last:
            newest = snapshot.leaderboard.snapshots.filter(plan=plan).order_by("-pk").first()
            last[key] = look_of(newest or snapshot, plan)
        if (look := last[key]) is not None:
            final = look.final if look.final is not None and look.final <= snapshot.pk else None
            told[snapshot.pk] = replace(look, snapshot=snapshot.pk, got=cast(snapshot.counts), final=final)
    return told


def know_looks(snapshots: Sequence[Snapshot]) -> None:
    """So that nothing said of them asks for their looks, and for the final ones, one by one."""
    looks = looks_of(snapshots)
    finals = Snapshot.objects.in_bulk({look.final for look in looks.values() if look.final is not None})
    for snapshot in snapshots:
        look = looks.get(snapshot.pk)
        final = None if look is None or look.final is None else finals[look.final]
        snapshot.known_look = look and replace(look, before=final)


def cast(counts: dict) -> int:
    """Votes that were cast until then, by what a snapshot counts and leaves out."""
    left_out = counts["left_out"]
    return int(counts["votes"]) + sum(n for reason, n in left_out.items() if reason not in UNCAST)


def say_cast(snapshot: Snapshot) -> str:
    """Why a board that a plan named tells another number of votes than its look; empty where it doesn’t."""
    plan, votes = snapshot.registered_plan, int(snapshot.counts["votes"])
    got = cast(snapshot.counts) if plan is not None and plan.votes is not None else votes
    if got == votes:
        return ""
    told = ngettext(
        "%(got)s vote cast, of which %(votes)s count on this board",
        "%(got)s votes cast, of which %(votes)s count on this board",
        got,
    )
    return told % {"got": f"{got:,}", "votes": f"{votes:,}"}


def holds_all(snapshot: Snapshot) -> bool:
    """The campaign is closed, and no vote of it is newer than the snapshot."""
    campaign = snapshot.leaderboard.campaign
    if not campaign.is_closed:
        return False
    newer = newer_than(snapshot)
    closed_before = campaign.closed_at is not None and campaign.closed_at <= snapshot.cutoff
    return newer == 0 or (newer is None and closed_before)


def newer_than(snapshot: Snapshot) -> int | None:
    """Votes, or judgments, that came since and would be on the next snapshot; None: too many to look at."""
    board = snapshot.leaderboard
    if board.source in (Leaderboard.Source.RATERS, Leaderboard.Source.COMBINED):
        return _newer_votes(board.campaign_id, snapshot.counts["last_id"])
    judged = Judgment.objects.filter(run__campaign=board.campaign_id, resolved_at__gt=snapshot.cutoff)
    judged = judged.exclude(outcome__in=["", Judgment.Outcome.NO_VERDICT])
    return (judged if board.judge_id is None else judged.filter(judge=board.judge_id)).count()


def _newer_votes(campaign: int, last: int) -> int | None:
    """By the newest votes of all campaigns: by the campaign's battles it would take all of these."""
    newest = Vote.objects.filter(pk__gt=last, retraction=None).order_by("pk")
    battles = list(newest.values_list("battle_id", flat=True)[: LOOKED_AT + 1])
    if len(battles) > LOOKED_AT:
        return None
    return _rated(campaign, battles).count() if battles else 0


def _rated(campaign: int, battles: Sequence[int]) -> QuerySet[Battle]:
    kinds = (Battle.Kind.REGULAR, Battle.Kind.RECORDED)
    return Battle.objects.filter(pk__in=battles, campaign=campaign, kind__in=kinds)


def say_look(look: Look, snapshot: Snapshot) -> str:
    """A clause: which look the snapshot is, at how many of the planned votes, and what of it was chosen."""
    by_hand = None if look.kind == LATER else by_hand_since_votes(snapshot)
    told = [_say_which(look, snapshot), clause_by_hand(by_hand) if by_hand else ""]
    return _(", ").join(filter(None, told))


def _say_which(look: Look, snapshot: Snapshot) -> str:
    words = _counts(look) | {"final": look.final}
    if look.final is not None and look.final != look.snapshot:
        later = _("later than the final look, which is snapshot %(final)d") % words
        since = _(", ").join(_changed_since(look.before or Snapshot.objects.get(pk=look.final), snapshot))
        return _("%(later)s (since then %(since)s)") % {"later": later, "since": since} if since else later
    if look.planned is None:
        if look.is_interim:
            return _("interim look at %(votes)s: the plan names no number, and votes may still come") % words
        if look.closed:
            return _("final: the campaign is closed, with %(votes)s") % words
        return _("final: the campaign was closed then, with %(votes)s, and opened again since") % words
    if look.is_interim:
        return _("interim look at %(got)s of %(planned)s") % words
    if look.is_short:
        return _("final: closed at %(got)s of %(planned)s") % words
    if look.is_over:
        return _("final: %(got)s of %(planned)s, at a moment that the plan didn’t fix") % words
    return _("final: %(got)s of %(planned)s") % words


def _counts(look: Look) -> dict[str, Any]:
    planned = look.planned or 0
    words = ngettext("%(n)s planned vote", "%(n)s planned votes", planned) % {"n": f"{planned:,}"}
    return {"got": f"{look.got:,}", "votes": _votes(look.got), "planned": words}


def _votes(n: int) -> str:
    return ngettext("%(n)s vote", "%(n)s votes", n) % {"n": f"{n:,}"}


def say_looks(snapshots: Sequence[Snapshot]) -> dict[int, str]:
    """Of each registered one: which look it was, and at how many votes."""
    return {pk: say_short(look) for pk, look in looks_of(snapshots).items()}


def say_short(look: Look) -> str:
    got = {"votes": _votes(look.got)}
    if look.kind == INTERIM:
        return _("interim, %(votes)s cast") % got
    if look.kind == FINAL:
        return _("final, %(votes)s cast") % got
    return _("later than the final look")


def say_early(look: Look) -> str:
    """What to be careful about at an interim look, as a sentence."""
    rest = _(
        "a test made for one look isn’t at its level when it is read early. The e-value of two models’ own"
        " battles, where two are compared, is, however often one looks."
    )
    if look.planned is None:
        return _("An interim look, while votes may still come: %(rest)s") % {"rest": rest}
    return _("An interim look at %(got)s of %(planned)s (all that were cast, repeats too): %(rest)s") % (
        _counts(look) | {"rest": rest}
    )


def say_other(look: Look) -> tuple[str, str]:
    """The same of a look that came too early, or too late: the caution's code, and its sentence."""
    if look.is_interim:
        return "interim_look", say_early(look)
    words = _(
        "Later than the final look, which is snapshot %(final)d: that one answers the registered question."
        " Whoever went on had seen its numbers, and no test here allows for that."
    )
    return "later_look", words % {"final": look.final}


def finals_of(leaderboard: Leaderboard) -> list[int]:
    """Numbers of the final snapshots, one for each plan that the board was registered under."""
    plans = AnalysisPlan.objects.filter(snapshots__leaderboard=leaderboard).distinct()
    return [final.pk for plan in plans if (final := final_under(plan, leaderboard)) is not None]


def say_newer(snapshot: Snapshot) -> str:
    """What came since a closed campaign's snapshot, or that all is in; boards of open ones stand still."""
    board = snapshot.leaderboard
    if not board.campaign.is_closed:
        return ""
    n = newer_than(snapshot)
    if n is None and not holds_all(snapshot):
        return _("more votes may have come since")
    if n and board.is_judged:
        words = ngettext("%(n)s judgment came since", "%(n)s judgments came since", n)
        return words % {"n": f"{n:,}"}
    if n:
        return ngettext("%(n)s vote came since", "%(n)s votes came since", n) % {"n": f"{n:,}"}
    return _("the campaign is closed, and everything that counts is in")
