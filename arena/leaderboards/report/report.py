"""A campaign's report in nine parts, from what is stored: no number is computed here.

A part that says nothing is named as missing, in the report itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from arena.campaigns.models import Campaign
from arena.leaderboards.boards import board_page
from arena.leaderboards.models import Leaderboard
from arena.leaderboards.plans.registration import plans_of
from arena.leaderboards.report.report_draft import Block, Draft, Matter
from arena.leaderboards.report.report_models import ReportText
from arena.leaderboards.report.report_parts import PARTS


@dataclass(frozen=True)
class Part:
    number: int
    title: str
    blocks: list[Block]
    missing: list[str]


@dataclass(frozen=True)
class Report:
    campaign: Campaign
    made_at: datetime
    source: str
    simulated: str
    parts: list[Part]
    source_key: str = ""

    @property
    def missing(self) -> list[Part]:
        return [part for part in self.parts if part.missing]


def build(campaign: Campaign, boards: Sequence[Leaderboard], wanted: str) -> Report:
    page = board_page.build(boards, wanted)
    snapshots = [column.snapshot for column in page.columns if column.snapshot]
    text = ReportText.objects.filter(campaign=campaign).first() or ReportText(campaign=campaign)
    board = snapshots[0].leaderboard if snapshots else Leaderboard(campaign=campaign)
    plans = plans_of(board, snapshots)
    matter = Matter(campaign, page, snapshots[0] if snapshots else None, text, plans)
    parts = []
    for number, (title, write) in enumerate(PARTS, start=1):
        draft = Draft()
        write(matter, draft)
        if not draft.blocks and not draft.missing:
            draft.missing.append(_("Nothing is known about this."))
        parts.append(Part(number, str(title), draft.blocks, draft.missing))
    source, key = (page.source.title, page.source.key) if page.source else (_("nobody"), "")
    return Report(campaign, timezone.now(), source, page.simulated, parts, key)
