"""Whose judgment boards tell: people's, a judge's, a panel's, or people's with the help of judges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from arena.corpus.models import Competitor
from arena.judging.models import Judge
from arena.leaderboards.boards.board_rows import Column, find_column
from arena.leaderboards.defaults import BOARDS
from arena.leaderboards.models import Leaderboard, Snapshot
from arena.leaderboards.simulated_words import simulated_in


@dataclass(frozen=True)
class Source:
    """People, one judge, or a panel of judges: a tab of the page. `kind`: as of a leaderboard."""

    key: str
    title: str
    judge: Judge | None
    visibility: str
    kind: str = Leaderboard.Source.RATERS

    @property
    def is_judged(self) -> bool:
        return Leaderboard.Source(self.kind).is_judged

    @property
    def opening(self) -> str:
        """Whose judgment a sentence about its boards tells."""
        if self.kind == Leaderboard.Source.PANEL:
            return _("according to the panel of judges, ")
        if self.kind == Leaderboard.Source.COMBINED:
            return _("according to people, with the help of judges, ")
        if self.judge is None:
            return ""
        return _("according to the judge %(name)s, ") % {"name": self.judge.name}


def opening_of(
    source: Source, snapshot: Snapshot | None, simulated: bool, beside_others: bool = False
) -> str:
    """What a sentence begins with: how far the votes are simulated, and whose judgment it is.

    beside_others: figures of further sources stand on the same page; people are named too then.
    """
    label = simulated_in(snapshot.counts).opening if simulated and snapshot is not None else ""
    if snapshot is not None and not snapshot.counts.get("combined", {"used": True})["used"]:
        return label + _("according to people alone, ")
    if beside_others and source.kind == Leaderboard.Source.RATERS:
        return label + _("according to people, ")
    return label + source.opening


def chosen_of(columns: Sequence[Column], asked: str) -> Column:
    """The board asked for if it is there; else the first that is."""
    there = [column for column in columns if column.snapshot]
    wanted = (column for column in there if column.board.name == asked)
    return next(wanted, next(iter([*there, *columns])))


def choose_source(tabs: list[Source], boards: list[Leaderboard], wanted: str) -> Source | None:
    """The one asked for; otherwise the first that has a snapshot, people before judges."""
    for tab in tabs:
        if tab.key == wanted:
            return tab
    shown = Leaderboard.objects.filter(pk__in=[board.pk for board in boards], snapshots__isnull=False)
    keys = {key_of(board) for board in shown}
    with_snapshot = [tab for tab in tabs if tab.key in keys]
    return next(iter([*with_snapshot, *tabs]), None)


def sources(boards: Iterable[Leaderboard]) -> list[Source]:
    found: dict[str, Source] = {}
    for board in boards:
        if key_of(board) not in found:
            found[key_of(board)] = source_of(board)
    return list(found.values())


def source_of(board: Leaderboard) -> Source:
    return Source(key_of(board), title_of(board), board.judge, board.visibility, board.source)


def key_of(board: Leaderboard) -> str:
    return board.source if board.judge_id is None else f"{board.source}:{board.judge_id}"


def title_of(board: Leaderboard) -> str:
    if board.source == Leaderboard.Source.PANEL:
        return _("Panel of judges")
    if board.source == Leaderboard.Source.COMBINED:
        helper = _("a panel") if board.judge is None else board.judge.name
        return _("People combined with %(helper)s") % {"helper": helper}
    return _("People") if board.judge is None else _("Judge: %(name)s") % {"name": board.judge.name}


def columns_of(boards: Iterable[Leaderboard], source: Source, interval: str = "robust") -> list[Column]:
    mine = [board for board in boards if key_of(board) == source.key and not board.policies]
    known: dict[int, Competitor] = {}
    return [find_column(wanted, mine, interval, known) for wanted in BOARDS]
