"""How much one more vote on each pair would settle: from a board, for the drawing of pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from django.utils import timezone
from numpy.typing import NDArray

from arena.battles.pair_models import PairWeight
from arena.leaderboards.fitting import plain_rows
from arena.leaderboards.models import Leaderboard, Snapshot
from ratings.board import FittedBoard
from ratings.bradley_terry import Fit
from ratings.pairing import difference_variance, pair_information
from ratings.ranks import bonferroni_t

# Pairs of models that may still be among this many best count fully, all others this much: who leads is what
# a board is read for, and the rest still has its share, besides the uniform fifth.
TOP, OTHERS = 5, 0.1
CONFIDENCE = 0.95


def weights_of(fit: Fit, deviations: NDArray[np.float64] | None = None) -> dict[tuple[int, int], float]:
    """By pair of the fit's competitors, lower first.

    deviations (K, K): the standard errors of differences that the board's ranks go by; without them the
    model's own. They say what is open; how much a vote would add to it is the model's to say.
    """
    k = len(fit.strengths)
    covariance = fit.bread[:k, :k]
    if deviations is None:
        deviations = np.sqrt(difference_variance(covariance))
    reach = bonferroni_t(k, np.inf, CONFIDENCE) * deviations[:k, :k]
    apart = np.abs(np.subtract.outer(fit.strengths, fit.strengths))
    open_ = ~(apart > reach)  # a difference without a standard error is open
    information = pair_information(fit.strengths, covariance, worth(fit.strengths, open_))
    return {(i, j): float(information[i, j]) for i, j in combinations(range(k), 2)}


def worth(strengths: NDArray[np.float64], open_: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(K, K): of each pair whose order is open, what it is worth to settle it."""
    surely_above = ((strengths[:, None] < strengths[None, :]) & ~open_).sum(axis=1)
    may_be_top = surely_above < TOP
    both = may_be_top[:, None] & may_be_top[None, :]
    return np.where(open_, np.where(both, 1.0, OTHERS), 0.0) * ~np.eye(len(strengths), dtype=bool)


def rows_of(board: FittedBoard, competitors: Sequence[int]) -> list[dict[str, Any]]:
    """A row for each pair; none where a model alone can't be placed, for then the votes tell too little."""
    if not np.isfinite(board.plain.strengths).all():
        return []
    ids = [competitors[place] for place in board.order.tolist()]
    deviations = board.covariance.difference_deviations
    rows = []
    for (i, j), weight in weights_of(board.plain, deviations).items():
        low, high = (ids[i], ids[j]) if ids[i] < ids[j] else (ids[j], ids[i])
        rows.append({"low_id": low, "high_id": high, "weight": weight})
    return rows


def store(snapshot: Snapshot, rows: Iterable[dict[str, Any]]) -> None:
    """In place of the campaign's weights, if the board is the one that draws go by: overall, by raters."""
    board = snapshot.leaderboard
    overall = board.source == Leaderboard.Source.RATERS and board.subset == Leaderboard.Subset.ALL
    if not overall or board.style_control or board.part:
        return
    PairWeight.objects.filter(campaign=board.campaign_id).delete()
    now = timezone.now()
    same = {"campaign_id": board.campaign_id, "snapshot_id": snapshot.pk, "at": now}
    plain_rows.insert(PairWeight, list(rows), **same)
