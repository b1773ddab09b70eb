"""Files of every kind that an admin really has; what they hold is ours."""

import csv
import io
import json
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.exchange.formats import json_rows
from arena.exchange.formats import lines as lines_module
from arena.exchange.formats.problems import Problem, RefusedError
from arena.exchange.formats.reading import read
from arena.exchange.formats.tables import Row, open_table

HEADER = "id,prompt,category,hard\r\n"
THREE = (
    HEADER
    + 'p1,Why do cats purr?,nature,0\r\np2,"Name a river, any river",place,1\r\np3,Größe in €?,sums,0\r\n'
)


def rows(content: bytes | str, name: str = "") -> list[dict]:
    table = open_table(content.encode() if isinstance(content, str) else content, name)
    found = list(table.rows())
    assert all(isinstance(row, Row) for row in found), found
    return [row.values for row in found]


def problems(content: bytes | str, name: str = "") -> list[Problem]:
    source = content.encode() if isinstance(content, str) else content
    try:
        return [row for row in open_table(source, name).rows() if isinstance(row, Problem)]
    except RefusedError as refused:
        return [refused.problem]


@pytest.mark.parametrize(
    "content",
    [
        THREE.encode(),
        b"\xef\xbb\xbf" + THREE.encode(),
        THREE.encode("utf-16"),
        b"\xfe\xff" + THREE.encode("utf-16-be"),
        THREE.replace("\r\n", "\r").encode(),
        THREE.replace("\r\n", "\n").encode(),
        ("\r\n\r\n" + THREE).encode(),
        ("sep=,\r\n" + THREE).encode(),
    ],
    ids=["utf8", "bom", "utf16le", "utf16be", "cr", "lf", "blank lines first", "sep"],
)
def test_a_spreadsheet_reads_the_same_in_every_encoding_and_line_ending(content):
    found = rows(content)
    assert [row["id"] for row in found] == ["p1", "p2", "p3"]
    assert found[1]["prompt"] == "Name a river, any river"
    assert found[2]["prompt"] == "Größe in €?"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_told_from_the_header(delimiter):
    others = "38,5 °C; a | b".replace(delimiter, " ")
    found = rows(f"id{delimiter}prompt{delimiter}hard\nx{delimiter}{others}{delimiter}0\n")
    assert found == [{"id": "x", "prompt": others, "hard": "0"}]


def test_a_tsv_keeps_commas_even_in_its_header():
    assert rows("id\tprompt, or text\nx\ta,b\n", "some.tsv") == [{"id": "x", "prompt, or text": "a,b"}]


def test_quoted_cells_keep_quotes_line_ends_and_blanks():
    found = rows(
        'id,prompt\r\np1,"say ""hi"", then\nsecond\r\nthird"\r\n'
        'p2,ends with \\\r\np3,  blanks  \r\np4,5" nail\r\n'
    )
    assert [row["prompt"] for row in found] == [
        'say "hi", then\nsecond\r\nthird',
        "ends with \\",
        "  blanks  ",
        '5" nail',
    ]


def test_a_row_is_known_by_the_line_it_begins_on():
    table = open_table(b'id,prompt\n\np1,"two\nlines"\np2,x\n')
    assert [row.line for row in table.rows()] == [3, 5]


def test_cells_beyond_the_header_are_fine_when_empty():
    assert rows("id,prompt\np1,x,,\n") == [{"id": "p1", "prompt": "x"}]


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        ("id,prompt\np1,x\np2,too,many\n", 3, "3 cells where the header has 2"),
        ("id,prompt,hard\np1,x\n", 2, "2 cells where the header has 3"),
        ('id,prompt\np1,x\np2,"never closed\np3,swallowed\n', 3, "never closed"),
        ('id,prompt\np1,"closed" too early\n', 2, "double the quotes"),
        ("id,prompt\np1," + "x" * (4 * 1024 * 1024 + 1) + "\n", 2, "longer than"),
        ("", None, "empty"),
        ("\ufeff\r\n", None, "empty"),
        ("  \n \n", None, "empty"),
        ("sep=§\nid§prompt\n", 1, "sep="),
        ("{\n", 1, "one JSON object"),
        ("[" * 100_000, 1, "nested too deeply"),
        ('[{"id": "a"}\n {"id": "b"}]', 2, "a comma"),
        ('[{"id": "a"},\n {"id": }]', 2, "isn't JSON at character"),
        ('[{"id": "a"}]\n[]', 2, "follows the end"),
        ('[{"id": "a"},', 1, "isn't JSON"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(content, line, words):
    found = problems(content)[-1]
    assert found.line == line
    assert words in found.reason


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"id": "p2"', "isn't JSON at character"),
        ('["a"]', "this is an array"),
        ('"text"', "this is a text"),
        ("3", "this is a number"),
        ("null", "this is null"),
        ("true", "this is true or false"),
        ('{"id": NaN}', "NaN isn't JSON"),
        ('{"id": -Infinity}', "-Infinity isn't JSON"),
        ('{"id": 1e999}', "too large"),
        ('{"id": 1, "id": 2}', "'id' stands twice"),
        ('{"a": {"b": 1, "b": 2}}', "'b' stands twice"),
        ("[" * 100_000, "nested too deeply"),
        ('{"id": "\xff"}', "0xFF isn't UTF-8"),
        ("9" * 5000, "isn't JSON|limit"),
    ],
)
def test_a_bad_line_of_jsonl_is_named_and_the_others_are_read(line, words):
    content = b'{"id": "p1"}\n' + line.encode("latin-1") + b'\n\n   \n{"id": "p3"}'
    found = list(open_table(content, "x.jsonl").rows())
    assert [row.values["id"] for row in found if isinstance(row, Row)] == ["p1", "p3"]
    (problem,) = [row for row in found if isinstance(row, Problem)]
    assert problem.line == 2
    assert any(word in problem.reason for word in words.split("|"))


