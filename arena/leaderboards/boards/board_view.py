"""Which of a board's rows are shown: found by name, sorted, some kept on top, a page at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils.translation import gettext_lazy

from arena.corpus.models import Competitor
from arena.leaderboards.boards.board_rows import Column, Placed, hard_move
from arena.leaderboards.intervals import Estimate
from arena.row_numbers import as_id

ROWS_AT_ONCE = 50
RANK = "rank"
SORTS = {
    RANK: gettext_lazy("rank"),
    "name": gettext_lazy("name"),
    "hard": gettext_lazy("rating on hard prompts"),
    "style": gettext_lazy("style-controlled rating"),
    "hard-move": gettext_lazy("hard move"),
    "style-move": gettext_lazy("style move"),
    "votes": gettext_lazy("votes"),
}
"""Numbers fall, names rise."""
OF_BOARD = {"hard": "hard", "style": "style", "hard-move": "hard", "style-move": "style"}


def sorts_of(shown: Sequence[Column]) -> list[tuple[str, str]]:
    """What the rows can be sorted by: nothing of a board that isn't there."""
    there = {column.board.name for column in shown}
    return [(name, str(words)) for name, words in SORTS.items() if OF_BOARD.get(name, "") in there | {""}]


@dataclass(frozen=True)
class View:
    """A link holds all of it; what it doesn't know is the board as it stands."""

    query: str = ""
    sort: str = RANK
    pins: tuple[str, ...] = ()
    page: int = 1
    at_once: int = ROWS_AT_ONCE

    @classmethod
    def of(cls, asked: QueryDict) -> View:
        sort, page = asked.get("sort", ""), asked.get("page", "")
        return cls(
            query=asked.get("q", "").strip()[:200],
            sort=sort if sort in SORTS else RANK,
            pins=tuple(asked.getlist("pin")[:ROWS_AT_ONCE]),
            page=as_id(page) or 1,
        )

    def parameters(self, page: int) -> str:
        """To be put behind those of the source and the board."""
        named = [("q", self.query), ("sort", "" if self.sort == RANK else self.sort)]
        named += [("pin", name) for name in self.pins]
        named.append(("page", "" if page == 1 else str(page)))
        return urlencode([(name, value) for name, value in named if value])


WHOLE = View(at_once=1_000_000)


@dataclass(frozen=True)
class Part:
    """Those kept on top, then the others of this page; first, last: their places among so many `found`."""

    pinned: list[Placed]
    rows: list[Placed]
    found: int
    total: int
    first: int
    last: int
    page: int
    pages: int


def part_of(placed: Sequence[Placed], columns: Sequence[Column], view: View) -> Part:
    pins = set(view.pins)
    pinned = [one for one in placed if one[0].name in pins]
    words = view.query.casefold().split()
    found = [one for one in placed if one[0].name not in pins and _matches(one[0], words)]
    key = _key(columns, view.sort)
    if key is not None:
        # Ratings of groups that no battles connect share no scale: each group is sorted by itself.
        found.sort(key=lambda one: (one[1].component, *key(one)))
    pages = max(-(-len(found) // view.at_once), 1)
    page = min(max(view.page, 1), pages)
    start = (page - 1) * view.at_once
    rows = found[start : start + view.at_once]
    ends = (start + 1 if rows else 0, start + len(rows))
    return Part(pinned, rows, len(found), len(placed), *ends, page, pages)


def _matches(competitor: Competitor, words: Sequence[str]) -> bool:
    text = f"{competitor.name} {competitor.organisation}".casefold()
    return all(word in text for word in words)


def _key(columns: Sequence[Column], sort: str) -> Callable[[Placed], tuple[bool, float | str]] | None:
    """None: as they stand. Models without the number come last."""
    _overall, hard, style = columns
    if sort == RANK:
        return None
    if sort == "name":
        return lambda one: (False, one[0].name.casefold())
    if sort == "votes":
        return lambda one: (False, -one[1].battles)

    def number(competitor: int) -> float | None:
        if sort == "style-move":
            standing = style.standings.get(competitor)
            return None if standing is None or style.is_behind else standing.shift
        if sort == "hard-move":
            move = hard_move(columns, competitor)
            return None if move is None else move.points
        return _rating((style if sort == "style" else hard).estimate(competitor))

    def key(one: Placed) -> tuple[bool, float | str]:
        value = number(one[0].pk)
        return value is None, 0.0 if value is None else -value

    return key


def _rating(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.rating
