"""One model of a campaign: its ratings on every board, its opponents, categories, history and exposure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Avg, Count, Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor
from arena.leaderboards.boards import board_cautions, board_facts
from arena.leaderboards.boards.board_rows import Column, rank_words
from arena.leaderboards.boards.board_sources import Source, choose_source, columns_of, sources
from arena.leaderboards.boards.duels import (
    NONE,
    Duel,
    say_interval,
    say_points,
    say_share,
    say_verdict,
    three,
    tie_odds_of,
)
from arena.leaderboards.boards.model_texts import Texts, texts_of
from arena.leaderboards.boards.renamed_models import say_names_before
from arena.leaderboards.boards.usable_words import say_usable, why_none
from arena.leaderboards.models import Leaderboard, Snapshot, Standing
from arena.leaderboards.sentences import say_marked, written

HISTORY = 30
BOARDS = {
    "source": "text",
    "board": "text",
    "snapshot": "count",
    "rank_lower": "count",
    "rank_upper": "count",
    "rating": "number",
    "lower": "number",
    "upper": "number",
    "battles": "count",
    "wins": "count",
    "losses": "count",
    "ties": "count",
    "both_bad": "number",
    "usable": "number",
    "why_not_usable": "text",
}
"""Columns of a table's file, here and below: name to kind; a line's `values` stand in their order."""
OPPONENTS = {
    "opponent": "text",
    "snapshot": "count",
    "wins": "count",
    "losses": "count",
    "ties": "count",
    "score": "number",
    "expected_score": "number",
    "difference": "number",
    "lower": "number",
    "upper": "number",
    "verdict": "text",
}
CATEGORIES = {
    "category": "text",
    "snapshot": "count",
    "rating": "number",
    "lower": "number",
    "upper": "number",
    "unbounded": "text",
    "battles": "count",
    "provisional": "flag",
}
HISTORIES = {
    "snapshot": "count",
    "cutoff": "text",
    "rank_lower": "count",
    "rank_upper": "count",
    "rating": "number",
    "lower": "number",
    "upper": "number",
    "battles": "count",
}
EXPOSURE = {
    "kind": "text",
    "has_rater": "flag",
    "battles": "count",
    "share": "number",
    "mean_propensity": "number",
}
Values = tuple[Any, ...]


@dataclass(frozen=True)
class BoardLine:
    source: str
    board: str
    rank: str
    rating: str
    interval: str
    record: str
    both_bad: str
    usable: str
    values: Values
    alone: str = ""


@dataclass(frozen=True)
class OpponentLine:
    name: str
    record: str
    observed: str
    predicted: str
    points: str
    interval: str
    verdict: str
    values: Values


@dataclass(frozen=True)
class CategoryLine:
    """few: whether so few of its battles stand behind the rating that a board would rank none."""

    name: str
    rating: str
    interval: str
    battles: int
    few: bool
    values: Values


@dataclass(frozen=True)
class HistoryLine:
    snapshot: Snapshot
    rank: str
    rating: str
    interval: str
    battles: int
    values: Values


@dataclass(frozen=True)
class ExposureLine:
    kind: str
    battles: int
    share: str
    propensity: str
    values: Values


@dataclass(frozen=True)
class Page:
    competitor: Competitor
    sources: list[Source]
    source: Source | None
    simulated: str
    boards: list[BoardLine]
    opponents: list[OpponentLine]
    categories: list[CategoryLine]
    history: list[HistoryLine]
    exposure: list[ExposureLine]
    texts: Texts | None
    care: board_cautions.Care
    marked: str = ""
    least: int = 0
    """Battles of one model below which its rating in a category is provisional."""
    names: Sequence[str] = ()


def find_competitor(boards: Sequence[Leaderboard], name: str) -> Competitor | None:
    """A model that a snapshot of these boards names; others aren't known to whoever sees the boards."""
    standings = Standing.objects.filter(snapshot__leaderboard__in=boards, competitor__name=name)
    standing = standings.select_related("competitor").first()
    return None if standing is None else standing.competitor


