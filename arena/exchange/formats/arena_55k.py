"""arena-human-preference-55k: turns as JSON inside cells, the winner as one of three flags."""

import json
from collections.abc import Mapping
from typing import Any

from arena.counted import counted
from arena.exchange.formats.cells import MAX_TEXT, CellError, Cells, Turn, checked
from arena.exchange.formats.rows import NAME, VOTE_ID, Texts, VoteRow, rivals

# What the file calls a tie holds both kinds: it doesn't tell them apart.
_FLAGS = {"winner_model_a": "model_a", "winner_model_b": "model_b", "winner_tie": "tie"}


def fits(row: Mapping[str, Any]) -> bool:
    return {"model_a", "model_b", *_FLAGS} <= row.keys()


def vote(line: int, cells: Cells) -> VoteRow:
    model_a, model_b = rivals(cells.required("model_a", NAME), cells.required("model_b", NAME))
    raised = [name for name in _FLAGS if cells.flag(name)]
    if len(raised) != 1:
        raise CellError("winner_model_a", f"{len(raised)} of {', '.join(_FLAGS)} are 1; exactly one must be")
    return VoteRow(
        line=line,
        model_a=model_a,
        model_b=model_b,
        outcome=_FLAGS[raised[0]],
        vote_id=cells.required("id", VOTE_ID),
        label=raised[0],
        texts=_texts(cells),
    )


def _texts(cells: Cells) -> Texts:
    asked, a, b = (_items(cells, name) for name in ("prompt", "response_a", "response_b"))
    if not any(text.strip() for text in asked):
        raise CellError("prompt", "holds no text")
    for column, replies in (("response_a", a), ("response_b", b)):
        if len(replies) != len(asked):
            raise CellError(column, f"has {counted(len(replies), 'turn')} where prompt has {len(asked)}")
    return Texts(tuple(Turn("user", text) for text in asked), a, b)


def _items(cells: Cells, column: str) -> tuple[str, ...]:
    """One text for each turn; null, a reply that never came, is empty."""
    value = cells.values.get(column)
    try:
        items = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        raise CellError(column, "isn't a JSON list of texts") from None
    if not isinstance(items, list) or not items:
        raise CellError(column, "isn't a JSON list of texts")
    return tuple(checked(column, "" if item is None else item, MAX_TEXT) for item in items)
