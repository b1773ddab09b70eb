"""A line of an export's JSON Lines, whichever table it is of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from arena.exchange.formats.json_rows import one_value
from arena.exchange.formats.lines import unstorable

Row = dict[str, Any]


def row_of(line: str) -> Row:
    """Raises ValueError for what is no object, or holds a text that no database stores."""
    row = one_value(line)
    if not isinstance(row, dict):
        raise ValueError("the line holds no object")
    if "\\u0000" in line or "\\ud" in line.casefold():
        for text in _texts(row):
            if reason := unstorable(text):
                raise ValueError(f"a text {reason}")
    return row


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(key)
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
