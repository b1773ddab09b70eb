"""A whole file to checked rows, or to what is wrong with it."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from arena.corpus.names import name_key
from arena.corpus.style_counts import count_style
from arena.exchange.formats.canonical import PARSERS
from arena.exchange.formats.cells import CellError, Cells
from arena.exchange.formats.columns import REQUIRED, ColumnMap, likely_models
from arena.exchange.formats.how import AS_FOUND, How
from arena.exchange.formats.known import AUTO, Format, format_named, format_of
from arena.exchange.formats.lines import Row
from arena.exchange.formats.problems import Problem, RefusedError, Report, SkippedError
from arena.exchange.formats.rows import JUDGE, VOTE_ID, AnyRow, ResponseRow, VoteRow
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

    def report(self) -> Report:
        """What was noticed so far, to be gone on with."""
        return Report(list(self.errors), self.error_count, list(self.notices), self.skipped)


@dataclass
class _Reader:
    """How the rows of one file become rows of ours."""

    kind: str
    table: Table
    format: Format | None
    columns: ColumnMap
    report: Report
    how: How
    skipped: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, kind: str, source: Path | bytes, name: str, report: Report, how: How) -> "_Reader":
        table = open_table(source, name, how.encoding, how.delimiter)
        found = _format(table, how.format) if kind == "votes" else None
        given = {"model", "response"} if how.model_columns else {"model"} if how.model else set()
        columns = ColumnMap(kind, frozenset(given), how.columns, frozenset(how.model_columns))
        if found is None and table.columns:
            columns.check(table.columns, table.header_line)
            _check_there([*(how.columns or {}).values(), *how.model_columns], table)
        return cls(kind, table, found, columns, report, how)

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
            self.skipped[skipped.args[0]] += 1
        except CellError as error:
            place = column if column and error.column == "response" else error.column
            self.report.error(Problem(error.reason, line, place))
        except RefusedError as refused:
            self.report.error(replace(refused.problem, line=line))
        return None

    def _each_model(self, row: Row) -> Iterator[AnyRow]:
        """One response for each model's column; a cell without text is no response."""
        for header in self.how.model_columns:
            text = row.values.get(header)
            if text is None or (isinstance(text, str) and not text.strip()):
                self.skipped["because a model's column holds no text there"] += 1
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


def read(
    kind: str,
    source: Path | bytes,
    name: str = "",
    how: How = AS_FOUND,
    each: Callable[[AnyRow], object] | None = None,
    report: Report | None = None,
) -> Reading:
    """Never raises for what a file holds: whatever is wrong with it is in `errors`. `each` sees every row."""
    report = report or Report()
    rows: list[AnyRow] = []
    description = ""
    try:
        reader = _Reader.of(kind, source, name, report, how)
        description = reader.description
        first_counts = bool(reader.format and reader.format.first_counts)
        found = _without_repeats(reader.rows(), report, first_counts)
        rows = list(_shown_to(each, found) if each else found)
        _remark(reader, rows, report)
        if not rows and not report.error_count:
            raise RefusedError("the file has no rows" if not reader.skipped else "no row of the file counts")
    except RefusedError as refused:
        report.error(refused.problem)
    return Reading(
        kind,
        tuple(rows),
        tuple(report.errors),
        report.error_count,
        tuple(report.notices),
        report.skipped,
        description,
    )


def _shown_to(each: Callable[[AnyRow], object], rows: Iterator[AnyRow]) -> Iterator[AnyRow]:
    for row in rows:
        each(row)
        yield row


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


def look_at(kind: str, source: Path | bytes, name: str, how: How = AS_FOUND) -> Layout:
    """Raises RefusedError if not even the beginning can be read."""
    table = open_table(source, name, how.encoding, how.delimiter)
    found = _format(table, AUTO) if kind == "votes" else None
    columns = table.columns or _keys(table)
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
    )


def _keys(table: Table) -> tuple[str, ...]:
    """Of the first objects of a file without a header."""
    keys: dict[str, None] = {}
    for row in islice(table.rows(), 20):
        if isinstance(row, Row):
            keys |= dict.fromkeys(row.values)
    return tuple(keys)


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


