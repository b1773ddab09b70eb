"""What charts and the tables beside them show, read from a snapshot's stored rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Avg
from django.utils.translation import gettext as _

from arena.corpus.models import Response
from arena.leaderboards.boards.board_rows import find_column, in_order
from arena.leaderboards.boards.duels import tie_odds_of
from arena.leaderboards.defaults import BOARDS
from arena.leaderboards.fitting.elo_track import EloTrack
from arena.leaderboards.models import CategoryRating, Snapshot, Standing
from arena.leaderboards.sentences import written
from arena.leaderboards.simulated_words import simulated_in
from arena.leaderboards.style_words import worth_of
from ratings.scale import expected_score


@dataclass(frozen=True)
class ChartRows:
    """models: names in the board's order; all else plain rows by those names.

    origin: what a chart that has left the page is of.
    one_moment, recorded: shares of the votes replayed that bear the commonest time of all, and that came in a
    file; None where it isn't known.
    """

    origin: str
    models: list[str]
    ratings: list[dict[str, Any]]
    matrix: list[dict[str, Any]]
    categories: list[dict[str, Any]]
    slopes: list[dict[str, Any]]
    coefficients: list[dict[str, Any]]
    prices: list[dict[str, Any]]
    history: list[dict[str, Any]]
    elo: list[dict[str, Any]]
    elo_track: list[dict[str, Any]]
    one_moment: float | None = None
    recorded: float | None = None


HISTORY = 60
"""Snapshots that a history goes back."""


def rows_of(snapshot: Snapshot, track: EloTrack | None = None) -> ChartRows:
    """`track` is read from the votes themselves: the worker's alone."""
    standings = in_order(snapshot.standings.select_related("competitor"))
    names = {standing.competitor_id: standing.competitor.name for standing in standings}
    ratings = [
        {"model": s.competitor.name, "rating": s.rating, "lower": s.lower, "upper": s.upper}
        for s in standings
    ]
    order = {name: place for place, name in enumerate(names.values())}
    cells = sorted(_cells(snapshot, names), key=lambda cell: (order[cell["model"]], order[cell["against"]]))
    tag = simulated_in(snapshot.counts).tag
    simulated = f", {tag}" if tag else ""
    return ChartRows(
        f"{snapshot.leaderboard.name}, snapshot {snapshot.pk}{simulated}",
        list(names.values()),
        ratings,
        cells,
        _categories(snapshot, names, ratings),
        list(_slopes(snapshot)),
        [asdict(worth_of(one, snapshot.counts["length_unit"])) for one in snapshot.coefficients],
        list(_prices(snapshot, standings)),
        list(_history(snapshot, names)),
        [] if track is None else track.final(names),
        [] if track is None else track.path(names),
        None if track is None else track.one_moment,
        None if track is None else track.recorded,
    )


def _prices(snapshot: Snapshot, standings: Sequence[Standing]) -> Iterator[dict[str, Any]]:
    """Dollars for a thousand responses, of the models whose responses here have a known cost."""
    sets = snapshot.leaderboard.campaign.prompt_sets.all()
    costs = Response.objects.filter(prompt__prompt_set__in=sets, cost_usd__gt=0).order_by()
    mean = dict(costs.values_list("competitor").annotate(mean=Avg("cost_usd")))
    for s in standings:
        if s.rating is not None and s.competitor_id in mean:
            yield {
                "model": s.competitor.name,
                "rating": s.rating,
                "lower": s.lower,
                "upper": s.upper,
                "dollars": 1000 * float(mean[s.competitor_id]),
            }


def _history(snapshot: Snapshot, names: dict[int, str]) -> Iterator[dict[str, Any]]:
    """The models of this snapshot on it and on those before it, the oldest first."""
    earlier = snapshot.leaderboard.snapshots.filter(pk__lte=snapshot.pk).order_by("-pk")[:HISTORY]
    standings = Standing.objects.filter(snapshot__in=[one.pk for one in earlier], competitor__in=names)
    fields = ("snapshot_id", "snapshot__cutoff", "competitor_id", "rating", "lower", "upper")
    for pk, cutoff, competitor, rating, lower, upper in standings.order_by("snapshot_id").values_list(
        *fields
    ):
        if rating is not None:
            yield {
                "snapshot": pk,
                "at": cutoff.isoformat(),
                "model": names[competitor],
                "rating": rating,
                "lower": lower,
                "upper": upper,
            }


