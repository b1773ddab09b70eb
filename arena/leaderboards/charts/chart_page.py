"""The charts of one source's boards, each with the table that holds its numbers. Drawn by the worker."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models.functions import Substr
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from arena.leaderboards.boards.absent_boards import Absent, absent_of
from arena.leaderboards.boards.board_cautions import NO_CARE, RANKS, Care, care_of
from arena.leaderboards.boards.board_facts import say_simulated
from arena.leaderboards.boards.board_rows import Column
from arena.leaderboards.boards.board_sources import Source, choose_source, chosen_of, columns_of, sources
from arena.leaderboards.boards.duels import NONE, say_share
from arena.leaderboards.charts.chart_names import FRAME_WITHIN, NAMES_AT_END, Size, sizes_of
from arena.leaderboards.charts.chart_rows import ChartRows, in_category, rows_of, say_bare
from arena.leaderboards.charts.chart_scheme import MOST_LINES, MOST_SLOPES
from arena.leaderboards.defaults import MOST_CATEGORIES
from arena.leaderboards.models import Leaderboard, Snapshot, SnapshotChart
from arena.leaderboards.sentences import list_names, signed, written
from arena.leaderboards.style_words import Worth, say_typical
from arena.percent import percent
from arena.row_numbers import as_id

TITLES = {
    "ratings": gettext_lazy("Ratings with their intervals"),
    "slopes": gettext_lazy("The boards side by side"),
    "wins": gettext_lazy("Who beats whom"),
    "battles": gettext_lazy("How often they met"),
    "categories": gettext_lazy("By category"),
    "history": gettext_lazy("Over time"),
    "style": gettext_lazy("What style is worth"),
    "price": gettext_lazy("Rating and price"),
    "elo": gettext_lazy("Online Elo (K = 4)"),
}


MOST_SHOWN = {"slopes": MOST_SLOPES, "history": MOST_LINES, "elo": MOST_LINES}
MOST_OPEN_CELLS = 400
ONE_MOMENT = 0.5
"""From such a share of the votes at one time on, their order is said to be a file's."""


@dataclass(frozen=True)
class Table:
    """Column headings after the first, and rows that begin with their own."""

    head: list[str]
    rows: list[list[str]]
    note: str = ""
    first: str = ""


@dataclass(frozen=True)
class Chart:
    name: str
    title: str
    drawn: bool
    failure: str
    alt: str
    table: Table
    sorted_by: int = 0
    note: str = ""
    size: Size | None = None
    names_size: Size | None = None

    @property
    def names_class(self) -> str:
        """Of the picture of its names alone (chart_names.py), by the side they stand on."""
        return "chart-names end" if self.name in NAMES_AT_END else "chart-names"

    @property
    def is_open(self) -> bool:
        """Its table: where it was just sorted, and where it stands alone, unless it is a wall of figures."""
        cells = len(self.table.head) * len(self.table.rows)
        return bool(self.sorted_by) or (not self.drawn and cells <= MOST_OPEN_CELLS)


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
    simulated: str = ""
    care: Care = NO_CARE
    absent: list[Absent] = field(default_factory=list)
    rows: ChartRows | None = None


def build(boards: Iterable[Leaderboard], wanted: str, board: str, order: str = "") -> Page:
    """`order`: a chart and the column (1, 2, …) by which its table is sorted, as "categories:2"."""
    boards = list(boards)
    tabs = sources(boards)
    source = choose_source(tabs, boards, wanted)
    three = columns_of(boards, source) if source else []
    columns = [column for column in three if column.snapshot]
    column = chosen_of(three, board) if three else None
    if source is None or column is None or column.snapshot is None:
        return Page(tabs, source, columns, board, None, None, [], False)
    charts = column.snapshot.charts.defer("light", "dark", "spec")
    drawn = {chart.name: chart for chart in charts.annotate(beginning=Substr("light", 1, FRAME_WITHIN))}
    rows = stored_rows(column.snapshot, drawn.get("elo"))
    absent = absent_of(three, source.kind, board, column)
    return Page(
        tabs,
        source,
        columns,
        column.board.name,
        column.snapshot,
        column.leaderboard,
        [_sorted(_beside(_chart(name, drawn.get(name), rows), absent), order) for name in TITLES],
        not drawn,
        say_simulated([column.snapshot]),
        care_of([column], source, leave={RANKS}),
        absent,
        rows,
    )


def _beside(chart: Chart, absent: Sequence[Absent]) -> Chart:
    """Which boards the slopes lack; why, stands where one chooses among them."""
    names = [one.heading for one in absent if one.heading]
    if chart.name != "slopes" or not names:
        return chart
    words = _("Not here: %(boards)s. Why is said above.") % {"boards": list_names(names)}
    return replace(chart, note=" ".join(filter(None, (chart.note, words))))


def _sorted(chart: Chart, order: str) -> Chart:
    """Falling by the number that each cell begins with; an unknown order changes nothing."""
    name, _colon, column = order.partition(":")
    place = as_id(column)
    if name != chart.name or not place or place > len(chart.table.head):
        return chart
    rows = sorted(chart.table.rows, key=lambda row: _number(row[place]), reverse=True)
    return replace(chart, table=replace(chart.table, rows=rows), sorted_by=place)


