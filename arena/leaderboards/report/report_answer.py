"""What part five of a report begins with: the question, what was planned and reached, the answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from arena.leaderboards.boards.board_rows import Column
from arena.leaderboards.boards.compare_words import options_of
from arena.leaderboards.boards.duels import (
    Answer,
    Duel,
    answer_of,
    say_interval,
    say_p,
    say_points,
    say_verdict,
    say_won_all,
    three,
)
from arena.leaderboards.boards.renamed_models import say_renamed_of
from arena.leaderboards.models import PairResult, Snapshot
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.asked_pairs import say_changed, say_pairs
from arena.leaderboards.plans.asked_tests import AskedTest, Two, asked_of, asked_tests, asks_about
from arena.leaderboards.plans.looks import (
    final_under,
    look_of,
    plan_and_look,
    registered_look,
    say_early,
    say_look,
)
from arena.leaderboards.plans.reckoning import reckon, say_power
from arena.leaderboards.plans.registration_words import chosen_margin, say_late
from arena.leaderboards.report.report_draft import Draft, Matter, interval_heading
from arena.leaderboards.sentences import UNSURE, say_few

Verdict = PairResult.Verdict
PAIRS_SHOWN = 60
NAMED = 12
"""Pairs of one verdict in a list; the table below it has more."""


def answer(matter: Matter, draft: Draft) -> None:
    """By board that the plan names. Without a plan there is no question to answer first."""
    plan = matter.plans.followed
    if plan is None:
        return
    if plan == matter.plans.before:
        asked = _("The registered question, of analysis plan %(version)d: %(question)s")
    elif matter.plans.is_first:
        asked = _(
            "The question of analysis plan %(version)d, under which no board is registered, so that its"
            " answer is exploratory: %(question)s"
        )
    else:
        asked = _(
            "The question of analysis plan %(version)d, %(late)s, so that its answer is exploratory:"
            " %(question)s"
        )
    told = {"version": plan.version, "question": plan.question, "late": say_late(matter.plans, plan)}
    draft.say(asked % told)
    if plan.pairs:
        about = _("It is about %(pairs)s.") % {"pairs": say_pairs(plan.pairs)}
        draft.say(" ".join([about, *say_changed(plan)]))
    columns = [c for c in matter.page.columns if c.snapshot and c.board.name in plan.boards]
    if not columns:
        draft.missing.append(_("An answer: there is no snapshot of a board that the plan names."))
    for column in matter.page.columns:
        if column.board.name in plan.boards and column not in columns and columns:
            words = _("%(board)s: the plan names it, and there is no board. %(reason)s")
            draft.say(words % {"board": column.heading, "reason": column.reason})
    for column in columns:
        if column.snapshot is not None:
            _of_board(column, _answering(column, column.snapshot, plan, draft), plan, len(columns) > 1, draft)
    _planned(matter, plan, draft)


def _answering(column: Column, newest: Snapshot, plan: AnalysisPlan, draft: Draft) -> Snapshot:
    """The final snapshot, where there is one; whatever was taken after it answers nothing registered."""
    final = final_under(plan, newest.leaderboard)
    look = None if final is None else registered_look(final)
    if final is None or look is None or final == newest:
        return newest
    words = {"board": column.heading, "final": final.pk, "newest": newest.pk}
    if final.pairs.exists():
        words |= {"look": say_look(look, final)}
        told = _(
            "%(board)s: answered by the final look, snapshot %(final)d (%(look)s). Snapshot %(newest)d, which"
            " came after it, isn’t asked."
        )
        draft.say(told % words)
        draft.say(" ".join(say_renamed_of([final])))
        return final
    told = _(
        "%(board)s: the pairs of the final look, snapshot %(final)d, weren’t kept, so that the registered"
        " answer is missing here until “replay_snapshot %(final)d” has computed them again. What follows is"
        " of snapshot %(newest)d, later than the final look, and exploratory."
    )
    draft.missing.append(told % words)
    draft.say(told % words)
    return newest


def _of_board(column: Column, snapshot: Snapshot, plan: AnalysisPlan, named: bool, draft: Draft) -> None:
    pairs = list(snapshot.pairs.select_related("first", "second", "snapshot__leaderboard"))
    if plan.pairs:
        pairs = _asked_among(pairs, column, plan, draft)
    if not pairs:
        draft.missing.append(_("Pairs of the board %(board)s.") % {"board": column.heading})
        return
    margin, _level = options_of(Duel(pairs[0], turned=False))
    tests = asked_tests(snapshot)
    duels = clear_first(pairs, tests)
    board = _("On the board %(board)s: ") % {"board": column.heading} if named else ""
    for caption, named_pairs in _by_verdict(duels, margin):
        draft.list_out(named_pairs, board + caption)
    if few := say_few(snapshot):
        told = {"mark": UNSURE, "few": few}
        draft.say(_("%(mark)s %(few)s to rely on these verdicts, or to replace a model by.") % told)
    caption = _("%(board)s: every pair at the margin of %(margin)s points")
    if plan.pairs:
        caption = _("%(board)s: the pairs that the plan names, at the margin of %(margin)s points")
    if len(duels) > PAIRS_SHOWN:
        caption = _("%(board)s: pairs at the margin of %(margin)s points, of %(all)s the first %(shown)d")
    look = plan_and_look(snapshot)
    words = {"board": column.heading, "margin": f"{margin:g}", "all": f"{len(duels):,}", "shown": PAIRS_SHOWN}
    verdict = _("Verdict, pairs of the plan") if tests else _("Verdict, all pairs")
    head = [_("A"), _("B"), _("A less B"), interval_heading(), verdict, _("p (Holm)")]
    draft.lay_out(
        [*head, _("A in place of B"), _("B in place of A")],
        [_row(duel, margin) for duel in duels[:PAIRS_SHOWN]],
        caption % words,
        file="report-answers",
        values=[(column.board.name, snapshot.pk, *look, *_values(duel)) for duel in duels[:PAIRS_SHOWN]],
    )
    draft.say(
        _(
            "%(verdicts)s “In place of” is the one-sided test at the margin, for that pair alone: with many"
            " pairs some answers are chance."
        )
        % {"verdicts": _say_corrected(plan, bool(tests))}
        + f" {chosen_margin(snapshot).words}"
    )


def _say_corrected(plan: AnalysisPlan, is_over_asked: bool) -> str:
    if not plan.pairs:
        return _("Verdicts allow for all pairs of the board at once.")
    if not is_over_asked:
        return _(
            "The pairs were named when votes could have been seen, and verdicts allow for all pairs of the"
            " board at once."
        )
    return ngettext(
        "Verdicts allow for the one pair that the plan names, and for no other.",
        "Verdicts allow for the %(n)s pairs that the plan names, and for no others.",
        len(plan.pairs),
    ) % {"n": f"{len(plan.pairs):,}"}


def _asked_among(
    pairs: Sequence[PairResult], column: Column, plan: AnalysisPlan, draft: Draft
) -> list[PairResult]:
    """Those that the plan names; of which there is nothing here, is said."""
    found = {(pair.first_id, pair.second_id) for pair in pairs}
    absent = [pair for pair in plan.pairs if (min(pair["ids"]), max(pair["ids"])) not in found]
    if absent and pairs:
        words = _("%(board)s: not on this board, for want of votes: %(pairs)s.")
        draft.say(words % {"board": column.heading, "pairs": say_pairs(absent)})
    return [pair for pair in pairs if asks_about(plan, pair.first_id, pair.second_id)]


PLACES: dict[str, int] = {
    Verdict.DIFFERENT: 0,
    Verdict.NEGLIGIBLE: 1,
    Verdict.EQUIVALENT: 2,
    Verdict.UNDECIDED: 3,
    Verdict.UNBOUNDED: 4,
    Verdict.APART: 5,
}


def clear_first(pairs: Iterable[PairResult], tests: Mapping[Two, AskedTest]) -> list[Duel]:
    """Whoever is ahead first in each; those that are clear before those that aren't, the largest first.

    tests: of `asked_tests`, where these count.
    """
    duels = [
        Duel(pair, (pair.difference or 0) < 0, tests.get((pair.first_id, pair.second_id))) for pair in pairs
    ]
    return sorted(
        duels,
        key=lambda duel: (
            PLACES.get(duel.verdict, len(PLACES)),
            -abs(duel.pair.difference or 0),
            names_of(duel),
        ),
    )


def _by_verdict(duels: Sequence[Duel], margin: float) -> Iterator[tuple[str, list[str]]]:
    """How many pairs have which verdict, and which pairs these are."""
    kinds = (
        (Verdict.DIFFERENT, _("Different (%(n)s):")),
        (Verdict.NEGLIGIBLE, _("Different, but by less than %(margin)s points (%(n)s):")),
        (Verdict.EQUIVALENT, _("Equivalent within ±%(margin)s points (%(n)s):")),
        (Verdict.UNDECIDED, _("Undecided (%(n)s):")),
        (Verdict.UNBOUNDED, _("No finite difference (%(n)s):")),
        (Verdict.APART, _("Not comparable (%(n)s):")),
    )
    for verdict, words in kinds:
        mine = [duel for duel in duels if duel.verdict == verdict]
        if mine:
            yield words % {"margin": f"{margin:g}", "n": f"{len(mine):,}"}, _list_pairs(mine, verdict)


def _list_pairs(duels: Sequence[Duel], verdict: str) -> list[str]:
    is_ahead = verdict in (Verdict.DIFFERENT, Verdict.NEGLIGIBLE)
    words = _("%(a)s ahead of %(b)s by %(points)s") if is_ahead else _("%(a)s and %(b)s")
    told = []
    for duel in duels[:NAMED]:
        a, b = names_of(duel)
        points = "" if duel.estimate is None else f"{abs(duel.estimate.rating):.0f}"
        why = say_won_all(duel, a, b) if verdict == Verdict.UNBOUNDED else ""
        told.append(words % {"a": a, "b": b, "points": points} + (f" ({why})" if why else ""))
    if more := len(duels) - len(told):
        words = ngettext("%(n)s further pair, in the table", "%(n)s further pairs, in the table", more)
        told.append(words % {"n": f"{more:,}"})
    return told


def names_of(duel: Duel) -> tuple[str, str]:
    """Whoever is ahead first."""
    two = duel.pair.first.name, duel.pair.second.name
    return (two[1], two[0]) if duel.turned else two


def _row(duel: Duel, margin: float) -> list[object]:
    a, b = names_of(duel)
    estimate, level = duel.estimate, options_of(duel)[1]
    interval = say_interval(estimate.lower, estimate.upper) if estimate else ""
    verdict = say_verdict(duel, a, b, margin)
    ways = [ANSWERS[answer]() for answer in _answers(duel, level)]
    return [a, b, say_points(estimate), interval or None, verdict, say_p(duel.p_adjusted), *ways]


def _answers(duel: Duel, level: float) -> list[Answer]:
    """Whether a may stand in place of b, and b in place of a."""
    return [answer_of(one, level) for one in (duel, replace(duel, turned=not duel.turned))]


def _values(duel: Duel) -> tuple[Any, ...]:
    ways = _answers(duel, options_of(duel)[1])
    numbers = (*three(duel.estimate), duel.verdict, duel.p_adjusted)
    together = duel.asked.together if duel.asked else None
    return (*names_of(duel), *numbers, *(way.value for way in ways), together)


ANSWERS = {
    Answer.REPLACE: lambda: _("replace"),
    Answer.KEEP: lambda: _("don’t replace"),
    Answer.NOT_YET: lambda: _("not yet"),
    Answer.UNTESTED: lambda: _("not tested"),
}


def _tested(snapshot: Snapshot, plan: AnalysisPlan) -> int:
    """Of the pairs that the plan names."""
    tested = snapshot.pairs.filter(p__isnull=False).values_list("first_id", "second_id")
    return len(asked_of(plan) & {(first, second) for first, second in tested})


def _planned(matter: Matter, plan: AnalysisPlan, draft: Draft) -> None:
    """What was planned beside what came of it, on the first of the boards."""
    newest, none = matter.snapshot, "–"
    snapshot = (newest and final_under(plan, newest.leaderboard)) or newest
    look = None if snapshot is None else look_of(snapshot, plan)
    found = reckon(plan)
    finds = _("%(points)s points") % {"points": f"{found.points:.0f}"} if found and found.points else none
    reached = dict.fromkeys(("margin", "raters", "cast", "counted"), none)
    if snapshot is not None:
        reached = {
            "margin": f"{float(snapshot.options['margin']):g}",
            "raters": f"{snapshot.counts['raters']:,}" if "raters" in snapshot.counts else none,
            "cast": none if look is None else f"{look.got:,}",
            "counted": f"{snapshot.counts['votes']:,}",
        }
    tested = None if snapshot is None else _tested(snapshot, plan)
    reached_pairs = none if tested is None else f"{tested:,}"
    draft.lay_out(
        [_("What"), _("Planned"), _("Reached")],
        [
            *([[_("Pairs of models"), f"{len(plan.pairs):,}", reached_pairs]] if plan.pairs else []),
            [_("Margin, in points"), f"{plan.margin:g}", reached["margin"]],
            [_("Raters"), f"{plan.raters:,}" if plan.raters else None, reached["raters"]],
            [_("Votes cast"), f"{plan.votes:,}" if plan.votes else None, reached["cast"]],
            [_("Votes that count on the board of all prompts"), None, reached["counted"]],
            [_("Smallest difference found in four of five tries"), finds, None],
        ],
        _("What was planned, and what was reached"),
        file="report-planned",
        values=[
            *([("pairs", len(plan.pairs), tested)] if plan.pairs else []),
            ("margin", plan.margin, snapshot and float(snapshot.options["margin"])),
            ("raters", plan.raters, snapshot and snapshot.counts.get("raters")),
            ("votes_cast", plan.votes, look and look.got),
            ("votes_counted", None, snapshot and snapshot.counts["votes"]),
            ("smallest_difference", found and found.points, None),
        ],
    )
    if found is not None:
        draft.say(say_power(found))
        if (pairs := found.plan.tested) > 1:
            told = _("That is reckoned for %(n)s pairs at once: one of them alone needs fewer.")
            draft.say(told % {"n": f"{pairs:,}"})
    if look is not None and snapshot is not None and snapshot.registered_plan == plan:
        which = {"snapshot": snapshot.pk, "look": say_look(look, snapshot)}
        draft.say(_("Snapshot %(snapshot)d: %(look)s.") % which)
        if look.is_interim:
            draft.say(say_early(look))
