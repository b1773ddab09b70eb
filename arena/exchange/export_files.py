"""One table as CSV, JSONL and Parquet at once: JSONL and Parquet exact, CSV safe in a spreadsheet."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from arena.exchange.export_schema import Column, TableSchema
from arena.spreadsheet_text import escape

# Told which table is being written, and how many of its rows are; whoever doesn't want any more raises.
Tell = Callable[[str, int], object]

_BATCH = 1000  # rows held at once


def say_nothing(_table: str, _rows: int) -> None:
    pass


def write_table(
    table: TableSchema, rows: Iterable[dict[str, Any]], folder: Path, tell: Tell = say_nothing
) -> int:
    """Writes `csv/NAME.csv`, `jsonl/NAME.jsonl` and `parquet/NAME.parquet`; returns the number of rows."""
    # Web processes import this file and write no table: Arrow's second at the start is the worker's alone.
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema, names = _schema(table), [column.name for column in table.columns]
    count, stream = 0, iter(rows)
    tell(table.name, count)
    with ExitStack() as stack:
        # The mark at its start tells Excel that the file is UTF-8.
        sheet = stack.enter_context(_new(folder, table, "csv").open("w", encoding="utf-8-sig", newline=""))
        lines = stack.enter_context(_new(folder, table, "jsonl").open("w", encoding="utf-8", newline="\n"))
        columnar = stack.enter_context(pq.ParquetWriter(_new(folder, table, "parquet"), schema))
        writer = csv.writer(sheet, lineterminator="\r\n")
        writer.writerow(names)
        while batch := list(islice(stream, _BATCH)):
            count += len(batch)
            writer.writerows([_cell(column, row[column.name]) for column in table.columns] for row in batch)
            lines.writelines(_line(table, row) for row in batch)
            values = [[_value(column, row[column.name]) for row in batch] for column in table.columns]
            columnar.write_table(pa.table(dict(zip(names, values, strict=True)), schema=schema))
            tell(table.name, count)
    return count


def _new(folder: Path, table: TableSchema, kind: str) -> Path:
    path = folder / kind / f"{table.name}.{kind}"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _schema(table: TableSchema) -> Any:
    import pyarrow as pa

    turn = pa.struct([("role", pa.string()), ("content", pa.string())])
    kinds = {
        "text": pa.string(),
        "count": pa.int64(),
        "number": pa.float64(),
        "flag": pa.bool_(),
        "time": pa.timestamp("us", tz="UTC"),
        "texts": pa.list_(pa.string()),
        "turns": pa.list_(turn),
        "json": pa.string(),
    }
    return pa.schema([(column.name, kinds[column.kind]) for column in table.columns])


def _cell(column: Column, value: Any) -> Any:
    if value is None:
        return ""
    if column.kind in ("texts", "turns", "json"):
        return escape(_json(value))
    if column.kind == "flag":
        return int(value)
    if column.kind == "time":
        return _moment(value)
    return escape(value) if isinstance(value, str) else value


def _line(table: TableSchema, row: dict[str, Any]) -> str:
    plain = {
        column.name: _moment(row[column.name]) if column.kind == "time" else row[column.name]
        for column in table.columns
    }
    return _json(plain) + "\n"


def _value(column: Column, value: Any) -> Any:
    if column.kind == "json":
        return None if value is None else _json(value)
    return value


def _moment(value: datetime | None) -> str | None:
    return None if value is None else value.astimezone(UTC).isoformat(timespec="microseconds")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
