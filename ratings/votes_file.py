"""Votes files for the command line: CSV, TSV or Parquet as a frame of text, and the line of a bad row."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd

from ratings.errors import RatingsError


class VotesFileError(RatingsError):
    """A votes file that can't be read, or a row of it that can't be used; the message names file and line."""


def read_votes(path: Path) -> pd.DataFrame:
    """The file's columns; text stays text, so that a model called NA or 007 keeps its name."""
    if not path.is_file():
        raise VotesFileError(f"{path}: there is no such file", todo="check the path")
    if path.suffix.lower() in (".parquet", ".pq"):
        try:
            return pd.read_parquet(path)
        except (ValueError, OSError) as error:
            raise VotesFileError(
                f"{path}: no Parquet file ({_first_line(error)})", todo="check the format"
            ) from None
    try:
        frame = pd.read_csv(
            path,
            sep=_separator(path),
            dtype=str,
            keep_default_na=False,
            encoding="utf-8-sig",
            on_bad_lines="error",
        )
        if not isinstance(frame.index, pd.RangeIndex):  # what pandas makes of a surplus field
            raise pd.errors.ParserError("rows have more fields than the header")
        return frame
    except UnicodeDecodeError as error:
        raise VotesFileError(f"{path}: not UTF-8 ({error.reason})", todo="save it as UTF-8") from None
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise VotesFileError(f"{path}: no CSV file ({_first_line(error)})", todo="check the format") from None


def in_file(error: RatingsError, path: Path) -> VotesFileError:
    """The same error with file and line instead of the row."""
    where = str(path)
    if error.row is not None:
        where += (
            f", {'row' if path.suffix.lower() in ('.parquet', '.pq') else 'line'} {_line(path, error.row)}"
        )
    return VotesFileError(f"{where}: {error.what}", todo=error.todo)


def _line(path: Path, row: int) -> int:
    """The line where record `row` (0-based, after the header) begins; quoted fields may hold newlines."""
    if path.suffix.lower() in (".parquet", ".pq"):
        return row
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=_separator(path))
        record = -2
        line = 1
        for fields in reader:
            if fields:
                record += 1
            if record == row:
                return line
            line = reader.line_num + 1
    return row + 2


def _separator(path: Path) -> str:
    return "\t" if path.suffix.lower() in (".tsv", ".tab") else ","


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
