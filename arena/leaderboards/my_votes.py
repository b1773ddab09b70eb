"""One rater's votes beside the board of all raters, once the campaign is closed and names are out."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

from arena.battles.models import Outcome, Vote
from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor
from arena.leaderboards.boards.duels import tie_odds_of
from arena.leaderboards.defaults import BOARDS
from arena.leaderboards.models import Leaderboard, Snapshot, Standing
from arena.leaderboards.tables.page_tables import ORIGIN
from arena.percent import percent
from arena.raters.access import User
from arena.raters.models import Rater
from ratings.scale import expected_score

COLUMNS = {
    "model": "text",
    "battles": "count",
    "own_share": "number",
    "everyones_share": "number",
    "snapshot": "count",
    **ORIGIN,
}
SHARE_TO_A = {Outcome.MODEL_A: 1.0, Outcome.MODEL_B: 0.0, Outcome.TIE: 0.5, Outcome.BOTH_BAD: 0.5}


@dataclass(frozen=True)
class Row:
    """A model in the rater's battles: their votes' share for it, and all raters'."""

    name: str
    battles: int
    own: float
    everyone: float

    @property
    def own_in_words(self) -> str:
        return percent(self.own)

    @property
    def everyone_in_words(self) -> str:
        return percent(self.everyone)


@dataclass(frozen=True)
class Compared:
    """Votes with a winner between two rated models; how many went to the one with more points."""

    counted: int  # all votes of theirs that count on a board
    decided: int
    agreed: int
    expected: int
    rows: list[Row]
    snapshot: Snapshot

    @property
    def values(self) -> list[tuple[Any, ...]]:
        taken = self.snapshot
        origin = taken.pk, taken.leaderboard.campaign.slug, taken.counts["simulated"] > 0
        return [(row.name, row.battles, row.own, row.everyone, *origin) for row in self.rows]


def compare(campaign: Campaign, rater: Rater, user: User) -> Compared | None:
    """None when there is no board to compare with. Rows only for who may see that board."""
    boards = (
        campaign.leaderboards.whole()
        .filter(source=Leaderboard.Source.RATERS, subset=BOARDS[0].subset, style_control=False)
        .order_by("pk")
    )
    board = boards.first()
    snapshot = board.snapshots.first() if board else None
    if snapshot is None:
        return None
    may_see = boards.visible_to(user).exists()
    standings = {standing.competitor_id: standing for standing in snapshot.standings.all()}
    cast = Vote.objects.of(rater, campaign).rated().standing()
    rows = list(cast.values_list("outcome", "battle__competitor_a", "battle__competitor_b"))
    votes = [row for row in rows if row[1] in standings and row[2] in standings]
    ties = _ties(snapshot, standings)
    leads = [lead for vote in votes if (lead := _lead(*vote, standings, ties)) is not None]
    return Compared(
        len(rows),
        len(leads),
        sum(agreed for agreed, _chance in leads),
        round(sum(chance for _agreed, chance in leads)),
        _rows(votes, standings) if may_see else [],
        snapshot,
    )


@dataclass(frozen=True)
class _Ties:
    """Davidson's ν of the board, 0 where ties count half, and the share of its votes that are ties."""

    odds: float
    share: float


def _ties(snapshot: Snapshot, standings: dict[int, Standing]) -> _Ties:
    battles = sum(standing.battles for standing in standings.values())
    return _Ties(
        tie_odds_of(snapshot), sum(standing.ties for standing in standings.values()) / max(battles, 1)
    )


def _lead(
    outcome: str, a: int, b: int, standings: dict[int, Standing], ties: _Ties
) -> tuple[bool, float] | None:
    """Whether the vote went to the model with more points, and the chance that the ratings give to that.

    The expected score counts ties half; of votes with a winner the share is further from a half.
    """
    rating_a, rating_b = standings[a].rating, standings[b].rating
    share = SHARE_TO_A[Outcome(outcome)]
    if rating_a is None or rating_b is None or rating_a == rating_b or share == 0.5:
        return None
    score = expected_score(abs(rating_a - rating_b), tie_odds=ties.odds)
    chance = min((score - ties.share / 2) / max(1 - ties.share, 1e-9), 1.0)
    return (share == 1.0) == (rating_a > rating_b), chance


def _rows(votes: list[tuple[str, int, int]], standings: dict[int, Standing]) -> list[Row]:
    battles: Counter[int] = Counter()
    shares: defaultdict[int, float] = defaultdict(float)
    for outcome, a, b in votes:
        share = SHARE_TO_A[Outcome(outcome)]
        battles.update((a, b))
        shares[a] += share
        shares[b] += 1 - share
    names = dict(Competitor.objects.filter(pk__in=battles).values_list("pk", "name"))
    return [
        Row(names[pk], battles[pk], shares[pk] / battles[pk], _share_of_all(standing))
        for pk, standing in standings.items()
        if pk in battles
    ]


def _share_of_all(standing: Standing) -> float:
    return (standing.wins + standing.ties / 2) / standing.battles
