"""Many rows in a short transaction: everything that the database needn't do is done before it begins.

Compiling an INSERT is four fifths of what `bulk_create` does, and votes would wait for all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db import connection, transaction
from django.db.models import Model
from django.db.models.sql import InsertQuery

Statement = tuple[str, Sequence[Any]]


def insertions(rows: Sequence[Model]) -> Iterator[Statement]:
    """Those of rows of one model, which all have their number already or all get it from the database."""
    if not rows:
        return
    model = type(rows[0])
    is_numbered = rows[0].pk is not None
    fields = [field for field in model._meta.concrete_fields if is_numbered or not field.primary_key]
    at_once = connection.ops.bulk_batch_size(fields, rows)
    for start in range(0, len(rows), at_once):
        query = InsertQuery(model)
        query.insert_values(fields, list(rows[start : start + at_once]))
        yield from query.get_compiler(connection=connection).as_sql()


def execute(statements: Iterable[Statement]) -> None:
    with connection.cursor() as cursor:
        for statement, values in statements:
            cursor.execute(statement, values)


def number(rows: Sequence[Model]) -> None:
    """Gives rows that aren't stored yet numbers that nothing else gets, so that others may refer to them."""
    if rows:
        for row, free in zip(rows, _reserve(type(rows[0]), len(rows)), strict=True):
            row.pk = free


def _reserve(model: type[Model], count: int) -> Iterable[int]:
    table = model._meta.db_table
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor != "sqlite":
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)", [table, count]
            )
            return [free for (free,) in cursor.fetchall()]
        # Where AUTOINCREMENT keeps the last number that it gave.
        cursor.execute(
            "UPDATE sqlite_sequence SET seq = seq + %s WHERE name = %s RETURNING seq", [count, table]
        )
        found = cursor.fetchone()
        if found is None:
            cursor.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [table, count])
        last = found[0] if found else count
        return range(last - count + 1, last + 1)
