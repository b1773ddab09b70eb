"""FastChat's raw log: votes among chats, blind and not, finished and not."""

import re
from collections.abc import Mapping
from typing import Any

from arena.exchange.formats.cells import MAX_TEXT, CellError, Cells, Turn, checked, shown
from arena.exchange.formats.clean_battle import NOT_BLIND
from arena.exchange.formats.conversations import WITH_IMAGES, compared
from arena.exchange.formats.identity import gives_itself_away
from arena.exchange.formats.problems import SkippedError
from arena.exchange.formats.rows import ID, NAME, VOTE_ID, Texts, VoteRow, rivals

_OUTCOMES = {"leftvote": "model_a", "rightvote": "model_b", "tievote": "tie", "bothbad_vote": "both_bad"}
_NO_VOTES = ("chat", "share", "upvote", "downvote", "flag")
_HIDDEN = re.compile(r"\s*|Model [AB]")
_ERRORS = ("**NETWORK ERROR", "$MODERATION$", "**API REQUEST ERROR")
_CURSOR = ("▌", '<span class="cursor">')


def fits(row: Mapping[str, Any]) -> bool:
    return {"tstamp", "type"} <= row.keys() and bool({"state", "states"} & row.keys())


def vote(line: int, cells: Cells) -> VoteRow:
    kind = cells.required("type", NAME)
    if kind in _NO_VOTES:
        raise SkippedError("that are no votes between two models")
    if kind not in _OUTCOMES:
        raise CellError("type", f"{shown(kind)} is unknown; use {', '.join((*_OUTCOMES, *_NO_VOTES))}")
    _check_blind(cells)
    left, right = _states(cells)
    model_a, model_b = rivals(left.required("model_name", NAME), right.required("model_name", NAME), "states")
    texts = compared(_turns(left), _turns(right), "states", "states")
    if texts is None:
        raise CellError("states", "hold no conversation")
    _check_replies(texts, (model_a, model_b))
    return VoteRow(
        line=line,
        model_a=model_a,
        model_b=model_b,
        outcome=_OUTCOMES[kind],
        vote_id=left.required("conv_id", VOTE_ID),
        voted_at=cells.time("tstamp"),
        label=kind,
        address=cells.label("ip", ID),
        texts=texts,
    )


def _check_blind(cells: Cells) -> None:
    names = cells.values.get("models")
    if not isinstance(names, list) or len(names) != 2 or not all(isinstance(name, str) for name in names):
        raise CellError("models", "aren't two names as shown to the voter")
    hidden = [bool(_HIDDEN.fullmatch(name)) for name in names]
    if all(hidden):
        return
    raise SkippedError("in which one name was shown" if any(hidden) else NOT_BLIND)


def _states(cells: Cells) -> tuple[Cells, Cells]:
    states = cells.values.get("states")
    if not isinstance(states, list) or len(states) != 2 or not all(isinstance(s, dict) for s in states):
        raise CellError("states", "aren't the states of two conversations")
    return Cells(states[0]), Cells(states[1])


def _turns(state: Cells) -> tuple[Turn, ...]:
    """What was said after the template's own examples, which come first and are counted by `offset`."""
    roles, messages = state.values.get("roles"), state.values.get("messages")
    if not isinstance(roles, list) or len(roles) != 2 or not isinstance(messages, list):
        raise CellError("states", "have no two roles or no messages")
    known = {str(roles[0]): "user", str(roles[1]): "assistant"}
    return tuple(_turn(message, known) for message in messages[state.number("offset") or 0 :])


def _turn(message: object, known: Mapping[str, str]) -> Turn:
    if not isinstance(message, list) or len(message) != 2 or str(message[0]) not in known:
        raise CellError("states", "have a message that isn't a role and a text")
    role, text = known[str(message[0])], message[1]
    if text is None:
        raise SkippedError("with a reply that never came")
    if isinstance(text, list):
        raise SkippedError(WITH_IMAGES)
    return Turn(role, checked("states", text, MAX_TEXT))


def _check_replies(texts: Texts, names: tuple[str, str]) -> None:
    for reply in (*texts.replies_a, *texts.replies_b):
        if reply.startswith(_ERRORS):
            raise SkippedError("with an error in place of a reply")
        if any(mark in reply for mark in _CURSOR):
            raise SkippedError("with a reply that was still being written")
        if gives_itself_away(reply, names):
            raise SkippedError("in which a reply says which model it is")
