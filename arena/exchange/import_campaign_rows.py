"""One row of an export: it has the columns of its table, each holds what an export writes there, and no more.

CellError names the column. Whether what a row refers to is there is seen when the row is made.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterator
from datetime import UTC
from functools import cache
from typing import Any
from uuid import UUID

from django.core.exceptions import FieldDoesNotExist
from django.db.models import Model
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from arena.battles.gold_models import Gold
from arena.battles.models import Battle, BattleNote
from arena.corpus.label_models import LabelChange
from arena.corpus.labels import LABELS
from arena.corpus.models import HARD_CRITERIA, Competitor, PromptSet, Response
from arena.exchange.export_columns import Column
from arena.exchange.export_schema import TABLES
from arena.exchange.formats.cells import CellError, shown
from arena.judging.calibration_models import CalibrationLabel
from arena.judging.models import JudgeRun, Judgment, Rubric
from arena.raters.models import Rater

Row = dict[str, Any]
Check = Callable[[Any], str | None]  # what is wrong with a value
_LARGEST = 2**63  # and beyond no database counts

# Columns that may be null, besides those of `_PROMPT`.
_EMPTY = {
    "prompt_sets": {"published_at"},
    "prompts": {"hard", *HARD_CRITERIA, "tombstone"},
    "responses": {"tokens", "latency_ms", "cost_usd", "tombstone"},
    "golds": {"retired_at"},
    "battles": {
        "sample_a", "sample_b", "rater", "propensity", "replaces", "repeat_of", "gold", "expires_at",
        "format", "label", "turns",
    },
    "votes": {"dwell_ms", "guide_version", "retracted_at"},
    "exclusions": {"vote_id", "rater", "revoked_at"},
    "judges": {
        "model", "asked_model", "rubric", "rubric_name", "rubric_version", "rubric_sha256", "mode",
        "instructions", "criteria",
    },
    "judge_runs": {"budget_usd", "max_calls", "started_at", "finished_at"},
    "judgments": {"voted_at"},
    "analysis_plans": {"raters", "votes", "hard_at_least", "frozen_at", "reckoned"},
}  # fmt: skip
_PROMPT = {"prompt_set", "set_version", "prompt_id", "prompt_text"}  # all or none, where none is known
_OF_NO_PROMPT = {"battles", "votes", "judgments"}
# Columns that exports of earlier versions don't have.
_LATER = {
    "votes": {"prompt_text"},
    "judgments": {"prompt_text"},
    "judges": {"model"},
    "models": {"renames"},
    "analysis_plans": {"hard_at_least", "reckoned", "pairs"},
}
# Whose columns name what they choose from.
_MODELS: dict[str, type[Model]] = {
    "prompt_sets": PromptSet,
    "label_changes": LabelChange,
    "models": Competitor,
    "responses": Response,
    "raters": Rater,
    "golds": Gold,
    "battles": Battle,
    "votes": Battle,
    "notes": BattleNote,
    "judges": Rubric,
    "judge_runs": JudgeRun,
    "judgments": Judgment,
    "calibration_labels": CalibrationLabel,
}


def look_at_row(table: str, row: Row) -> None:
    checks = _checks(table)
    for name in row:
        if name not in checks:
            raise CellError(str(name)[:80], "this version knows no such column; take it out")
    for name, (check, may_be_empty, is_later) in checks.items():
        if name not in row:
            if is_later:
                continue
            raise CellError(name, "is missing; get the export again")
        value = row[name]
        if value is None:
            if not may_be_empty:
                raise CellError(name, "is null; an export has a value there")
        elif wrong := check(value):
            raise CellError(name, wrong)
    if whole := _WHOLE.get(table):
        whole(row)


@cache
def _checks(table: str) -> dict[str, tuple[Check, bool, bool]]:
    (schema,) = (one for one in TABLES if one.name == table)
    empty = _EMPTY.get(table, set()) | (_PROMPT if table in _OF_NO_PROMPT else set())
    later = _LATER.get(table, set())
    return {
        column.name: (_check(table, column), column.name in empty, column.name in later)
        for column in schema.columns
    }


def _check(table: str, column: Column) -> Check:
    if special := _SPECIAL.get((table, column.name)):
        return special
    chosen = _choices(table, column.name) if column.kind == "text" else None
    return _one_of(chosen) if chosen else _KINDS[column.kind]


def _choices(table: str, name: str) -> tuple[str, ...] | None:
    try:
        field: Any = _MODELS[table]._meta.get_field(name)
    except (KeyError, FieldDoesNotExist):
        return None
    if not getattr(field, "choices", None):
        return None
    return (*(str(value) for value, _label in field.choices), *([""] if field.blank else []))


def _one_of(words: tuple[str, ...]) -> Check:
    known = frozenset(words)
    told = ", ".join(filter(None, words))

    def check(value: Any) -> str | None:
        if isinstance(value, str) and value in known:
            return None
        return f"{shown(value)} is unknown; known are {told}"

    return check


def _text(value: Any) -> str | None:
    return None if isinstance(value, str) else f"text is needed, this is {shown(value)}"


def _count(value: Any) -> str | None:
    if type(value) is int and -_LARGEST <= value < _LARGEST:
        return None
    return f"a whole number is needed, this is {shown(value)[:60]}"


def _number(value: Any) -> str | None:
    if type(value) in (int, float) and abs(value) < _LARGEST and math.isfinite(value):
        return None
    return f"a number is needed, this is {shown(value)[:60]}"


def _flag(value: Any) -> str | None:
    return None if isinstance(value, bool) else f"true or false is needed, this is {shown(value)}"


def _time(value: Any) -> str | None:
    if not isinstance(value, str):
        return f"a time is needed, this is {shown(value)}"
    try:
        found = parse_datetime(value)
        if found is None:
            return f"{shown(value)} is no time; an export writes 2026-01-31T12:00:00+00:00"
        if timezone.is_naive(found):
            return f"{shown(value)} has no time zone; an export writes 2026-01-31T12:00:00+00:00"
        found.astimezone(UTC)
    except (ValueError, OverflowError):
        return f"{shown(value)} is no time that there is"
    return None


def _texts(value: Any) -> str | None:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return None
    return f"a list of texts is needed, this is {shown(value)}"


def _turns(value: Any) -> str | None:
    """The prompts' reader looks into each."""
    return None if isinstance(value, list) else f"a list of turns is needed, this is {shown(value)}"


