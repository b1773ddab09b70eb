"""Rows of our own columns to checked prompts, responses and votes, or to what is wrong with them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from arena.corpus.names import name_key
from arena.exchange.formats.cells import CellError, Cells, Turn
from arena.exchange.formats.columns import CRITERIA, REQUIRED, ColumnMap
from arena.exchange.formats.problems import Problem, RefusedError, Report
from arena.exchange.formats.tables import Row, Table, open_table

# The longest ids, names, labels, raters and vote ids, in characters.
ID, NAME, SHORT, PSEUDONYM, VOTE_ID = 200, 200, 120, 120, 80

# Every spelling that is understood, in any case. Besides these, the name of the model that won.
WINNERS: dict[str, str] = {
    "model_a": "model_a",
    "a": "model_a",
    "left": "model_a",
    "model_b": "model_b",
    "b": "model_b",
    "right": "model_b",
    "tie": "tie",
    "draw": "tie",
    "both_bad": "both_bad",
    "bothbad": "both_bad",
    "both bad": "both_bad",
    "tie (bothbad)": "both_bad",
    "tie (both bad)": "both_bad",
}


@dataclass(frozen=True)
class PromptRow:
    line: int
    id: str
    turns: tuple[Turn, ...]
    category: str = ""
    language: str = ""
    tags: tuple[str, ...] = ()
    reference: str = ""
    hard: bool | None = None
    criteria: tuple[bool | None, ...] = (None,) * len(CRITERIA)

    @property
    def key(self) -> object:
        return self.id

    @property
    def name(self) -> str:
        return f"prompt {self.id!r}"


@dataclass(frozen=True)
class ResponseRow:
    line: int
    prompt_id: str
    model: str
    text: str
    sample: int = 1
    tokens: int | None = None
    org: str = ""

    @property
    def is_blank(self) -> bool:
        return not self.text.strip()

    @property
    def key(self) -> object:
        return self.prompt_id, name_key(self.model), self.sample

    @property
    def name(self) -> str:
        return f"sample {self.sample} of {self.model!r} for prompt {self.prompt_id!r}"


@dataclass(frozen=True)
class VoteRow:
    line: int
    model_a: str
    model_b: str
    outcome: str
    prompt_id: str = ""
    rater: str = ""
    vote_id: str = ""
    dwell_ms: int | None = None
    voted_at: datetime | None = None

    @property
    def key(self) -> object:
        """What can't happen twice; None when a second row may as well be a second vote."""
        if self.vote_id:
            return self.vote_id
        if self.rater and self.voted_at:
            return self.rater, self.voted_at, self.prompt_id, name_key(self.model_a), name_key(self.model_b)
        return None

    @property
    def name(self) -> str:
        return f"vote {self.vote_id!r}" if self.vote_id else f"the vote of {self.rater!r} at {self.voted_at}"


AnyRow = PromptRow | ResponseRow | VoteRow


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


def read(kind: str, source: Path | bytes, name: str = "") -> Reading:
    """Never raises for what a file holds: whatever is wrong with it is in `errors`."""
    report = Report()
    rows: list[AnyRow] = []
    description = ""
    try:
        table = open_table(source, name)
        description = table.description
        columns = ColumnMap(kind)
        if table.columns:
            columns.check(table.columns, table.header_line)
        rows = list(_without_repeats(_parsed(kind, table, columns, report), report))
        _remark(kind, rows, columns, report)
        if not rows and not report.error_count:
            raise RefusedError("the file has no rows")
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


def first_rows(kind: str, source: Path | bytes, name: str, count: int) -> tuple[Any, ...]:
    """The first good rows, for a look before the import; reads no further than it must."""
    try:
        table = open_table(source, name)
        return tuple(islice(_parsed(kind, table, ColumnMap(kind), Report()), count))
    except RefusedError:
        return ()


def _parsed(kind: str, table: Table, columns: ColumnMap, report: Report) -> Iterator[AnyRow]:
    parse = _PARSERS[kind]
    for row in table.rows():
        if isinstance(row, Problem):
            report.error(row)
            continue
        try:
            yield parse(row.line, Cells(_canonical_values(row, columns)))
        except CellError as error:
            report.error(Problem(error.reason, row.line, error.column))
        except RefusedError as refused:
            report.error(replace(refused.problem, line=row.line))


