"""Columns of stored rows by id, in the order of sorted ids: the numbers beside those that were streamed."""

from __future__ import annotations

from typing import Any

import numpy as np
from django.db.models import Case, IntegerField, QuerySet, When
from numpy.typing import NDArray

# SQLite takes no more than 32,766 parameters in one query.
LOOKUP_CHUNK = 30_000
UNKNOWN = -1


def as_number(field: str) -> Case:
    """1, 0, or UNKNOWN for a boolean that may be null."""
    true, false = When(**{field: True}, then=1), When(**{field: False}, then=0)
    return Case(true, false, default=UNKNOWN, output_field=IntegerField())


def distinct(*ids: NDArray[np.int64]) -> NDArray[np.int64]:
    distinct: NDArray[np.int64] = np.unique(np.concatenate(ids))
    return distinct[distinct != UNKNOWN]


def lookup(rows: QuerySet[Any], ids: NDArray[np.int64], fields: list[Any]) -> list[NDArray[np.int64]]:
    """One column per field, in the order of the sorted ids."""
    found: list[tuple[int, ...]] = []
    for start in range(0, len(ids), LOOKUP_CHUNK):
        part = ids[start : start + LOOKUP_CHUNK].tolist()
        found += rows.filter(pk__in=part).order_by("pk").values_list("pk", *fields)
    table = np.array(found, dtype=np.int64).reshape(-1, 1 + len(fields))
    if not np.array_equal(table[:, 0], ids):
        raise LookupError(f"{len(ids) - len(table)} rows of {rows.model.__name__} went missing while reading")
    return list(table[:, 1:].T)


def of_each(ids: NDArray[np.int64], known: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The value of each id; ids that are UNKNOWN get an arbitrary one, to be masked by the caller."""
    if not len(known):
        return np.full(len(ids), UNKNOWN, dtype=np.int64)
    place = np.minimum(np.searchsorted(known, ids), len(known) - 1)
    return values[place]
