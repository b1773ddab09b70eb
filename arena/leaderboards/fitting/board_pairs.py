"""All pairs of a fitted board: their differences, and how many clusters speak about each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.leaderboards.models import PairResult
from ratings.board import FittedBoard
from ratings.compare import effective_clusters_of_pairs
from ratings.uncertainty import NO_INTERVAL

Verdict = PairResult.Verdict

# Pairs with tests, categories and needs of their own: all those of 32 models, a second's work; of more models
# those of the best so many among themselves, and then those with most battles.
MOST_DETAILED, BEST = 500, 20
DECIMALS = 6


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs of a board by competitor number, first < second (m,); differences in log-odds.

    reason: the verdict that says why a pair has no difference, else "".
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    difference: NDArray[np.float64]
    deviation: NDArray[np.float64]
    effective: NDArray[np.float64]
    reason: list[str]

    @property
    def tested(self) -> NDArray[np.bool_]:
        """With a finite difference, and clusters enough to say how sure it is."""
        finite = np.array([not reason for reason in self.reason], dtype=bool)
        return finite & (self.effective >= NO_INTERVAL) & (self.deviation > 0)


def pairs_of(board: FittedBoard) -> Pairs:
    first, second = np.triu_indices(len(board.order), 1)
    place = np.argsort(board.order)
    at, to = place[first], place[second]
    return Pairs(
        first=first,
        second=second,
        difference=board.fit.params[at] - board.fit.params[to],
        deviation=board.covariance.difference_deviations[at, to],
        effective=effective_clusters_of_pairs(board, at, to),
        reason=_reasons(board, at, to),
    )


def asked_about(pairs: Pairs, board: FittedBoard, battles: NDArray[np.int64]) -> NDArray[np.int64]:
    """Places of the pairs with details (d,); `battles` of each pair (m,)."""
    place = np.argsort(board.order)  # a board's own order is by falling strength
    among_best = np.maximum(place[pairs.first], place[pairs.second]) < BEST
    return np.lexsort((-battles, ~among_best))[:MOST_DETAILED]


def _reasons(board: FittedBoard, at: NDArray[np.int64], to: NDArray[np.int64]) -> list[str]:
    graph = board.fit.graph
    unbounded = graph.unbounded_above | graph.unbounded_below
    apart = graph.component[at] != graph.component[to]
    endless = unbounded[at] | unbounded[to]
    return [
        Verdict.APART.value if a else Verdict.UNBOUNDED.value if e else ""
        for a, e in zip(apart.tolist(), endless.tolist(), strict=True)
    ]
