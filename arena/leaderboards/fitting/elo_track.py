"""Online Elo of a board's votes in the order of their battles: a secondary view, for the order is chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Pages read this file, and scipy's second at the start is the worker's alone.
    from ratings.elo import OnlineElo

K = 4.0
POINTS = 60
"""Moments at which the path is told."""
PERMUTATIONS = 200
MOST_VOTES = 200_000
"""Above so many the order band takes minutes; the newest votes are replayed then."""


@dataclass(frozen=True, eq=False)
class EloTrack:
    """competitors: ids by number · elo: after all votes · moments, ratings: (m,) votes so far, (m, K).

    one_moment, recorded: shares of the votes that bear the commonest time of all, and that came in a file.
    """

    competitors: Sequence[int]
    elo: OnlineElo
    moments: Sequence[int]
    ratings: Sequence[Sequence[float]]
    one_moment: float
    recorded: float

    def final(self, names: Mapping[int, str]) -> list[dict[str, Any]]:
        rows = zip(self.competitors, self.elo.ratings, self.elo.lower, self.elo.upper, strict=True)
        found = [
            {"model": names[pk], "rating": float(rating), "lower": float(low), "upper": float(high)}
            for pk, rating, low, high in rows
            if pk in names
        ]
        return sorted(found, key=lambda one: -one["rating"])

    def path(self, names: Mapping[int, str]) -> list[dict[str, Any]]:
        return [
            {"votes": votes, "model": names[pk], "rating": float(rating)}
            for votes, ratings in zip(self.moments, self.ratings, strict=True)
            for pk, rating in zip(self.competitors, ratings, strict=True)
            if pk in names
        ]
