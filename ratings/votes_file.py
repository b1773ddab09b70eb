"""Votes files for the command line: CSV, TSV or Parquet as a frame of text, and the line of a bad row."""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from ratings.errors import RatingsError

UNPACKING = (OSError, EOFError, zlib.error, lzma.LZMAError)
"""What reading a broken or unreadable file raises."""

OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
"""How packed text is read."""

ARCHIVES = (".zip", ".tar", ".zst", ".tgz")

LONGEST_FIELD = 2**31 - 1
"""A field may be this long; csv alone stops at 131,072 characters."""


class VotesFileError(RatingsError):
    """A votes file that can't be read, or a row of it that can't be used; the message names file and line."""


EXPORTED = ("vote_id", "kind", "retracted_at", "excluded")
"""Columns by which the votes of an arena's export are known."""

NOT_RATED = ("repeat", "gold")
"""Kinds of battle that tell how steady and how careful a rater is."""


def read_votes(path: Path) -> pd.DataFrame:
    """The file's columns; text stays text, so that a model called NA or 007 keeps its name.

    Of an export's votes those that boards count: the index numbers the file's rows, and `left_out` among the
    frame's attrs says why others aren't there.
    """
    frame = _read_all(path)
    return _counted(frame) if set(EXPORTED) <= set(frame.columns) else frame


def _counted(frame: pd.DataFrame) -> pd.DataFrame:
    """Each row is left out for the first reason that holds."""
    retracted, excluded = ((frame[name].notna()) & (frame[name] != "") for name in EXPORTED[2:])
    kinds = {kind: frame["kind"] == kind for kind in NOT_RATED}
    reasons = {"taken back": retracted, "excluded": excluded}
    reasons |= {f"{kind} battles": is_kind for kind, is_kind in kinds.items()}
    out, left_out = pd.Series(False, index=frame.index), {}
    for reason, holds in reasons.items():
        left_out[reason] = int((holds & ~out).sum())
        out |= holds
    counted = frame[~out]
    counted.attrs["left_out"] = {reason: count for reason, count in left_out.items() if count}
    return counted


def say_left_out(frame: pd.DataFrame) -> str:
    """Such as "left out: 12 taken back, 32 repeat battles"; "" where every row counts."""
    reasons = frame.attrs.get("left_out", {})
    told = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items())
    return f"left out: {told}" if told else ""


def _read_all(path: Path) -> pd.DataFrame:
    _require_file(path)
    try:
        frame = pd.read_parquet(path) if _is_parquet(path) else _read_csv(path)
    except UnicodeDecodeError as error:
        raise VotesFileError(f"{path}: not UTF-8 ({error.reason})", todo="save it as UTF-8") from None
    except (pd.errors.ParserError, pd.errors.EmptyDataError, csv.Error) as error:
        raise VotesFileError(f"{path}: no CSV file ({_first_line(error)})", todo="check the format") from None
    except (ValueError, *UNPACKING) as error:
        kind = "Parquet file" if _is_parquet(path) else "file that can be read"
        raise VotesFileError(f"{path}: no {kind} ({_first_line(error)})", todo="check the format") from None
    if not len(frame):
        raise VotesFileError(f"{path}: a header, but no vote below it", todo="add votes, one a row")
    return frame


def _require_file(path: Path) -> None:
    if path.is_dir():
        raise VotesFileError(f"{path}: this is a folder", todo="name the file of votes in it")
    if not path.exists():
        raise VotesFileError(f"{path}: there is no such file", todo="check the path")
    if not path.is_file():
        raise VotesFileError(f"{path}: not a plain file", todo="save the votes in one, it is read twice")
    if path.suffix.lower() in ARCHIVES:
        raise VotesFileError(f"{path}: an archive", todo="take the file of votes out of it")


def _read_csv(path: Path) -> pd.DataFrame:
    _check_header(path)
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


def _check_header(path: Path) -> None:
    """No column twice (pandas would rename it), and the separator that the name of the file promises."""
    with _reader(path) as reader:
        columns: list[str] = next((fields for fields in reader if fields), [])
    twice = [name for name, count in Counter(columns).items() if count > 1]
    if twice:
        raise VotesFileError(f"{path}: column {twice[0]!r} is there twice", todo="keep one of them")
    if len(columns) == 1:
        for mark, called in ((";", "semicolons"), ("\t", "tabs"), (",", "commas")):
            if mark in columns[0]:
                raise VotesFileError(
                    f"{path}: its columns seem to be separated by {called}",
                    todo="separate them by commas, or by tabs in a file called .tsv",
                )


def in_file(error: RatingsError, path: Path, frame: pd.DataFrame | None = None) -> VotesFileError:
    """The same error with file and line instead of the row, which is one of the frame read from it."""
    where = str(path)
    if error.row is not None:
        row = error.row if frame is None else int(frame.index[error.row])
        where += f", {'row' if _is_parquet(path) else 'line'} {_line(path, row)}"
    return VotesFileError(f"{where}: {error.what}", todo=error.todo)


def _line(path: Path, row: int) -> int:
    """The line where record `row` (0-based, after the header) begins, quoted fields may hold newlines; of
    Parquet the row, counted from 1."""
    if _is_parquet(path):
        return row + 1
    with _reader(path) as reader:
        record, line = -2, 1
        for fields in reader:
            if fields:
                record += 1
            if record == row:
                return line
            line = reader.line_num + 1
    return row + 2


@contextmanager
def _reader(path: Path) -> Iterator[Any]:
    """A csv.reader of the file's text."""
    csv.field_size_limit(LONGEST_FIELD)
    opener = OPENERS.get(path.suffix.lower(), open)
    with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
        yield csv.reader(file, delimiter=_separator(path))


def _suffix(path: Path) -> str:
    """The last suffix that isn't one of packing, in lower case."""
    return next((s for s in reversed([s.lower() for s in path.suffixes]) if s not in OPENERS), "")


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")


def _separator(path: Path) -> str:
    return "\t" if _suffix(path) in (".tsv", ".tab") else ","


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
