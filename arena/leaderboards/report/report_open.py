"""Pairs that no test at the margin told apart, in a report: those that are open, and those without an end."""

from __future__ import annotations

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from arena.leaderboards.boards.duels import (
    Duel,
    mark_verdict,
    say_interval,
    say_p,
    say_points,
    say_won_all,
    three,
)
from arena.leaderboards.models import PairResult, Snapshot
from arena.leaderboards.plans.asked_tests import asked_tests
from arena.leaderboards.report.report_answer import clear_first, names_of
from arena.leaderboards.report.report_draft import Draft, interval_heading

PAIRS_SHOWN = 60


def list_open(pairs: QuerySet[PairResult], snapshot: Snapshot, draft: Draft) -> None:
    """In the order, with the signs and the digits of the answer in part five."""
    verdicts = PairResult.Verdict
    duels = clear_first(pairs.exclude(verdict__in=(verdicts.DIFFERENT, verdicts.UNBOUNDED)), {})
    caption = _("Pairs that are not told apart")
    if len(duels) > PAIRS_SHOWN:
        shown = {"shown": PAIRS_SHOWN, "all": f"{len(duels):,}"}
        caption = _("Pairs that are not told apart: of %(all)s the first %(shown)d") % shown
    duels = duels[:PAIRS_SHOWN]
    told = [(duel, duel.pair, duel.estimate) for duel in duels]
    if told and asked_tests(snapshot):
        draft.say(
            _(
                "Here verdicts allow for all pairs of the board at once: a pair that the plan names may be"
                " told apart among those pairs, as the answer says."
            )
        )
    draft.lay_out(
        [_("A"), _("B"), _("Verdict"), _("A less B"), interval_heading(), _("p (Holm)")],
        [
            [
                *names_of(duel),
                mark_verdict(pair.get_verdict_display(), pair.verdict, snapshot),
                say_points(found),
                (say_interval(found.lower, found.upper) if found else "") or None,
                say_p(pair.p_adjusted),
            ]
            for duel, pair, found in told
        ],
        caption,
        file="report-undecided",
        values=[
            (pair.snapshot_id, *names_of(duel), *three(found), pair.verdict, pair.p_adjusted)
            for duel, pair, found in told
        ],
    )


def list_endless(pairs: QuerySet[PairResult], draft: Draft) -> None:
    """Pairs of which one won all: no test at a margin, and yet anything but undecided."""
    endless = pairs.filter(verdict=PairResult.Verdict.UNBOUNDED)
    words = []
    for pair in endless[:PAIRS_SHOWN]:
        told = say_won_all(Duel(pair, turned=False), pair.first.name, pair.second.name)
        words.append(f"{pair.first.name} – {pair.second.name}" + (f": {told}" if told else ""))
    if more := endless.count() - len(words):
        words.append(ngettext("%(n)s further pair", "%(n)s further pairs", more) % {"n": f"{more:,}"})
    draft.list_out(words, _("Pairs without a finite difference, which no test at a margin can judge"))
