"""Uploads by programs."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from knox.models import AuthToken
from rest_framework.test import APIClient

from arena.corpus.models import Prompt, PromptSet, Response
from arena.exchange import intake, uploads
from arena.exchange.models import Import

pytestmark = pytest.mark.django_db

ADDRESS = "/api/v1/imports/"
PROMPTS = "id,prompt\np1,Why?\np2,How?\n"


@pytest.fixture(autouse=True)
def own_folder(tmp_path, settings):
    settings.DATA_DIR = tmp_path


@pytest.fixture
def program(cast):
    """program("carol") sends a token of hers."""

    def make(name: str) -> APIClient:
        token = AuthToken.objects.create(user=getattr(cast, name))[1]
        return APIClient(headers={"Authorization": f"Token {token}"})

    return make


def send(client: APIClient, content: str | bytes = PROMPTS, name: str = "file.csv", **fields):
    file = SimpleUploadedFile(name, content if isinstance(content, bytes) else content.encode())
    return client.post(ADDRESS, {"kind": "prompts", "target": "Start", "file": file} | fields)


def test_a_program_uploads_looks_and_confirms(program):
    carol = program("carol")
    answer = send(carol)
    assert answer.status_code == 201
    told = answer.json()
    assert (told["state"], told["added"], told["total_rows"], told["errors"]) == ("previewed", 2, 2, [])
    assert not Prompt.objects.exists()
    answer = carol.post(f"{ADDRESS}{told['id']}/confirm/")
    assert (answer.status_code, answer.json()["state"]) == (200, "done")
    assert Prompt.objects.count() == 2
    assert carol.get(f"{ADDRESS}{told['id']}/").json()["finished_at"]
    assert [one["id"] for one in carol.get(ADDRESS).json()["results"]] == [told["id"]]


def test_a_file_in_order_can_be_stored_at_once(program):
    answer = send(program("carol"), confirm="true")
    assert (answer.status_code, answer.json()["state"], Prompt.objects.count()) == (201, "done", 2)


def test_a_large_file_is_stored_at_once_by_the_worker(program, monkeypatch):
    monkeypatch.setattr(intake, "INLINE_BYTES", 0)
    assert send(program("carol"), confirm="true").json()["state"] == "done"


def test_a_file_with_errors_is_not_stored_however_sure_one_is(program):
    told = send(program("carol"), "id,prompt\np1,\n", confirm="true").json()
    assert (told["state"], told["error_count"]) == ("refused", 1)
    assert told["errors"] == [{"line": 2, "column": "prompt", "reason": "is empty"}]
    assert not PromptSet.objects.exists()


def test_a_program_says_how_a_file_is_read(program):
    carol = program("carol")
    columns = json.dumps({"id": "Nr", "prompt": "Frage"})
    content = "Nr;Frage\n1;Fön?\n".encode("cp1252")
    told = send(carol, content, encoding="cp1252", delimiter=";", columns=columns, confirm="true").json()
    assert told["state"] == "done" and Prompt.objects.get().text == "Fön?"
    wide = {"kind": "responses", "model_columns": ["Ember", "Fjord"], "confirm": "true"}
    assert send(carol, "prompt_id,Ember,Fjord\n1,a,b\n", **wide).json()["added"] == 2
    one = {"kind": "responses", "model": "Grove", "confirm": "true"}
    assert send(carol, "prompt_id,response\n1,c\n", **one).json()["added"] == 1
    assert sorted(Response.objects.values_list("text", flat=True)) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"kind": "guesses"}, "kind"),
        ({"target": ""}, "target"),
        ({"target": "x" * 121}, "target"),
        ({"target": "a\0b"}, "target"),
        ({"columns": "[1]"}, "columns"),
        ({"columns": "no JSON"}, "columns"),
        ({"columns": '{"nonsense": "x"}'}, "columns"),
        ({"columns": '{"id": 5}'}, "columns"),
        ({"encoding": "klingon"}, "encoding"),
        ({"delimiter": "x"}, "delimiter"),
        ({"format": "some_arena"}, "format"),
        ({"file": ""}, "file"),
    ],
)
def test_what_is_not_understood_is_named(program, fields, field):
    answer = send(program("carol"), **fields)
    assert answer.status_code == 400 and list(answer.json()) == [field]
    assert not Import.objects.exists()


def test_fields_that_nobody_may_set_are_ignored(program, cast):
    told = send(program("carol"), state="done", added="99", team=str(cast.other_team.pk)).json()
    record = Import.objects.get()
    assert (told["state"], record.added, record.team, record.created_by) == (
        "previewed",
        2,
        cast.team,
        cast.carol,
    )


def test_a_body_that_is_no_form_is_refused(program):
    assert program("carol").post(ADDRESS, {"kind": "prompts"}, format="json").status_code == 415


def test_a_file_beyond_the_limit_is_refused(program, settings):
    carol = program("carol")
    settings.MAX_UPLOAD_MB = 0
    assert send(carol).status_code == 413
    assert not uploads.folder().exists() or list(uploads.folder().iterdir()) == []


def test_cancelling_drops_a_file_that_waits_and_what_is_done_stays(program):
    carol = program("carol")
    told = send(carol).json()
    answer = carol.post(f"{ADDRESS}{told['id']}/cancel/")
    assert (answer.status_code, answer.json()["state"]) == (200, "cancelled")
    assert list(uploads.folder().iterdir()) == []
    for act in ("cancel", "confirm"):
        assert carol.post(f"{ADDRESS}{told['id']}/{act}/").status_code == 409
    done = send(carol, confirm="true").json()
    assert carol.post(f"{ADDRESS}{done['id']}/cancel/").status_code == 409
    assert Prompt.objects.count() == 2


@pytest.mark.parametrize("who", ["alice", "ravi", "mallory"])
def test_whoever_is_no_admin_uploads_nothing_and_finds_nothing(program, who):
    told = send(program("carol")).json()
    visitor = program(who)
    assert send(visitor).status_code == 404
    assert visitor.get(ADDRESS).json()["results"] == []
    assert visitor.get(f"{ADDRESS}{told['id']}/").status_code == 404
    for act in ("confirm", "cancel"):
        assert visitor.post(f"{ADDRESS}{told['id']}/{act}/").status_code == 404
    assert Import.objects.get().state == "previewed"


def test_another_team_has_its_own(program, cast):
    told = send(program("carol"), confirm="true").json()
    dora = program("dora")
    assert dora.get(f"{ADDRESS}{told['id']}/").status_code == 404
    assert send(dora, confirm="true").json()["state"] == "done"
    assert PromptSet.objects.filter(name="Start").count() == 2


def test_a_stranger_is_refused(client):
    assert send(APIClient()).status_code == 403
    assert APIClient().get(ADDRESS).status_code == 403


def test_a_session_without_its_csrf_token_uploads_nothing(cast):
    visitor = APIClient(enforce_csrf_checks=True)
    visitor.force_login(cast.carol, backend="django.contrib.auth.backends.ModelBackend")
    assert send(visitor).status_code == 403
    assert not Import.objects.exists()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200), st.sampled_from(Import.Kind.values), st.text(max_size=20), st.booleans())
def test_no_bytes_make_the_api_fail_or_leave_half_an_import(program, content, kind, target, at_once):
    carol = program("carol")
    carol.raise_request_exception = False
    answer = send(carol, content, kind=kind, target=target, confirm=str(at_once).lower())
    assert answer.status_code in {201, 400}
    for record in Import.objects.all():
        assert record.state in {"previewed", "refused", "done"}
        assert record.arrival is None or record.arrival.landed_at
        assert Prompt.stored.count() == (record.added if record.state == "done" and kind == "prompts" else 0)
    Prompt.stored.all().delete()
    PromptSet.stored.all().delete()
    Import.objects.all().delete()
