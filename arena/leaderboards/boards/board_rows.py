"""The rows of a board page: every model's place, its rating on the three boards, its move between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from arena.corpus.models import Competitor
from arena.leaderboards import sentences
from arena.leaderboards.boards.duels import say_share, three
from arena.leaderboards.boards.option_words import interval_words
from arena.leaderboards.boards.unranked import say_none_ranked
from arena.leaderboards.defaults import Board
from arena.leaderboards.intervals import Axis, Estimate, Mark, shared_axis
from arena.leaderboards.models import Leaderboard, Snapshot, Standing
from arena.leaderboards.run_models import SnapshotRun
from arena.leaderboards.sentences import signed, written

HEADINGS = {
    "overall": gettext_lazy("Overall"),
    "hard": gettext_lazy("Hard prompts"),
    "style": gettext_lazy("Style-controlled"),
}


MOVED = ("hard", "style")
COLUMNS = {
    "rank_lower": "count",
    "rank_upper": "count",
    "tied_first": "flag",
    "model": "text",
    "organisation": "text",
    "licence": "text",
    **{f"{board}_{figure}": "number" for board in HEADINGS for figure in ("rating", "lower", "upper")},
    **{f"{board}_{figure}": "number" for board in MOVED for figure in ("move", "move_lower", "move_upper")},
    "battles": "count",
    "win_rate": "number",
    "component": "count",
}
"""Of the table's file: name to kind; a row's `values` stand in their order."""


@dataclass(frozen=True)
class Column:
    """One of the three boards: what it rests on, or why it is empty."""

    board: Board
    leaderboard: Leaderboard | None
    snapshot: Snapshot | None
    run: SnapshotRun | None
    standings: Mapping[int, Standing]
    interval: str = "robust"

    def estimate(self, competitor: int) -> Estimate | None:
        """The rating with the interval that is shown; None without a rating."""
        standing = self.standings.get(competitor)
        if standing is None or standing.rating is None:
            return None
        if self.interval == "bootstrap":
            return Estimate(standing.rating, standing.bootstrap_lower, standing.bootstrap_upper)
        return Estimate(standing.rating, standing.lower, standing.upper)

    @property
    def heading(self) -> str:
        return str(HEADINGS[self.board.name])

    @property
    def intervals_in_words(self) -> str:
        return interval_words(self.snapshot.counts["interval_method"]) if self.snapshot else ""

    @property
    def reason(self) -> str:
        """Why the newest attempt gave no snapshot."""
        ended_without = (SnapshotRun.State.NOT_ENOUGH, SnapshotRun.State.FAILED)
        return self.run.reason if self.run and self.run.state in ended_without else ""

    @property
    def failed(self) -> bool:
        return self.run is not None and self.run.state == SnapshotRun.State.FAILED

    @property
    def is_behind(self) -> bool:
        """The newest attempt gave nothing, and an older snapshot is shown: it knows other votes."""
        return bool(self.snapshot and self.reason)

    @property
    def first(self) -> First:
        return first_of(self.standings.values(), self.snapshot)


@dataclass(frozen=True)
class First:
    """Who may be first among how many that can be compared, and in how many groups the models fall.

    few: the raters or prompts that are too few to tell, else empty · ranked: those of the models with a
    rank · none: why none has, as a clause · as_large: another group has as many battles.
    """

    names: list[str]
    models: int
    groups: int
    few: str = ""
    ranked: int = 0
    none: str = ""
    as_large: bool = False

    def say_top(self) -> list[str]:
        return sentences.say_top(
            self.names, self.models, self.groups, self.few, self.ranked, self.none, self.as_large
        )


def first_of(standings: Iterable[Standing], snapshot: Snapshot | None) -> First:
    """By falling rating; where battles don't connect all models, of the group with the most battles."""
    groups: dict[int, list[Standing]] = {}
    for standing in sorted(standings, key=_place):
        groups.setdefault(standing.component, []).append(standing)
    if not groups:
        return First([], 0, 0)
    battles = [sum(standing.battles for standing in group) for group in groups.values()]
    group = list(groups.values())[battles.index(max(battles))]
    names = [s.competitor.name for s in group if s.tied_first]
    ranked = sum(s.rank_lower is not None for s in group)
    few = sentences.say_few(snapshot) if snapshot else ""
    as_large = battles.count(max(battles)) > 1
    return First(names, len(group), len(groups), few, ranked, say_none_ranked(group), as_large)


@dataclass(frozen=True)
class Cell:
    """A rating on one board; without a mark there is nothing to draw."""

    board: str
    figure: str
    label: str
    mark: Mark | None
    interval: str = ""


