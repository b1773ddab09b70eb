"""What a table of an export and its columns are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "count", "number", "flag", "time", "texts", "turns", "json"]


@dataclass(frozen=True)
class Column:
    name: str
    kind: Kind
    meaning: str


@dataclass(frozen=True)
class TableSchema:
    name: str
    meaning: str
    columns: tuple[Column, ...]


def table(name: str, meaning: str, *columns: tuple[str, Kind, str]) -> TableSchema:
    return TableSchema(name, meaning, tuple(Column(*column) for column in columns))


PROMPT: tuple[tuple[str, Kind, str], ...] = (
    ("prompt_set", "text", "name of its prompt set"),
    ("set_version", "count", "version of the prompt set"),
    ("prompt_id", "text", "id within the prompt set"),
)
PROMPT_TEXT: tuple[str, Kind, str] = (
    "prompt_text",
    "text",
    "the same for prompts of one text, which count as one question",
)
SIDES: tuple[tuple[str, Kind, str], ...] = (
    ("model_a", "text", "shown first"),
    ("model_b", "text", "shown second"),
)
