"""One cell to one value. What isn't understood is an error with the column's name, never a default."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from arena.exchange.formats.lines import unstorable

MAX_TEXT = 2 * 1024 * 1024  # characters of one prompt or response
_TRUE = frozenset(("1", "true", "yes"))
_FALSE = frozenset(("0", "false", "no"))
_ROLES = ("system", "user", "assistant")
_LATEST = 4_102_444_800  # 2100-01-01; a larger time stamp is in milliseconds


class CellError(Exception):
    def __init__(self, column: str, reason: str) -> None:
        super().__init__(reason)
        self.column = column
        self.reason = reason


@dataclass(frozen=True)
class Turn:
    role: str
    content: str


@dataclass(frozen=True)
class Cells:
    """The cells of one row by canonical column."""

    values: Mapping[str, Any]

    def text(self, column: str) -> str:
        """As typed, blanks included; empty when there is none."""
        value = self.values.get(column)
        if value is None:
            return ""
        return checked(column, value, MAX_TEXT)

    def label(self, column: str, limit: int) -> str:
        """A name or id: text without the blanks around it. A whole number counts as its digits."""
        value = self.values.get(column)
        if value is None:
            return ""
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        return checked(column, value, limit).strip()

    def required(self, column: str, limit: int) -> str:
        label = self.label(column, limit)
        if not label:
            raise CellError(column, "is empty")
        return label

    def one_of(self, column: str, words: tuple[str, ...]) -> str:
        word = self.label(column, 120)
        if word not in words:
            raise CellError(column, f"{shown(word)} is unknown; use {', '.join(filter(None, words))}")
        return word

    def flag(self, column: str) -> bool | None:
        value = self.values.get(column)
        if value is None or isinstance(value, bool):
            return value
        word = str(value).strip().casefold()
        if word in _TRUE:
            return True
        if word in _FALSE:
            return False
        if not word:
            return None
        raise CellError(column, f"{shown(value)} is neither yes nor no; use 1 or 0, or leave it empty")

    def number(self, column: str, *, at_least: int = 0) -> int | None:
        value = self.values.get(column)
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        word = str(value).strip()
        if isinstance(value, bool) or not re.fullmatch(r"\d{1,9}(\.0+)?", word, re.ASCII):
            raise CellError(column, f"{shown(value)} isn't a whole number from {at_least} up")
        number = int(word.partition(".")[0])
        if number < at_least:
            raise CellError(column, f"{shown(value)} isn't a whole number from {at_least} up")
        return number

    def time(self, column: str) -> datetime | None:
        """Unix seconds or ISO 8601 (without a zone: UTC). Nothing and 0 are unknown."""
        value = self.values.get(column)
        if isinstance(value, datetime):  # Parquet has times of its own
            return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        if value is None or isinstance(value, bool | list | dict):
            if value is None:
                return None
            raise CellError(column, f"{shown(value)} isn't a time")
        word = str(value).strip()
        if not word:
            return None
        try:
            seconds = float(word)
        except ValueError:
            return _iso_time(column, word)
        if not math.isfinite(seconds) or not 0 <= seconds < _LATEST:
            raise CellError(column, f"{shown(value)} isn't a time in seconds since 1970")
        return datetime.fromtimestamp(seconds, UTC) if seconds else None

    def tags(self, column: str) -> tuple[str, ...]:
        value = self.values.get(column)
        if value is None:
            return ()
        parts = re.split(r"[,;]", value) if isinstance(value, str) else value
        if not isinstance(parts, list):
            raise CellError(column, f"{shown(value)} isn't a list of tags")
        return tuple(tag for tag in (checked(column, part, 120).strip() for part in parts) if tag)

    def turns(self, column: str) -> tuple[Turn, ...]:
        """A conversation: a list of role and content, in CSV as JSON text. It ends with the user's turn."""
        value = self.values.get(column)
        if value is None or (isinstance(value, str) and not value.strip()):
            return ()
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                raise CellError(column, "isn't JSON") from None
        if not isinstance(value, list) or not value:
            raise CellError(column, "isn't a list of turns")
        turns = tuple(_turn(column, number, turn) for number, turn in enumerate(value, start=1))
        if turns[-1].role != "user":
            raise CellError(column, f"ends with {turns[-1].role}; the last turn must be the user's")
        return turns


def _turn(column: str, number: int, turn: object) -> Turn:
    if not isinstance(turn, dict):
        raise CellError(column, f"turn {number} isn't an object with role and content")
    if turn.get("role") not in _ROLES:
        raise CellError(
            column, f"turn {number} has the role {shown(turn.get('role'))}; use {', '.join(_ROLES)}"
        )
    content = turn.get("content")
    if isinstance(content, list):
        content = "\n\n".join(_block(column, number, block) for block in content)
    text = checked(column, content, MAX_TEXT)
    if not text.strip():
        raise CellError(column, f"turn {number} is empty")
    return Turn(turn["role"], text)


def _block(column: str, number: int, block: object) -> str:
    if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str):
        return str(block["text"])
    raise CellError(column, f"turn {number} holds something other than text")


def checked(column: str, value: object, limit: int) -> str:
    if not isinstance(value, str):
        raise CellError(column, f"text is needed, this is {shown(value)}")
    if len(value) > limit:
        raise CellError(column, f"is {len(value):,} characters long; {limit:,} are allowed")
    if reason := unstorable(value):
        raise CellError(column, reason)
    return value


def _iso_time(column: str, word: str) -> datetime:
    try:
        moment = datetime.fromisoformat(word)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise CellError(column, f"{shown(word)} isn't a time; use ISO 8601 or seconds since 1970") from None


def shown(value: object) -> str:
    words = json.dumps(value, ensure_ascii=False, default=str)
    return words if len(words) <= 60 else words[:57] + "…"
