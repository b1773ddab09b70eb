"""Bytes to rows: Parquet; CSV, TSV, JSON and JSONL in the encodings that can be told with certainty.

Rows come one at a time with the line they begin on. A row that can't be read comes as a Problem instead;
a file that can't be read at all raises RefusedError and says how to save it.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.exchange.formats import parquet
from arena.exchange.formats.problems import UNSTORABLE, Problem, RefusedError

MAX_CELL = 4 * 1024 * 1024  # characters; the csv module's own limit is 131,072
csv.field_size_limit(MAX_CELL)

HOW_IN_EXCEL = 'save the sheet as "CSV UTF-8 (comma delimited)"'
HOW_TO_SAVE = f"save it as UTF-8 (in Excel, {HOW_IN_EXCEL})"
_BROKEN = f"the file ends or breaks within a character of its encoding; {HOW_TO_SAVE}"
_DELIMITERS = ",;\t|"
_DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_HEAD = 64 * 1024  # bytes looked at to tell what a file is


@dataclass(frozen=True)
class Row:
    line: int
    values: dict[str, Any]


@dataclass(frozen=True)
class Table:
    """A file that has been recognised. `rows` opens it anew each time."""

    source: Path | bytes
    format: str
    encoding: str
    delimiter: str | None = None
    columns: tuple[str, ...] = ()
    header_line: int = 1

    @property
    def description(self) -> str:
        if self.format == parquet.FORMAT:
            return self.format
        names = {"utf-8": "UTF-8", "utf-8-sig": "UTF-8 with BOM", "utf-16": "UTF-16"}
        separated = f", separated by {_DELIMITER_NAMES[self.delimiter]}" if self.delimiter else ""
        return f"{self.format}, {names[self.encoding]}{separated}"

    def rows(self) -> Iterator[Row | Problem]:
        if self.format == parquet.FORMAT:
            yield from (Row(number, values) for number, values in parquet.rows(self.source))
            return
        with _text(self.source, self.encoding) as text:
            try:
                yield from _READERS[self.format](self, text)
            except UnicodeDecodeError:
                yield Problem(_BROKEN)


def open_table(source: Path | bytes, name: str = "") -> Table:
    try:
        return _recognise(source, name)
    except UnicodeDecodeError as error:
        raise RefusedError(_BROKEN) from error
    except csv.Error as error:
        raise RefusedError(_csv_reason(error), 1) from error


def _recognise(source: Path | bytes, name: str) -> Table:
    head = source[:_HEAD] if isinstance(source, bytes) else _read_head(source)
    if head.startswith(parquet.MAGIC):
        return Table(source, parquet.FORMAT, "", columns=parquet.columns(source))
    encoding = _encoding_of(head)
    start = head.decode(encoding, errors="ignore").lstrip()
    if not start.strip("\0"):
        raise RefusedError("the file is empty")
    if start.startswith("[") and not name.lower().endswith((".jsonl", ".ndjson")):
        return Table(source, "JSON", encoding)
    if start.startswith(("{", "[")):
        if start.splitlines()[0].strip() == "{":
            raise RefusedError("one JSON object: put the rows into an array, or one object on each line", 1)
        return Table(source, "JSONL", encoding)
    return _open_csv(source, encoding, name)


def unstorable(text: str) -> str | None:
    """Why a text can't be kept, or None. Databases take neither U+0000 nor half a surrogate pair."""
    found = UNSTORABLE.search(text)
    if found is None:
        return None
    code = ord(found[0])
    if code == 0:
        return "holds the character U+0000, which can't be stored; remove it"
    if 0xDC80 <= code <= 0xDCFF:  # how undecodable bytes come through `surrogateescape`
        return f"byte 0x{code - 0xDC00:02X} isn't UTF-8; {HOW_TO_SAVE}"
    return f"holds half of a surrogate pair (U+{code:04X}), which is no character; remove it"


def _read_head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEAD)


def _encoding_of(head: bytes) -> str:
    for magic, what in _MAGIC:
        if head.startswith(magic):
            raise RefusedError(_what_archive(head) if magic == b"PK\x03\x04" else what)
    if head.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        raise RefusedError(f"the file is UTF-32; {HOW_TO_SAVE}")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if head.startswith(b"\xef\xbb\xbf"):
        return "utf-8-sig"
    if len(head) > 3 and head.count(0) * 3 > len(head):
        raise RefusedError(f"the file looks like UTF-16 without its mark, which can't be told; {HOW_TO_SAVE}")
    return "utf-8"


_MAGIC = (
    (b"PK\x03\x04", ""),
    (b"\xd0\xcf\x11\xe0", f"this is an old Excel workbook; in Excel, {HOW_IN_EXCEL}"),
    (b"\x1f\x8b", "this is a gzip archive; unpack it first"),
    (b"BZh", "this is a bzip2 archive; unpack it first"),
    (b"7z\xbc\xaf", "this is a 7-Zip archive; unpack it first"),
    (b"%PDF", "this is a PDF; the rows are needed as CSV or JSONL"),
    (b"SQLite format 3", "this is an SQLite database; export the table as CSV"),
)


def _what_archive(head: bytes) -> str:
    if b"xl/" in head or b"[Content_Types].xml" in head:
        return f"this is an Excel workbook, whatever its name; in Excel, {HOW_IN_EXCEL}"
    if b"opendocument" in head:
        return 'this is an OpenDocument sheet, whatever its name; save it as "Text CSV" in UTF-8'
    return "this is a zip archive; unpack it first"


