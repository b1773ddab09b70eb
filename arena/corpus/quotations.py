"""Where a text is said again by others, and how it is taken out there. Finding it is pure.

Every column that may quote a prompt or a response is in PLACES, and a test looks for texts in all the others.
Rooms above can't be imported; the ORM knows the way to their rows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db import models

REDACTED = "[redacted]"
# So many characters in a row that also stand in the text are a quotation of it; server messages and columns
# with a limit cut texts short. A shorter text is one where it stands whole; below the least it may be any
# word.
QUOTED, LEAST = 30, 8
_GRAM, _STEP = 20, 10
_LETTERS = 12  # in a quotation; lines of dashes and spaces are nobody's

_BATTLE = {
    "prompt": ("battle__prompt",),
    "response": ("battle__response_a", "battle__response_b"),
}


@dataclass(frozen=True)
class Place:
    """Columns of a model, and the ways from its rows to the prompt, to the response, to the team."""

    model: str
    columns: tuple[str, ...]
    prompt: tuple[str, ...] = ()
    response: tuple[str, ...] = ()
    team: str = ""

    def rows(self) -> models.Manager[Any]:
        return apps.get_model("arena", self.model)._base_manager


def _of_battle(model: str, *columns: str, by: str = "") -> Place:
    prompt, response = (tuple(f"{by}{way}" for way in _BATTLE[about]) for about in ("prompt", "response"))
    return Place(model, columns, prompt, response)


CALLS = Place(
    "CallAttempt",
    ("request", "raw_reply", "reply_text", "error_text"),
    prompt=(
        "call__judge_call__judgment__battle__prompt",
        "call__probe__response__prompt",
        "call__label_call__prompt",
        "call__generation_call__prompt",
    ),
    response=(
        "call__judge_call__judgment__battle__response_a",
        "call__judge_call__judgment__battle__response_b",
        "call__probe__response",
        "call__generation_call__response",
    ),
)
PLACES = (
    CALLS,
    _of_battle("JudgeCall", "reason", by="judgment__"),
    Place("Probe", ("reason",), prompt=("response__prompt",), response=("response",)),
    _of_battle("BattleNote", "text"),
    _of_battle("Reading", "comment"),
    _of_battle("Origin", "turns"),
    # A server that refuses a request may repeat it.
    Place("Endpoint", ("rest_reason",), team="team"),
    Place("JudgeRun", ("status_reason",), team="campaign__team"),
    Place("GenerationRun", ("status_reason",), team="prompt_set__team"),
    Place("LabelRun", ("status_reason",), team="prompt_set__team"),
    # What is wrong with a row is told with the words of the row.
    Place("Import", ("errors", "notices"), team="team"),
)


def keys_about(place: Place, about: str, pk: int, team: int) -> list[int]:
    """Of the rows that may quote this prompt or response, or this team's texts."""
    rows = place.rows()
    wanted = dict.fromkeys(getattr(place, about), pk) or ({place.team: team} if place.team else {})
    found = {
        row
        for way, value in wanted.items()
        for row in rows.filter(**{way: value}).values_list("pk", flat=True)
    }
    return sorted(found)


def blank(row: models.Model, columns: Iterable[str], secrets: Iterable[str]) -> list[str]:
    """Take quotations out of these columns; which of them changed."""
    changed = []
    for name in columns:
        before = getattr(row, name)
        after = in_texts(before, lambda text: without(text, secrets))
        if after != before:
            setattr(row, name, after)
            changed.append(name)
    return changed


def in_texts(value: Any, change: Callable[[str], str]) -> Any:
    """A text, or JSON with each of its texts, changed; keys stay."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [in_texts(inner, change) for inner in value]
    if isinstance(value, dict):
        return {key: in_texts(inner, change) for key, inner in value.items()}
    return value


def without(text: str, secrets: Iterable[str]) -> str:
    """The text with [redacted] where it quotes one of these, as they are or written in JSON.

    What was JSON stays JSON, so that a judge's recorded reply can be read again.
    """
    forms = {form for secret in secrets for form in _forms(secret)}
    spans = sorted(span for form in forms for span in _quotations(text, form))
    taken = _cut(text, sorted(_whole_escapes(text, spans)))
    if taken != text and _is_json(text) and not _is_json(taken):
        return REDACTED
    return taken


def _forms(secret: str) -> set[str]:
    """As it stands, as a text in JSON, and as a text in JSON within JSON."""
    forms = {secret.strip()}
    for _ in range(2):
        forms |= {json.dumps(form, ensure_ascii=plain)[1:-1] for form in forms for plain in (True, False)}
    return {form for form in forms if len(form) >= LEAST}


def _quotations(text: str, secret: str) -> Iterator[tuple[int, int]]:
    if len(secret) < QUOTED:
        for found in re.finditer(rf"(?<!\w){re.escape(secret)}(?!\w)", text):
            yield found.span()
        return
    # Any run as long as a quotation holds one of these pieces whole.
    pieces = {secret[at : at + _GRAM]: at for at in range(len(secret) - _GRAM, -1, -_STEP)}
    at = done = 0
    while at <= len(text) - _GRAM:
        place = pieces.get(text[at : at + _GRAM])
        if place is None:
            at += 1
            continue
        start, end = at, at + _GRAM
        while start > done and place > 0 and text[start - 1] == secret[place - 1]:
            start, place = start - 1, place - 1
        offset = place - start
        while end < len(text) and offset + end < len(secret) and text[end] == secret[offset + end]:
            end += 1
        if end - start >= QUOTED and sum(map(str.isalnum, text[start:end])) >= _LETTERS:
            yield start, end
        at = done = end


def _whole_escapes(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Half of an escape would be left behind otherwise, and the JSON around it broken."""
    if not spans or "\\" not in text:
        return spans
    escapes = [_escape(text, found) for found in re.finditer(r"\\+", text)]
    grown = []
    for start, end in spans:
        for left, right in escapes:
            start = left if left < start < right else start
            end = right if left < end < right else end
        grown.append((start, end))
    return grown


def _escape(text: str, backslashes: re.Match[str]) -> tuple[int, int]:
    start, end = backslashes.span()
    if text[end : end + 1] == '"' and (end - start) % 2 == 0:  # that quote ends the text
        return start, end
    return start, end + (5 if re.match("u[0-9a-fA-F]{4}", text[end : end + 5]) else 1)


def _cut(text: str, spans: list[tuple[int, int]]) -> str:
    """Those that touch are one."""
    kept: list[str] = []
    done = 0
    for start, end in spans:
        if start > done or not kept:
            kept += [text[done:start], REDACTED]
        done = max(done, end)
    return "".join([*kept, text[done:]])


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
