"""Rows of our own columns to checked prompts, responses and votes, or to what is wrong with them."""

from collections.abc import Callable

from arena.exchange.formats.cells import CellError, Cells, Turn
from arena.exchange.formats.columns import CRITERIA
from arena.exchange.formats.problems import SkippedError
from arena.exchange.formats.rows import (
    ID,
    JUDGE,
    NAME,
    PERSON,
    PSEUDONYM,
    SHORT,
    SIMULATED,
    VOTE_ID,
    AnyRow,
    PromptRow,
    ResponseRow,
    VoteRow,
    content_id,
    outcome_of,
    rivals,
)

FLIPS = ("", "none", "soft", "hard")
UNRATED = ("gold", "repeat")


def _prompt(line: int, cells: Cells) -> PromptRow:
    text, turns = cells.text("prompt"), cells.turns("messages")
    if turns and text.strip():
        raise CellError("messages", "there is a prompt as well; give one of the two")
    if not turns and not text.strip():
        raise CellError("prompt", "is empty")
    turns = turns or (Turn("user", text),)
    return PromptRow(
        line=line,
        id=cells.required("id", ID) if "id" in cells.values else content_id(turns),
        turns=turns,
        category=cells.label("category", SHORT),
        language=cells.label("language", 40),
        tags=cells.tags("tags"),
        reference=cells.text("reference"),
        hard=cells.flag("hard"),
        criteria=tuple(cells.flag(name) for name in CRITERIA),
    )


def _response(line: int, cells: Cells) -> ResponseRow:
    sample = cells.number("sample", at_least=1)
    prompt, prompt_id = cells.text("prompt"), cells.label("prompt_id", ID)
    if not prompt_id and not prompt.strip():
        raise CellError("prompt_id", "is empty")
    return ResponseRow(
        line=line,
        prompt_id=prompt_id,
        prompt="" if prompt_id else prompt,
        model=cells.required("model", NAME),
        text=cells.text("response"),
        sample=1 if sample is None else sample,
        tokens=cells.number("tokens"),
        org=cells.label("org", NAME),
    )


def _vote(line: int, cells: Cells) -> VoteRow:
    model_a, model_b = rivals(cells.required("model_a", NAME), cells.required("model_b", NAME))
    if cells.time("retracted_at"):
        raise SkippedError("that were taken back by their raters")
    if cells.label("kind", NAME) in UNRATED:
        raise SkippedError("about gold battles and repeats, which are never rated")
    if cells.label("excluded", NAME):
        raise SkippedError("that were left out of the boards where they come from")
    told = cells.one_of("source", ("", PERSON, JUDGE, SIMULATED))
    source = JUDGE if told == JUDGE else PERSON
    label = cells.label("winner", NAME)
    return VoteRow(
        line=line,
        model_a=model_a,
        model_b=model_b,
        outcome=outcome_of(label, model_a, model_b, source),
        prompt_id=cells.label("prompt_id", ID),
        rater=cells.label("rater", PSEUDONYM),
        vote_id=cells.label("vote_id", VOTE_ID),
        dwell_ms=cells.number("dwell_ms"),
        voted_at=cells.time("voted_at"),
        label=label,
        source=source,
        is_source_told=bool(told),
        is_simulated=told == SIMULATED,
        flip=cells.one_of("flip", FLIPS),
    )


PARSERS: dict[str, Callable[[int, Cells], AnyRow]] = {
    "prompts": _prompt,
    "responses": _response,
    "votes": _vote,
}
