"""A whole file to checked rows, or to what is wrong with it."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from arena.counted import counted
from arena.exchange.formats.canonical import PARSERS
from arena.exchange.formats.cells import CellError, Cells
from arena.exchange.formats.columns import REQUIRED, ColumnMap, likely_models
from arena.exchange.formats.how import AS_FOUND, How
from arena.exchange.formats.known import AUTO, Format, format_named, format_of
from arena.exchange.formats.lines import Row, unstorable
from arena.exchange.formats.problems import Places, Problem, RefusedError, Report, SkippedError
from arena.exchange.formats.remarks import Remarks
from arena.exchange.formats.repeats import without_repeats
from arena.exchange.formats.rows import JUDGE, VOTE_ID, AnyRow
from arena.exchange.formats.tables import Table, open_table


@dataclass(frozen=True)
class Reading:
    """A file as read. Rows are only to be used when there's no error."""

    kind: str
    rows: tuple[Any, ...]
    errors: tuple[Problem, ...]
    error_count: int
    notices: tuple[str, ...]
    skipped: int
    description: str = ""


@dataclass
class _Reader:
    """How the rows of one file become rows of ours."""

    kind: str
    name: str
    table: Table
    format: Format | None
    columns: ColumnMap
    report: Report
    how: How
    skipped: dict[str, Places] = field(default_factory=dict)  # by reason

    @classmethod
    def of(cls, kind: str, source: Path | bytes, name: str, report: Report, how: How) -> "_Reader":
        table = open_table(source, name, how.encoding, how.delimiter)
        found = _format(table, how.format) if kind == "votes" else None
        given = {"model", "response"} if how.model_columns else {"model"} if how.model else set()
        columns = ColumnMap(kind, frozenset(given), how.columns, frozenset(how.model_columns))
        if found is None and table.columns:
            columns.check(table.columns, table.header_line)
            _check_there([*(how.columns or {}).values(), *how.model_columns], table)
        return cls(kind, name, table, found, columns, report, how)

    def rows(self) -> Iterator[AnyRow]:
        for row in self.table.rows():
            if isinstance(row, Problem):
                self.report.error(row)
            elif self.how.model_columns:
                yield from self._each_model(row)
            elif (
                parsed := self._parsed(row.line, self._of_format if self.format else self._of_ours, row)
            ) is not None:
                yield parsed

    def _parsed(
        self, line: int, parse: Callable[[Any], AnyRow], what: Any, column: str = ""
    ) -> AnyRow | None:
        try:
            return parse(what)
        except SkippedError as skipped:
            self._skip(line, skipped.args[0], column)
        except CellError as error:
            place = column if column and error.column == "response" else error.column
            self.report.error(Problem(error.reason, line, place))
        except RefusedError as refused:
            self.report.error(replace(refused.problem, line=line))
        return None

    def _skip(self, line: int, reason: str, column: str) -> None:
        self.skipped.setdefault(reason, Places()).add(line, column)
        self.report.note(Problem(f"skipped {reason}", line, column or None))

    def _each_model(self, row: Row) -> Iterator[AnyRow]:
        """One response for each model's column; a cell without text is no response."""
        for header in self.how.model_columns:
            text = row.values.get(header)
            if text is None or (isinstance(text, str) and not text.strip()):
                self._skip(row.line, "because a model's column holds no text there", header.strip())
                continue
            told = {"model": header.strip(), "response": text}
            parsed = self._parsed(row.line, lambda told: self._of_ours(row, told), told, header)
            if parsed is not None:
                yield parsed

    def _of_ours(self, row: Row, told: Mapping[str, Any] | None = None) -> AnyRow:
        values = _canonical_values(row, self.columns) | dict(told or {})
        if self.how.judges:
            values["source"] = JUDGE
        if self.how.model:
            if "model" in values:
                raise RefusedError("the file names models itself, so none can be given for all of it")
            values["model"] = self.how.model
        return PARSERS[self.kind](row.line, Cells(values))

    def _of_format(self, row: Row) -> AnyRow:
        assert self.format  # noqa: S101
        found = self.format.vote(row.line, Cells(row.values))
        return replace(found, format=self.format.name, vote_id=_own_id(self.format, found.vote_id))

    def responses_beside_prompts(self) -> tuple[str, ...]:
        if self.kind != "prompts":
            return ()
        return look_at(self.kind, self.table.source, self.name, self.how).responses_beside_prompts(self.how)

    @property
    def description(self) -> str:
        return f"{self.format.title}, {self.table.description}" if self.format else self.table.description


