"""Querysets whose SQL is made once. Making it takes Django longer than running it takes the database.

A queryset is written as ever, with stand-ins for its values; their places in the finished statement are then
filled in on every call. What changes the statement itself (how many values an IN has, which filters there
are) is its shape: each shape is made once, and so is the plan by which its rows become objects.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import count
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.models import Model, QuerySet
from django.db.models.expressions import RawSQL
from django.db.models.query import (
    FlatValuesListIterable,
    ModelIterable,
    ValuesListIterable,
    get_related_populators,
)
from django.db.models.sql import UpdateQuery

# Far above the numbers that a statement fixes, so that a place is never mistaken for another's, and within
# the 31 bits of an account's id: Django drops a filter by a number that its column can't hold.
_FIRST_STAND_IN = 2_147_000_000


class Compiled:
    """compiled(shape…, name=value…) gives the rows of build(shape…, name=value…).

    Values are whole numbers, texts, UUIDs and times; a tuple of numbers fills an IN, and its length is part
    of the shape.
    """

    def __init__(self, build: Callable[..., QuerySet[Any, Any]]) -> None:
        self.build = build
        self._made: dict[Hashable, _Statement] = {}

    def __call__(self, *shape: Hashable, **values: Any) -> list[Any]:
        connection = connections[DEFAULT_DB_ALIAS]
        lengths = tuple([len(value) for value in values.values() if isinstance(value, tuple)])
        key = (connection.vendor, shape, lengths)
        statement = self._made.get(key)
        if statement is None:
            statement = self._made[key] = _Statement(self.build, shape, values, connection)
        return statement.run(values, connection)


class CompiledUpdate:
    """update({column: value…}, name=value…) writes the columns of build(name=value…); how many rows.

    Columns take what their fields take, no expressions.
    """

    def __init__(self, build: Callable[..., QuerySet[Any, Any]]) -> None:
        self.build = build
        self._made: dict[Hashable, _UpdateStatement] = {}

    def __call__(self, columns: Mapping[str, Any], **values: Any) -> int:
        connection = connections[DEFAULT_DB_ALIAS]
        key = (connection.vendor, tuple(columns))
        statement = self._made.get(key)
        if statement is None:
            statement = self._made[key] = _UpdateStatement(self.build, tuple(columns), values, connection)
        return statement.run(columns, values, connection)


class CompiledInsert:
    """insert(rows) stores new objects of one model and gives them their numbers, as bulk_create does.

    `also` are expressions of SQL over the row that was stored; their values come back, a tuple for each row.
    """

    def __init__(self, model: type[Model], also: Sequence[str] = ()) -> None:
        self.model = model
        self.also = also
        self._made: dict[Hashable, str] = {}

    def __call__(self, rows: Sequence[Any]) -> list[tuple[Any, ...]]:
        connection = connections[DEFAULT_DB_ALIAS]
        fields = [field for field in self.model._meta.concrete_fields if not field.primary_key]
        key = (connection.vendor, len(rows))
        sql = self._made.get(key)
        if sql is None:
            sql = self._made[key] = self._statement(fields, len(rows), connection)
        values = [
            field.get_db_prep_save(field.pre_save(row, add=True), connection)
            for row in rows
            for field in fields
        ]
        with connection.cursor() as cursor:
            cursor.execute(sql, values)
            returned = cursor.fetchall()
        for row, (number, *_also) in zip(rows, returned, strict=True):
            row.pk = number
            row._state.adding, row._state.db = False, connection.alias
        return [tuple(also) for _number, *also in returned]

    def _statement(self, fields: list[Any], rows: int, connection: Any) -> str:
        quoted = connection.ops.quote_name
        table, key = self.model._meta.db_table, self.model._meta.pk
        columns = ", ".join(quoted(field.column) for field in fields)
        places = f"({', '.join(['%s'] * len(fields))})"
        into = f"INSERT INTO {quoted(table)} ({columns}) VALUES {', '.join([places] * rows)}"  # noqa: S608
        return f"{into} RETURNING {', '.join([quoted(key.column), *self.also])}"


class _Places:
    """Where in a finished statement's parameters each value goes."""

    def __init__(
        self, build: Callable[..., Any], stand_ins: dict[str, Any], params: Sequence[Any], connection: Any
    ) -> None:
        names = {written: name for name, written in _flat(stand_ins, connection).items()}
        self.places = [names.get(param) for param in params]
        self.fixed = list(params)
        if missing := set(names.values()) - set(self.places):
            raise ValueError(f"{build.__name__}: {missing} has no place in the statement; drop that value")

    def filled(self, values: dict[str, Any], connection: Any) -> list[Any]:
        given = _flat(values, connection)
        return [
            fixed if name is None else given[name]
            for name, fixed in zip(self.places, self.fixed, strict=True)
        ]


