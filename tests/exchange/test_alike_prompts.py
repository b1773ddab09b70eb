"""Prompts that say nearly the same are pointed out before they are stored."""

import json

import pytest

from arena.corpus.models import Prompt
from arena.corpus.redaction import redact_prompt
from arena.exchange import alike
from arena.exchange.imports import finish, new_record, plan_import
from arena.exchange.plans import Plan
from arena.raters.models import Team

pytestmark = pytest.mark.django_db

LETTER = "Please write a short and friendly letter to the neighbours about the noise at night and the dog"
ALIKE = LETTER.replace("dog", "cat")


def plan(**prompts: str) -> Plan:
    rows = "\n".join(json.dumps({"id": name, "prompt": text}) for name, text in prompts.items())
    return plan_import("prompts", Team.default(), "Start", rows.encode(), "p.jsonl")


def bring_in(**prompts: str) -> None:
    found = plan(**prompts)
    finish(new_record(found), found)


def told(found: Plan) -> list[str]:
    return [notice for notice in found.notices if "nearly what" in notice]


def test_a_file_that_asks_nearly_the_same_twice_is_told_which(client):
    assert told(plan(a=LETTER, b="Something else", c=ALIKE)) == [
        "1 prompt says nearly what another says, and would count twice: 'c' (as 'a', 88\u00a0%)"
    ]
    assert told(plan(a=LETTER, b="Something else")) == []


def test_what_is_stored_is_compared_too_and_what_comes_again_is_not():
    bring_in(a=LETTER)
    assert told(plan(a=LETTER)) == []
    (words,) = told(plan(a=LETTER, z=ALIKE))
    assert words.endswith("'z' (as 'a', 88\u00a0%)")


def test_what_was_redacted_is_compared_with_nothing():
    bring_in(a=LETTER)
    redact_prompt(Prompt.objects.get(), reason="a name", by="carol")
    assert told(plan(z=LETTER, y="[redacted]")) == []


def test_they_keep_nothing_from_being_imported():
    bring_in(a=LETTER, b=ALIKE)
    assert Prompt.objects.count() == 2


def test_five_are_named_and_the_rest_counted():
    prompts = {f"p{n}": f"{LETTER} and a bird number {n}" for n in range(8)}
    (words,) = told(plan(**prompts))
    assert words.startswith("7 prompts say") and words.count(" (as ") == 5 and words.endswith(", …")


def test_a_large_file_says_how_far_it_was_looked_through(monkeypatch):
    monkeypatch.setattr(alike, "CHARACTERS", 2 * len(LETTER))
    found = plan(a=LETTER, b=ALIKE, c=LETTER, d=LETTER)
    assert len(told(found)) == 1
    assert "near-duplicates were looked for among the first 2 prompts" in found.notices
    assert len(found.rows) == 4
