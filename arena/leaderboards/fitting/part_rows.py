"""Which of a board's rows belong to its part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from django.db.models import QuerySet
from numpy.typing import NDArray

from arena.battles.models import Vote
from arena.corpus.models import Prompt
from arena.judging.models import Judgment
from arena.leaderboards.fitting.lookups import fetch
from arena.leaderboards.models import Leaderboard
from arena.leaderboards.part import LABELS, moments_of


def in_part(leaderboard: Leaderboard, columns: Mapping[str, NDArray[np.int64]]) -> NDArray[np.bool_]:
    """A row without a known prompt belongs to no category, language or prompt set.

    A battle that a judge was asked about again has its latest judgment alone, on the day of that.
    """
    part = leaderboard.part
    mine = np.ones(len(columns["pk"]), dtype=bool)
    labels = {name: part[name] for name in LABELS if name in part}
    if labels:
        prompts = Prompt.objects.filter(prompt_set__team=leaderboard.campaign.team_id, **labels)
        mine &= np.isin(columns["prompt"], fetch(prompts.order_by().values_list("pk"), 1)[:, 0])
    start, end = moments_of(part)
    if start or end:
        mine &= np.isin(columns["pk"], _dated(leaderboard, start, end))
    return mine


def _dated(leaderboard: Leaderboard, start: object, end: object) -> NDArray[np.int64]:
    """Numbers of the campaign's votes, or judgments, from `start` and before `end`."""
    rows: QuerySet[Any]
    if leaderboard.source == Leaderboard.Source.RATERS:
        rows, at = Vote.objects.filter(battle__campaign=leaderboard.campaign_id), "voted_at"
    else:
        rows, at = Judgment.objects.filter(run__campaign=leaderboard.campaign_id), "resolved_at"
    bounds = {f"{at}__gte": start, f"{at}__lt": end}
    within = rows.filter(**{bound: moment for bound, moment in bounds.items() if moment})
    return fetch(within.order_by().values_list("pk"), 1)[:, 0]