def _cells(snapshot: Snapshot, names: dict[int, str]) -> Iterator[dict[str, Any]]:
    """Both directions of every pair: score in their battles, a tie counting half, as predicted, battles."""
    fields, odds = ("first_id", "second_id", "difference", "wins", "losses", "ties"), tie_odds_of(snapshot)
    for first, second, difference, wins, losses, ties in snapshot.pairs.values_list(*fields):
        total = wins + losses + ties
        for a, b, sign, won in ((first, second, 1, wins), (second, first, -1, losses)):
            yield {
                "model": names[a],
                "against": names[b],
                "observed": (won + ties / 2) / total if total else None,
                "predicted": None if difference is None else expected_score(sign * difference, tie_odds=odds),
                "battles": total,
            }


def _categories(
    snapshot: Snapshot, names: dict[int, str], ratings: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Each category on the zero of the board: its models have the same mean here as they have on it.

    A fit of one category has the mean 1000 over all its models, those that have no rating there among them.
    """
    rated = {one["model"]: one["rating"] for one in ratings if one["rating"] is not None}
    by_category: dict[str, list[CategoryRating]] = {}
    for one in snapshot.category_ratings.all():
        by_category.setdefault(one.category, []).append(one)
    cells = []
    for category, found in by_category.items():
        pairs = [
            (rated[names[one.competitor_id]], one.rating)
            for one in found
            if names[one.competitor_id] in rated and one.rating is not None
        ]
        shift = 0.0
        if pairs and len(pairs) < len(rated):
            shift = sum(board - own for board, own in pairs) / len(pairs)
        for one in found:
            low, high = (None if end is None else end + shift for end in (one.lower, one.upper))
            cells.append(
                {
                    "category": category,
                    "model": names[one.competitor_id],
                    "rating": None if one.rating is None else one.rating + shift,
                    "lower": low,
                    "upper": high,
                    "battles": one.battles,
                    "unbounded": one.unbounded,
                    "says": one.in_words,
                }
            )
    return cells


def _slopes(snapshot: Snapshot) -> Iterator[dict[str, Any]]:
    """The newest snapshots of the three boards of the same source."""
    leaderboard = snapshot.leaderboard
    whole = leaderboard.campaign.leaderboards.whole()
    siblings = whole.filter(judge=leaderboard.judge_id, source=leaderboard.source)
    boards = [board for board in siblings.order_by("pk") if not board.policies]
    for wanted in BOARDS:
        column = find_column(wanted, boards)
        for standing in column.standings.values():
            if standing.rating is not None:
                yield {
                    "board": column.heading,
                    "model": standing.competitor.name,
                    "rating": standing.rating,
                    **_moved(wanted.name, standing),
                }


def _moved(board: str, standing: Standing) -> dict[str, float | None]:
    """From the overall board to this one."""
    if board == "hard":
        return {"move": standing.move, "move_lower": standing.move_lower, "move_upper": standing.move_upper}
    if board == "style":
        return {
            "move": standing.shift,
            "move_lower": standing.shift_lower,
            "move_upper": standing.shift_upper,
        }
    return {}


def in_category(cell: Mapping[str, Any]) -> str:
    """A rating in a category with its interval, which it may lack."""
    if cell["rating"] is None:
        return str(cell["says"])
    told = written(cell["rating"])
    if _is_bare(cell):
        return told
    ends = ("–" if cell[end] is None else written(cell[end]) for end in ("lower", "upper"))
    return f"{told} ({' … '.join(ends)})"


def say_bare(cells: Iterable[Mapping[str, Any]]) -> str:
    """Why ratings in categories have no interval; empty where all have one."""
    if not any(map(_is_bare, cells)):
        return ""
    return _(
        "A rating without brackets has no interval yet: too few votes, raters or prompts in that category, or"
        " nearly all of them ties."
    )


def _is_bare(cell: Mapping[str, Any]) -> bool:
    return cell["rating"] is not None and cell["lower"] is None and cell["upper"] is None