def _without_repeats(rows: Iterator[AnyRow], report: Report, first_counts: bool = False) -> Iterator[AnyRow]:
    """Passes the first of equal rows on; one key with two contents is an error that names both lines."""
    seen: dict[object, AnyRow] = {}
    repeats: list[tuple[int, int]] = []
    for row in rows:
        first = seen.setdefault(row.key, row) if row.key is not None else row
        if first is row:
            yield row
        elif first_counts or replace(row, line=first.line) == first:
            report.skipped += 1
            repeats.append((row.line, first.line))
        else:
            hint = "; number them in a column sample" if isinstance(row, ResponseRow) else ""
            report.error(
                Problem(f"{row.name} is already on line {first.line} with other contents{hint}", row.line)
            )
    if repeats:
        listed = ", ".join(f"{line} (as {first})" for line, first in repeats[:5])
        more = ", …" if len(repeats) > 5 else ""
        why = "votes on a battle that has one already" if first_counts else "exact repeats"
        report.notice(f"{_count(len(repeats), 'row')} skipped as {why}: line {listed}{more}")


def _remark(reader: _Reader, rows: list[AnyRow], report: Report) -> None:
    columns = reader.columns
    if reader.format:
        report.notice(f"read as {reader.format.title}")
    for reason, count in reader.skipped.items():
        report.skipped += count
        report.notice(f"{_count(count, 'row')} skipped {reason}")
    if columns.unknown:
        more = ", …" if len(columns.unknown) > 20 else ""
        report.notice(f"columns ignored: {', '.join(columns.unknown[:20])}{more}")
    if reader.kind == "responses":
        blank = sum(row.is_blank for row in rows if isinstance(row, ResponseRow))
        if blank:
            report.notice(f"{_count(blank, 'response')} empty or blank: kept, but never drawn for a battle")
    votes = [row for row in rows if isinstance(row, VoteRow)]
    _remark_on_votes(votes, report)
    _remark_on_texts(votes, report)
    if reader.kind != "prompts":
        _remark_on_names(rows, report)


def _remark_on_votes(rows: list[VoteRow], report: Report) -> None:
    judged = sum(row.source == JUDGE for row in rows)
    if judged:
        report.notice(f"{_count(judged, 'row')} from judges: kept as judgments, never as votes")
    equal = len(rows) - len({replace(row, line=0) for row in rows})
    if equal:
        report.notice(
            f"{_count(equal, 'row')} equal to an earlier one kept as votes of their own, for without "
            "vote_id or rater and time a repeat can't be told from a second vote"
        )


def _remark_on_texts(rows: list[VoteRow], report: Report) -> None:
    """Empty turns, and where the file's own style counts differ from ours."""
    given, differing, unanswered = 0, 0, 0
    for texts in (row.texts for row in rows if row.texts):
        unanswered += not all(reply.strip() for reply in (*texts.replies_a, *texts.replies_b))
        sides = ((texts.response_a, texts.style_a), (texts.response_b, texts.style_b))
        for text, style in sides:
            if style is not None:
                ours = count_style(text)
                given += 1
                differing += style != (ours.headings, ours.list_items, ours.bold)
    if unanswered:
        report.notice(f"{_count(unanswered, 'row')} with an empty reply: the vote counts all the same")
    if given:
        report.notice(
            f"style counts given for {_count(given, 'response')}, of which {differing:,} differ from our own "
            "count of headings, list items and bold; ours are used"
        )


def _remark_on_names(rows: list[AnyRow], report: Report) -> None:
    spellings: dict[str, str] = {}
    odd: dict[str, str] = {}
    for row in rows:
        names = (row.model,) if isinstance(row, ResponseRow) else (row.model_a, row.model_b)  # type: ignore[union-attr]
        for name in names:
            first = spellings.setdefault(name_key(name), name)
            if first != name:
                odd.setdefault(name, first)
    for name, first in list(odd.items())[:20]:
        report.notice(f"{name!r} is taken for the same model as {first!r}")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
