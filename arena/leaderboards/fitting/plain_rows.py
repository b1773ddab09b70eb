"""Very many new rows of one table: their values alone go to the database, no object is made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.db import connections, models, router

ROWS_AT_ONCE = 10_000


def insert(model: type[models.Model], rows: Sequence[dict[str, Any]], **same: Any) -> None:
    """`rows`: values by the names of their columns' attributes, such as `first_id`; `same`: those of all.

    As bulk_create, but ten times as fast: with 250 models each board has 31,125 pairs.
    """
    if not rows:
        return
    connection = connections[router.db_for_write(model)]
    fields: dict[str, Any] = {field.attname: field for field in model._meta.concrete_fields}
    names = [*rows[0], *same]
    quote = connection.ops.quote_name
    columns = ", ".join(quote(fields[name].column) for name in names)
    places = ", ".join(["%s"] * len(names))
    table = quote(model._meta.db_table)
    statement = f"INSERT INTO {table} ({columns}) VALUES ({places})"  # noqa: S608 — names of the model's own
    rest = [fields[name].get_db_prep_save(value, connection) for name, value in same.items()]
    with connection.cursor() as cursor:
        for start in range(0, len(rows), ROWS_AT_ONCE):
            cursor.executemany(
                statement, list(_values(fields, rows[start : start + ROWS_AT_ONCE], rest, connection))
            )


def _values(
    fields: dict[str, Any], rows: Sequence[dict[str, Any]], rest: list[Any], connection: Any
) -> Iterator[tuple[Any, ...]]:
    # Numbers and words go as they are; JSON has its own form.
    changed = [name for name in rows[0] if isinstance(fields[name], models.JSONField)]
    for row in rows:
        own = row | {name: fields[name].get_db_prep_save(row[name], connection) for name in changed}
        yield (*own.values(), *rest)
