"""The three boards of one source, read together: all that the page shows, or why it's empty."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from arena.battles.models import Vote
from arena.campaigns.models import Campaign
from arena.judging.models import Judgment
from arena.leaderboards import sentences
from arena.leaderboards.boards import board_cautions, board_facts
from arena.leaderboards.boards.absent_boards import Absent, absent_of
from arena.leaderboards.boards.board_rows import (
    Column,
    Move,
    Row,
    axis_of,
    placed_of,
    rows_of,
)
from arena.leaderboards.boards.board_sources import (
    Source,
    choose_source,
    chosen_of,
    columns_of,
    opening_of,
    sources,
)
from arena.leaderboards.boards.board_view import WHOLE, Part, View, part_of
from arena.leaderboards.intervals import Axis
from arena.leaderboards.models import Leaderboard, Snapshot
from arena.leaderboards.plans.looks import know_looks, say_cast, say_newer
from arena.leaderboards.plans.registration_words import address_of_plans, say_registered
from arena.leaderboards.run_models import SnapshotRun
from arena.leaderboards.style_words import say_typical


@dataclass(frozen=True)
class Page:
    """All that the template shows of one source. Without rows: why there are none.

    ranking: the board that gives order, ranks and votes, and the only one in a narrow window.
    """

    source: Source | None
    sources: list[Source]
    columns: list[Column]
    rows: list[Row]
    axis: Axis
    sentence: str
    simulated: str
    facts: list[board_facts.Fact]
    coefficients: list[board_facts.CoefficientRow]
    care: board_cautions.Care
    typical: str = ""
    terms: list[board_facts.Term] = field(default_factory=list)
    interval: str = "robust"
    resampled: str = ""
    pinned: list[Row] = field(default_factory=list)
    part: Part | None = None
    ranking: Column | None = None
    absent: list[Absent] = field(default_factory=list)

    @cached_property
    def shown(self) -> list[Column]:
        return [column for column in self.columns if column.snapshot]

    @property
    def marked(self) -> str:
        """Of the board that ranks, and of those that a marked move leads to."""
        moves = [move for row in (*self.pinned, *self.rows) for move in (row.hard_move, row.style_move)]
        of_moves = self.shown if any(move and move.is_marked for move in moves) else []
        columns = [self.ranking, *of_moves] if self.ranking else []
        shown = [*(row.rank for row in (*self.pinned, *self.rows)), *(str(move) for move in moves if move)]
        return sentences.say_marked([column.snapshot for column in columns if column.snapshot], shown)

    @property
    def titles(self) -> str:
        return sentences.list_names([column.board.title for column in self.shown])

    @cached_property
    def has_moves(self) -> set[str]:
        """Boards to which a move from the overall one can be told."""
        names = {column.board.name for column in self.shown}
        return names - {"overall"} if "overall" in names else set()

    @property
    def width(self) -> int:
        """Columns of the table: rank, model and votes beside them."""
        return 3 + len(self.shown) + len(self.has_moves)


INTERVALS = ("robust", "bootstrap")


@dataclass(frozen=True)
class Missing:
    """What keeps a page empty, and the act that mends it: edit, invite, take, or none."""

    title: str
    text: str
    act: str


@dataclass(frozen=True)
class Progress:
    """Open attempts of a campaign: how many boards of those asked for are done."""

    done: int
    total: int
    waiting: bool


def build(
    boards: Iterable[Leaderboard],
    wanted: str,
    interval: str = "robust",
    view: View = WHOLE,
    asked: str = "",
) -> Page:
    """`asked`: the board that is to rank; where it isn't there that is told, and the first one ranks."""
    boards = list(boards)
    tabs = sources(boards)
    source = choose_source(tabs, boards, wanted)
    if source is None:
        return Page(None, [], [], [], axis_of([]), "", "", [], [], board_cautions.NO_CARE)
    interval = interval if interval in INTERVALS else INTERVALS[0]
    columns = columns_of(boards, source, interval)
    snapshots = [column.snapshot for column in columns if column.snapshot]
    know_looks(snapshots)
    simulated = board_facts.say_simulated(snapshots)
    ranking = chosen_of(columns, asked)
    axis, placed = axis_of(columns), placed_of(columns, ranking)
    part = part_of(placed, columns, view)
    return Page(
        source=source,
        sources=tabs,
        columns=columns,
        rows=list(rows_of(columns, ranking, placed, part.rows, axis)),
        axis=axis,
        sentence=sentence_of(columns, source, bool(simulated)) if columns[0].snapshot else "",
        simulated=simulated,
        facts=_facts(snapshots, source),
        coefficients=board_facts.coefficients_of(columns[-1].snapshot),
        typical=say_typical(board_facts.worths_of(columns[-1].snapshot)),
        # What the strip of facts says of people alone isn't said again.
        care=board_cautions.care_of(columns, source, leave={board_cautions.ALONE}),
        terms=board_facts.terms_of(snapshots[0], len(snapshots) > 1) if snapshots else [],
        interval=interval,
        resampled=board_facts.say_resampled(columns[0].snapshot),
        pinned=list(rows_of(columns, ranking, placed, part.pinned, axis)),
        part=part,
        ranking=ranking,
        absent=absent_of(columns, source.kind, asked, ranking),
    )


