"""Bytes to rows: Parquet; CSV, TSV, JSON and JSONL in the encodings that can be told with certainty.

Rows come one at a time with the line they begin on. A row that can't be read comes as a Problem instead;
a file that can't be read at all raises RefusedError and says how to save it.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from arena.exchange.formats import parquet
from arena.exchange.formats.json_rows import array_rows, jsonl_rows
from arena.exchange.formats.lines import HOW_IN_EXCEL, HOW_TO_SAVE, Row, lines, unstorable
from arena.exchange.formats.problems import Problem, RefusedError

MAX_CELL = 4 * 1024 * 1024  # characters; the csv module's own limit is 131,072
csv.field_size_limit(MAX_CELL)

_BROKEN = f"the file ends or breaks within a character of its encoding; {HOW_TO_SAVE}"
_DELIMITERS = ",;\t|"
_DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_HEAD = 64 * 1024  # bytes looked at to tell what a file is
ENCODING_NAMES = {
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8 with BOM",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16 LE",
    "utf-16-be": "UTF-16 BE",
    "cp1252": "Windows-1252",
    "iso8859-15": "ISO 8859-15",
    "mac-roman": "Mac Roman",
}
# What a person may name where the file doesn't tell; None of them is ever guessed.
CHOOSABLE = ("utf-8", "cp1252", "iso8859-15", "mac-roman", "utf-16-le", "utf-16-be")


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
        separated = f", separated by {_DELIMITER_NAMES[self.delimiter]}" if self.delimiter else ""
        return f"{self.format}, {ENCODING_NAMES[self.encoding]}{separated}"

    def rows(self) -> Iterator[Row | Problem]:
        if self.format == parquet.FORMAT:
            yield from (Row(number, values) for number, values in parquet.rows(self.source))
            return
        with _text(self.source, self.encoding) as text:
            try:
                yield from _READERS[self.format](self, text)
            except UnicodeDecodeError:
                yield Problem(_BROKEN)


def open_table(source: Path | bytes, name: str = "", encoding: str = "", delimiter: str = "") -> Table:
    """`encoding` and `delimiter` are believed where they're given, and told from the file otherwise."""
    try:
        return _recognise(source, name, encoding, delimiter)
    except UnicodeDecodeError as error:
        raise RefusedError(_BROKEN) from error
    except csv.Error as error:
        raise RefusedError(_csv_reason(error), 1) from error


def _recognise(source: Path | bytes, name: str, encoding: str, delimiter: str) -> Table:
    head = source[:_HEAD] if isinstance(source, bytes) else _read_head(source)
    if head.startswith(parquet.MAGIC):
        return Table(source, parquet.FORMAT, "", columns=parquet.columns(source))
    encoding = _named(encoding, head) if encoding else _encoding_of(head)
    start = head.decode(encoding, errors="ignore").lstrip()
    if not start.strip("\0"):
        raise RefusedError("the file is empty")
    if start.startswith("[") and not delimiter and not name.lower().endswith((".jsonl", ".ndjson")):
        return Table(source, "JSON", encoding)
    if start.startswith(("{", "[")) and not delimiter:
        if start.splitlines()[0].strip() == "{":
            raise RefusedError("one JSON object: put the rows into an array, or one object on each line", 1)
        return Table(source, "JSONL", encoding)
    return _open_csv(source, encoding, name, delimiter)


def _named(encoding: str, head: bytes) -> str:
    if encoding not in CHOOSABLE:
        raise RefusedError(f"the encoding {encoding!r} is unknown; use {', '.join(CHOOSABLE)}")
    _refuse_archives(head)
    return "utf-8-sig" if encoding == "utf-8" else encoding


def _read_head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEAD)


def _refuse_archives(head: bytes) -> None:
    for magic, what in _MAGIC:
        if head.startswith(magic):
            raise RefusedError(_what_archive(head) if magic == b"PK\x03\x04" else what)


def _encoding_of(head: bytes) -> str:
    _refuse_archives(head)
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
        return f"this is an Excel workbook: in Excel, {HOW_IN_EXCEL}"
    if b"opendocument" in head:
        return 'this is an OpenDocument sheet, whatever its name; save it as "Text CSV" in UTF-8'
    return "this is a zip archive; unpack it first"


@contextmanager
def _text(source: Path | bytes, encoding: str) -> Iterator[io.TextIOWrapper]:
    binary = io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")
    # Bytes that aren't UTF-8 are carried along, so that the error names their line and the rest is
    # checked as well.
    errors = "surrogateescape" if encoding.startswith("utf-8") else "strict"
    with io.TextIOWrapper(binary, encoding=encoding, errors=errors, newline="") as text:
        yield text


def _open_csv(source: Path | bytes, encoding: str, name: str, chosen: str) -> Table:
    if chosen and chosen not in _DELIMITERS:
        raise RefusedError(f"{chosen!r} can't be the delimiter; use a comma, semicolon, tab or bar")
    with _text(source, encoding) as text:
        rest = lines(text)
        number, first = _first_line(rest)
        delimiter = ""
        if declared := re.fullmatch(r"sep=(.)\s*", first, re.IGNORECASE | re.DOTALL):
            delimiter = declared[1]
            if delimiter not in _DELIMITERS:
                raise RefusedError(f"sep= names {delimiter!r}; use a comma, semicolon, tab or bar", number)
            skipped, first = _first_line(rest)
            number += skipped
        if not first:
            raise RefusedError("the file is empty")
        delimiter = chosen or delimiter or _delimiter_of(first, name)
        reader = csv.reader(_chain(first, rest), delimiter=delimiter, strict=True)
        header = next(reader)
    for column in header:
        if reason := unstorable(column):
            raise RefusedError(f"the header {reason}", number)
    return Table(source, "TSV" if delimiter == "\t" else "CSV", encoding, delimiter, tuple(header), number)


def _first_line(rest: Iterator[str]) -> tuple[int, str]:
    number = 0
    for line in rest:
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


def _csv_rows(table: Table, rest: Iterator[str]) -> Iterator[Row | Problem]:
    for _ in range(table.header_line - 1):
        next(rest)
    reader = csv.reader(rest, delimiter=table.delimiter or ",", strict=True)
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


def _rows_of_csv(table: Table, text: io.TextIOWrapper) -> Iterator[Row | Problem]:
    return _csv_rows(table, lines(text))


_READERS: dict[str, Callable[[Table, io.TextIOWrapper], Iterator[Row | Problem]]] = {
    "CSV": _rows_of_csv,
    "TSV": _rows_of_csv,
    "JSON": lambda _table, text: array_rows(text),
    "JSONL": lambda _table, text: jsonl_rows(text),
}
