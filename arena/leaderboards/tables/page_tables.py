"""Every table of a page as a file: which there are, what they hold, and the rows that the page shows too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest

from arena.leaderboards.downloads import without_blanks
from arena.leaderboards.models import Snapshot
from arena.leaderboards.sentences import too_few

Columns = Mapping[str, str]
"""Name to kind, as a file has them (downloads.py): text, count, number, flag."""
About = dict[str, str | int | float | None]
ORIGIN = {"campaign": "text", "simulated": "flag"}
"""Last in each row: whose it is, and whether the page says that votes are simulated."""
TOO_FEW = {"too_few": "text"}
"""raters or prompts, where they are too few to rely on a row's rank or verdict, which its page marks."""
CLAIMS = {"rank_lower", "verdict"}


@dataclass(frozen=True)
class Read:
    """What a page shows: the rows of its tables by name, what they are all about, and whether votes are
    simulated. A table that the page doesn't show has no rows."""

    rows: Mapping[str, Sequence[tuple[Any, ...]]]
    about: About = field(default_factory=dict)
    simulated: bool = False


@dataclass(frozen=True)
class Page:
    """asks: the parameters that page and files understand · about: columns that come first in each table ·
    tables: the columns of each · read: who may see the page, and its rows."""

    asks: Mapping[str, str]
    tables: Mapping[str, Columns]
    read: Callable[[HttpRequest, str], Read]
    about: Columns = field(default_factory=dict)

    def columns(self, table: str) -> dict[str, str]:
        return {**self.about, **self.tables[table], **(TOO_FEW if self.is_marked(table) else {}), **ORIGIN}

    def is_marked(self, table: str) -> bool:
        """Has it ranks or verdicts, which pages mark where too little stands behind them?"""
        return "snapshot" in self.tables[table] and not self.tables[table].keys().isdisjoint(CLAIMS)

    def lines(self, request: HttpRequest, campaign: str, table: str) -> list[tuple[Any, ...]]:
        read = self.read(request, campaign)
        about = tuple(read.about[name] for name in self.about)
        rows = read.rows.get(table, ())
        if self.is_marked(table):
            rows = _with_too_few(rows, list(self.tables[table]).index("snapshot"))
        return [without_blanks((*about, *row, campaign, read.simulated)) for row in rows]


def _with_too_few(rows: Sequence[tuple[Any, ...]], place: int) -> list[tuple[Any, ...]]:
    """place: of the number of a row's snapshot."""
    told = Snapshot.objects.filter(pk__in={row[place] for row in rows}).select_related("leaderboard")
    few = {snapshot.pk: too_few(snapshot) for snapshot in told}
    return [(*row, few.get(row[place])) for row in rows]
