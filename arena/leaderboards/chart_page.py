"""The charts of one source's boards, each with the table that holds its numbers. Drawn by the worker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from arena.leaderboards.board_page import Source, choose_source, columns_of, sources
from arena.leaderboards.board_rows import Column
from arena.leaderboards.chart_rows import ChartRows, rows_of
from arena.leaderboards.duels import NONE, say_share
from arena.leaderboards.models import Leaderboard, Snapshot, SnapshotChart

TITLES = {
    "ratings": gettext_lazy("Ratings with their intervals"),
    "slopes": gettext_lazy("The three boards"),
    "wins": gettext_lazy("Who beats whom"),
    "battles": gettext_lazy("How often they met"),
    "categories": gettext_lazy("By category"),
}


@dataclass(frozen=True)
class Table:
    """Column headings after the first, and rows that begin with their own."""

    head: list[str]
    rows: list[list[str]]
    note: str = ""


@dataclass(frozen=True)
class Chart:
    name: str
    title: str
    drawn: bool
    failure: str
    alt: str
    table: Table


@dataclass(frozen=True)
class Page:
    sources: list[Source]
    source: Source | None
    columns: list[Column]
    board: str
    snapshot: Snapshot | None
    leaderboard: Leaderboard | None
    charts: list[Chart]
    waiting: bool


def build(boards: Iterable[Leaderboard], wanted: str, board: str) -> Page:
    boards = list(boards)
    tabs = sources(boards)
    source = choose_source(tabs, boards, wanted)
    columns = [column for column in columns_of(boards, source) if column.snapshot] if source else []
    column = next((column for column in columns if column.board.name == board), None)
    column = column or next(iter(columns), None)
    if column is None or column.snapshot is None:
        return Page(tabs, source, columns, board, None, None, [], False)
    drawn = {chart.name: chart for chart in column.snapshot.charts.defer("light", "dark", "spec")}
    rows = rows_of(column.snapshot)
    charts = [_chart(name, drawn.get(name), rows) for name in TITLES]
    return Page(
        tabs, source, columns, column.board.name, column.snapshot, column.leaderboard, charts, not drawn
    )


def _chart(name: str, chart: SnapshotChart | None, rows: ChartRows) -> Chart:
    title = str(TITLES[name])
    return Chart(
        name=name,
        title=title,
        drawn=chart is not None and not chart.failure,
        failure=chart.failure if chart else "",
        alt=_("%(title)s of %(n)d models; the table below holds the same numbers")
        % {"title": title, "n": len(rows.models)},
        table=TABLES[name](rows),
    )


def _ratings(rows: ChartRows) -> Table:
    found = [
        [one["model"], *(_points(one[end]) for end in ("rating", "lower", "upper"))] for one in rows.ratings
    ]
    return Table([_("Rating"), _("from"), _("to")], found)


def _slopes(rows: ChartRows) -> Table:
    boards = list(dict.fromkeys(point["board"] for point in rows.slopes))
    cells = {(point["model"], point["board"]): _points(point["rating"]) for point in rows.slopes}
    return _square(rows.models, boards, cells)


def _wins(rows: ChartRows) -> Table:
    cells = {
        (cell["model"], cell["against"]): f"{_share(cell['observed'])} ({_share(cell['predicted'])})"
        for cell in rows.matrix
    }
    table = _square(rows.models, rows.models, cells)
    note = _(
        "The row’s model wins this share of decisive votes against the column’s; in brackets as predicted."
    )
    return Table(table.head, table.rows, note)


def _battles(rows: ChartRows) -> Table:
    cells = {(cell["model"], cell["against"]): f"{cell['battles']:,}" for cell in rows.matrix}
    return _square(rows.models, rows.models, cells)


def _categories(rows: ChartRows) -> Table:
    names = list(dict.fromkeys(cell["category"] for cell in rows.categories))
    cells = {(cell["model"], cell["category"]): _with_ends(cell) for cell in rows.categories}
    return _square(rows.models, names, cells)


def _with_ends(cell: Mapping[str, Any]) -> str:
    return f"{cell['rating']:.0f} ({_points(cell['lower'])} … {_points(cell['upper'])})"


def _square(models: Sequence[str], across: Sequence[str], cells: Mapping[tuple[str, str], str]) -> Table:
    return Table(
        list(across), [[model, *(cells.get((model, name), NONE) for name in across)] for model in models]
    )


def _points(value: float | None) -> str:
    return NONE if value is None else f"{value:.0f}"


def _share(value: float | None) -> str:
    return NONE if value is None else say_share(value)


TABLES = {
    "ratings": _ratings,
    "slopes": _slopes,
    "wins": _wins,
    "battles": _battles,
    "categories": _categories,
}
