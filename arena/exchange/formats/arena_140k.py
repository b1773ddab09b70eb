"""arena-human-preference-140k: content in blocks, languages as ISO codes, sessions and no raters."""

from collections.abc import Mapping
from typing import Any

from arena.exchange.formats.cells import Cells
from arena.exchange.formats.conversations import described
from arena.exchange.formats.rows import NAME, PSEUDONYM, VOTE_ID, VoteRow, outcome_of, rivals


def fits(row: Mapping[str, Any]) -> bool:
    return {"model_a", "model_b", "winner", "conversation_a", "evaluation_order"} <= row.keys()


def vote(line: int, cells: Cells) -> VoteRow:
    """A session is the nearest to a rater that the file has, so the votes of one are clustered."""
    model_a, model_b = rivals(cells.required("model_a", NAME), cells.required("model_b", NAME))
    label = cells.label("winner", NAME)
    return VoteRow(
        line=line,
        model_a=model_a,
        model_b=model_b,
        outcome=outcome_of(label, model_a, model_b),
        rater=cells.label("evaluation_session_id", PSEUDONYM),
        vote_id=cells.required("id", VOTE_ID),
        voted_at=cells.time("timestamp"),
        label=label,
        texts=described(cells),
    )
