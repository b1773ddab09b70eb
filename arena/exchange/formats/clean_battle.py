"""FastChat's clean battles; the releases of 33,000 and of 100,000 conversations are such."""

from collections.abc import Mapping
from typing import Any

from arena.exchange.formats.cells import Cells
from arena.exchange.formats.conversations import described
from arena.exchange.formats.problems import SkippedError
from arena.exchange.formats.rows import ID, NAME, PSEUDONYM, VoteRow, outcome_of, rivals

NOT_BLIND = "in which the names were shown"


def fits(row: Mapping[str, Any]) -> bool:
    return {"model_a", "model_b", "winner", "anony"} <= row.keys()


def vote(line: int, cells: Cells) -> VoteRow:
    if cells.flag("anony") is False:
        raise SkippedError(NOT_BLIND)
    model_a, model_b = rivals(cells.required("model_a", NAME), cells.required("model_b", NAME))
    label = cells.label("winner", NAME)
    question, moment = cells.label("question_id", ID), cells.time("tstamp")
    return VoteRow(
        line=line,
        model_a=model_a,
        model_b=model_b,
        outcome=outcome_of(label, model_a, model_b),
        rater=cells.label("judge", PSEUDONYM),
        # One conversation may be voted on more than once; with the time it's one vote.
        vote_id=f"{question}@{moment.timestamp() if moment else 0:.4f}" if question else "",
        voted_at=moment,
        label=label,
        texts=described(cells),
    )
