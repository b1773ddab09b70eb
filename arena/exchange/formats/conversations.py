"""Conversations as arenas publish them: turns whose content is a text or a list of blocks."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from arena.exchange.formats.cells import MAX_TEXT, CellError, Cells, Turn, checked, shown
from arena.exchange.formats.columns import CRITERIA
from arena.exchange.formats.problems import SkippedError
from arena.exchange.formats.rows import Texts

ROLES = ("system", "user", "assistant")
WITH_IMAGES = "about images, which can't be shown"


def conversation(cells: Cells, column: str) -> tuple[Turn, ...]:
    """The turns of one side; empty when the file has none. A null content is an empty text."""
    value = cells.values.get(column)
    if isinstance(value, str) and value.strip():
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise CellError(column, "isn't JSON") from None
    if not value:
        return ()
    if not isinstance(value, list):
        raise CellError(column, f"isn't a list of turns: {shown(value)}")
    return tuple(_turn(column, number, turn) for number, turn in enumerate(value, start=1))


def _turn(column: str, number: int, turn: object) -> Turn:
    if not isinstance(turn, dict) or turn.get("role") not in ROLES:
        raise CellError(column, f"turn {number} has no role among {', '.join(ROLES)}")
    content = turn.get("content")
    if isinstance(content, list):
        content = "\n\n".join(_block(column, number, block) for block in content)
    return Turn(turn["role"], checked(column, "" if content is None else content, MAX_TEXT))


def _block(column: str, number: int, block: object) -> str:
    if not isinstance(block, dict):
        raise CellError(column, f"turn {number} has a block that is no object")
    if block.get("type") == "image" or block.get("image"):
        raise SkippedError(WITH_IMAGES)
    if block.get("type") != "text" or not isinstance(block.get("text"), str):
        raise CellError(column, f"turn {number} has a block of the type {shown(block.get('type'))}")
    return str(block["text"])


def both_sides(cells: Cells, a: str = "conversation_a", b: str = "conversation_b") -> Texts | None:
    return compared(conversation(cells, a), conversation(cells, b), a, b)


def compared(turns_a: tuple[Turn, ...], turns_b: tuple[Turn, ...], a: str, b: str) -> Texts | None:
    """What was asked and what each side replied. One side alone is an error."""
    if not turns_a and not turns_b:
        return None
    for column, turns in ((a, turns_a), (b, turns_b)):
        if not any(turn.role == "assistant" for turn in turns):
            raise CellError(column, "holds no reply, while a battle has two sides")
        if not any(turn.role == "user" and turn.content.strip() for turn in turns):
            raise CellError(column, "holds no prompt")
    asked, asked_b = (
        tuple(turn for turn in turns if turn.role != "assistant") for turns in (turns_a, turns_b)
    )
    if asked != asked_b:
        raise SkippedError("in which the two models were asked different things")
    return Texts(asked, _replies(turns_a), _replies(turns_b))


def _replies(turns: tuple[Turn, ...]) -> tuple[str, ...]:
    return tuple(turn.content for turn in turns if turn.role == "assistant")


def described(cells: Cells) -> Texts | None:
    """Both conversations with the language, criteria, lengths and counts that the file gives."""
    texts = both_sides(cells)
    return texts and replace(
        texts,
        language=_language(cells),
        criteria=_criteria(cells),
        tokens_a=_given_tokens(cells, "a"),
        tokens_b=_given_tokens(cells, "b"),
        style_a=_given_style(cells, "a"),
        style_b=_given_style(cells, "b"),
    )


def _language(cells: Cells) -> str:
    """A name or an ISO code, as the file has it."""
    word = cells.label("language", 40)
    return "" if word.casefold() == "unknown" else word


def _criteria(cells: Cells) -> tuple[bool | None, ...]:
    tags = _mapping(_mapping(cells.values.get("category_tag")).get("criteria_v0.1"))
    return tuple(Cells(tags).flag(name) for name in CRITERIA)


def _given_style(cells: Cells, side: str) -> tuple[int, int, int] | None:
    """Headings, list items and bold runs of a side as the file counts them."""
    metadata = _mapping(cells.values.get("conv_metadata"))
    counts = [_mapping(metadata.get(f"{name}_count_{side}")) for name in ("header", "list", "bold")]
    if not all(counts):
        return None
    headings, items, bold = (sum(Cells(count).number(name) or 0 for name in count) for count in counts)
    return headings, items, bold


def _given_tokens(cells: Cells, side: str) -> int | None:
    return Cells(_mapping(cells.values.get("conv_metadata"))).number(f"sum_assistant_{side}_tokens")


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
