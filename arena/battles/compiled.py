"""Querysets whose SQL is made once. Making it takes Django longer than running it takes the database.

A queryset is written as ever, with stand-ins for its values; their places in the finished statement are then
filled in on every call. What changes the statement itself (how many values an IN has, which filters there
are) is its shape: each shape is made once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from datetime import UTC, datetime
from itertools import count
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

# Far above the numbers that a statement fixes, so that a place is never mistaken for another's, and within
# the 31 bits of an account's id: Django drops a filter by a number that its column can't hold.
_FIRST_STAND_IN = 2_147_000_000


class Compiled:
    """compiled(shape…, name=value…) gives the rows of build(shape…, name=value…).

    Values are whole numbers, UUIDs and times; a tuple of numbers fills an IN, and its length is part of the
    shape.
    """

    def __init__(self, build: Callable[..., QuerySet[Any, Any]]) -> None:
        self.build = build
        self._made: dict[Hashable, _Statement] = {}

    def __call__(self, *shape: Hashable, **values: Any) -> list[Any]:
        lengths = tuple(len(value) for value in values.values() if isinstance(value, tuple))
        key = (connection.vendor, shape, lengths)
        statement = self._made.get(key)
        if statement is None:
            statement = self._made[key] = _Statement(self.build, shape, values)
        return statement.run(values)


class _Statement:
    def __init__(
        self, build: Callable[..., QuerySet[Any, Any]], shape: tuple, values: dict[str, Any]
    ) -> None:
        numbers = count(_FIRST_STAND_IN)
        stand_ins = {name: _stand_in(value, numbers) for name, value in values.items()}
        self.queryset = build(*shape, **stand_ins)
        self.compiler = self.queryset.query.get_compiler(using=connection.alias)
        self.sql, params = self.compiler.as_sql()
        names = {written: name for name, written in _flat(stand_ins).items()}
        self.places = [names.get(param) for param in params]
        self.fixed = list(params)
        if missing := set(names.values()) - set(self.places):
            raise ValueError(f"{build.__name__}: {missing} has no place in the statement; drop that value")

    def run(self, values: dict[str, Any]) -> list[Any]:
        given = _flat(values)
        params = tuple(
            fixed if name is None else given[name]
            for name, fixed in zip(self.places, self.fixed, strict=True)
        )
        compiler = _twin(self.compiler)
        compiler.connection = connection
        compiler.as_sql = lambda *_args, **_options: (self.sql, params)
        query = _twin(self.queryset.query)
        query.get_compiler = lambda *_args, **_options: compiler
        rows = _twin(self.queryset)
        rows._query = query
        return list(rows._iterable_class(rows))


def _twin(original: Any) -> Any:
    """A shallow copy; copy.copy would first fetch a queryset's rows."""
    twin = object.__new__(type(original))
    twin.__dict__.update(original.__dict__)
    return twin


def _stand_in(value: Any, numbers: count[int]) -> Any:
    if isinstance(value, tuple):
        return tuple(_stand_in(each, numbers) for each in value)
    if isinstance(value, UUID):
        return UUID(int=next(numbers))
    if isinstance(value, datetime):
        return datetime.fromtimestamp(next(numbers) % 10**9 + 7 * 10**9, UTC)
    if isinstance(value, int):
        return next(numbers)
    raise TypeError(f"{value!r} can't stand in a compiled statement: use whole numbers, UUIDs or times")


def _flat(values: dict[str, Any]) -> dict[Any, Any]:
    """Each place's name and its value as the database's driver wants it."""
    flat: dict[Any, Any] = {}
    for name, value in values.items():
        if isinstance(value, tuple):
            flat |= {(name, place): each for place, each in enumerate(value)}
        else:
            flat[name] = _written(value)
    return flat


def _written(value: Any) -> Any:
    if isinstance(value, UUID) and not connection.features.has_native_uuid_field:
        return value.hex
    return connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value
