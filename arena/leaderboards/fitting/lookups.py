"""Stored numbers as arrays: streamed from a query, or looked up by id beside those that were streamed."""

from __future__ import annotations

from typing import Any

import numpy as np
from django.db.models import Case, IntegerField, QuerySet, When
from numpy.typing import NDArray

from arena.counted import counted

# SQLite takes no more than 32,766 parameters in one query.
LOOKUP_CHUNK = 30_000
UNKNOWN = -1


CHUNK = 20_000


def fetch(wanted: QuerySet[Any], width: int) -> NDArray[np.int64]:
    """The rows of a query for values, all of them integers, as an array (n, width).

    Straight from the cursor: a query set's own iterator does as much again for every row.
    """
    compiler = wanted.query.get_compiler(wanted.db)
    chunks = [
        np.array(rows, dtype=np.int64) for rows in compiler.execute_sql(chunked_fetch=True, chunk_size=CHUNK)
    ]
    return np.concatenate([np.empty((0, width), np.int64), *chunks])


def as_number(field: str) -> Case:
    """1, 0, or UNKNOWN for a boolean that may be null."""
    true, false = When(**{field: True}, then=1), When(**{field: False}, then=0)
    return Case(true, false, default=UNKNOWN, output_field=IntegerField())


def distinct(*ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sorted, without UNKNOWN. Numbers of rows lie close together: they are ticked off rather than sorted."""
    known = [column[column != UNKNOWN] for column in ids]
    total = sum(len(column) for column in known)
    most = max((int(column.max(initial=0)) for column in known), default=0)
    if most > 4 * total + 1000:
        return np.unique(np.concatenate(known))
    ticked = np.zeros(most + 1, dtype=bool)
    for column in known:
        ticked[column] = True
    return np.flatnonzero(ticked)


def lookup(rows: QuerySet[Any], ids: NDArray[np.int64], fields: list[Any]) -> list[NDArray[np.int64]]:
    """One column per field, in the order of the sorted ids."""
    tables = [np.empty((0, 1 + len(fields)), np.int64)]
    for start in range(0, len(ids), LOOKUP_CHUNK):
        tables.append(_part(rows, ids[start : start + LOOKUP_CHUNK], fields))
    table = np.concatenate(tables)
    if not np.array_equal(table[:, 0], ids):
        raise LookupError(
            f"{counted(len(ids) - len(table), 'row')} of {rows.model.__name__} went missing while reading"
        )
    return list(table[:, 1:].T)


def _part(rows: QuerySet[Any], ids: NDArray[np.int64], fields: list[Any]) -> NDArray[np.int64]:
    """Where most numbers from first to last are asked for, all of them are read: naming each costs more."""
    first, last = int(ids[0]), int(ids[-1])
    close = last - first < 2 * len(ids)
    some = rows.filter(pk__range=(first, last)) if close else rows.filter(pk__in=ids.tolist())
    table = fetch(some.order_by("pk").values_list("pk", *fields), 1 + len(fields))
    return table[np.isin(table[:, 0], ids, assume_unique=True)] if close else table


def of_each(ids: NDArray[np.int64], known: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The value of each id; ids that are UNKNOWN get an arbitrary one, to be masked by the caller."""
    if not len(known):
        return np.full(len(ids), UNKNOWN, dtype=np.int64)
    last = int(known[-1])
    if last > 4 * len(ids) + 1000:
        return values[np.minimum(np.searchsorted(known, ids), len(known) - 1)]
    by_id = np.full(last + 2, values[0])
    by_id[known] = values
    return by_id[np.minimum(ids, last + 1)]  # UNKNOWN takes the last place, which is nobody's


def numbered(ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, … by first appearance."""
    known = distinct(ids)
    place = of_each(ids, known, np.arange(len(known)))
    first = np.empty(len(known), dtype=np.int64)
    first[place[::-1]] = np.arange(len(ids))[::-1]  # of equal places the one written last stays
    number = np.empty(len(known), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(known))
    return number[place]
