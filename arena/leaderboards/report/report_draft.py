"""What a report's parts are written from, and what they are written into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.utils.safestring import SafeString

from arena.campaigns.models import Campaign
from arena.leaderboards.boards.board_page import Page
from arena.leaderboards.models import Snapshot
from arena.leaderboards.plans.registration import Plans
from arena.leaderboards.report.report_models import ReportText

MANY_COLUMNS = 9


@dataclass(frozen=True)
class Block:
    """Text, stored HTML, a table (`rows` under `head`) or a picture (`source`; `dark` on a dark
    screen), with what stands above it."""

    text: str = ""
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    source: str = ""
    dark: str = ""
    html: SafeString | str = ""
    caption: str = ""

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

    def lay_out(self, head: Sequence[str], rows: Sequence[Sequence[object]], caption: str = "") -> None:
        if rows:
            told = [["–" if cell is None else str(cell) for cell in row] for row in rows]
            self.blocks.append(Block(head=head, rows=told, caption=caption))


@dataclass(frozen=True)
class Matter:
    """What the parts are written from."""

    campaign: Campaign
    page: Page
    snapshot: Snapshot | None
    text: ReportText
    plans: Plans


def say_day(at: datetime | None) -> str | None:
    return f"{at:%Y-%m-%d}" if at else None