def _number(cell: str) -> float:
    found = re.match(r"[+−-]?[0-9][0-9,]*(\.[0-9]+)?", cell)
    return float(found[0].replace(",", "").replace("−", "-")) if found else float("-inf")


def stored_rows(snapshot: Snapshot, elo: SnapshotChart | None) -> ChartRows:
    """As drawn: what was replayed from the votes is read off the stored chart, never in a request."""
    rows = rows_of(snapshot)
    if elo is None or elo.failure:
        return rows
    # None where it is being drawn again, or a newer snapshot has taken its place, meanwhile.
    spec = SnapshotChart.objects.filter(pk=elo.pk).values_list("spec", flat=True).first()
    kept = spec["usermeta"] if spec else None
    if not kept:
        return rows
    # Charts drawn before these were kept don't know them.
    shares = {name: kept.get(name) for name in ("one_moment", "recorded")}
    return replace(rows, elo=kept["elo"], **shares)


def _chart(name: str, chart: SnapshotChart | None, rows: ChartRows) -> Chart:
    title = str(TITLES[name])
    size, names_size = (None, None)
    if chart is not None and not chart.failure:
        size, names_size = sizes_of(chart.beginning, name)  # type: ignore[attr-defined]
    return Chart(
        name=name,
        title=title,
        drawn=chart is not None and not chart.failure,
        failure=chart.failure if chart else "",
        alt=ngettext(
            "%(title)s of %(n)d model; the table below holds the same numbers",
            "%(title)s of %(n)d models; the table below holds the same numbers",
            len(rows.models),
        )
        % {"title": title, "n": len(rows.models)},
        table=TABLES[name](rows),
        note="" if chart and chart.failure else " ".join(filter(None, (say(name, rows) for say in NOTES))),
        size=size,
        names_size=names_size,
    )


def say_cut(name: str, rows: ChartRows) -> str:
    """Which part of the board is drawn, where it isn't all; the table has the rest."""
    shown, models = MOST_SHOWN.get(name), len(rows.models)
    if shown and models > shown:
        return _("Drawn are the first %(n)d of %(all)d models.") % {"n": shown, "all": models}
    if name == "categories" and len({cell["category"] for cell in rows.categories}) >= MOST_CATEGORIES:
        words = _("Shown are the %(n)d categories with the most votes; smaller ones are left out.")
        return words % {"n": MOST_CATEGORIES}
    return ""


def _is_timeless(rows: ChartRows) -> bool:
    """Then the order is a file's, and nothing that shows in it is a change in time."""
    return rows.one_moment is not None and rows.one_moment >= ONE_MOMENT


def say_order(name: str, rows: ChartRows) -> str:
    """In which order votes of a file were replayed, and where that isn't one in time."""
    if name != "elo":
        return ""
    if _is_timeless(rows) and rows.one_moment:
        words = _(
            "%(share)s of the votes bear one and the same time, as those of a file without times do:"
            " their order is the file’s, and this path says nothing about time."
        )
        return words % {"share": percent(rows.one_moment)}
    if not rows.recorded:
        return ""
    words = _(
        "%(share)s of the votes came in a file. They are replayed in the order of its lines; the times it"
        " gives for them aren’t looked at."
    )
    return words % {"share": say_share(rows.recorded)}


def say_bands(name: str, rows: ChartRows) -> str:
    """How many neighbours the order alone doesn't tell apart."""
    neighbours = list(itertools.pairwise(rows.elo))
    overlapping = sum(upper["lower"] <= lower["upper"] for upper, lower in neighbours)
    if name != "elo" or not overlapping:
        return ""
    words = ngettext(
        "The band of %(n)d of %(all)d models overlaps that of the next: in another order of the same votes"
        " the two might change places.",
        "The bands of %(n)d of %(all)d models overlap that of the next: in another order of the same votes"
        " the two might change places.",
        overlapping,
    )
    return words % {"n": overlapping, "all": len(rows.elo)}


BAND_MISSES = 0.05
"""Of shuffled orders, so many leave the band of a model: it is drawn for each by itself."""


def say_outside(name: str, rows: ChartRows) -> str:
    """Which models end outside their band, and how many would by chance."""
    if name != "elo" or not rows.elo:
        return ""
    outside = [one["model"] for one in rows.elo if not one["lower"] <= one["rating"] <= one["upper"]]
    if not outside:
        return _("Every model ends within its band, as in a shuffled order.")
    words = ngettext(
        "%(names)s ends outside its band, which holds where a model ends in 19 of 20 shuffled orders. By"
        " chance alone about %(chance)s of %(all)d models would.",
        "%(names)s end outside their bands, which hold where a model ends in 19 of 20 shuffled orders. By"
        " chance alone about %(chance)s of %(all)d models would.",
        len(outside),
    )
    chance = BAND_MISSES * len(rows.elo)
    told = words % {
        "names": list_names(outside),
        "all": len(rows.elo),
        "chance": f"{chance:.0f}" if chance >= 10 else f"{chance:.2g}",
    }
    if _is_timeless(rows):
        return told
    return f"{told} {_('More say that models, raters or prompts changed meanwhile.')}"


