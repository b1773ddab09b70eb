"""The errors of a file as a table to download: every one, in the order of its lines. So are the notes."""

from __future__ import annotations

import csv
import io
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from arena.exchange.formats.problems import Problem
from arena.spreadsheet_text import escape


class ErrorList:
    """Written as the errors come; of each, line and place are kept, so that the rows can be put in order."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._lines = array("q")
        self._ends = array("q")
        self._header = _row("line", "column", "reason", encoding="utf-8-sig")
        file.write(self._header)
        self._end = len(self._header)

    def add(self, problem: Problem) -> None:
        row = _row(problem.line or "", escape(problem.column or ""), escape(problem.reason))
        self._file.write(row)
        self._end += len(row)
        self._lines.append(problem.line or 0)
        self._ends.append(self._end)

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def is_in_order(self) -> bool:
        """It isn't when some were found on a second way through the file."""
        return all(self._lines[n - 1] <= self._lines[n] for n in range(1, len(self)))

    def in_order(self, written: BinaryIO) -> Iterator[bytes]:
        """The rows of the finished file; of one line as they were found, first what has none."""
        yield self._header
        for number in sorted(range(len(self)), key=self._lines.__getitem__):
            start = self._ends[number - 1] if number else len(self._header)
            written.seek(start)
            yield written.read(self._ends[number] - start)


def _row(*cells: object, encoding: str = "utf-8") -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return text.getvalue().encode(encoding)


@contextmanager
def error_list(path: Path) -> Iterator[ErrorList]:
    """Without any error there is no file."""
    with path.open("wb") as file:
        errors = ErrorList(file)
        yield errors
    if not errors:
        path.unlink()
    elif not errors.is_in_order:
        _put_in_order(path, errors)


def _put_in_order(path: Path, errors: ErrorList) -> None:
    ordered = path.with_name(f"{path.name}.ordered")
    with path.open("rb") as written, ordered.open("wb") as file:
        file.writelines(errors.in_order(written))
    ordered.replace(path)
