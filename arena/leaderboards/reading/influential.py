"""How far the votes on one pair of responses pull a rating: one step of deletion from the newest snapshot.

The influence of a vote on cᵀθ is cᵀH⁻x (y − p) (Broderick, Giordano & Meager 2020; `ratings.influence` refits
to be sure). H comes from the snapshot's pairs and ratings, so that a page needs no fit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from arena.battles.models import Outcome
from arena.campaigns.models import Campaign
from arena.leaderboards.boards.board_rows import in_order, standings_of
from arena.leaderboards.models import Leaderboard, Snapshot, Standing
from arena.leaderboards.reading.response_pairs import PairOfResponses
from arena.leaderboards.sentences import signed
from ratings.scale import MEAN_RATING, POINTS_PER_LOG_ODDS

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Question:
    """Whose rating, or the lead of whom over whom."""

    of: Standing
    over: Standing | None

    def words(self, points: float) -> str:
        """What taking away the votes of a pair would do, of which they add so many points."""
        what = {"model": self.of.competitor.name, "points": signed(0.0 - points, 1)}
        if self.over is None:
            return (
                _("Without these votes the rating of %(model)s would move by about %(points)s points.") % what
            )
        what["other"] = self.over.competitor.name
        return _("Without these votes %(model)s less %(other)s would move by about %(points)s points.") % what


def add_influence(
    campaign: Campaign, pairs: Iterable[PairOfResponses], model: int | None, against: int | None
) -> bool:
    """In words and points on each pair; False where no board of people says how strong anybody is.

    Of the two models asked for it's their difference, of one its rating, of none the lead of the first.
    """
    snapshot = Snapshot.objects.filter(leaderboard__in=_overall(campaign)).first()
    if snapshot is None:
        return False
    standings = {s.competitor_id: s for s in standings_of(snapshot) if s.rating is not None}
    question = _question(standings, model, against)
    if question is None:
        return False
    place = {competitor: number for number, competitor in enumerate(standings)}
    strengths = np.array(
        [((s.rating or 0.0) - MEAN_RATING) / POINTS_PER_LOG_ODDS for s in standings.values()]
    )
    direction = _direction(snapshot, strengths, place, question)
    for pair in pairs:
        first, second = (place.get(competitor) for competitor in pair.competitors)
        if first is not None and second is not None:
            residual = _residual(pair, float(strengths[first] - strengths[second]), snapshot.options)
            pair.influence = float(direction[first] - direction[second]) * residual * POINTS_PER_LOG_ODDS
            pair.influence_words = question.words(pair.influence)
    return True


def _overall(campaign: Campaign) -> Iterable[Leaderboard]:
    return campaign.leaderboards.whole().filter(
        source=Leaderboard.Source.RATERS, subset=Leaderboard.Subset.ALL, style_control=False, policies={}
    )


def _question(standings: dict[int, Standing], model: int | None, against: int | None) -> Question | None:
    if model is not None:
        of, over = standings.get(model), standings.get(against or 0)
        return None if of is None or (against is not None and over is None) else Question(of, over)
    if against is not None:
        return _question(standings, against, None)
    ordered = in_order(standings.values())
    alike = [standing for standing in ordered if standing.component == ordered[0].component]
    return Question(alike[0], alike[1]) if len(alike) > 1 else None


def _direction(snapshot: Snapshot, strengths: Vector, place: dict[int, int], question: Question) -> Vector:
    """H⁻c (K,); H has a null direction for each group of models that battles connect."""
    k = len(strengths)
    hessian = np.zeros((k, k))
    for i, j, *counts in snapshot.pairs.values_list("first", "second", "wins", "losses", "ties"):
        if i in place and j in place and any(counts):
            a, b = place[i], place[j]
            p = 1 / (1 + np.exp(strengths[b] - strengths[a]))
            information = sum(counts) * p * (1 - p)
            hessian[[a, b], [a, b]] += information
            hessian[[a, b], [b, a]] -= information
    contrast = np.zeros(k)
    contrast[place[question.of.competitor_id]] = 1.0
    if question.over is not None:
        contrast[place[question.over.competitor_id]] = -1.0
    direction: Vector = np.linalg.pinv(hessian, hermitian=True) @ contrast
    return direction


def _residual(pair: PairOfResponses, apart: float, options: dict) -> float:
    """Σ(y − p) of the votes that the board counts, from the side of the pair's first."""
    p = 1 / (1 + np.exp(-apart))
    scores = {Outcome.MODEL_A.value: 1.0, Outcome.MODEL_B.value: 0.0}
    if options["ties"] != "drop":
        scores[Outcome.TIE.value] = 0.5
    if options["both_bad"] != "drop":
        scores[Outcome.BOTH_BAD.value] = 0.5
    return float(sum((scores[o] - p) * n for o, n in pair.people.items() if o in scores))