def _check_there(headers: Iterable[str], table: Table) -> None:
    for header in headers:
        if header not in table.columns:
            raise RefusedError(f"the file has no column {header!r}", table.header_line)


def _own_id(known: Format, vote_id: str) -> str:
    """Ids of two sources never meet."""
    own = f"{known.name}:{vote_id}"
    if len(own) > VOTE_ID:
        own = f"{known.name}:{hashlib.sha256(vote_id.encode()).hexdigest()[:40]}"
    return own if vote_id else ""


def _format(table: Table, name: str) -> Format | None:
    if name != AUTO:
        return format_named(name)
    first = next((row for row in table.rows() if isinstance(row, Row)), None)
    return format_of(first.values) if first else None


class FileRows:
    """The rows of a file, one held at a time; they can be gone through again."""

    def __init__(self, kind: str, source: Path | bytes, name: str = "", how: How = AS_FOUND) -> None:
        self.kind, self.source, self.name, self.how = kind, source, name, how
        self.description = ""
        self._mark = self._look()

    def rows(self, report: Report) -> Iterator[Any]:
        """What is wrong with rows goes into the report; RefusedError says what is wrong with the file."""
        reader = _Reader.of(self.kind, self.source, self.name, report, self.how)
        self.description = reader.description
        seen = Remarks()
        first_counts = bool(reader.format and reader.format.first_counts)
        for row in without_repeats(reader.rows(), report, first_counts):
            seen.see(row, report)
            yield row
        if self._look() != self._mark:
            raise RefusedError("the file was changed while it was read")
        _remark(reader, seen, report)

    def header_of(self, column: str) -> str:
        """What the file calls one of our columns; empty if it has none."""
        if self.how.columns is not None:
            return self.how.columns.get(column, "")
        with suppress(RefusedError):
            return look_at(self.kind, self.source, self.name, self.how).meanings.get(column, "")
        return ""

    def _look(self) -> tuple[int, ...]:
        if isinstance(self.source, bytes):
            return ()
        found = self.source.stat()
        return found.st_ino, found.st_size, found.st_mtime_ns


def read(kind: str, source: Path | bytes, name: str = "", how: How = AS_FOUND) -> Reading:
    """All at once. Never raises for what a file holds: whatever is wrong with it is in `errors`."""
    file, report = FileRows(kind, source, name, how), Report()
    rows: tuple[AnyRow, ...] = ()
    try:
        rows = tuple(file.rows(report))
    except RefusedError as refused:
        report.error(refused.problem)
    return Reading(
        kind,
        rows,
        tuple(report.errors),
        report.error_count,
        tuple(report.notices),
        report.skipped,
        file.description,
    )


def first_rows(
    kind: str,
    source: Path | bytes,
    name: str,
    count: int,
    how: How = AS_FOUND,
) -> tuple[Any, ...]:
    """The first good rows, for a look before the import; reads no further than it must."""
    found: list[AnyRow] = []
    with suppress(RefusedError):
        for row in islice(_Reader.of(kind, source, name, Report(), how).rows(), count):
            found.append(row)
    return tuple(found)


_LOOKED_AT = 20  # rows