def build(campaign: Campaign, boards: Sequence[Leaderboard], competitor: Competitor, wanted: str) -> Page:
    tabs = sources(boards)
    source = choose_source(tabs, list(boards), wanted)
    columns = {tab.key: columns_of(boards, tab) for tab in tabs}
    mine = [column for column in columns.get(source.key if source else "", []) if column.snapshot]
    main = next((column for column in mine if competitor.pk in column.standings), None)
    has_drawn = board_facts.has_drawn(campaign)
    shown = [column.snapshot for tab in tabs for column in columns[tab.key] if column.snapshot]
    lines = [line for tab in tabs for line in _boards(tab, columns[tab.key], competitor, has_drawn)]
    opponents = list(_opponents(main, competitor)) if main else []
    standings = list(_standings_of(main, competitor)) if main else []
    history = list(_history(standings))
    told = [line.rank for line in lines] + [line.rank for line in history] + [o.verdict for o in opponents]
    return Page(
        competitor=competitor,
        sources=tabs,
        source=source,
        simulated=board_facts.say_simulated(shown),
        boards=lines,
        opponents=opponents,
        categories=list(_categories(main, competitor)) if main else [],
        history=history,
        exposure=list(_exposure(campaign, competitor, _newest_cutoff(columns.values()))),
        texts=texts_of(campaign, competitor),
        care=board_cautions.care_of(
            [column for column in mine if competitor.pk in column.standings],
            source,
            about=[competitor.pk],
            named=(),
            leave={board_cautions.MOVES},
        ),
        marked=say_marked(shown, told),
        least=int(main.snapshot.options["min_votes"]) if main and main.snapshot else 0,
        names=say_names_before(standings[-1]) if standings else (),
    )


def _boards(
    tab: Source, columns: Sequence[Column], competitor: Competitor, has_drawn: bool
) -> Iterator[BoardLine]:
    for column in columns:
        standing = column.standings.get(competitor.pk)
        if standing is not None and column.snapshot is not None:
            offered = board_facts.offers_both_bad(column.snapshot, has_drawn)
            bad = standing.both_bad / standing.battles if offered and standing.battles else None
            yield BoardLine(
                source=tab.title,
                board=column.heading,
                rank=rank_words(standing),
                rating=_points(standing.rating),
                interval=_interval(standing.lower, standing.upper),
                record=_record(standing.wins, standing.losses, standing.ties),
                both_bad=_("not offered") if not offered else NONE if bad is None else say_share(bad),
                usable=say_usable(standing, column.snapshot, offered),
                values=(
                    tab.key,
                    column.board.name,
                    column.snapshot.pk,
                    *_standing(standing),
                    standing.wins,
                    standing.losses,
                    standing.ties,
                    bad,
                    standing.usable,
                    None if standing.usable is not None else why_none(column.snapshot, offered),
                ),
                alone=board_facts.say_alone(column.snapshot),
            )


def _opponents(column: Column, competitor: Competitor) -> Iterator[OpponentLine]:
    snapshot = column.snapshot
    if snapshot is None:
        return
    pairs = snapshot.pairs.filter(Q(first=competitor) | Q(second=competitor)).defer("details")
    duels = [
        Duel(pair, turned=pair.second_id == competitor.pk) for pair in pairs.select_related("first", "second")
    ]
    margin, odds = float(snapshot.options["margin"]), tie_odds_of(snapshot)
    for duel in sorted(duels, key=lambda duel: (-duel.battles, duel.pair.pk)):
        other = duel.pair.first if duel.turned else duel.pair.second
        estimate, observed = duel.estimate, duel.observed_score
        predicted = duel.predicted_score(odds)
        yield OpponentLine(
            name=other.name,
            record=_record(duel.wins, duel.losses, duel.ties),
            observed=NONE if observed is None else say_share(observed),
            predicted=NONE if predicted is None else say_share(predicted),
            points=say_points(estimate),
            interval=say_interval(estimate.lower, estimate.upper) if estimate else "",
            verdict=say_verdict(duel, competitor.name, other.name, margin),
            values=(
                other.name,
                snapshot.pk,
                duel.wins,
                duel.losses,
                duel.ties,
                observed,
                predicted,
                *three(estimate),
                duel.pair.verdict,
            ),
        )


