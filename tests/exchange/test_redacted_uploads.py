"""A redaction reaches uploads that wait: a file that still holds the text is gone, whatever its form."""

from __future__ import annotations

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from arena.corpus.models import Prompt
from arena.corpus.redaction import redact_prompt, redact_response
from arena.corpus.sweeping import is_swept
from arena.exchange import intake, kept_texts, uploads
from arena.exchange.models import Import

pytestmark = pytest.mark.django_db

SECRET = 'Write to "Grandma Müller", 12 Elm Street, about the house.'


@pytest.fixture(autouse=True)
def own_folder(tmp_path, settings):
    settings.DATA_DIR = tmp_path


@pytest.fixture
def secret(small_campaign) -> Prompt:
    prompt = small_campaign.prompts[0]
    prompt.messages = [{"role": "user", "content": SECRET}]
    prompt.save()
    return prompt


def upload(visitor, name: str, content: bytes) -> Import:
    data = {"target": "Other", "file": SimpleUploadedFile(name, content)}
    assert visitor.post("/imports/new/?kind=prompts", data).status_code == 302
    return Import.objects.latest("pk")


def as_csv(text: str) -> str:
    quoted = text.replace('"', '""')
    return f'id,prompt\nx,"{quoted}"\n'


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", as_csv(SECRET).encode()),
        ("a.csv", as_csv(SECRET).encode("cp1252")),
        ("a.csv", as_csv(SECRET).encode("utf-16")),
        ("a.csv", (as_csv(SECRET) + 'y,"never closed\n').encode()),
        ("a.jsonl", json.dumps({"id": "x", "prompt": SECRET}).encode()),
        ("a.json", json.dumps([{"id": "x", "messages": [{"role": "user", "content": SECRET}]}]).encode()),
    ],
)
def test_a_file_that_waits_with_the_text_is_dropped_and_named(signed_in, secret, name, content):
    carol = signed_in("carol")
    record = upload(carol, name, content)
    assert uploads.is_kept(record)
    answer = carol.post(f"/prompts/{secret.pk}/redact/", {"reason": "private"}, follow=True)
    assert f"Uploads that still held it were dropped: {name}" in answer.content.decode()
    record.refresh_from_db()
    assert record.stored_as == "" and list(uploads.folder().iterdir()) == []
    secret.refresh_from_db()
    assert secret.tombstone["uploads"] == [name]


def test_files_without_the_text_and_those_of_other_teams_stay(signed_in, secret):
    other = upload(signed_in("carol"), "b.csv", b"id,prompt\nx,Something else entirely\n")
    theirs = upload(signed_in("dora"), "c.csv", as_csv(SECRET).encode())
    redact_prompt(secret, reason="private", by="carol")
    assert uploads.is_kept(other) and uploads.is_kept(theirs)


def test_a_short_text_has_to_fill_a_cell(signed_in, small_campaign):
    response = small_campaign.responses[0]
    response.text = "Yes"
    response.save()
    part = upload(signed_in("carol"), "part.csv", b"id,prompt\nx,Yes or no?\n")
    whole = upload(signed_in("carol"), "whole.csv", b"id,prompt\nx,Yes\n")
    redact_response(response, reason="private", by="carol")
    whole.refresh_from_db()
    assert uploads.is_kept(part) and whole.stored_as == ""


@pytest.mark.parametrize(
    ("looks_at", "found"), [("_holds_bytes", True), ("_holds_bytes", False), ("_holds_cells", False)]
)
def test_a_file_that_is_discarded_while_it_is_searched_stops_nothing(
    signed_in, secret, monkeypatch, looks_at, found
):
    carol = signed_in("carol")
    content = as_csv(SECRET) if found else "id,prompt\nx,Something else entirely\n"
    record = upload(carol, "a.csv", content.encode())
    look = getattr(kept_texts, looks_at)

    def discarded_just_before(searched, texts):
        assert intake.discard(Import.objects.get(pk=record.pk))
        return look(searched, texts)

    monkeypatch.setattr(kept_texts, looks_at, discarded_just_before)
    assert redact_prompt(secret, reason="private", by="carol")
    assert is_swept(secret) and not Import.objects.filter(pk=record.pk).exists()


def test_a_file_that_is_discarded_once_it_is_found_stops_nothing(signed_in, secret, monkeypatch):
    record = upload(signed_in("carol"), "a.csv", as_csv(SECRET).encode())
    drop = kept_texts._drop

    def discarded_just_before(found):
        assert intake.discard(Import.objects.get(pk=record.pk))
        drop(found)

    monkeypatch.setattr(kept_texts, "_drop", discarded_just_before)
    assert redact_prompt(secret, reason="private", by="carol")
    assert is_swept(secret) and not Import.objects.exists()


def test_a_file_that_cant_be_searched_is_dropped(signed_in, secret, monkeypatch):
    other = upload(signed_in("carol"), "b.csv", b"id,prompt\nx,Something else entirely\n")

    def unreadable(*_args):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(kept_texts, "open_table", unreadable)
    redact_prompt(secret, reason="private", by="carol")
    assert is_swept(secret)
    other.refresh_from_db()
    assert other.stored_as == "" and list(uploads.folder().iterdir()) == []


def test_a_packed_file_that_cant_be_read_is_dropped_and_a_broken_text_without_it_stays(signed_in, secret):
    carol = signed_in("carol")
    packed = upload(carol, "a.parquet", b"PAR1 neither end nor table")
    broken = upload(carol, "b.csv", b'id,prompt\nx,"never closed\n')
    redact_prompt(secret, reason="private", by="carol")
    packed.refresh_from_db()
    assert packed.stored_as == "" and uploads.is_kept(broken)
