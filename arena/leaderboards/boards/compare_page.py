"""Two models of a campaign head to head, on every board and source the visitor may see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor
from arena.leaderboards.boards import board_cautions, board_facts
from arena.leaderboards.boards.board_rows import Column
from arena.leaderboards.boards.board_sources import Source, choose_source, columns_of, sources
from arena.leaderboards.boards.compare_direct import (
    CategoryLine,
    Direct,
    Need,
    categories_of,
    direct_of,
    needs_of,
    say_first_needed,
)
from arena.leaderboards.boards.compare_words import (
    Figure,
    headline,
    net_of,
    numbers_of,
    options_of,
    replacement,
    score_of,
)
from arena.leaderboards.boards.duels import (
    NONE,
    Duel,
    answer_of,
    say_interval,
    say_p,
    say_points,
    say_verdict,
    three,
)
from arena.leaderboards.intervals import Axis, Estimate, Mark, Tick, shared_axis
from arena.leaderboards.models import Leaderboard, PairResult, Snapshot
from arena.leaderboards.plans.asked_tests import OF_PLAN, about_of, asked_tests, of_plan
from arena.leaderboards.plans.looks import plan_and_look
from arena.leaderboards.plans.registration_words import address_of_plans, say_registered
from arena.leaderboards.sentences import say_marked, signed

BOARDS = {
    "source": "text",
    "board": "text",
    "snapshot": "count",
    "plan": "count",
    "look": "text",
    "difference": "number",
    "lower": "number",
    "upper": "number",
    "expected_score": "number",
    "score_lower": "number",
    "score_upper": "number",
    "net_rate": "number",
    "net_lower": "number",
    "net_upper": "number",
    "verdict": "text",
    "p_adjusted": "number",
    "p": "number",
    "a_for_b": "text",
    **OF_PLAN,
}
"""Columns of the file of the boards: name to kind; a line's `values` stand in their order.

a_for_b: whether A may stand in place of B; "not yet" where raters or prompts are too few.
"""
ROUND = (2000, 1000, 500, 200, 100, 50, 20, 10, 5)


@dataclass(frozen=True)
class Line:
    """The two on one board of one source."""

    source: str
    board: str
    key: str
    points: Figure
    label: str
    mark: Mark | None
    score: Figure
    net: Figure
    verdict: str
    kind: str
    p: str
    values: tuple[Any, ...]
    own_p: str = ""
    asked_p: str = ""
    alone: str = ""


@dataclass(frozen=True)
class Choice:
    """Models that can be chosen, and which two are."""

    names: list[str]
    a: str
    b: str


@dataclass(frozen=True)
class Page:
    choice: Choice
    sources: list[Source]
    source: Source | None
    headline: str
    replacement: str
    simulated: str
    margin: str
    low: str
    high: str
    zero: str
    band_start: str
    band_end: str
    ticks: list[Tick]
    lines: list[Line]
    direct: Direct | None
    found: bool
    detailed: bool
    nearly: bool
    categories: list[CategoryLine]
    needs: list[Need]
    needs_first: str
    apart: bool
    style: str
    snapshots: list[Snapshot]
    registered: list[str]
    plans: str
    care: board_cautions.Care
    marked: str = ""
    asked: bool = False


@dataclass(frozen=True)
class _Found:
    """One board of one source with its pair; without one there is no snapshot or a model isn't in it."""

    source: Source
    column: Column
    duel: Duel | None


def names_of(boards: Iterable[Leaderboard]) -> list[str]:
    """Every model on a newest snapshot of these boards, by falling rating on the first that has it."""
    seen: dict[str, None] = {}
    for board in boards:
        snapshot = board.snapshots.first()
        if snapshot is not None:
            seen |= dict.fromkeys(standing.competitor.name for standing in snapshot.standings.as_listed())
    return list(seen)


