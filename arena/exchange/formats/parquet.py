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
_BATCH = 500  # rows decoded at once


@contextmanager
def _opened(source: Path | bytes) -> Iterator[pq.ParquetFile]:
    # 40 MB that only a process that meets a Parquet file needs.
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(pa.BufferReader(source) if isinstance(source, bytes) else source) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise RefusedError(f"the Parquet file can't be read: {reason}") from error


def columns(source: Path | bytes) -> tuple[str, ...]:
    with _opened(source) as file:
        return tuple(file.schema_arrow.names)


def rows(source: Path | bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows are numbered from 1; what stands for no number in a table of floats is no value."""
    number = 0
    with _opened(source) as file:
        for batch in file.iter_batches(batch_size=_BATCH):
            for values in batch.to_pylist():
                number += 1
                yield number, {name: _plain(value) for name, value in values.items()}


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and value != value else value
