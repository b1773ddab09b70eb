"""What is wrong with a file, where, and in words that say what to do."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

UNSTORABLE = re.compile("[\0\ud800-\udfff]")  # what no database keeps as text
KEPT = 100  # errors listed; the rest are counted
NAMED = 20  # places of what is no error that are named in its notice


@dataclass(frozen=True)
class Problem:
    reason: str
    line: int | None = None
    column: str | None = None

    def __str__(self) -> str:
        place = ", ".join(
            ([f"line {self.line}"] if self.line else []) + ([f"column {self.column}"] if self.column else [])
        )
        return f"{place}: {self.reason}" if place else self.reason


class RefusedError(Exception):
    """The file as a whole can't be read."""

    def __init__(self, reason: str, line: int | None = None, column: str | None = None) -> None:
        super().__init__(reason)
        self.problem = Problem(reason, line, column)


class SkippedError(Exception):
    """A row that is in order and doesn't count; args[0] says why and is the same for all of its kind."""


@dataclass
class Places:
    """How many there are, and where the first of them stand."""

    count: int = 0
    _first: list[str] = field(default_factory=list)

    def add(self, line: int, name: str = "") -> None:
        self.count += 1
        if self.count <= NAMED:
            self._first.append(f"line {line}, {name}" if name else f"line {line}")

    def __str__(self) -> str:
        return "; ".join(self._first) + ("; …" if self.count > NAMED else "")


@dataclass
class Report:
    """Collects what was noticed on the way through a file."""

    errors: list[Problem] = field(default_factory=list)
    error_count: int = 0
    notices: list[str] = field(default_factory=list)
    promises: set[str] = field(default_factory=set)
    skipped: int = 0
    contents: dict[str, Any] = field(default_factory=dict)  # what else was found that somebody acts on
    every_error: Callable[[Problem], object] | None = None  # sees also those beyond the first hundred
    every_note: Callable[[Problem], object] | None = None  # sees each row that is no error and doesn't count

    def error(self, problem: Problem) -> None:
        self.error_count += 1
        problem = replace(problem, reason=_printable(problem.reason))
        if len(self.errors) < KEPT:
            self.errors.append(problem)
        if self.every_error:
            self.every_error(problem)

    def note(self, problem: Problem) -> None:
        """Of one row. What all of its kind come to is told as a notice."""
        if self.every_note:
            self.every_note(replace(problem, reason=_printable(problem.reason)))

    def notice(self, words: str) -> None:
        self.notices.append(_printable(words))

    def promise(self, words: str) -> None:
        """What the import would make, which is no news of a file that makes nothing."""
        self.notice(words)
        self.promises.add(self.notices[-1])

    @property
    def told(self) -> tuple[str, ...]:
        return tuple(words for words in self.notices if not self.error_count or words not in self.promises)


def _printable(words: str) -> str:
    """What a file holds may be quoted in a report, and a report is stored."""
    return UNSTORABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", words)
