"""Every error of a file, to download, in the order of the file's lines."""

import csv
from pathlib import Path
from tempfile import TemporaryDirectory

import hypothesis
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from arena.exchange import uploads
from arena.exchange.error_list import error_list
from arena.exchange.formats.problems import Problem
from arena.exchange.models import Import


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
