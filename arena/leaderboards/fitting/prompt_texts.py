"""Prompts of one text are one question: they are one cluster, whatever ids they came under."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from arena.corpus.models import Prompt
from arena.corpus.same_text import key_of
from arena.leaderboards.fitting.lookups import LOOKUP_CHUNK, UNKNOWN, distinct, numbered, of_each


def prompt_clusters(ids: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Cluster numbers: prompts of one text are one, a vote whose prompt is unknown is a cluster of its own.

    None where no prompt is known.
    """
    unknown = ids == UNKNOWN
    if unknown.all():
        return None
    prompts = distinct(ids)
    own = of_each(ids, prompts, first_of_text(prompts))
    own[unknown] = ids.max() + 1 + np.arange(unknown.sum())
    return numbered(own)


def clusters_of(prompts: Iterable[int]) -> dict[int, int]:
    """The cluster of each of these prompts, known by the lowest number among those of one text."""
    ids = np.unique(np.fromiter(prompts, dtype=np.int64))
    return dict(zip(ids.tolist(), first_of_text(ids).tolist(), strict=True))


def first_of_text(prompts: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each of these ids (n,) in rising order the lowest whose prompt says the same."""
    keys: dict[int, str] = {}
    for start in range(0, len(prompts), LOOKUP_CHUNK):
        part = Prompt.objects.filter(pk__in=prompts[start : start + LOOKUP_CHUNK].tolist()).order_by()
        rows = part.values_list("pk", "messages", "tombstone").iterator()
        keys |= {pk: key_of(messages, tombstone) for pk, messages, tombstone in rows}
    first: dict[str, int] = {}
    return np.array([first.setdefault(keys[pk], pk) for pk in prompts.tolist()], dtype=np.int64)
