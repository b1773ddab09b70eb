"""FastChat's pair judgments: one model's verdicts in both orders, already turned back into models."""

from collections.abc import Mapping
from typing import Any

from arena.exchange.formats.cells import CellError, Cells, shown
from arena.exchange.formats.mt_bench import judge_name, prompt_name, turn_number
from arena.exchange.formats.rows import JUDGE, NAME, VoteRow, rivals
from arena.judging.swap import resolve

_AB = {"model_1": "first", "model_2": "second", "tie": "tie", "error": None}
_BA = {"model_1": "second", "model_2": "first", "tie": "tie", "error": None}


def fits(row: Mapping[str, Any]) -> bool:
    return {"model_1", "model_2", "g1_winner", "g2_winner"} <= row.keys()


def vote(line: int, cells: Cells) -> VoteRow:
    model_a, model_b = rivals(cells.required("model_1", NAME), cells.required("model_2", NAME), "model_2")
    first, second = cells.label("g1_winner", NAME), cells.label("g2_winner", NAME)
    for column, winner in (("g1_winner", first), ("g2_winner", second)):
        if winner not in _AB:
            raise CellError(column, f"{shown(winner)} is unknown; use {', '.join(_AB)}")
    found = resolve(_AB[first], _BA[second])
    return VoteRow(
        line=line,
        model_a=model_a,
        model_b=model_b,
        outcome=found.outcome,
        prompt_id=prompt_name(cells.required("question_id", 40), turn_number(cells)),
        rater=judge_name(cells),
        voted_at=cells.time("tstamp"),
        label=f"{first} / {second}",
        source=JUDGE,
        flip=found.flip,
    )
