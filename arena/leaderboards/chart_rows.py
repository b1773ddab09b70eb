"""What charts and the tables beside them show, read from a snapshot's stored rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from arena.leaderboards.board_rows import find_column, in_order
from arena.leaderboards.defaults import BOARDS
from arena.leaderboards.models import Snapshot
from ratings.scale import win_probability


@dataclass(frozen=True)
class ChartRows:
    """models: names in the board's order; all else plain rows by those names.

    origin: what a chart that has left the page is of.
    """

    origin: str
    models: list[str]
    ratings: list[dict[str, Any]]
    matrix: list[dict[str, Any]]
    categories: list[dict[str, Any]]
    slopes: list[dict[str, Any]]


def rows_of(snapshot: Snapshot) -> ChartRows:
    standings = in_order(snapshot.standings.select_related("competitor"))
    names = {standing.competitor_id: standing.competitor.name for standing in standings}
    ratings = [
        {"model": s.competitor.name, "rating": s.rating, "lower": s.lower, "upper": s.upper}
        for s in standings
    ]
    order = {name: place for place, name in enumerate(names.values())}
    cells = sorted(_cells(snapshot, names), key=lambda cell: (order[cell["model"]], order[cell["against"]]))
    simulated = ", simulated votes" if snapshot.counts["simulated"] else ""
    return ChartRows(
        f"{snapshot.leaderboard.slug}, snapshot {snapshot.pk}{simulated}",
        list(names.values()),
        ratings,
        cells,
        _categories(snapshot, names),
        list(_slopes(snapshot)),
    )


def _cells(snapshot: Snapshot, names: dict[int, str]) -> Iterator[dict[str, Any]]:
    """Both directions of every pair: the share of decisive votes won, what the ratings predict, battles."""
    fields = ("first_id", "second_id", "difference", "wins", "losses", "ties")
    for first, second, difference, wins, losses, ties in snapshot.pairs.values_list(*fields):
        for a, b, sign, won in ((first, second, 1, wins), (second, first, -1, losses)):
            decisive = wins + losses
            yield {
                "model": names[a],
                "against": names[b],
                "observed": won / decisive if decisive else None,
                "predicted": None if difference is None else win_probability(sign * difference),
                "battles": decisive + ties,
            }


def _categories(snapshot: Snapshot, names: dict[int, str]) -> list[dict[str, Any]]:
    return [
        {
            "category": one.category,
            "model": names[one.competitor_id],
            "rating": one.rating,
            "lower": one.lower,
            "upper": one.upper,
            "battles": one.battles,
        }
        for one in snapshot.category_ratings.all()
    ]


def _slopes(snapshot: Snapshot) -> Iterator[dict[str, Any]]:
    """The newest snapshots of the three boards of the same source."""
    leaderboard = snapshot.leaderboard
    siblings = leaderboard.campaign.leaderboards.filter(judge=leaderboard.judge_id, source=leaderboard.source)
    boards = [board for board in siblings.order_by("pk") if not board.policies]
    for wanted in BOARDS:
        column = find_column(wanted, boards)
        for standing in column.standings.values():
            if standing.rating is not None:
                yield {
                    "board": column.heading,
                    "model": standing.competitor.name,
                    "rating": standing.rating,
                }