def is_a_duel(campaign: Campaign, boards: QuerySet[Leaderboard]) -> bool:
    """Two models, and none whose first vote is still to come: the page about two is the one to open."""
    newest = Snapshot.objects.filter(leaderboard__in=boards).order_by("-pk").first()
    return newest is not None and newest.counts["competitors"] == 2 == campaign.competitors.count()


def choose(names: Sequence[str], a: str, b: str) -> Choice:
    """Those asked for; whatever isn't said is the best of the others."""
    rest = [name for name in names if name not in (a, b)]
    a = a or next(iter(rest), "")
    b = b or next((name for name in rest if name != a), "")
    return Choice(list(names), a, b)


def build(boards: Sequence[Leaderboard], choice: Choice, wanted: str) -> Page:
    tabs = sources(boards)
    source = choose_source(tabs, list(boards), wanted)
    found = list(_find(boards, tabs, choice))
    mine = [one for one in found if one.source == source]
    main = next((one.duel for one in mine if one.duel), None)
    margin, level = options_of(main)
    estimates = [one.duel.estimate for one in found if one.duel and one.duel.estimate]
    ends = [Estimate(bound, None, None) for bound in (-margin, margin)]
    axis = shared_axis([*estimates, *ends], around=0.0)
    snapshots = [one.column.snapshot for one in found if one.column.snapshot and one.duel]
    simulated = board_facts.say_simulated(snapshots)
    lines = [_line(one, choice, axis, margin) for one in found if one.column.snapshot]
    return Page(
        choice=choice,
        sources=tabs,
        source=source,
        headline=headline(main, choice.a, choice.b, source, len(tabs) > 1) if main and source else "",
        replacement=replacement(main, choice.a, choice.b, margin, level) if main else "",
        simulated=simulated,
        margin=f"{margin:g}",
        low=signed(axis.low),
        high=signed(axis.high),
        zero=axis.place(0.0),
        band_start=axis.place(-margin),
        band_end=axis.place(margin),
        ticks=_ticks(axis),
        lines=lines,
        direct=direct_of(main) if main and main.direct else None,
        found=main is not None,
        detailed=bool(main and (main.pair.details or not main.battles)),
        nearly=any(snapshot.counts.get("pairs_nearly") for snapshot in snapshots),
        categories=list(categories_of(main)) if main else [],
        needs=list(needs_of(main)) if main else [],
        needs_first=say_first_needed(main) if main else "",
        apart=bool(main and main.verdict == PairResult.Verdict.APART),
        style=_style(mine, choice),
        snapshots=snapshots,
        registered=say_registered(
            [one.column.snapshot for one in mine if one.column.snapshot],
            two=(main.pair.first_id, main.pair.second_id) if main else None,
        ),
        plans=address_of_plans(boards[0].campaign),
        care=_care(mine, source),
        marked=say_marked(snapshots, [line.verdict for line in lines]),
        asked=any(one.duel.asked for one in found if one.duel),
    )


def _care(mine: Sequence[_Found], source: Source | None) -> board_cautions.Care:
    """Of the boards that have both. No rank is shown here, and the headline says whose judgment it is."""
    with_both = [one for one in mine if one.duel]
    about = {pk for one in with_both if one.duel for pk in (one.duel.pair.first_id, one.duel.pair.second_id)}
    leave = {board_cautions.RANKS, board_cautions.ALONE, board_cautions.MOVES}
    columns = [one.column for one in with_both]
    return board_cautions.care_of(columns, source, about=sorted(about), leave=leave)


def _find(boards: Sequence[Leaderboard], tabs: Iterable[Source], choice: Choice) -> Iterator[_Found]:
    for source in tabs:
        for column in columns_of(boards, source):
            yield _Found(source, column, _duel(column, choice))


def _duel(column: Column, choice: Choice) -> Duel | None:
    by_name = {standing.competitor.name: standing.competitor for standing in column.standings.values()}
    a, b = by_name.get(choice.a), by_name.get(choice.b)
    if column.snapshot is None or a is None or b is None:
        return None
    return find_duel(column.snapshot, a, b)


