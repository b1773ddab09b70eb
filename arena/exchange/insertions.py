"""Many rows in a short transaction: everything that the database needn't do is done before it begins.

Compiling an INSERT is four fifths of what `bulk_create` does, and votes would wait for all of it.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Model
from django.db.models.sql import InsertQuery

Statement = tuple[str, Sequence[Any]]


class Spool:
    """Statements that wait on the disk, however many, until they are executed. Its file has no name."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR)  # noqa: SIM115

    def add(self, statements: Iterable[Statement]) -> None:
        for statement in statements:
            pickle.dump(statement, self._file)

    def __iter__(self) -> Iterator[Statement]:
        self._file.seek(0)
        while True:
            try:
                statement: Statement = pickle.load(self._file)  # noqa: S301
            except EOFError:
                return
            yield statement


def insertions(rows: Sequence[Model], *, as_given: bool = False) -> Iterator[Statement]:
    """Those of rows of one model, which all have their number already or all get it from the database.

    `as_given`: with the times that they have, where a new row is otherwise dated now.
    """
    if not rows:
        return
    model = type(rows[0])
    is_numbered = rows[0].pk is not None
    fields = [field for field in model._meta.concrete_fields if is_numbered or not field.primary_key]
    at_once = connection.ops.bulk_batch_size(fields, rows)
    for start in range(0, len(rows), at_once):
        query = InsertQuery(model)
        query.insert_values(fields, list(rows[start : start + at_once]), raw=as_given)
        yield from query.get_compiler(connection=connection).as_sql()


def execute(statements: Iterable[Statement]) -> None:
    with connection.cursor() as cursor:
        for statement, values in statements:
            cursor.execute(statement, values)


def number(rows: Sequence[Model]) -> None:
    """Gives rows that aren't stored yet numbers that nothing else gets, so that others may refer to them."""
    if rows:
        for row, free in zip(rows, reserve(type(rows[0]), len(rows)), strict=True):
            row.pk = free


def reserve(model: type[Model], count: int) -> Iterable[int]:
    """So many numbers that nothing else gets."""
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