@contextmanager
def _text(source: Path | bytes, encoding: str) -> Iterator[io.TextIOWrapper]:
    binary = io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")
    # Bytes that aren't UTF-8 are carried along, so that the error names their line and the rest is
    # checked as well.
    errors = "strict" if encoding == "utf-16" else "surrogateescape"
    with io.TextIOWrapper(binary, encoding=encoding, errors=errors, newline="") as text:
        yield text


def _open_csv(source: Path | bytes, encoding: str, name: str) -> Table:
    with _text(source, encoding) as text:
        lines = iter(text)
        number, first = _first_line(lines)
        delimiter = None
        if declared := re.fullmatch(r"sep=(.)\s*", first, re.IGNORECASE | re.DOTALL):
            delimiter = declared[1]
            if delimiter not in _DELIMITERS:
                raise RefusedError(f"sep= names {delimiter!r}; use a comma, semicolon, tab or bar", number)
            skipped, first = _first_line(lines)
            number += skipped
        if not first:
            raise RefusedError("the file is empty")
        delimiter = delimiter or _delimiter_of(first, name)
        reader = csv.reader(_chain(first, lines), delimiter=delimiter, strict=True)
        header = next(reader)
    for column in header:
        if reason := unstorable(column):
            raise RefusedError(f"the header {reason}", number)
    return Table(source, "TSV" if delimiter == "\t" else "CSV", encoding, delimiter, tuple(header), number)


def _first_line(lines: Iterator[str]) -> tuple[int, str]:
    number = 0
    for line in lines:
        number += 1
        if line.strip():
            return number, line
    return number, ""


def _chain(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _delimiter_of(header: str, name: str) -> str:
    """The character that cuts the header into most cells; headers hardly ever hold one as text."""
    if name.lower().endswith((".tsv", ".tab")):
        return "\t"
    return max(_DELIMITERS, key=lambda delimiter: len(next(csv.reader([header], delimiter=delimiter))))


def _csv_rows(table: Table, text: Iterable[str]) -> Iterator[Row | Problem]:
    lines = iter(text)
    for _ in range(table.header_line - 1):
        next(lines)
    reader = csv.reader(lines, delimiter=table.delimiter or ",", strict=True)
    next(reader)
    width = len(table.columns)
    while True:
        line = table.header_line + reader.line_num
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Problem(f"{_csv_reason(error)}; reading stopped here", line)
            return
        if not cells or (len(cells) == 1 and not cells[0].strip() and width > 1):
            continue
        extra = cells[width:]
        if len(cells) < width or any(extra):
            yield Problem(f"{len(cells)} cells where the header has {width}", line)
            continue
        yield Row(line, dict(zip(table.columns, cells, strict=False)))


def _csv_reason(error: csv.Error) -> str:
    words = str(error)
    if "unexpected end of data" in words:
        return "a quote that opens in this row is never closed"
    if "expected after" in words:
        return 'text follows a closing quote; double the quotes inside a quoted cell ("")'
    if "field limit" in words:
        return f"a cell is longer than {MAX_CELL:,} characters"
    return f"isn't CSV: {words}"


def _jsonl_rows(_table: Table, text: Iterable[str]) -> Iterator[Row | Problem]:
    for number, line in enumerate(text, start=1):
        if not line.strip():
            continue
        if reason := unstorable(line):
            yield Problem(reason, number)
            continue
        try:
            value = _DECODER.decode(line.strip())
        except (ValueError, RecursionError) as error:
            yield _json_problem(error, number)
            continue
        yield _object_row(value, number)


def _json_rows(_table: Table, text: io.TextIOWrapper) -> Iterator[Row | Problem]:
    """One item of the array at a time: an error names its line, and only one item is decoded at once."""
    content = text.read()
    position, line, counted = content.index("[") + 1, 1, 0
    first = True
    while True:
        position = _skip_space(content, position)
        line += len(_LINE_END.findall(content, counted, position))
        counted = position
        mark = content[position : position + 1]
        if mark == "]":
            if content[position + 1 :].strip():
                yield Problem("something follows the end of the array", line)
            return
        if not first:
            if mark != ",":
                yield Problem("a comma or the closing ] of the array is missing; reading stopped here", line)
                return
            position = _skip_space(content, position + 1)
            line += len(_LINE_END.findall(content, counted, position))
            counted = position
        first = False
        try:
            value, position = _DECODER.raw_decode(content, position)
        except (ValueError, RecursionError) as error:
            yield _json_problem(error, line)
            return
        yield _object_row(value, line)


def _skip_space(content: str, position: int) -> int:
    found = _SPACE.match(content, position)
    return found.end() if found else position


def _object_row(value: object, line: int) -> Row | Problem:
    if isinstance(value, dict):
        return Row(line, value)
    kind = {list: "an array", str: "a text", bool: "true or false", type(None): "null"}.get(
        type(value), "a number"
    )
    return Problem(f"an object with named columns is needed, this is {kind}", line)


def _json_problem(error: Exception, line: int) -> Problem:
    if isinstance(error, RecursionError):
        return Problem("nested too deeply", line)
    if isinstance(error, json.JSONDecodeError):
        line, character = (error.lineno, error.colno) if "\n" in error.doc else (line, error.colno)
        return Problem(f"isn't JSON at character {character}: {error.msg}", line)
    return Problem(str(error), line)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return found


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} isn't JSON; use null or a number")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"the number {digits[:40]} is too large")
    return number


_SPACE = re.compile(r"[ \t\r\n]*")
_LINE_END = re.compile(r"\r\n|\r|\n")
_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique_keys, parse_constant=_refuse_constant, parse_float=_finite
)
_READERS: dict[str, Any] = {"CSV": _csv_rows, "TSV": _csv_rows, "JSON": _json_rows, "JSONL": _jsonl_rows}