def _categories(column: Column, competitor: Competitor) -> Iterator[CategoryLine]:
    if column.snapshot is not None:
        least = int(column.snapshot.options["min_votes"])
        for one in column.snapshot.category_ratings.filter(competitor=competitor):
            rating = one.in_words or _points(one.rating)
            few = one.battles < least
            numbers = (one.rating, one.lower, one.upper, one.unbounded, one.battles, few)
            values = (one.category, column.snapshot.pk, *numbers)
            ends = _interval(one.lower, one.upper)
            yield CategoryLine(one.category, rating, ends, one.battles, few, values)


def _standings_of(column: Column, competitor: Competitor) -> Iterable[Standing]:
    """The newest first."""
    standings = Standing.objects.filter(snapshot__leaderboard=column.leaderboard, competitor=competitor)
    return standings.select_related("snapshot").order_by("-snapshot_id")[:HISTORY]


def _history(standings: Iterable[Standing]) -> Iterator[HistoryLine]:
    for standing in standings:
        ends = _interval(standing.lower, standing.upper)
        yield HistoryLine(
            standing.snapshot,
            rank_words(standing),
            _points(standing.rating),
            ends,
            standing.battles,
            (standing.snapshot_id, standing.snapshot.cutoff.isoformat(), *_standing(standing)),
        )


def _newest_cutoff(columns: Iterable[Sequence[Column]]) -> datetime:
    return max(column.snapshot.cutoff for of_source in columns for column in of_source if column.snapshot)


def _exposure(campaign: Campaign, competitor: Competitor, until: datetime) -> Iterator[ExposureLine]:
    """How often it was drawn, and with what propensity: models shown more are known better.

    Up to the newest snapshot, like all else on the page: a count that moves with each draw would tell a rater
    whom they have before them.
    """
    battles = campaign.battles.filter(drawn_at__lte=until).order_by().annotate(seen=Q(rater__isnull=False))
    mine = battles.filter(Q(competitor_a=competitor) | Q(competitor_b=competitor))
    totals = {
        (kind, seen): n for kind, seen, n in battles.values_list("kind", "seen").annotate(n=Count("pk"))
    }
    rows = mine.values_list("kind", "seen").annotate(n=Count("pk"), mean=Avg("propensity"))
    for kind, seen, n, mean in sorted(rows, key=lambda row: list(MET).index(row[:2])):
        share = n / totals[kind, seen]
        yield ExposureLine(
            kind=str(MET[kind, seen]),
            battles=n,
            share=say_share(share),
            propensity=_("not recorded") if mean is None else f"{mean:.4f}",
            values=(kind, seen, n, share, mean),
        )


MET = {
    ("regular", True): gettext_lazy("shown to raters here"),
    ("repeat", True): gettext_lazy("shown again, as a repeat"),
    ("gold", True): gettext_lazy("shown as a gold battle"),
    ("recorded", True): gettext_lazy("votes that came in a file"),
    ("regular", False): gettext_lazy("judged here, shown to nobody"),
    ("recorded", False): gettext_lazy("judgments that came in a file"),
    ("repeat", False): gettext_lazy("repeats without a rater"),
    ("gold", False): gettext_lazy("gold battles without a rater"),
}
"""How a battle came about, by its kind and whether a rater has it."""


def _standing(standing: Standing) -> Values:
    ranks = (standing.rank_lower, standing.rank_upper)
    return (*ranks, standing.rating, standing.lower, standing.upper, standing.battles)


def _record(wins: int, losses: int, ties: int) -> str:
    return f"{wins:,} : {losses:,} ({ties:,})"


def _points(value: float | None) -> str:
    return NONE if value is None else written(value)


def _interval(lower: float | None, upper: float | None) -> str:
    if lower is None and upper is None:
        return ""
    return f"{_points(lower)} … {_points(upper)}"