def test_an_array_gives_the_same_rows_as_lines_with_their_own_line_numbers():
    table = open_table(b'\n[\n  {"id": "a"},\r\n  {"id":\n "b"}\n , {"id": "c"} ]\n')
    assert [(row.line, row.values["id"]) for row in table.rows()] == [(3, "a"), (4, "b"), (6, "c")]
    assert list(open_table(b"[]").rows()) == []


def workbook(*names: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (workbook("[Content_Types].xml", "xl/workbook.xml"), "Excel workbook"),
        (workbook("a.csv"), "zip archive"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 500, "old Excel"),
        (b"PAR1" + b"\0" * 100, "Parquet"),
        (b"\x1f\x8b\x08\0", "gzip"),
        (b"%PDF-1.7", "PDF"),
        ("id,prompt".encode("utf-32"), "UTF-32"),
        (THREE.encode("utf-16-le"), "UTF-16 without its mark"),
        (b"\x89PNG\r\n\x1a\n", "isn't UTF-8"),
        ("id;prompt\np;x".encode("utf-16")[:-1], "breaks within a character"),
    ],
)
def test_what_is_no_table_is_refused_with_what_to_do(content, words):
    (found,) = problems(content)
    assert words in found.reason


@given(
    st.binary(max_size=300),
    st.sampled_from(["prompts", "responses", "votes"]),
    st.sampled_from(["", "a.tsv", "a.jsonl"]),
)
def test_no_bytes_make_reading_fail(content, kind, name):
    reading = read(kind, content, name)
    assert reading.error_count or reading.rows


@given(st.sampled_from(["", "\ufeff", "sep=;\n", "[", "{", '{"id":']), st.text(max_size=200), st.booleans())
def test_no_text_makes_reading_fail(start, text, wide):
    content = (start + text).encode("utf-16" if wide else "utf-8", "surrogatepass")
    reading = read("prompts", content)
    assert reading.error_count or reading.rows


CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40)


@given(st.lists(CELL.filter(str.strip), min_size=1, max_size=8), st.sampled_from(",;\t|"), st.booleans())
def test_any_text_comes_back_as_it_was_written(texts, delimiter, wide):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(["id", "prompt"])
    writer.writerows([f"p{number}", text] for number, text in enumerate(texts))
    content = out.getvalue().encode("utf-16" if wide else "utf-8")
    reading = read("prompts", content)
    assert [row.turns[0].content for row in reading.rows] == texts


@given(
    st.lists(
        st.dictionaries(st.text(max_size=5), st.text(max_size=20) | st.integers() | st.none(), max_size=3)
    ),
    st.sampled_from(["", " ", "\n", "\r\n", "\r"]),
    st.integers(1, 9),
    st.text(max_size=3),
)
def test_an_array_is_read_the_same_in_pieces_of_any_size(objects, space, size, rest):
    """Where each row is, and what is wrong where, included."""
    plain = json.dumps(objects, ensure_ascii=False).replace("}, {", f"}}{space},{space}{{") + rest
    with pytest.MonkeyPatch.context() as patch:
        found = list(json_rows.array_rows(io.StringIO(plain, newline="")))
        patch.setattr(json_rows, "_CHUNK", size)
        assert list(json_rows.array_rows(io.StringIO(plain, newline=""))) == found
    if not rest.strip(" \t\r\n"):
        assert [row.values for row in found] == objects


def test_a_line_without_an_end_is_refused_before_it_fills_the_memory(monkeypatch):
    monkeypatch.setattr(lines_module, "MAX_LINE", 1000)
    for content in (b"id,prompt\np1," + b"x" * 2000, b'{"a": 1}\n{"b": "' + b"x" * 2000):
        with pytest.raises(RefusedError, match="a line is longer than 1,000"):
            list(open_table(content).rows())


def test_an_item_without_an_end_is_a_problem_before_it_fills_the_memory(monkeypatch):
    monkeypatch.setattr(json_rows, "MAX_LINE", 1000)
    monkeypatch.setattr(json_rows, "_CHUNK", 100)
    assert "no item ends within 1,000" in problems('[{"a": 1},\n{"b": "' + "x" * 9000 + '"}]')[0].reason
