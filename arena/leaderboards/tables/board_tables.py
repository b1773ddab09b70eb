"""The tables of the pages that whoever may see a campaign's boards may see."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Protocol

from django.http import Http404, HttpRequest

from arena.leaderboards import asked, snapshot_diff, snapshot_lines, snapshot_views
from arena.leaderboards.boards import board_rows, compare_direct, compare_page, model_page, model_texts
from arena.leaderboards.boards.board_facts import say_simulated, worths_of
from arena.leaderboards.boards.board_view import SORTS, View
from arena.leaderboards.charts.chart_files import CHARTS, values_of
from arena.leaderboards.sentences import too_few
from arena.leaderboards.style_words import WORTH
from arena.leaderboards.tables.page_tables import About, Page, Read

SOURCE = "whose judgment: `raters`, `judge:NUMBER`, `panel`, `combined`, …; without it as the page"
EVERY = 1_000_000


class Told(Protocol):
    @property
    def values(self) -> tuple[Any, ...]: ...


def values(lines: Iterable[Told]) -> list[tuple[Any, ...]]:
    return [line.values for line in lines]


def _board(request: HttpRequest, campaign: str) -> Read:
    """All of it, whichever page of it is asked for: found, sorted and kept on top as there."""
    _campaign, page = asked.boarded(request, campaign, replace(View.of(request.GET), page=1, at_once=EVERY))
    if page.source is None:
        raise Http404
    rows = {
        "board": [row.values for row in (*page.pinned, *page.rows)],
        "board-style": values(worths_of(page.columns[-1].snapshot)),
    }
    about: About = {"source": page.source.key}
    about |= {
        f"{column.board.name}_snapshot": column.snapshot and column.snapshot.pk for column in page.columns
    }
    about |= {
        f"{column.board.name}_too_few": column.snapshot and too_few(column.snapshot)
        for column in page.columns
    }
    return Read(rows, about, bool(page.simulated))


def _charts(request: HttpRequest, campaign: str) -> Read:
    _campaign, page = asked.charted(request, campaign)
    if page.rows is None or page.snapshot is None or page.source is None:
        raise Http404
    told = {table: values_of(page.rows, table) for table in CHARTS}
    about: About = {"source": page.source.key, "board": page.board, "newest_snapshot": page.snapshot.pk}
    return Read(told, about, bool(page.simulated))


def _model(request: HttpRequest, campaign: str) -> Read:
    _campaign, page = asked.about_model(request, campaign)
    rows = {
        "model-boards": values(page.boards),
        "model-opponents": values(page.opponents),
        "model-categories": values(page.categories),
        "model-history": values(page.history),
        "model-exposure": values(page.exposure),
        "model-style": values(page.texts.style) if page.texts else [],
    }
    return Read(rows, {"model": page.competitor.name}, bool(page.simulated))


def _compare(request: HttpRequest, campaign: str) -> Read:
    _campaign, choice, page = asked.compared(request, campaign)
    if page is None:
        raise Http404
    rows = {
        "compare-boards": values(page.lines),
        "compare-direct": values([page.direct] if page.direct else []),
        "compare-categories": values(page.categories),
        "compare-needs": values(page.needs),
    }
    return Read(rows, {"model_a": choice.a, "model_b": choice.b}, bool(page.simulated))


def _diff(request: HttpRequest, campaign: str) -> Read:
    leaderboard = snapshot_views.get_leaderboard(request, campaign, request.GET.get("leaderboard", ""))
    choice = snapshot_views.choose(leaderboard, request.GET.get("before", ""), request.GET.get("after", ""))
    if choice.before is None or choice.after is None:
        raise Http404
    moved = snapshot_diff.diff_of(choice.before, choice.after).moved
    about: About = {
        "leaderboard": leaderboard.slug,
        "before": choice.before.pk,
        "after": choice.after.pk,
        "before_too_few": too_few(choice.before),
        "after_too_few": too_few(choice.after),
    }
    return Read({"diff": values(moved)}, about, bool(say_simulated([choice.before, choice.after])))


def _snapshots(request: HttpRequest, campaign: str) -> Read:
    """All of them, whichever page of the list is asked for."""
    leaderboard = snapshot_views.get_leaderboard(request, campaign, request.GET.get("leaderboard", ""))
    lines = snapshot_lines.lines_of(snapshot_lines.newest_first(leaderboard))
    simulated = any(line.snapshot.counts["simulated"] for line in lines)
    return Read({"snapshots": values(lines)}, {"leaderboard": leaderboard.slug}, simulated)


PAGES = (
    Page(
        {
            "source": SOURCE,
            "board": "the board that ranks: overall, hard or style",
            "interval": "robust or bootstrap",
            "q": "words of a model's name or organisation",
            "sort": ", ".join(SORTS),
        },
        {"board": board_rows.COLUMNS, "board-style": WORTH},
        _board,
        {
            "source": "text",
            **{f"{board}_snapshot": "count" for board in board_rows.HEADINGS},
            **{f"{board}_too_few": "text" for board in board_rows.HEADINGS},
        },
    ),
    Page(
        {"source": SOURCE, "board": "overall, hard or style"},
        CHARTS,
        _charts,
        {"source": "text", "board": "text", "newest_snapshot": "count"},
    ),
    Page(
        {"name": "the model; without it the first", "source": SOURCE},
        {
            "model-boards": model_page.BOARDS,
            "model-opponents": model_page.OPPONENTS,
            "model-categories": model_page.CATEGORIES,
            "model-history": model_page.HISTORIES,
            "model-exposure": model_page.EXPOSURE,
            "model-style": model_texts.STYLE,
        },
        _model,
        {"model": "text"},
    ),
    Page(
        {"a": "a model; without it the first", "b": "another; without it the next", "source": SOURCE},
        {
            "compare-boards": compare_page.BOARDS,
            "compare-direct": compare_direct.DIRECT,
            "compare-categories": compare_direct.CATEGORIES,
            "compare-needs": compare_direct.NEEDS,
        },
        _compare,
        {"model_a": "text", "model_b": "text"},
    ),
    Page(
        {
            "leaderboard": "its slug; needed",
            "before": "a snapshot's number; without it the one before the other",
            "after": "a snapshot's number; without it the newest",
        },
        {"diff": snapshot_diff.COLUMNS},
        _diff,
        {
            "leaderboard": "text",
            "before": "count",
            "after": "count",
            **dict.fromkeys(("before_too_few", "after_too_few"), "text"),
        },
    ),
    Page(
        {"leaderboard": "its slug; needed"},
        {"snapshots": snapshot_lines.COLUMNS},
        _snapshots,
        {"leaderboard": "text"},
    ),
)