def _canonical_values(row: Row, columns: ColumnMap) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for header, value in row.values.items():
        name = columns.canonical(header)
        if name in values:
            columns.check(row.values)
        if name is not None:
            values[name] = value
    if any(not values.keys() & set(group) for group in REQUIRED[columns.kind]):
        columns.check(row.values)
    return values


def _without_repeats(rows: Iterator[AnyRow], report: Report) -> Iterator[AnyRow]:
    """Passes the first of equal rows on; one key with two contents is an error that names both lines."""
    seen: dict[object, AnyRow] = {}
    repeats: list[tuple[int, int]] = []
    for row in rows:
        first = seen.setdefault(row.key, row) if row.key is not None else row
        if first is row:
            yield row
        elif replace(row, line=first.line) == first:
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
        report.notice(f"{_count(len(repeats), 'row')} skipped as exact repeats: line {listed}{more}")


def _remark(kind: str, rows: list[AnyRow], columns: ColumnMap, report: Report) -> None:
    if columns.unknown:
        more = ", …" if len(columns.unknown) > 20 else ""
        report.notice(f"columns ignored: {', '.join(columns.unknown[:20])}{more}")
    if kind == "responses":
        blank = sum(row.is_blank for row in rows if isinstance(row, ResponseRow))
        if blank:
            report.notice(f"{_count(blank, 'response')} empty or blank: kept, but never drawn for a battle")
    if kind == "votes":
        equal = len(rows) - len({replace(row, line=0) for row in rows})
        if equal:
            report.notice(
                f"{_count(equal, 'row')} equal to an earlier one kept as votes of their own, for without "
                "vote_id or rater and time a repeat can't be told from a second vote"
            )
    if kind != "prompts":
        _remark_on_names(rows, report)


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


def _prompt(line: int, cells: Cells) -> PromptRow:
    text, turns = cells.text("prompt"), cells.turns("messages")
    if turns and text.strip():
        raise CellError("messages", "there is a prompt as well; give one of the two")
    if not turns and not text.strip():
        raise CellError("prompt", "is empty")
    return PromptRow(
        line=line,
        id=cells.required("id", ID),
        turns=turns or (Turn("user", text),),
        category=cells.label("category", SHORT),
        language=cells.label("language", 40),
        tags=cells.tags("tags"),
        reference=cells.text("reference"),
        hard=cells.flag("hard"),
        criteria=tuple(cells.flag(name) for name in CRITERIA),
    )


def _response(line: int, cells: Cells) -> ResponseRow:
    sample = cells.number("sample", at_least=1)
    return ResponseRow(
        line=line,
        prompt_id=cells.required("prompt_id", ID),
        model=cells.required("model", NAME),
        text=cells.text("response"),
        sample=1 if sample is None else sample,
        tokens=cells.number("tokens"),
        org=cells.label("org", NAME),
    )


def _vote(line: int, cells: Cells) -> VoteRow:
    model_a, model_b = cells.required("model_a", NAME), cells.required("model_b", NAME)
    if name_key(model_a) == name_key(model_b):
        raise CellError("model_b", f"{model_b!r} can't fight itself")
    return VoteRow(
        line=line,
        model_a=model_a,
        model_b=model_b,
        outcome=outcome_of(cells.label("winner", NAME), model_a, model_b),
        prompt_id=cells.label("prompt_id", ID),
        rater=cells.label("rater", PSEUDONYM),
        vote_id=cells.label("vote_id", VOTE_ID),
        dwell_ms=cells.number("dwell_ms"),
        voted_at=cells.time("voted_at"),
    )


def outcome_of(winner: str, model_a: str, model_b: str) -> str:
    if not winner:
        raise CellError("winner", "is empty; use model_a, model_b, tie or both_bad")
    found = {WINNERS.get(" ".join(winner.casefold().split()))}
    found |= {
        side
        for side, name in (("model_a", model_a), ("model_b", model_b))
        if name_key(name) == name_key(winner)
    }
    found.discard(None)
    if not found:
        raise CellError("winner", f"{winner!r} is unknown; use model_a, model_b, tie or both_bad")
    if len(found) > 1:
        raise CellError("winner", f"{winner!r} is a model's name and a side as well; use model_a or model_b")
    return str(found.pop())


_PARSERS: dict[str, Callable[[int, Cells], AnyRow]] = {
    "prompts": _prompt,
    "responses": _response,
    "votes": _vote,
}
