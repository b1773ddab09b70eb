"""What a report's parts are written from, and what they are written into."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from arena import instants
from arena.campaigns.models import Campaign
from arena.leaderboards.boards.board_page import Page
from arena.leaderboards.models import Snapshot
from arena.leaderboards.plans.registration import Plans
from arena.leaderboards.report.report_models import ReportText
from arena.percent import percent

MANY_COLUMNS = 9
LONG, WORDS = 30, 24
"""Characters: a digest is longer than the one, a phrase that wants room of its own than the other."""
_FIGURE = re.compile(r"(p [=<] )?[<≥±+−]?[0-9][-0-9.,:%…()+−– \u00a0]*( UTC)?")


class Cell(str):
    """Of a table: by its kind a page knows where it may break."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        if len(self) > LONG and " " not in self:
            return "long"
        if _FIGURE.fullmatch(self):
            return "figure"
        return "words" if len(self) > WORDS else ""


def _written(cell: object) -> Cell:
    """A number is a count; one that names something, as a snapshot's does, comes written."""
    if cell is None or cell == "":
        return Cell("–")
    return Cell(f"{cell:,}" if isinstance(cell, int) else cell)


@dataclass(frozen=True)
class Block:
    """Text, stored HTML, a list (`items`), a table (`rows` under `head`) or a picture (`source`; `dark` on
    a dark screen), with what stands above it."""

    text: str = ""
    head: Sequence[str] = ()
    rows: Sequence[Sequence[Cell]] = ()
    items: Sequence[str] = ()
    source: str = ""
    dark: str = ""
    html: SafeString | str = ""
    caption: str = ""
    file: str = ""
    values: Sequence[tuple[Any, ...]] = ()

    @property
    def is_many(self) -> bool:
        """So many columns that paper holds them only in small print."""
        return len(self.head) > MANY_COLUMNS


@dataclass
class Draft:
    """What one part says, as it is being written."""

    blocks: list[Block] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        if text.strip():
            self.blocks.append(Block(text=text))

    def quote(self, html: SafeString) -> None:
        """What was made of Markdown when it was stored."""
        self.blocks.append(Block(html=html))

    def list_out(self, items: Sequence[str], caption: str = "") -> None:
        if items:
            self.blocks.append(Block(items=items, caption=caption))

    def lay_out(
        self,
        head: Sequence[str],
        rows: Sequence[Sequence[object]],
        caption: str = "",
        *,
        file: str,
        values: Iterable[tuple[Any, ...]] | None = None,
    ) -> None:
        """file: the name of the table (report_files.py), whose rows are these unless `values` are given."""
        if rows:
            told = [[_written(cell) for cell in row] for row in rows]
            exact = [tuple(row) for row in rows] if values is None else list(values)
            self.blocks.append(Block(head=head, rows=told, caption=caption, file=file, values=exact))


@dataclass(frozen=True)
class Matter:
    """What the parts are written from."""

    campaign: Campaign
    page: Page
    snapshot: Snapshot | None
    text: ReportText
    plans: Plans


def say_day(at: datetime | None) -> str | None:
    return instants.say_day(at) if at else None


def interval_heading() -> str:
    return _("%(level)s interval") % {"level": percent(0.95)}