class _Statement:
    def __init__(
        self, build: Callable[..., QuerySet[Any, Any]], shape: tuple, values: dict[str, Any], connection: Any
    ) -> None:
        stand_ins = _stand_ins(values)
        queryset = build(*shape, **stand_ins)
        compiler = queryset.query.get_compiler(using=connection.alias)
        self.sql, params = compiler.as_sql()
        self.places = _Places(build, stand_ins, params, connection)
        # Those of the database know the time zone of its settings and nothing else of a connection.
        columns = [column[0] for column in compiler.select[: compiler.col_count]]
        self.converters = [
            (place, converters, column)
            for place, (converters, column) in compiler.get_converters(columns).items()
        ]
        self.made = _maker(queryset, compiler)

    def run(self, values: dict[str, Any], connection: Any) -> list[Any]:
        with connection.cursor() as cursor:
            cursor.execute(self.sql, self.places.filled(values, connection))
            rows = cursor.fetchall()
        return [self.made(self._converted(row, connection)) for row in rows]

    def _converted(self, row: Sequence[Any], connection: Any) -> Sequence[Any]:
        if not self.converters:
            return row
        converted = list(row)
        for place, converters, column in self.converters:
            for convert in converters:
                converted[place] = convert(converted[place], column, connection)
        return converted


class _UpdateStatement:
    def __init__(
        self,
        build: Callable[..., QuerySet[Any, Any]],
        columns: tuple[str, ...],
        values: dict[str, Any],
        connection: Any,
    ) -> None:
        stand_ins = _stand_ins(values)
        query: Any = build(**stand_ins).query.chain(klass=UpdateQuery)
        # Columns come before conditions, each as one parameter.
        query.add_update_values({name: RawSQL("%s", (name,)) for name in columns})
        self.fields = {name: query.get_meta().get_field(name) for name in columns}
        self.sql, params = query.get_compiler(using=connection.alias).as_sql()
        self.places = _Places(build, stand_ins, params[len(columns) :], connection)

    def run(self, columns: Mapping[str, Any], values: dict[str, Any], connection: Any) -> int:
        written = [
            field.get_db_prep_save(columns[name], connection=connection)
            for name, field in self.fields.items()
        ]
        with transaction.mark_for_rollback_on_error(connection.alias), connection.cursor() as cursor:
            cursor.execute(self.sql, [*written, *self.places.filled(values, connection)])
            changed: int = cursor.rowcount
        return changed


def _maker(queryset: QuerySet[Any, Any], compiler: Any) -> Callable[[Sequence[Any]], Any]:
    """Makes of a row what the queryset's own iterable makes; what doesn't depend on the row is done once."""
    kind: Any = queryset._iterable_class
    if kind is FlatValuesListIterable:
        return itemgetter(0)
    if kind is ValuesListIterable:
        return tuple
    if kind is not ModelIterable:
        raise TypeError(f"{kind.__name__} can't be compiled: use objects or values_list()")
    described = compiler.klass_info
    make_populators: Any = get_related_populators  # takes more in later versions of Django
    model, fields = described["model"], described["select_fields"]
    start, end = fields[0], fields[-1] + 1
    names = [column[0].target.attname for column in compiler.select[start:end]]
    populators = make_populators(described, compiler.select, DEFAULT_DB_ALIAS)
    annotations = list((compiler.annotation_col_map or {}).items())

    def make(row: Sequence[Any]) -> Any:
        made = model.from_db(DEFAULT_DB_ALIAS, names, row[start:end])
        for populator in populators:
            populator.populate(row, made)
        for name, place in annotations:
            setattr(made, name, row[place])
        return made

    return make


def _stand_ins(values: dict[str, Any]) -> dict[str, Any]:
    numbers = count(_FIRST_STAND_IN)
    return {name: _stand_in(value, numbers) for name, value in values.items()}


def _stand_in(value: Any, numbers: count[int]) -> Any:
    if isinstance(value, tuple):
        return tuple(_stand_in(each, numbers) for each in value)
    if isinstance(value, str):
        return f"stand-in {next(numbers)}"
    if isinstance(value, UUID):
        return UUID(int=next(numbers))
    if isinstance(value, datetime):
        return datetime.fromtimestamp(next(numbers) % 10**9 + 7 * 10**9, UTC)
    if isinstance(value, int):
        return next(numbers)
    raise TypeError(
        f"{value!r} can't stand in a compiled statement: use whole numbers, texts, UUIDs or times"
    )


def _flat(values: dict[str, Any], connection: Any) -> dict[Any, Any]:
    """Each place's name and its value as the database's driver wants it."""
    flat: dict[Any, Any] = {}
    for name, value in values.items():
        if isinstance(value, tuple):
            flat |= {(name, place): each for place, each in enumerate(value)}
        elif isinstance(value, UUID) and not connection.features.has_native_uuid_field:
            flat[name] = value.hex
        elif isinstance(value, datetime):
            flat[name] = connection.ops.adapt_datetimefield_value(value)
        else:
            flat[name] = value
    return flat