def _object(value: Any) -> str | None:
    return None if isinstance(value, dict) else f"an object is needed, this is {shown(value)}"


def _json(_value: Any) -> str | None:
    return None


def _labels(names: tuple[str, ...], *, may_be_unknown: bool) -> Check:
    def check(value: Any) -> str | None:
        if not isinstance(value, dict) or set(value) != set(names):
            return f"an object of {', '.join(names)} is needed, this is {shown(value)}"
        for name, flag in value.items():
            if not isinstance(flag, bool) and not (flag is None and may_be_unknown):
                return f"{name} is {shown(flag)}; true or false is needed"
        return None

    return check


def _sha256(value: Any) -> str | None:
    return None if isinstance(value, str) and is_sha256(value) else f"{shown(value)} is no sha256"


def _tombstone(*numbers: str) -> Check:
    def check(value: Any) -> str | None:
        if not isinstance(value, dict):
            return f"an object is needed, this is {shown(value)}"
        for name in ("sha256", "reason", "by", "at"):
            if not isinstance(value.get(name), str):
                return f"it has no {name}, which a tombstone tells"
        for name in ("sha256", *({"text_key"} & value.keys())):
            if wrong := _sha256(value[name]):
                return wrong
        for name in numbers:
            if type(value.get(name)) is not int or value[name] < 0:
                return f"it has no {name}, which a tombstone counts"
        return _texts(value.get("uploads", []))

    return check


def _replies(value: Any) -> str | None:
    """Of each side, where there were several."""
    if isinstance(value, dict) and set(value) == {"a", "b"} and not any(map(_texts, value.values())):
        return None
    return f"the replies of a and b are needed, this is {shown(value)}"


def _amount(value: Any) -> str | None:
    if isinstance(value, str) and re.fullmatch(r"\d+(\.\d+)?(E-\d+)?", value, re.ASCII):
        return None
    return f'an amount is needed, such as "0.25", this is {shown(value)}'


def _rubric_criteria(value: Any) -> str | None:
    kinds = {"name": str, "description": str, "low": int, "high": int}
    if isinstance(value, list) and all(
        isinstance(one, dict) and {name: type(part) for name, part in one.items()} == kinds for one in value
    ):
        return None
    return f"a list of criteria is needed, each of {', '.join(kinds)}; this is {shown(value)}"


def _uuid(value: Any) -> str | None:
    try:
        same = isinstance(value, str) and str(UUID(value)) == value
    except ValueError:
        same = False
    return None if same else f"{shown(value)} is no id of a battle; an export writes a UUID"


def is_sha256(text: str) -> bool:
    return len(text) == 64 and not set(text) - set("0123456789abcdef")