@dataclass(frozen=True)
class Move:
    """Points from the overall board to another, with its interval or else `none`; unsure by too few."""

    points: float
    lower: float | None = None
    upper: float | None = None
    is_unsure: bool = False
    none: str = ""

    def __str__(self) -> str:
        return signed(self.points) + (sentences.UNSURE if self.is_marked else "")

    @property
    def is_marked(self) -> bool:
        """What is coloured claims something, as a verdict does, and is marked as one."""
        return self.is_unsure and bool(self.kind)

    @property
    def values(self) -> tuple[float | None, float | None, float | None]:
        return self.points, self.lower, self.upper

    @property
    def interval(self) -> str:
        if self.lower is None or self.upper is None:
            return self.none
        return f"{signed(self.lower)} … {signed(self.upper)}"

    @property
    def kind(self) -> str:
        """Marked only where the interval leaves out zero."""
        if self.lower is None or self.upper is None:
            return ""
        return "gain" if self.lower > 0 else "loss" if self.upper < 0 else ""


@dataclass(frozen=True)
class Row:
    rank: str
    tied_first: bool
    name: str
    organisation: str
    tags: tuple[str, ...]
    cells: tuple[Cell, ...]
    hard_move: Move | None
    style_move: Move | None
    votes: str
    win_rate: str
    starts_component: bool
    values: tuple[Any, ...]


Placed = tuple[Competitor, Standing]


def find_column(
    wanted: Board,
    boards: Sequence[Leaderboard],
    interval: str = "robust",
    known: dict[int, Competitor] | None = None,
) -> Column:
    """`known` gathers the competitors that several columns share, so that each is read once."""
    for leaderboard in boards:
        made_so = (leaderboard.subset, leaderboard.style_control, leaderboard.part)
        if made_so == (wanted.subset, wanted.style_control, {}):
            snapshot = leaderboard.snapshots.select_related("plan__campaign").first()
            standings = standings_of(snapshot, known) if snapshot else []
            run = leaderboard.runs.order_by("-pk").first()
            by_competitor = {s.competitor_id: s for s in standings}
            return Column(wanted, leaderboard, snapshot, run, by_competitor, interval)
    return Column(wanted, None, None, None, {})


def standings_of(snapshot: Snapshot, known: dict[int, Competitor] | None = None) -> list[Standing]:
    known = {} if known is None else known
    standings = list(snapshot.standings.all())
    missing = [standing.competitor_id for standing in standings if standing.competitor_id not in known]
    known |= Competitor.objects.in_bulk(missing) if missing else {}
    for standing in standings:
        standing.competitor = known[standing.competitor_id]
    return standings


def placed_of(columns: Sequence[Column], chosen: Column) -> list[Placed]:
    """One order for all three boards, the chosen one's, so that a move is seen as a crooked line."""
    return list(_in_order([chosen, *columns]))


def rows_of(
    columns: Sequence[Column],
    chosen: Column,
    placed: Sequence[Placed],
    shown: Sequence[Placed],
    axis: Axis,
) -> Iterator[Row]:
    """Of all that are placed, those to be shown; ranks and votes are those of the chosen board."""
    flags = [set(standing.flags) for _competitor, standing in placed]
    common = set.intersection(*flags) if len(flags) > 1 else set()
    component = None
    for competitor, standing in shown:
        starts = component is not None and standing.component != component
        component = standing.component
        tags = _tags(competitor, standing, common)
        yield _row(competitor, chosen.standings.get(competitor.pk), tags, columns, axis, starts)


def axis_of(columns: Sequence[Column]) -> Axis:
    """One for all three, so that a position means the same rating in each."""
    estimates = (column.estimate(pk) for column in columns for pk in column.standings)
    return shared_axis(estimate for estimate in estimates if estimate)


def _in_order(columns: Sequence[Column]) -> Iterator[Placed]:
    seen: set[int] = set()
    for column in columns:
        for standing in in_order(column.standings.values()):
            if standing.competitor_id not in seen:
                seen.add(standing.competitor_id)
                yield standing.competitor, standing


def in_order(standings: Iterable[Standing]) -> list[Standing]:
    """As a board lists them."""
    return sorted(standings, key=_place)


def _place(standing: Standing) -> tuple[float, ...]:
    """Groups that can be compared, the ranked ones first, by falling rating."""
    rating = float("inf") if standing.rating is None else -standing.rating
    return (standing.component, standing.rank_lower is None, rating, standing.pk)


