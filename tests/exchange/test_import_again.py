"""A file that comes again after something was decided about its prompts."""

import json

import pytest

from arena.corpus.labels import set_labels
from arena.corpus.models import Prompt, Response
from arena.corpus.redaction import redact_prompt, redact_response
from arena.exchange.imports import finish, new_record, plan_import
from arena.exchange.plans import Plan
from arena.raters.models import Team

from .arena_rows import arena_100k

pytestmark = pytest.mark.django_db

PROMPTS = b"id,prompt,category,hard,reference\np1,Why do cats purr?,nature,0,They do.\np2,Prove it.,maths,,\n"
RESPONSES = b"prompt_id,model,response\np1,Ember,Because.\np2,Ember,QED\n"


def plan(kind: str, content: bytes, target: str = "Start", name: str = "file.csv") -> Plan:
    return plan_import(kind, Team.default(), target, content, name)


def bring_in(kind: str, content: bytes, target: str = "Start", name: str = "file.csv") -> None:
    found = plan(kind, content, target, name)
    finish(new_record(found), found)


def reasons(found: Plan) -> list[str]:
    return [problem.reason for problem in found.errors]


@pytest.fixture
def prompts() -> dict[str, Prompt]:
    bring_in("prompts", PROMPTS)
    return {prompt.external_id: prompt for prompt in Prompt.objects.all()}


def test_prompts_that_were_labelled_since_are_the_same_prompts(prompts):
    set_labels({prompts["p2"].pk: {"creativity": True, "is_hard": True}}, source="hand")
    again = plan("prompts", PROMPTS)
    assert (again.is_sound, again.rows, again.skipped) == (True, (), 2)
    assert not any("other labels" in notice for notice in again.notices)


def test_a_file_that_says_other_labels_is_told_so_and_changes_none(prompts):
    set_labels({prompts["p1"].pk: {"is_hard": True}}, source="hand")
    again = plan("prompts", PROMPTS)
    assert (again.is_sound, again.rows) == (True, ())
    assert any(notice.startswith("1 prompt has other labels here") for notice in again.notices)
    finish(new_record(again), again)
    assert Prompt.objects.get(external_id="p1").is_hard is True


@pytest.mark.parametrize(
    "changed",
    [b"Why do cats purr?,nature,0,Other.", b"Why do dogs purr?,nature,0,They do.", b"Why do cats purr?,x,0,"],
)
def test_another_text_category_or_reference_is_another_prompt(prompts, changed):
    again = plan("prompts", b"id,prompt,category,hard,reference\np1," + changed)
    assert reasons(again) == ["prompt 'p1' is stored with other contents"]


def test_redacted_texts_are_known_by_their_hashes(prompts):
    bring_in("responses", RESPONSES)
    redact_prompt(prompts["p1"], reason="a name", by="carol")
    redact_response(Response.objects.get(prompt=prompts["p2"]), reason="a name", by="carol")
    for kind, content in (("prompts", PROMPTS), ("responses", RESPONSES)):
        again = plan(kind, content)
        assert (again.is_sound, again.rows, again.skipped) == (True, (), 2)
    otherwise = plan("prompts", PROMPTS.replace(b"purr", b"sleep"))
    assert reasons(otherwise) == ["prompt 'p1' is stored with other contents"]
    assert "[redacted]" in Prompt.objects.get(external_id="p1").text


def test_votes_about_a_prompt_that_was_redacted_since_come_again():
    row = json.dumps(arena_100k()).encode()
    bring_in("votes", row, "autumn", "votes.jsonl")
    redact_prompt(Prompt.objects.get(), reason="a name", by="carol")
    again = plan("votes", row, "autumn", "votes.jsonl")
    assert (again.is_sound, again.rows) == (True, ())
    other = json.loads(row) | {"question_id": "q2", "tstamp": 1_740_000_001.5}
    later = plan("votes", json.dumps(other).encode(), "autumn", "votes.jsonl")
    assert later.is_sound and len(later.rows) == 1