_KINDS: dict[str, Check] = {
    "text": _text,
    "count": _count,
    "number": _number,
    "flag": _flag,
    "time": _time,
    "texts": _texts,
    "turns": _turns,
    "json": _json,
}
_SPECIAL: dict[tuple[str, str], Check] = {
    ("prompts", "tombstone"): _tombstone("characters", "words", "turns"),
    ("responses", "tombstone"): _tombstone(),
    ("responses", "leak_words"): _texts,
    ("responses", "cost_usd"): _amount,
    ("judge_runs", "budget_usd"): _amount,
    ("label_changes", "was"): _labels(LABELS, may_be_unknown=True),
    ("spot_checks", "criteria"): _labels(HARD_CRITERIA, may_be_unknown=False),
    ("models", "parameters"): _object,
    ("judges", "parameters"): _object,
    ("judges", "criteria"): _rubric_criteria,
    ("calibrations", "left_out"): _object,
    ("battles", "battle_id"): _uuid,
    ("battles", "turns"): _replies,
    ("votes", "digest"): _sha256,
    ("seals", "sha256"): _sha256,
}


def _redacted(row: Row) -> None:
    if row["redacted"] != (row["tombstone"] is not None):
        raise CellError("redacted", "is true where there is a tombstone, and only there")


def _battle(row: Row) -> None:
    if row["model_a"] == row["model_b"]:
        raise CellError("model_b", f"{shown(row['model_b'])} is on both sides")
    for name, kind in (("gold", Battle.Kind.GOLD), ("repeat_of", Battle.Kind.REPEAT)):
        if row[name] is not None and row["kind"] != kind:
            raise CellError(name, f"only a battle of the kind {kind.value} has one, this is {row['kind']}")
    if (row["format"] is None) != (row["label"] is None):
        raise CellError("label", "a recorded battle has a format and a label, others have neither")


def _exclusion(row: Row) -> None:
    if (row["vote_id"] is None) == (row["rater"] is None):
        raise CellError("vote_id", "an exclusion is of a vote or of a rater, and not of both")


def _seal(row: Row) -> None:
    room = row["last_vote"] - row["first_vote"] + 1
    if not 1 <= row["votes"] <= room:
        raise CellError(
            "votes", f"a seal from vote {row['first_vote']} to {row['last_vote']} can't be over so many"
        )
    before = row["previous_sha256"]
    if before and not is_sha256(before):
        raise CellError("previous_sha256", f"{shown(before)} is no SHA-256")


def _gold(row: Row) -> None:
    if (row["model_a"], row["sample_a"]) == (row["model_b"], row["sample_b"]):
        raise CellError("model_b", "a gold has two responses, this names one twice")


def _judge(row: Row) -> None:
    parts = ("rubric_version", "rubric_sha256", "mode", "instructions", "criteria")
    for name in parts:
        if (row[name] is None) != (row["rubric_name"] is None):
            raise CellError(name, "a rubric is told whole, or not at all")


_WHOLE: dict[str, Callable[[Row], None]] = {
    "prompts": _redacted,
    "responses": _redacted,
    "battles": _battle,
    "seals": _seal,
    "exclusions": _exclusion,
    "golds": _gold,
    "judges": _judge,
}


class Met:
    """What stands once in a table, as the database wants it too; ids are looked after where they are kept."""

    def __init__(self, table: str) -> None:
        self._keys = _ONCE.get(table)
        self._met: set[Hashable] = set()

    def look_at(self, row: Row) -> None:
        for key in self._keys(row) if self._keys else ():
            if key in self._met:
                told = ", ".join(str(part) for part in key if part is not None)
                raise ValueError(f"{told} stands twice")
            self._met.add(key)


Keys = Iterator[tuple[Any, ...]]


def _battle_keys(row: Row) -> Keys:
    if row["replaces"] is not None:
        return
    prompt = (row["prompt_set"], row["set_version"], row["prompt_id"])
    if row["kind"] == Battle.Kind.REGULAR and row["rater"] is not None and row["prompt_id"] is not None:
        yield ("the pair", row["rater"], *prompt, *sorted((row["model_a"], row["model_b"])))
    if row["repeat_of"] is not None:
        yield ("the repeat of", row["repeat_of"])
    if row["gold"] is not None and row["rater"] is not None:
        yield ("the gold", row["rater"], row["gold"])


def _note_keys(row: Row) -> Keys:
    kind = row["kind"]
    yield (kind, row["battle_id"], row["text"] if kind in ("reason", "flag") else None)


def _exclusion_keys(row: Row) -> Keys:
    if row["revoked_at"] is None:
        yield (row["rule"], row["vote_id"], row["rater"])


_ONCE: dict[str, Callable[[Row], Keys]] = {
    "battles": _battle_keys,
    "notes": _note_keys,
    "exclusions": _exclusion_keys,
    "judgments": lambda row: iter([(row["run"], row["rater"], row["battle_id"], row["replicate"])]),
    "calibration_labels": lambda row: iter([(row["calibration"], row["battle_id"])]),
    "analysis_plans": lambda row: iter([("version", row["version"])]),
}