def find_duel(snapshot: Snapshot, a: Competitor, b: Competitor) -> Duel | None:
    low, high = sorted((a.pk, b.pk))
    pair = snapshot.pairs.filter(first=low, second=high).first()
    asked = asked_tests(snapshot).get((low, high))
    return None if pair is None else Duel(pair, turned=a.pk > b.pk, asked=asked)


def _ticks(axis: Axis) -> list[Tick]:
    """No difference, and one round number on either side as far as the axis goes."""
    reach = max(-axis.low, axis.high)
    step = next((step for step in ROUND if step <= 0.8 * reach), ROUND[-1])
    shown = [n for n in (-step, 0, step) if axis.low <= n <= axis.high]
    return [Tick(signed(n), axis.place(n), n == 0) for n in shown]


def _line(one: _Found, choice: Choice, axis: Axis, margin: float) -> Line:
    return _no_pair(one) if one.duel is None else _pair(one, one.duel, choice, axis, margin)


def _board_of(one: _Found) -> dict[str, str]:
    told = {"source": one.source.title, "board": one.column.heading, "key": one.column.board.name}
    return told | {"alone": board_facts.say_alone(one.column.snapshot)}


def _where(one: _Found) -> tuple[str | int | None, ...]:
    snapshot = one.column.snapshot
    told = (snapshot.pk, *plan_and_look(snapshot)) if snapshot else (None, None, None)
    return one.source.key, one.column.board.name, *told


def _no_pair(one: _Found) -> Line:
    none, where = Figure(NONE), _where(one)
    return Line(
        **_board_of(one),
        points=none,
        label="",
        mark=None,
        score=none,
        net=none,
        verdict=_("no pair"),
        kind="",
        p="",
        values=(*where, *(None,) * (len(BOARDS) - len(where))),
    )


def _pair(one: _Found, duel: Duel, choice: Choice, axis: Axis, margin: float) -> Line:
    estimate = duel.estimate
    interval = say_interval(estimate.lower, estimate.upper) if estimate else ""
    label = _("%(points)s points, interval %(interval)s") % {
        "points": say_points(estimate),
        "interval": interval or _("unknown"),
    }
    return Line(
        **_board_of(one),
        points=Figure(say_points(estimate), interval),
        label=label,
        mark=None if estimate is None else axis.mark(estimate),
        score=score_of(duel),
        net=net_of(duel),
        verdict=say_verdict(duel, choice.a, choice.b, margin),
        kind=_kind(duel),
        p=say_p(duel.pair.p_adjusted),
        asked_p=say_p(duel.p_adjusted) if duel.asked else "",
        values=(
            *_where(one),
            *three(estimate),
            *numbers_of(duel),
            duel.pair.verdict,
            duel.pair.p_adjusted,
            duel.pair.p,
            answer_of(duel, options_of(duel)[1]).value,
            *of_plan(about_of(duel.pair.snapshot)((duel.pair.first_id, duel.pair.second_id)), duel.asked),
        ),
        own_p="" if duel.pair.p is None else say_p(duel.pair.p),
    )


def _kind(duel: Duel) -> str:
    """Whose colour the verdict has: the side ahead, or neither."""
    estimate = duel.estimate
    if duel.verdict != PairResult.Verdict.DIFFERENT or estimate is None:
        return ""
    return "a" if estimate.rating > 0 else "b"


def _style(mine: Sequence[_Found], choice: Choice) -> str:
    """How much of the difference goes with style: its change between the plain and the controlled board."""
    by_board = {one.column.board.name: one for one in mine}
    plain, styled = by_board.get("overall"), by_board.get("style")
    if not (plain and styled and plain.duel and styled.duel):
        return ""
    before, after = plain.duel.estimate, styled.duel.estimate
    if before is None or after is None:
        return ""
    words = {
        "before": signed(before.rating),
        "after": signed(after.rating),
        "a": choice.a,
        "b": choice.b,
    }
    return _("At equal length and format the difference goes from %(before)s to %(after)s points.") % words
