"""Files as spreadsheets, scripts and other arenas really write them, each through the page and by command.

Small files of our own; what has to happen to each is stated in the table.
"""

import json
from io import BytesIO
from zipfile import ZipFile

import pytest
from django.conf import settings as django_settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from arena.battles.models import Battle, Vote
from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor, Prompt, PromptSet, Response
from arena.exchange import uploads
from arena.exchange.models import Import
from arena.raters.models import Rater, Team

from .arena_rows import ROWS as ARENA_ROWS
from .arena_rows import lines

pytestmark = pytest.mark.django_db

P, R, V = "prompts", "responses", "votes"
ROWS = "id,prompt,category\np1,Why?,x\np2,How?,y\n"
SHEET = 'id;prompt;category\np1;"Ist 38,5 °C Fieber; ja?";x\np2;Größe?;y\n'


def jsonl(*rows: object) -> str:
    return "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows)


def workbook() -> bytes:
    content = BytesIO()
    with ZipFile(content, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return content.getvalue()


# name: (kind, content, rows that come in), or in place of the rows the lines and words of the errors
GOOD = {
    "with a mark at its start": (P, ROWS.encode("utf-8-sig"), 2),
    "a German spreadsheet": (P, SHEET.replace("\n", "\r\n").encode("utf-8-sig"), 2),
    "a spreadsheet that names its delimiter": (P, "sep=;\r\n" + SHEET, 2),
    "Unicode text": (P, SHEET.replace(";", "\t").encode("utf-16"), 2),
    "line ends and quotes within cells": (P, 'id,prompt\np1,"a ""b""\nc\r\nd"\np2,5" nails\n', 2),
    "blank lines at the end": (P, jsonl({"prompt": "Why?"}) + "\n\n   \n", 1),
    "an array": (P, json.dumps([{"prompt": "Why?"}, {"prompt": "How?"}]), 2),
    "headers in capitals and blanks": (P, " ID ,Prompt , CATEGORY\np1,Why?,x\n", 1),
    "columns that nobody knows": (P, "id,prompt,note\np1,Why?,x\n", 1),
    "a text of a megabyte": (P, f"id,prompt\np1,{'x' * 2**20}\np2,How?\n", 2),
    "formulas": (P, "id,prompt\np1,=1+1\np2,@x\np3,-1\np4,+1\n", 4),
    "a formula for a name": (R, "prompt_id,model,response\np1,=x(),a\n", 1),
    "scripts": (R, jsonl({"prompt_id": "p1", "model": "m", "response": "<script>x</script>"}), 1),
    "all directions and signs": (
        P,
        jsonl({"prompt": "שלום"}, {"prompt": "\u202ex"}, {"prompt": "👩🏽‍🔬"}),
        3,
    ),
    "two ways of writing é": (P, "id,prompt\np1,caf\u00e9\np2,cafe\u0301\n", 2),
    "the line ends of an old Mac": (P, ROWS.replace("\n", "\r"), 2),
    "ids like numbers": (P, "id,prompt\n007,a\n7,b\n1e5,c\n100000,d\nTRUE,e\nNA,f\n0.10,g\n0.1,h\n", 8),
    "an exact repeat": (P, "id,prompt\np1,Why?\np1,Why?\n", 1),
    "ids that differ in case alone": (P, "id,prompt\np1,Why?\nP1,How?\n", 2),
    "every spelling of a winner": (V, "model_a,model_b,winner\nx,y,a\nx,y,y\nx,y,tie (bothbad)\n", 3),
}
BAD = {
    "eight-bit letters": (P, SHEET.encode("cp1252"), [(2, "isn't UTF-8"), (3, "isn't UTF-8")]),
    "half a character": (P, b"id,prompt\np1,ok\np2,\xe2\x82\n", [(3, "isn't UTF-8")]),
    "one id with two texts": (P, "id,prompt\np1,a\np2,b\np2,c\n", [(4, "'p2' is already on line 3")]),
    "a column that is missing": (R, "prompt_id,model\np1,m\n", [(1, "found: prompt_id, model")]),
    "U+0000": (P, "id,prompt\np1,a\np2,b\0c\n", [(3, "U+0000")]),
    "rows of other lengths": (P, "id,prompt\np1,a,b\np2\n", [(2, "3 cells"), (3, "1 cells")]),
    "a quote that never closes": (P, 'id,prompt\np1,a\np2,"b\np3,c\n', [(3, "never closed")]),
    "nothing": (P, "", [(None, "empty")]),
    "a header alone": (P, "id,prompt\n", [(None, "no rows")]),
    "a mark and a line end": (P, "\n".encode("utf-8-sig"), [(None, "empty")]),
    "orphans and the nameless": (
        R,
        "prompt_id,model,response\np404,m,a\np1,,b\np1,m,c\np1,M,d\n",
        [(2, "holds no prompt 'p404'"), (3, "is empty"), (5, "already on line 4")],
    ),
    "winners that nobody understands": (
        V,
        "model_a,model_b,winner\nx,y,z\nx,y,\nx,y,1\nx,y,0.5\nx,X,tie\n",
        [(2, "unknown"), (3, "is empty"), (4, "unknown"), (5, "unknown"), (6, "can't fight itself")],
    ),
    "lines that are no objects": (
        P,
        jsonl(
            '{"prompt": ',
            [1],
            '{"prompt": NaN}',
            '{"prompt": "\\ud800"}',
            '{"id": 1, "id": 2}',
            '{"prompt": null}',
        ),
        [
            (1, "isn't JSON"),
            (2, "an array"),
            (3, "NaN"),
            (4, "surrogate"),
            (5, "stands twice"),
            (6, "is empty"),
        ],
    ),
    "arrays in arrays": (P, "[" * 100_000, [(1, "nested too deeply")]),
    "a workbook": (P, workbook(), [(None, "Excel workbook")]),
}
EVERY = GOOD | BAD


@pytest.fixture(autouse=True)
def start(tmp_path, settings, cast):
    """A prompt set that the responses of the table are about."""
    settings.DATA_DIR = tmp_path
    prompt_set = PromptSet.objects.create(team=cast.team, name="target")
    Prompt.objects.create(prompt_set=prompt_set, external_id="p1", messages=[])


def stored() -> dict[str, int]:
    models = (PromptSet, Prompt, Competitor, Response, Campaign, Battle, Vote, Rater)
    return {model.__name__: getattr(model, "stored", model.objects).count() for model in models}


def by_page(visitor: Client, kind: str, content: str | bytes) -> Import:
    file = SimpleUploadedFile("file", content if isinstance(content, bytes) else content.encode())
    target = "fresh" if kind == P else "target"
    address = visitor.post(f"/imports/new/?kind={kind}", {"target": target, "file": file})["Location"]
    assert visitor.get(address).status_code == 200
    visitor.post(f"{address}confirm/")
    assert visitor.get(address).status_code == 200
    return Import.objects.latest("pk")


def by_command(folder, kind: str, content: str | bytes) -> None:
    path = folder / "file"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    target = ("--campaign", "target") if kind == V else ("--set", "fresh" if kind == P else "target")
    call_command(f"import_{kind}", str(path), *target)


@pytest.mark.parametrize("name", GOOD)
def test_a_file_that_can_be_understood_comes_in_once_by_page_and_command(signed_in, tmp_path, name, capsys):
    kind, content, rows = GOOD[name]
    record = by_page(signed_in("carol"), kind, content)
    assert (record.state, record.added, record.errors) == ("done", rows, [])
    before = stored()
    by_command(tmp_path, kind, content)
    assert "Nothing new" in capsys.readouterr().out
    assert stored() == before


@pytest.mark.parametrize("name", GOOD)
def test_a_file_that_can_be_understood_comes_in_by_command(tmp_path, name, capsys):
    kind, content, rows = GOOD[name]
    by_command(tmp_path, kind, content)
    nouns = "rows" if kind == "votes" else kind
    noun = nouns if rows != 1 else nouns.removesuffix("s")
    assert f"{rows} {noun} imported into" in capsys.readouterr().out


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_cannot_is_refused_by_line_and_changes_nothing(signed_in, tmp_path, name):
    kind, content, errors = BAD[name]
    before = stored()
    record = by_page(signed_in("carol"), kind, content)
    assert record.state == "refused"
    assert [error["line"] for error in record.errors] == [line for line, _words in errors]
    for error, (_line, words) in zip(record.errors, errors, strict=True):
        assert words in error["reason"]
    with pytest.raises(CommandError) as refusal:
        by_command(tmp_path, kind, content)
    assert all(words in str(refusal.value) for _line, words in errors)
    assert stored() == before


@pytest.mark.parametrize("name", sorted(ARENA_ROWS))
def test_the_files_of_other_arenas_come_in_by_the_page(signed_in, name):
    content = lines(ARENA_ROWS[name]())
    record = by_page(signed_in("carol"), V, content)
    assert (record.state, record.added) == ("done", 1)
    assert record.options == {} and record.notices[0].startswith("read as ")
    assert Battle.objects.count() == 1
    assert uploads.folder().exists() and list(uploads.folder().iterdir()) == []


def test_no_text_is_changed_on_its_way_in(signed_in):
    texts = ["=1+1", "  blanks  ", "a\r\nb", "\u202ex", "caf\u00e9", "cafe\u0301", "\U0010ffff", "<b>x</b>"]
    by_page(signed_in("carol"), P, jsonl(*({"id": str(n), "prompt": text} for n, text in enumerate(texts))))
    fresh = PromptSet.objects.get(name="fresh", team=Team.default())
    assert [prompt.text for prompt in fresh.prompts.order_by("pk")] == texts


@st.composite
def broken_files(draw) -> tuple[str, bytes]:
    """Bytes, or a file of the tables above with a piece of it replaced."""
    kind, content = draw(st.sampled_from([(kind, content) for kind, content, _ in EVERY.values()]))
    plain = (content if isinstance(content, bytes) else content.encode())[:2000]
    start = draw(st.integers(0, len(plain)))
    end = draw(st.integers(start, len(plain)))
    return kind, plain[:start] + draw(st.binary(max_size=20)) + plain[end:]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example((P, b'[{"\x80prompt": "Why?"}, {"prompt": "How?"}]'))
@given(st.tuples(st.sampled_from([P, R, V]), st.binary(max_size=200)) | broken_files())
def test_no_bytes_make_page_or_command_fail_or_leave_half_an_import(signed_in, file):
    kind, content = file
    before = stored()
    record = by_page(signed_in("carol"), kind, content)
    assert record.state in {"done", "previewed", "refused"}
    after = stored()
    if record.state != "done":
        assert after == before
    elif kind == P:
        assert after["Prompt"] - before["Prompt"] == record.added
    elif kind == R:
        assert after["Response"] - before["Response"] == record.added
    try:
        by_command(django_settings.DATA_DIR, kind, content)
    except CommandError:
        assert stored() == after and record.state == "refused"
    else:
        assert stored() == after and record.state != "refused"  # what the page found, the command finds again
