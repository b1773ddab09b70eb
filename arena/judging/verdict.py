"""Read a judge's reply. Pure, and total: every reply gives a Verdict or a typed failure, and it never raises.

The ladder: refusal, truncation, parts joined, reasoning taken out, then every JSON object in the text. The
last object that names a winner counts; an earlier valid one with another winner makes it a conflict. Nothing
that can't be read becomes a tie.
"""

from __future__ import annotations

import ast
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from arena.endpoints.replies import join_parts
from arena.judging.prompting import REASON_TO_FILL_IN, Criterion
from arena.judging.swap import Position

MAX_CHARACTERS = 1 << 20
_POSITIONS = ("first", "second", "tie")
_REFUSED = ("content_filter", "refusal", "safety")
_TRUNCATED = ("length", "max_tokens", "model_length")
_REASONING = r"think|thinking|thought|reasoning|seed:think"
_CLOSING = re.compile(rf"</(?:{_REASONING})>", re.IGNORECASE)
_OPENING = re.compile(rf"<(?:{_REASONING})>", re.IGNORECASE)
_START = re.compile(r'\{\s*"')
# A text with more starts of objects that come to nothing is no verdict, and each costs a pass over the text.
_MAX_UNFINISHED = 2_000
# A longer number is no score, and Python refuses to read one of thousands of digits.
_MAX_DIGITS = 18
_MAX_LITERAL_CHARACTERS = 20_000
_MAX_LITERAL_BRACKETS = 200

FailureKind = Literal["refused", "truncated", "parse_failed"]
Detail = Literal[
    "",
    "empty",
    "too_long",
    "tangled",
    "reasoning_only",
    "no_json",
    "no_winner",
    "no_scores",
    "off_menu",
    "bad_scores",
    "bad_reason",
    "echoed_form",
    "duplicate_key",
    "conflict",
]


@dataclass(frozen=True)
class Verdict:
    winner: Position
    scores_first: Mapping[str, int]
    scores_second: Mapping[str, int]
    reason: str


@dataclass(frozen=True)
class Score:
    """What a reply says about one response by itself."""

    scores: Mapping[str, int]
    reason: str


@dataclass(frozen=True)
class VerdictFailure:
    """`detail` says which rung of the ladder gave way; `message` is written for the judge's second try."""

    kind: FailureKind
    detail: Detail
    message: str


class _Object(dict[str, Any]):
    """A JSON object that remembers whether a key stood in it twice."""

    duplicated: bool = False


def read_verdict(
    content: object, finish_reason: str | None, refusal: str | None, criteria: Sequence[Criterion]
) -> Verdict | VerdictFailure:
    """`content` as the server sent it: text, a list of parts, or None."""
    objects = _read_objects(content, finish_reason, refusal)
    if isinstance(objects, VerdictFailure):
        return objects
    return _decide([found for found in objects if "winner" in found], criteria)


def read_score(
    content: object, finish_reason: str | None, refusal: str | None, criteria: Sequence[Criterion]
) -> Score | VerdictFailure:
    """The same ladder for a reply that scores one response: the last object with scores counts."""
    objects = _read_objects(content, finish_reason, refusal)
    if isinstance(objects, VerdictFailure):
        return objects
    results = [_validate_score(found, criteria) for found in objects if "scores" in found]
    if not results:
        return _failed("no_scores", "no JSON object in the reply holds scores")
    last = results[-1]
    if isinstance(last, Score) and any(isinstance(r, Score) and r.scores != last.scores for r in results):
        return _failed("conflict", "the reply holds different scores")
    return last


def _read_objects(
    content: object, finish_reason: str | None, refusal: str | None
) -> list[_Object] | VerdictFailure:
    stop = (finish_reason or "").strip().casefold()
    if (refusal or "").strip() or stop in _REFUSED:
        return VerdictFailure("refused", "", "the judge refused")
    if stop in _TRUNCATED:
        return VerdictFailure("truncated", "", "the reply was cut off at the token limit")
    text = join_parts(content).strip()
    if not text:
        return _failed("empty", "the reply holds no text")
    if len(text) > MAX_CHARACTERS:
        return _failed("too_long", f"the reply is longer than {MAX_CHARACTERS:,} characters")
    return _objects_of(text)


def _failed(detail: Detail, message: str) -> VerdictFailure:
    return VerdictFailure("parse_failed", detail, message)


def _objects_of(text: str) -> list[_Object] | VerdictFailure:
    try:
        spans = list(_json_objects(text))
    except _TangledError:
        return _failed("tangled", "the reply holds too many unfinished objects")
    begin = _end_of_reasoning(text, spans)
    objects = [found for found, start, _ in spans if start >= begin]
    opening = _OPENING.search(text, begin)
    if opening and not any(begin <= start < opening.start() for _, start, _ in spans):
        return _failed("reasoning_only", "the reply holds reasoning and no verdict")
    objects = objects or _python_objects(text[begin:])
    if not objects:
        return _failed("no_json", "the reply holds no JSON object")
    return objects


