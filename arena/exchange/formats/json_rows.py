"""JSON to rows: one object on each line, or an array of which only one item is held at once."""

import json
import re
from collections.abc import Iterator
from io import TextIOBase
from typing import Any

from arena.exchange.formats.lines import LINE_END, MAX_LINE, Row, lines, unstorable
from arena.exchange.formats.problems import Problem

_CHUNK = 256 * 1024  # characters read at once


def jsonl_rows(text: TextIOBase) -> Iterator[Row | Problem]:
    for number, line in enumerate(lines(text), start=1):
        if not line.strip():
            continue
        if reason := unstorable(line):
            yield Problem(reason, number)
            continue
        try:
            value = one_value(line.strip())
        except (ValueError, RecursionError) as error:
            yield _problem(error, number)
            continue
        yield _object_row(value, number)


def one_value(text: str) -> Any:
    """The text's only one. ValueError and RecursionError say why there is none that could be kept."""
    try:
        return _DECODER.decode(text)
    except _RefusedValueError as error:
        raise ValueError(*error.args) from None


def array_rows(text: TextIOBase) -> Iterator[Row | Problem]:
    """An error names its line and ends the reading: where the next item begins is no longer certain."""
    window = _Window(text)
    window.skip_space()
    window.advance(1)  # the [
    first = True
    while (mark := window.skip_space()) != "]":
        if not first:
            if mark != ",":
                reason = "a comma or the closing ] of the array is missing; reading stopped here"
                yield Problem(reason, window.line)
                return
            window.advance(1)
            window.skip_space()
        first = False
        line = window.line
        try:
            value = window.decode()
        except (ValueError, RecursionError) as error:
            yield window.problem(error)
            return
        yield _object_row(value, line)
    window.advance(1)
    if window.skip_space():
        yield Problem("something follows the end of the array", window.line)


class _Window:
    """The stretch of the text around `position`: grows to hold the item there, and forgets what is behind."""

    def __init__(self, text: TextIOBase) -> None:
        self._text = text
        self._held = ""
        self._position = 0
        self._ended = False
        self.line = 1
        self._before = 0  # characters of the line before the position

    def _read_on(self) -> None:
        ahead = self._held[self._position :]
        more = self._text.read(max(_CHUNK, len(ahead)))
        self._ended = not more
        self._held, self._position = ahead + more, 0

    def skip_space(self) -> str:
        """Goes to the next character that is none, and returns it; nothing at the end."""
        while True:
            found = _SPACE.match(self._held, self._position)
            end = found.end() if found else self._position
            if end < len(self._held) or self._ended:
                self.advance(end - self._position)
                return self._held[end : end + 1]
            # An end of line of two characters isn't cut: the second may be still to come.
            whole = 2 if self._held.endswith("\r\n") else 1
            self.advance(max(0, end - self._position - whole))
            self._read_on()

    def advance(self, count: int) -> None:
        passed = self._held[self._position : self._position + count]
        self._position += count
        ends = list(LINE_END.finditer(passed))
        self.line += len(ends)
        self._before = len(passed) - ends[-1].end() if ends else self._before + count

    def decode(self) -> Any:
        while True:
            try:
                value, end = _DECODER.raw_decode(self._held, self._position)
            except ValueError as error:
                if self._ended or isinstance(error, _RefusedValueError):
                    raise
                if len(self._held) - self._position > MAX_LINE:
                    raise ValueError(f"no item ends within {MAX_LINE:,} characters") from error
            else:
                if end < len(self._held) or self._ended:
                    self.advance(end - self._position)
                    return value
            self._read_on()

    def problem(self, error: Exception) -> Problem:
        if not isinstance(error, json.JSONDecodeError):
            return _problem(error, self.line)
        self.advance(error.pos - self._position)
        return Problem(f"isn't JSON at character {self._before + 1}: {error.msg}", self.line)


class _RefusedValueError(ValueError):
    """JSON that is whole and means nothing."""


def _object_row(value: object, line: int) -> Row | Problem:
    if isinstance(value, dict):
        return Row(line, value)
    kind = {list: "an array", str: "a text", bool: "true or false", type(None): "null"}.get(
        type(value), "a number"
    )
    return Problem(f"an object with named columns is needed, this is {kind}", line)


def _problem(error: Exception, line: int) -> Problem:
    if isinstance(error, RecursionError):
        return Problem("nested too deeply", line)
    if isinstance(error, json.JSONDecodeError):
        return Problem(f"isn't JSON at character {error.colno}: {error.msg}", line)
    return Problem(str(error), line)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _RefusedValueError(f"the key {twice!r} stands twice in one object")
    return found


def _refuse_constant(word: str) -> None:
    raise _RefusedValueError(f"{word} isn't JSON; use null or a number")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise _RefusedValueError(f"the number {digits[:40]} is too large")
    return number


_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique_keys, parse_constant=_refuse_constant, parse_float=_finite
)