NOTES = (say_cut, say_order, say_bands, say_outside)


def _ratings(rows: ChartRows) -> Table:
    found = [
        [one["model"], *(_points(one[end]) for end in ("rating", "lower", "upper"))] for one in rows.ratings
    ]
    return Table([_("Rating"), _("from"), _("to")], found)


def _slopes(rows: ChartRows) -> Table:
    boards = list(dict.fromkeys(point["board"] for point in rows.slopes))
    cells = {(point["model"], point["board"]): _points(point["rating"]) for point in rows.slopes}
    moves = {}
    for point in rows.slopes:
        if point.get("move") is not None:
            heading = _("Move: %(board)s") % {"board": point["board"]}
            moves[point["model"], heading] = _move(point)
    headings = list(dict.fromkeys(heading for _model, heading in moves))
    table = _square(rows.models, [*boards, *headings], cells | moves)
    note = _("A move is the board’s rating less the overall one, in brackets its own %(level)s interval.")
    return Table(table.head, table.rows, note % {"level": percent(0.95)} if moves else "")


def _move(point: Mapping[str, Any]) -> str:
    if point["move_lower"] is None or point["move_upper"] is None:
        return signed(point["move"])
    return f"{signed(point['move'])} ({signed(point['move_lower'])} … {signed(point['move_upper'])})"


def _wins(rows: ChartRows) -> Table:
    cells = {
        (cell["model"], cell["against"]): f"{_share(cell['observed'])} ({_share(cell['predicted'])})"
        for cell in rows.matrix
    }
    table = _square(rows.models, rows.models, cells)
    note = _(
        "What the row’s model scores against the column’s, a tie counting half; in brackets as predicted."
    )
    return Table(table.head, table.rows, note)


def _battles(rows: ChartRows) -> Table:
    cells = {(cell["model"], cell["against"]): f"{cell['battles']:,}" for cell in rows.matrix}
    return _square(rows.models, rows.models, cells)


def _categories(rows: ChartRows) -> Table:
    names = list(dict.fromkeys(cell["category"] for cell in rows.categories))
    cells = {(cell["model"], cell["category"]): in_category(cell) for cell in rows.categories}
    table = _square(rows.models, names, cells)
    note = _(
        "A category’s models have the same mean here as on the board, so that rows can be read across."
        " A model that won or lost all its battles there has no finite rating, nor has one whose group won or"
        " lost all against the others: they say so instead. “–”: no battles that connect it with the others."
    )
    return Table(table.head, table.rows, " ".join(filter(None, (note, say_bare(rows.categories)))))


def _square(models: Sequence[str], across: Sequence[str], cells: Mapping[tuple[str, str], str]) -> Table:
    return Table(
        list(across), [[model, *(cells.get((model, name), NONE) for name in across)] for model in models]
    )


def _points(value: float | None) -> str:
    return NONE if value is None else written(value)


def _share(value: float | None) -> str:
    return NONE if value is None else say_share(value)


def _history(rows: ChartRows) -> Table:
    moments = list(dict.fromkeys(f"{one['snapshot']}" for one in rows.history))
    if len(moments) < 2:  # No history: the first chart has these ratings.
        return Table([], [])
    cells = {(one["model"], f"{one['snapshot']}"): _points(one["rating"]) for one in rows.history}
    return _square(rows.models, moments, cells)


def _style(rows: ChartRows) -> Table:
    found = [[one["name"], *(_signed(one[name]) for name in WORTH)] for one in rows.coefficients]
    ends = [_("from"), _("to")]
    head = [_("Points, typical difference"), *ends, _("Twice as much"), *ends]
    note = say_typical([Worth(**one) for one in rows.coefficients])
    return Table(head if found else [], found, note, _("More of"))


WORTH = ("points", "lower", "upper", "doubled", "doubled_lower", "doubled_upper")


def _price(rows: ChartRows) -> Table:
    found = [[one["model"], f"{one['dollars']:.2f}", _points(one["rating"])] for one in rows.prices]
    return Table([_("Dollars for 1,000 responses"), _("Rating")] if found else [], found)


def _elo(rows: ChartRows) -> Table:
    found = [[one["model"], *(_points(one[end]) for end in ("rating", "lower", "upper"))] for one in rows.elo]
    note = _(
        "In the order of the battles, from 1000, K = 4. The band holds the figures that %(share)s of 200"
        " shuffled orders of the same votes end at: so much is chance. It is no interval of a model’s"
        " strength; the board has those."
    ) % {"share": percent(0.95)}
    return Table([_("Online Elo"), _("band from"), _("band to")] if found else [], found, note)


def _signed(value: float | None) -> str:
    return NONE if value is None else signed(value)


TABLES = {
    "ratings": _ratings,
    "slopes": _slopes,
    "wins": _wins,
    "battles": _battles,
    "categories": _categories,
    "history": _history,
    "style": _style,
    "price": _price,
    "elo": _elo,
}
