"""Every error of a file, to download, in the order of the file's lines."""

import csv
from pathlib import Path
from tempfile import TemporaryDirectory

import hypothesis
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from arena.exchange import uploads
from arena.exchange.error_list import error_list
from arena.exchange.formats.problems import Problem
from arena.exchange.models import Import
from tests.exchange.import_pages import confirm, page_of, reread


@pytest.mark.django_db
def test_errors_found_on_a_second_way_through_stand_in_the_order_of_lines(signed_in, tmp_path, settings):
    settings.DATA_DIR = tmp_path
    carol = signed_in("carol")
    rows = "".join(
        f"x,y,{'tie' if number % 3 else 'nobody'},{'2999-01-01' if number % 2 else '2020-01-01'}\n"
        for number in range(400)
    )
    file = SimpleUploadedFile("votes.csv", f"model_a,model_b,winner,tstamp\n{rows}".encode())
    carol.post("/imports/new/?kind=votes", {"target": "spring", "file": file})
    record = Import.objects.get()
    answer = carol.get(reverse("import-errors", args=[record.public_id]))
    header, *errors = b"".join(answer.streaming_content).decode("utf-8-sig").splitlines()
    lines = [int(error.partition(",")[0]) for error in errors]
    assert header == "line,column,reason"
    assert lines == sorted(lines) and len(lines) == record.error_count > 200
    assert {"nobody" in error for error in errors} == {True, False}
    assert sorted(path.name for path in uploads.folder().iterdir()) == [
        record.stored_as,
        f"{record.stored_as}.errors.csv",
    ]


EMPTY = "".join(f"p{n},{'' if n < 26 else 'Warm.'},{'' if n == 7 else 'Wind.'}\n" for n in range(1, 31))


def upload(visitor: Client, kind: str, content: str) -> Import:
    file = SimpleUploadedFile("wind.csv", content.encode())
    visitor.post(f"/imports/new/?kind={kind}", {"target": "Wind", "file": file})
    return Import.objects.latest("pk")


def notes_of(visitor: Client, record: Import) -> list[list[str]]:
    answer = visitor.get(reverse("import-notes", args=[record.public_id]))
    assert answer["Content-Disposition"] == 'attachment; filename="notes.csv"'
    text = b"".join(answer.streaming_content).decode("utf-8-sig")
    return list(csv.reader(text.splitlines()))


@pytest.mark.django_db
def test_empty_responses_are_named_by_line_and_model_and_all_of_them_can_be_downloaded(
    signed_in, tmp_path, settings
):
    settings.DATA_DIR = tmp_path
    carol = signed_in("carol")
    confirm(
        carol, upload(carol, "prompts", "id,prompt\n" + "".join(f"p{n},Why {n}?\n" for n in range(1, 31)))
    )
    record = reread(carol, upload(carol, "responses", f"prompt_id,Ember,Föhn\n{EMPTY}"))
    words = next(notice for notice in record.notices if "holds no text there" in notice)
    assert words.startswith("26 rows skipped") and "line 2, Ember; line 3, Ember" in words
    assert "line 8, Ember; line 8, Föhn; line 9, Ember" in words and words.endswith("line 20, Ember; …")
    page = page_of(carol, record)
    assert "All these rows as CSV" in page and "line 8, Föhn" in page
    header, *notes = notes_of(carol, record)
    assert header == ["line", "column", "reason"]
    assert len(notes) == record.skipped == 26
    assert notes[-1] == ["26", "Ember", "skipped because a model's column holds no text there"]
    confirm(carol, record)
    assert list(uploads.folder().iterdir()) == []


@pytest.mark.django_db
def test_blank_responses_that_are_kept_are_named_too(signed_in, tmp_path, settings):
    settings.DATA_DIR = tmp_path
    carol = signed_in("carol")
    confirm(carol, upload(carol, "prompts", "id,prompt\np1,Why?\n"))
    record = upload(carol, "responses", "prompt_id,model,response\np1,Ember,Warm.\np1,Basalt,  \n")
    assert "1 response empty or blank: kept, but never drawn for a battle (line 3, Basalt)" in record.notices
    _header, note = notes_of(carol, record)
    assert note[:2] == ["3", "response"] and "Basalt" in note[2]


@pytest.mark.django_db
def test_a_file_without_anything_to_note_has_no_notes(signed_in, tmp_path, settings):
    settings.DATA_DIR = tmp_path
    carol = signed_in("carol")
    confirm(carol, upload(carol, "prompts", "id,prompt\np1,Why?\n"))
    record = upload(carol, "responses", "prompt_id,model,response\np1,Ember,Warm.\n")
    assert carol.get(reverse("import-notes", args=[record.public_id])).status_code == 404
    assert "All these rows as CSV" not in page_of(carol, record)
    assert signed_in("dora").get(reverse("import-notes", args=[record.public_id])).status_code == 404


@given(st.lists(st.tuples(st.none() | st.integers(1, 9), st.text()), max_size=20))
@hypothesis.settings(max_examples=50, deadline=None)
def test_every_error_is_kept_whole_and_those_of_one_line_as_found(found):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "errors.csv"
        with error_list(path) as errors:
            for line, reason in found:
                errors.add(Problem(f"x{reason}", line))
        if not found:
            assert not path.exists()
            return
        with path.open(encoding="utf-8-sig", newline="") as file:
            _header, *rows = csv.reader(file)
    expected = sorted(found, key=lambda problem: problem[0] or 0)
    assert rows == [[str(line or ""), "", f"x{reason}"] for line, reason in expected]