def _facts(snapshots: Sequence[Snapshot], source: Source) -> list[board_facts.Fact]:
    if not snapshots:
        return []
    address = address_of_plans(snapshots[0].leaderboard.campaign)
    registered = [board_facts.Fact("", said, address=address) for said in say_registered(snapshots)]
    newer = say_newer(snapshots[0])
    since = [board_facts.Fact("", newer)] if newer else []
    told = say_cast(snapshots[0])
    cast = [board_facts.Fact("", told)] if told else []
    return [*board_facts.facts_of(snapshots[0]), *cast, *since, *registered]


def sentence_of(columns: Sequence[Column], source: Source, simulated: bool) -> str:
    """What a journalist could quote: who is first, on hard prompts too, and the largest move by style."""
    overall, hard, style = columns
    opening = opening_of(source, overall.snapshot, simulated)
    top, hard_top = overall.first, hard.first
    clauses = top.say_top()
    if hard.snapshot and not (overall.is_behind or hard.is_behind):
        words = (
            hard_top.names,
            hard_top.models,
            top.names,
            hard_top.few,
            hard_top.ranked,
            clauses[0],
            hard_top.none,
        )
        clauses.append(sentences.say_hard(*words))
    # Snapshots from before 1 December 2026 don't know which moves are clear.
    clear = style.snapshot.counts.get("clear_shifts") if style.snapshot else None
    if style.snapshot and clear and not style.is_behind and not sentences.too_few(style.snapshot):
        clauses.append(sentences.say_moves(_moves(style, clear["competitors"]), clear["of"]))
    return sentences.compose(opening, clauses)


def _moves(style: Column, clear: Collection[int]) -> Iterator[sentences.Move]:
    for standing in style.standings.values():
        if standing.shift is not None:
            move = Move(standing.shift, standing.shift_lower, standing.shift_upper)
            is_clear = standing.competitor_id in clear
            yield sentences.Move(standing.competitor.name, move.points, bool(move.kind), is_clear)


def missing_of(campaign: Campaign, page: Page) -> Missing | None:
    """Why there is no board at all; None when there is one."""
    if any(column.snapshot for column in page.columns):
        return None
    for column in page.columns:
        if column.failed:
            return Missing(_("The last attempt failed"), column.reason, "take")
    if page.source is not None and page.source.is_judged:
        reason = page.columns[0].reason
        title = _("No board of this judge yet") if page.source.judge else _("No board of this panel yet")
        return Missing(title, reason or _("No snapshot has been taken."), "take")
    if campaign.competitors.count() < 2 and not campaign.battles.exists():
        return Missing(
            _("A board needs two models"), _("This campaign has fewer than two to compare."), "edit"
        )
    cast = Vote.objects.filter(battle__campaign=campaign)
    votes = cast.standing().count()
    if not votes and Judgment.objects.filter(run__campaign=campaign).exclude(outcome="").exists():
        return Missing(_("No snapshot yet"), _("Nobody has voted, but judges have judged."), "take")
    if not votes:
        return Missing(_("No votes yet"), _("Boards appear when raters have voted."), "invite")
    text = ngettext("%(n)d vote is in.", "%(n)d votes are in.", votes) % {"n": votes}
    return Missing(_("No snapshot yet"), " ".join([text, *_still_holding(page.columns[:1], cast)]), "take")


def _still_holding(columns: Iterable[Column], cast: QuerySet[Vote]) -> Iterator[str]:
    """Why the last attempts made no board, unless votes have come since."""
    for column in columns:
        finished = column.run.finished_at if column.run else None
        if column.reason and finished and not cast.filter(voted_at__gt=finished).exists():
            yield column.reason


def unchanged_at(columns: Sequence[Column]) -> datetime | None:
    """When the newest attempts ended, if none of these boards found anything new; else None."""
    runs = [column.run for column in columns if column.run]
    without = (SnapshotRun.State.UNCHANGED, SnapshotRun.State.NOT_ENOUGH)
    same = [run.finished_at for run in runs if run.state == SnapshotRun.State.UNCHANGED and run.finished_at]
    return max(same) if same and all(run.state in without for run in runs) else None


def progress_of(boards: QuerySet[Leaderboard]) -> Progress | None:
    """Of the attempts asked for together with the oldest open one; None when none is open."""
    runs = SnapshotRun.objects.filter(leaderboard__in=boards)
    oldest = runs.open().order_by("requested_at").first()
    if oldest is None:
        return None
    round_ = list(runs.filter(requested_at=oldest.requested_at).values_list("state", flat=True))
    open_ = sum(state in SnapshotRun.OPEN for state in round_)
    running = SnapshotRun.State.RUNNING in round_
    return Progress(done=len(round_) - open_, total=len(round_), waiting=not running and open_ == len(round_))