@dataclass(frozen=True)
class Layout:
    """What a file looks like from its beginning: what a person may change before it is read."""

    description: str
    is_table: bool  # of text with a delimiter
    encoding: str
    delimiter: str
    columns: tuple[str, ...]
    meanings: Mapping[str, str]  # ours -> the file's, as their names say
    models: tuple[str, ...]  # columns that may hold one model's responses each
    format: Format | None
    rows: tuple[Mapping[str, Any], ...] = ()  # the first, as the file has them

    @property
    def unknown(self) -> tuple[str, ...]:
        """Columns whose names say nothing to us."""
        known = set(self.meanings.values())
        return tuple(header for header in self.columns if header.strip() and header not in known)

    def cells(self, header: str) -> list[str]:
        """The texts at the file's beginning that can be looked up."""
        values = (row.get(header) for row in self.rows)
        told = (str(value) for value in values if isinstance(value, str | int))
        return [text for text in told if text.strip() and not unstorable(text)]

    def responses_beside_prompts(self, how: How) -> tuple[str, ...]:
        """Columns that hold running text and mean nothing to an import of prompts."""
        read = self.meanings if how.columns is None else how.columns
        if "prompt" not in read:
            return ()
        free = [header for header in self.columns if header not in set(read.values())]
        return tuple(header for header in likely_models(["prompt", *free]) if self._is_of_texts(header))

    def _is_of_texts(self, header: str) -> bool:
        """Most of its cells hold several words, and they differ: no note, no category."""
        cells = self.cells(header)
        wordy = sum(len(cell.split()) > 1 for cell in cells)
        return bool(cells) and 2 * wordy > len(cells) and 2 * len(set(cells)) > len(cells)


def look_at(kind: str, source: Path | bytes, name: str, how: How = AS_FOUND) -> Layout:
    """Raises RefusedError if not even the beginning can be read."""
    table = open_table(source, name, how.encoding, how.delimiter)
    found = _format(table, AUTO) if kind == "votes" else None
    rows: list[Mapping[str, Any]] = []
    with suppress(RefusedError):
        for row in islice(table.rows(), _LOOKED_AT):
            rows += [row.values] if isinstance(row, Row) else []
    columns = table.columns or tuple(dict.fromkeys(header for row in rows for header in row))
    names = ColumnMap(kind)
    meanings: dict[str, str] = {}
    for header in columns:
        if (meaning := names.canonical(header)) is not None:
            meanings.setdefault(meaning, header)
    return Layout(
        description=f"{found.title}, {table.description}" if found else table.description,
        is_table=table.delimiter is not None,
        encoding=table.encoding,
        delimiter=table.delimiter or "",
        columns=columns,
        meanings=meanings,
        models=likely_models(columns) if kind == "responses" else (),
        format=found,
        rows=tuple(rows),
    )


def _canonical_values(row: Row, columns: ColumnMap) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for header, value in row.values.items():
        name = columns.canonical(header)
        if name in values:
            columns.check(row.values)
        if name is not None:
            values[name] = value
    there = values.keys() | columns.given
    if any(not there & set(group) for group in REQUIRED[columns.kind]):
        columns.check(row.values)
    return values


def _remark(reader: _Reader, seen: Remarks, report: Report) -> None:
    columns = reader.columns
    if reader.format:
        report.notice(f"read as {reader.format.title}")
    for reason, places in reader.skipped.items():
        report.skipped += places.count
        report.notice(f"{counted(places.count, 'row')} skipped {reason}: {places}")
    responses = reader.responses_beside_prompts() if columns.unknown else ()
    _name_columns("columns ignored", [name for name in columns.unknown if name not in responses], report)
    _name_columns("columns that look like responses, no part of the prompts", responses, report)
    seen.tell(report)
    if not seen.rows and not report.error_count:
        raise RefusedError("the file has no rows" if not reader.skipped else "no row of the file counts")


def _name_columns(words: str, names: Sequence[str], report: Report) -> None:
    if names:
        report.notice(f"{words}: {', '.join(names[:20])}{', …' if len(names) > 20 else ''}")
