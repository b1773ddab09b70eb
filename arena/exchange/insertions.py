"""Many rows in a short transaction: everything that the database needn't do is done before it begins.

Compiling an INSERT is four fifths of what `bulk_create` does, and votes would wait for all of it.
"""

from __future__ import annotations

import pickle
import sqlite3
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Model
from django.db.models.sql import InsertQuery

from arena.exchange import uploads

Statement = tuple[str, Sequence[Any]]


class Spool:
    """Rows that wait on the disk, however many, until all of them are stored in one transaction."""

    def __init__(self) -> None:
        self._waiting: _Tables | _Statements | None = None

    def add(self, rows: Sequence[Model], *, as_given: bool = False) -> None:
        """`as_given`: as with insertions."""
        if rows:
            if self._waiting is None:
                self._waiting = _Tables() if connection.vendor == "sqlite" else _Statements()
            self._waiting.add(rows, as_given)

    def store(self) -> None:
        """Within the transaction."""
        if self._waiting is not None:
            self._waiting.store()

    def close(self) -> None:
        """After the transaction."""
        if self._waiting is not None:
            self._waiting.close()


class _Statements:
    """Their file has no name."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR)  # noqa: SIM115

    def add(self, rows: Sequence[Model], as_given: bool) -> None:
        for statement in insertions(rows, as_given=as_given):
            pickle.dump(statement, self._file)

    def store(self) -> None:
        execute(self._read())

    def _read(self) -> Iterator[Statement]:
        self._file.seek(0)
        while True:
            try:
                statement: Statement = pickle.load(self._file)  # noqa: S301
            except EOFError:
                return
            yield statement

    def close(self) -> None:
        self._file.close()


class _Tables:
    """SQLite has one writer, for whom votes wait: it copies rows from tables of another file, one statement
    a table, in half the time that it takes to be told them. The rest is its indexes.
    """

    def __init__(self) -> None:
        self._path = uploads.folder() / f"{uuid.uuid4().hex}.rows"
        self._file = sqlite3.connect(self._path, isolation_level=None)
        self._file.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN")
        self._tables: dict[tuple[str, tuple[str, ...]], str] = {}  # by the table and columns they are for
        self._is_attached = False

    def add(self, rows: Sequence[Model], as_given: bool) -> None:
        columns = tuple(field.column for field in _fields_of(rows))
        places, known = ", ".join("?" * len(columns)), len(self._tables)
        name = self._tables.setdefault((type(rows[0])._meta.db_table, columns), f"t{known}")
        if len(self._tables) > known:
            self._file.execute(f"CREATE TABLE {name} ({_listed(columns)})")
        for _statement, values in insertions(rows, as_given=as_given):
            parts = (values[start : start + len(columns)] for start in range(0, len(values), len(columns)))
            self._file.executemany(f"INSERT INTO {name} VALUES ({places})", parts)  # noqa: S608

    def store(self) -> None:
        """Within a transaction of another the file couldn't be let go: then the rows are told."""
        self._file.execute("COMMIT")
        with connection.cursor() as cursor:
            (self._tell if connection.savepoint_ids else self._copy)(cursor)

    def _copy(self, cursor: Any) -> None:
        attached = connection.ops.quote_name(self._path.stem)
        cursor.execute(f"ATTACH %s AS {attached}", [str(self._path)])
        self._is_attached = True
        for (table, columns), name in self._tables.items():
            into, told = connection.ops.quote_name(table), _listed(columns)
            rows = f"SELECT {told} FROM {attached}.{name} ORDER BY rowid"  # noqa: S608
            cursor.execute(f"INSERT INTO {into} ({told}) {rows}")

    def _tell(self, cursor: Any) -> None:
        for (table, columns), name in self._tables.items():
            into, places = connection.ops.quote_name(table), ", ".join(["%s"] * len(columns))
            rows = self._file.execute(f"SELECT * FROM {name} ORDER BY rowid")  # noqa: S608
            statement = f"INSERT INTO {into} ({_listed(columns)}) VALUES ({places})"  # noqa: S608
            cursor.executemany(statement, rows)

    def close(self) -> None:
        if self._is_attached:
            with connection.cursor() as cursor:
                cursor.execute(f"DETACH {connection.ops.quote_name(self._path.stem)}")
        self._file.close()
        self._path.unlink(missing_ok=True)


def _listed(columns: Iterable[str]) -> str:
    return ", ".join(connection.ops.quote_name(column) for column in columns)


def insertions(rows: Sequence[Model], *, as_given: bool = False) -> Iterator[Statement]:
    """Those of rows of one model, which all have their number already or all get it from the database.

    `as_given`: with the times that they have, where a new row is otherwise dated now.
    """
    if not rows:
        return
    model, fields = type(rows[0]), _fields_of(rows)
    at_once = connection.ops.bulk_batch_size(fields, rows)
    for start in range(0, len(rows), at_once):
        query = InsertQuery(model)
        query.insert_values(fields, list(rows[start : start + at_once]), raw=as_given)
        yield from query.get_compiler(connection=connection).as_sql()


def _fields_of(rows: Sequence[Model]) -> list[Any]:
    is_numbered = rows[0].pk is not None
    return [field for field in rows[0]._meta.concrete_fields if is_numbered or not field.primary_key]


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
