"""compar:IA's votes: the chosen model by name, or both equal; nothing stands for both bad."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from arena.corpus.names import name_key
from arena.exchange.formats.cells import Cells, Turn
from arena.exchange.formats.conversations import both_sides
from arena.exchange.formats.problems import SkippedError
from arena.exchange.formats.rows import NAME, PSEUDONYM, VOTE_ID, Texts, VoteRow, rivals


def fits(row: Mapping[str, Any]) -> bool:
    return {"model_a_name", "model_b_name", "chosen_model_name", "both_equal"} <= row.keys()


def vote(line: int, cells: Cells) -> VoteRow:
    model_a, model_b = rivals(
        cells.required("model_a_name", NAME), cells.required("model_b_name", NAME), "model_b_name"
    )
    chosen = cells.label("chosen_model_name", NAME)
    return VoteRow(
        line=line,
        model_a=model_a,
        model_b=model_b,
        outcome=_outcome(cells, chosen, model_a, model_b),
        rater=cells.label("visitor_id", PSEUDONYM) or cells.label("session_hash", PSEUDONYM),
        vote_id=cells.required("id", VOTE_ID),
        voted_at=cells.time("timestamp"),
        label=chosen or "both_equal",
        texts=_texts(cells),
    )


def _outcome(cells: Cells, chosen: str, model_a: str, model_b: str) -> str:
    if cells.flag("both_equal"):
        if chosen:
            raise SkippedError("that are both equal and won by one model")
        return "tie"
    if not chosen:
        raise SkippedError("that name neither a winner nor both equal")
    sides = {name_key(model_a): "model_a", name_key(model_b): "model_b"}
    if name_key(chosen) not in sides:
        raise SkippedError("won by a model that is neither of the two")
    return sides[name_key(chosen)]


def _texts(cells: Cells) -> Texts | None:
    texts = both_sides(cells)
    system = cells.text("system_prompt_a")
    if texts is None or system == cells.text("system_prompt_b") == "":
        return texts
    if system != cells.text("system_prompt_b"):
        raise SkippedError("in which the two models had different system prompts")
    if texts.prompt[0].role == "system":
        return texts
    return replace(texts, prompt=(Turn("system", system), *texts.prompt))