def _end_of_reasoning(text: str, spans: Sequence[tuple[_Object, int, int]]) -> int:
    """Where the last closing tag ends. A tag inside an object is quoted in a string and closes nothing."""
    for closing in reversed(list(_CLOSING.finditer(text))):
        if not any(start < closing.start() < end for _, start, end in spans):
            return closing.end()
    return 0


def _decide(attempts: Sequence[_Object], criteria: Sequence[Criterion]) -> Verdict | VerdictFailure:
    if not attempts:
        return _failed("no_winner", "no JSON object in the reply names a winner")
    results = [_validate(found, criteria) for found in attempts]
    last = results[-1]
    if isinstance(last, VerdictFailure):
        return last
    winners = {result.winner for result in results if isinstance(result, Verdict)}
    if len(winners) > 1:
        return _failed("conflict", "the reply holds verdicts with different winners")
    return last


class _TangledError(Exception):
    pass


def _json_objects(text: str) -> Iterator[tuple[_Object, int, int]]:
    """All outermost objects with their start and end.

    What stands inside an object counts for nothing, also when the object breaks off: the search goes on where
    the reading failed, never within what was read.
    """
    unfinished = 0
    opening = _START.search(text)
    while opening:
        start = opening.start()
        try:
            found, end = _DECODER.raw_decode(text, start)
            yield found, start, end
        except json.JSONDecodeError as error:
            end = max(error.pos, start + 1)
            unfinished += 1
        except RecursionError:
            raise _TangledError from None
        if unfinished > _MAX_UNFINISHED:
            raise _TangledError
        opening = _START.search(text, end)


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    found = _Object(pairs)
    found.duplicated = len(found) < len(pairs)
    return found


def _integer(digits: str) -> int | None:
    return int(digits) if len(digits) <= _MAX_DIGITS else None


# strict=False: judges put raw line breaks into strings.
_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer, strict=False)


def _python_objects(text: str) -> list[_Object]:
    """One object in Python's notation (single quotes), as some judges write it. Nothing is run."""
    start, end = text.find("{"), text.rfind("}") + 1
    source = text[start:end] if start >= 0 else ""
    if not source or len(source) > _MAX_LITERAL_CHARACTERS:
        return []
    if sum(source.count(bracket) for bracket in "([{") > _MAX_LITERAL_BRACKETS:
        return []
    try:
        tree = ast.parse(source, mode="eval")
        found = _from_literal(tree.body)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return []
    return [found] if isinstance(found, _Object) else []


def _from_literal(node: ast.expr) -> object:
    if isinstance(node, ast.Dict):
        return _object(
            [(_literal_key(k), _from_literal(v)) for k, v in zip(node.keys, node.values, strict=True)]
        )
    return ast.literal_eval(node)


def _literal_key(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise ValueError("a key that is no string")


def _validate(found: _Object, criteria: Sequence[Criterion]) -> Verdict | VerdictFailure:
    scores = found.get("scores")
    parts = [found, scores]
    if isinstance(scores, dict):
        parts += [scores.get("first"), scores.get("second")]
    if any(isinstance(part, _Object) and part.duplicated for part in parts):
        return _failed("duplicate_key", "a key stands twice in the JSON object")
    winner = _winner(found.get("winner"))
    if winner is None:
        return _failed("off_menu", "the winner must be first, second or tie")
    reason = _reason(found.get("reason"))
    if isinstance(reason, VerdictFailure):
        return reason
    if not isinstance(scores, dict):
        return _failed("bad_scores", "the scores of both responses are missing")
    first, second = _scores(scores.get("first"), criteria), _scores(scores.get("second"), criteria)
    if first is None or second is None:
        return _failed(
            "bad_scores", "every criterion needs a whole number within its scale, for both responses"
        )
    return Verdict(winner, first, second, reason)


def _validate_score(found: _Object, criteria: Sequence[Criterion]) -> Score | VerdictFailure:
    scores = found.get("scores")
    if any(isinstance(part, _Object) and part.duplicated for part in (found, scores)):
        return _failed("duplicate_key", "a key stands twice in the JSON object")
    reason = _reason(found.get("reason"))
    if isinstance(reason, VerdictFailure):
        return reason
    read = _scores(scores, criteria)
    if read is None:
        return _failed("bad_scores", "every criterion needs a whole number within its scale")
    return Score(read, reason)


def _reason(value: object) -> str | VerdictFailure:
    if not isinstance(value, str):
        return _failed("bad_reason", "the reason must be given as text")
    if value.strip() == REASON_TO_FILL_IN:
        return _failed("echoed_form", "the form was copied, not filled in: give a reason of your own")
    return join_parts(value)


def _winner(value: object) -> Position | None:
    if not isinstance(value, str):
        return None
    seen = "".join(character for character in value if unicodedata.category(character) != "Cf")
    seen = seen.strip().casefold()
    return cast(Position, seen) if seen in _POSITIONS else None


def _scores(value: object, criteria: Sequence[Criterion]) -> dict[str, int] | None:
    if not isinstance(value, dict):
        return None
    scores: dict[str, int] = {}
    for criterion in criteria:
        score = value.get(criterion.name)
        if isinstance(score, bool) or not isinstance(score, int):
            return None
        if not criterion.low <= score <= criterion.high:
            return None
        scores[criterion.name] = score
    return scores
