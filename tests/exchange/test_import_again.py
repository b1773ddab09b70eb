"""A file that comes again after something was decided about its prompts."""

import json

import pytest

from arena.corpus.labels import set_labels
from arena.corpus.models import Prompt, Response
from arena.corpus.redaction import redact_prompt, redact_response
from arena.exchange.formats.problems import RefusedError
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
    assert (again.is_sound, list(again.rows), again.skipped) == (True, [], 2)
    assert not any("other labels" in notice for notice in again.notices)


def test_a_file_that_says_other_labels_is_told_so_and_changes_none(prompts):
    set_labels({prompts["p1"].pk: {"is_hard": True}}, source="hand")
    again = plan("prompts", PROMPTS)
    assert (again.is_sound, list(again.rows)) == (True, [])
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
        assert (again.is_sound, list(again.rows), again.skipped) == (True, [], 2)
    otherwise = plan("prompts", PROMPTS.replace(b"purr", b"sleep"))
    assert reasons(otherwise) == ["prompt 'p1' is stored with other contents"]
    assert "[redacted]" in Prompt.objects.get(external_id="p1").text


def test_votes_about_a_prompt_that_was_redacted_since_come_again():
    row = json.dumps(arena_100k()).encode()
    bring_in("votes", row, "autumn", "votes.jsonl")
    redact_prompt(Prompt.objects.get(), reason="a name", by="carol")
    again = plan("votes", row, "autumn", "votes.jsonl")
    assert (again.is_sound, list(again.rows)) == (True, [])
    other = json.loads(row) | {"question_id": "q2", "tstamp": 1_740_000_001.5}
    later = plan("votes", json.dumps(other).encode(), "autumn", "votes.jsonl")
    assert later.is_sound and len(later.rows) == 1


def test_only_rows_that_are_not_there_yet_are_stored(prompts):
    bring_in("responses", RESPONSES.replace(b"p2,Ember,QED\n", b""))
    bring_in("responses", RESPONSES + b"p1,Fjord,Who knows\n")
    told = Response.objects.order_by("pk").values_list("text", flat=True)
    assert list(told) == ["Because.", "QED", "Who knows"]


def test_rows_are_read_from_the_file_again_and_not_kept(prompts, tmp_path):
    path = tmp_path / "file.csv"
    path.write_bytes(RESPONSES)
    found = plan_import("responses", Team.default(), "Start", path, path.name)
    assert (len(found.rows), [row.text for row in found.rows]) == (2, ["Because.", "QED"])
    assert [row.text for row in found.rows] == ["Because.", "QED"]
    path.write_bytes(RESPONSES.replace(b"QED", b"Q.E.D."))
    with pytest.raises(RefusedError, match="the file was changed while it was read"):
        finish(new_record(found), found)
    assert not Response.stored.exists()


def test_what_is_wrong_is_listed_by_line(prompts):
    rows = b"p9,Ember,x\n" + b",Ember,x\n" + b"p1,Ember,x\n" + b"p8,Ember,x\n"
    found = plan("responses", b"prompt_id,model,response\n" + rows)
    assert [problem.line for problem in found.errors] == [2, 3, 5]