def _row(
    competitor: Competitor,
    chosen: Standing | None,
    tags: tuple[str, ...],
    columns: Sequence[Column],
    axis: Axis,
    starts: bool,
) -> Row:
    style = None if columns[-1].is_behind else columns[-1].standings.get(competitor.pk)
    moves = hard_move(columns, competitor.pk), style_move(style)
    return Row(
        rank="–" if chosen is None else rank_words(chosen),
        tied_first=chosen is not None and chosen.tied_first,
        name=competitor.name,
        organisation=" · ".join(filter(None, (competitor.organisation, competitor.licence))),
        tags=tags,
        cells=tuple(_cell(column, competitor.pk, axis) for column in columns if column.snapshot),
        hard_move=moves[0],
        style_move=moves[1],
        votes="–" if chosen is None else f"{chosen.battles:,}",
        win_rate="" if chosen is None or not chosen.battles else say_share(_win_rate(chosen)),
        starts_component=starts,
        values=(
            *_place_of(chosen),
            *(competitor.name, competitor.organisation, competitor.licence),
            *(number for column in columns for number in three(column.estimate(competitor.pk))),
            *(number for move in moves for number in (move.values if move else (None,) * 3)),
            *_record_of(chosen),
        ),
    )


def _place_of(one: Standing | None) -> tuple[Any, ...]:
    return (None,) * 3 if one is None else (one.rank_lower, one.rank_upper, one.tied_first)


def _record_of(one: Standing | None) -> tuple[Any, ...]:
    return (
        (None,) * 3 if one is None else (one.battles, _win_rate(one) if one.battles else None, one.component)
    )


def hard_move(columns: Sequence[Column], competitor: int) -> Move | None:
    """The hard board's own figure; a snapshot that has none says the difference of the ratings, no more.

    Two boards of which one doesn't know the other's votes aren't laid side by side.
    """
    overall, hard = columns[:2]
    if overall.is_behind or hard.is_behind:
        return None
    standing = hard.standings.get(competitor)
    if standing is not None and standing.move is not None:
        few = any(one.snapshot and sentences.too_few(one.snapshot) for one in (overall, hard))
        return Move(standing.move, standing.move_lower, standing.move_upper, few, _("no interval yet"))
    before, after = overall.estimate(competitor), hard.estimate(competitor)
    if before is None or after is None or hard.snapshot is None or "moves" in hard.snapshot.counts:
        return None
    return Move(after.rating - before.rating)


def style_move(standing: Standing | None) -> Move | None:
    if standing is None or standing.shift is None:
        return None
    few = sentences.too_few(standing.snapshot) is not None
    return Move(standing.shift, standing.shift_lower, standing.shift_upper, few, _("no interval yet"))


def _win_rate(standing: Standing) -> float:
    """A tie counts half, whoever the opponents were."""
    return (standing.wins + standing.ties / 2) / standing.battles


def rank_words(standing: Standing) -> str:
    if standing.rank_lower is None:
        return "–"
    ends = dict.fromkeys((standing.rank_lower, standing.rank_upper))
    return sentences.mark("–".join(map(str, ends)), standing.snapshot)


def _cell(column: Column, competitor: int, axis: Axis) -> Cell:
    estimate = column.estimate(competitor)
    if estimate is None:
        return Cell(column.board.name, "–", _("no rating"), None)
    figure, lower, upper = written(estimate.rating), estimate.lower, estimate.upper
    if lower is None and upper is None:
        # A dot without a bar would look like the surest rating of all.
        label = _("%(rating)s, no interval yet") % {"rating": figure}
        return Cell(column.board.name, figure, label, None, _("no interval yet"))
    ends = {"rating": figure, "lower": written(lower or 0), "upper": written(upper or 0)}
    if upper is None:
        label, shown = _("%(rating)s, at least %(lower)s"), _("%(lower)s or more")
    elif lower is None:
        label, shown = _("%(rating)s, at most %(upper)s"), _("%(upper)s or less")
    else:
        label, shown = _("%(rating)s, interval from %(lower)s to %(upper)s"), "%(lower)s … %(upper)s"
    return Cell(column.board.name, figure, label % ends, axis.mark(estimate), shown % ends)


def flags_in_words(standing: Standing) -> list[str]:
    """Without those that another flag, or the row itself, says already."""
    return [str(FLAGS[flag]) for flag in standing.flags if FLAGS[flag]]


def _tags(competitor: Competitor, standing: Standing, common: set[str]) -> tuple[str, ...]:
    """A flag that every row carries is a warning below the table, and no tag in each row."""
    tags = [str(FLAGS[flag]) for flag in standing.flags if flag not in common and FLAGS[flag]]
    if competitor.status != Competitor.Status.ACTIVE:
        tags.append(competitor.get_status_display().lower())
    if competitor.role == Competitor.Role.SENTINEL:
        tags.append(_("sentinel"))
    return tuple(tags)


# Every provisional standing also says what makes it so.
FLAGS = {
    "provisional": "",
    "unbounded_above": gettext_lazy("no upper bound"),
    "unbounded_below": gettext_lazy("no lower bound"),
    # Of raters, or of prompts, on snapshots from before there were two flags.
    "too_few_raters": gettext_lazy("too few raters"),
    "too_few_prompts": gettext_lazy("too few prompts"),
    "unranked": gettext_lazy("unranked"),
    # Said under the rating itself.
    "no_interval": "",
}
