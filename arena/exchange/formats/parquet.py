"""Parquet to rows of plain values: structs as dicts, lists as lists, never as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.exchange.formats.problems import RefusedError

if TYPE_CHECKING:
    import pyarrow.parquet as pq

FORMAT = "Parquet"
MAGIC = b"PAR1"
# Rows decoded at once: a text that stands in a dictionary once is written out for each of its rows.
_BATCH = 20
_MEGABYTE = 1024 * 1024
# What a file may hold once it is written out: this, or so many times its size, whichever is more.
LEAST, TIMES = 100 * _MEGABYTE, 10
_ROW = 64  # bytes that a row counts for at least, so that a billion of nothing is too much as well


@contextmanager
def _opened(source: Path | bytes) -> Iterator[pq.ParquetFile]:
    # 40 MB that only a process that meets a Parquet file needs.
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(pa.BufferReader(source) if isinstance(source, bytes) else source) as file:
            yield file
    # Values that Python has nothing for, such as a date in the year -5,877,641, end in one of the last two.
    except (pa.ArrowException, OSError, OverflowError, ValueError) as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise RefusedError(f"the Parquet file can't be read: {reason}") from error


def columns(source: Path | bytes) -> tuple[str, ...]:
    with _opened(source) as file:
        return tuple(file.schema_arrow.names)


def rows(source: Path | bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows are numbered from 1; what stands for no number in a table of floats is no value."""
    number = held = 0
    most = max(LEAST, TIMES * (len(source) if isinstance(source, bytes) else source.stat().st_size))
    with _opened(source) as file:
        groups = range(file.metadata.num_row_groups)
        _refuse_over(most, sum(file.metadata.row_group(group).total_byte_size for group in groups), 1)
        for batch in file.iter_batches(batch_size=_BATCH):
            for values in batch.to_pylist():
                number += 1
                held += _ROW + _size(values)
                _refuse_over(most, held, number)
                yield number, {name: _plain(value) for name, value in values.items()}


def _refuse_over(most: int, held: int, row: int) -> None:
    if held > most:
        words = f"written out, the Parquet file holds more than {most // _MEGABYTE:,} MB: split it"
        raise RefusedError(words, row)


def _size(value: Any) -> int:
    """About as many bytes as the value takes."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    return sum(map(_size, value)) if isinstance(value, list) else 8


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and value != value else value
