"""MT-bench's judgments, by people and by a model, about the first or the second turn."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from arena.exchange.formats.cells import CellError, Cells
from arena.exchange.formats.conversations import both_sides
from arena.exchange.formats.rows import JUDGE, NAME, PERSON, Texts, VoteRow, outcome_of, rivals

_PERSON = re.compile(r"(expert|author)_\d+")


def fits(row: Mapping[str, Any]) -> bool:
    return {
        "question_id",
        "model_a",
        "model_b",
        "winner",
        "judge",
        "turn",
        "conversation_a",
    } <= row.keys() and "anony" not in row


def vote(line: int, cells: Cells) -> VoteRow:
    model_a, model_b = rivals(cells.required("model_a", NAME), cells.required("model_b", NAME))
    judge, label = judge_name(cells), cells.label("winner", NAME)
    source = PERSON if _PERSON.fullmatch(judge) else JUDGE
    question, turn = cells.required("question_id", 40), turn_number(cells)
    texts = both_sides(cells)
    return VoteRow(
        line=line,
        model_a=model_a,
        model_b=model_b,
        outcome=outcome_of(label, model_a, model_b, source),
        prompt_id=prompt_name(question, turn),
        rater=judge,
        label=label,
        source=source,
        texts=texts and _until(texts, turn),
    )


def judge_name(cells: Cells) -> str:
    """A name, or a list of a model and the template it was asked with."""
    value = cells.values.get("judge")
    parts = [part for part in value if part] if isinstance(value, list) else [value]
    if not parts or not all(isinstance(part, str) for part in parts):
        raise CellError("judge", "is no name")
    return Cells({"judge": " ".join(map(str, parts))}).required("judge", 120)


def turn_number(cells: Cells) -> int:
    turn = cells.number("turn", at_least=1)
    if turn is None:
        raise CellError("turn", "is empty; say which turn was judged")
    return turn


def prompt_name(question: str, turn: int) -> str:
    return question if turn == 1 else f"{question}, turn {turn}"


def _until(texts: Texts, turn: int) -> Texts:
    """Both turns stand in every row; a judgment about the first hasn't seen the second."""
    if len(texts.replies_a) < turn or len(texts.replies_b) < turn:
        raise CellError("turn", f"{turn} was judged, and the conversations have fewer")
    seen, users = [], 0
    for part in texts.prompt:
        users += part.role == "user"
        if users <= turn:
            seen.append(part)
    return replace(
        texts, prompt=tuple(seen), replies_a=texts.replies_a[:turn], replies_b=texts.replies_b[:turn]
    )
