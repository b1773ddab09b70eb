"""A file that is not understood at once: encoding, delimiter, meaning of columns, one column per model."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.battles.models import Battle, Vote
from arena.corpus.models import Competitor, Prompt, Response
from arena.exchange import uploads
from arena.exchange.formats.columns import COLUMNS, likely_models
from arena.exchange.formats.how import AS_FOUND, How
from arena.exchange.formats.reading import look_at, read
from arena.exchange.imports import plan_import
from arena.exchange.models import Import
from arena.exchange.preview import first_look, layout_of
from arena.exchange.reading_form import ReadingForm
from arena.raters.models import Team
from tests.exchange.import_pages import confirm, page_of, reread

pytestmark = pytest.mark.django_db

GERMAN = "id;prompt;category\np1;Erkläre den Föhn für 38,5 °C;Wetter\np2;Was kostet 1 €?;Geld\n"
PROMPTS = "id,prompt\np1,Why?\np2,How?\n"
WIDE = "prompt,Ember,Fjord 2,note\nWhy?,Because.,*So*,x\nHow?,,Thus.,y\n"


@pytest.fixture(autouse=True)
def own_folder(tmp_path, settings):
    settings.DATA_DIR = tmp_path


@pytest.fixture
def carol(signed_in) -> Client:
    return signed_in("carol")


def upload(
    visitor: Client, kind: str, target: str, content: str | bytes, name="file.csv", **fields
) -> Import:
    file = SimpleUploadedFile(name, content if isinstance(content, bytes) else content.encode())
    answer = visitor.post(f"/imports/new/?kind={kind}", {"target": target, "file": file} | fields)
    assert answer.status_code == 302
    return Import.objects.latest("pk")


# --- encoding and delimiter -------------------------------------------------------------------------------


def test_an_eight_bit_file_is_refused_with_its_words_in_each_encoding_and_comes_in_once_one_is_chosen(carol):
    record = upload(carol, "prompts", "Wetter", GERMAN.encode("cp1252"))
    page = page_of(carol, record)
    assert record.state == "refused" and "isn't UTF-8" in page
    assert "CSV, UTF-8" not in page and "new prompt set" not in page
    assert "Windows-1252" in page and "Erkläre" in page and "Erkl‰re" in page
    reread(carol, record, encoding="cp1252")
    assert (record.state, record.description) == ("previewed", "CSV, Windows-1252, separated by semicolon")
    confirm(carol, record)
    assert [prompt.text for prompt in Prompt.objects.order_by("pk")] == [
        "Erkläre den Föhn für 38,5 °C",
        "Was kostet 1 €?",
    ]


def test_bytes_that_the_chosen_encoding_does_not_know_are_refused(carol):
    record = upload(carol, "prompts", "Wetter", b"id,prompt\np1,\x81\xff\n")
    reread(carol, record, encoding="cp1252")
    assert record.state == "refused" and "breaks within a character" in record.errors[0]["reason"]


def test_utf_16_without_its_mark_comes_in_once_it_is_named(carol):
    record = upload(carol, "prompts", "Wetter", GERMAN.encode("utf-16-le"))
    assert record.state == "refused" and "UTF-16 without its mark" in record.errors[0]["reason"]
    reread(carol, record, encoding="utf-16-le")
    assert confirm(carol, record).added == 2


def test_a_delimiter_can_be_named(carol):
    record = upload(carol, "prompts", "Bars", "id|prompt,a,b,c\np1|one,two,three,four\n")
    assert record.state == "refused"
    reread(carol, record, delimiter="|", **{"column-id": "", "column-prompt": ""})
    assert record.state == "refused"
    reread(carol, record, delimiter="|", **{"column-id": "id", "column-prompt": "prompt,a,b,c"})
    confirm(carol, record)
    assert Prompt.objects.get().text == "one,two,three,four"


def test_an_unknown_encoding_or_delimiter_is_refused_by_the_form(carol):
    record = upload(carol, "prompts", "Start", PROMPTS)
    for field, value in (("encoding", "klingon"), ("delimiter", "x"), ("column-prompt", "nowhere")):
        answer = carol.post(reverse("import-reread", args=[record.public_id]), {field: value})
        assert answer.status_code == 422 and "Select a valid choice" in answer.content.decode()
    record.refresh_from_db()
    assert (record.state, record.options) == ("previewed", {})


# --- the meaning of columns -------------------------------------------------------------------------------


def test_columns_by_other_names_come_in_once_their_meaning_is_chosen(carol):
    content = "Nummer,Frage,Thema\n7,Warum?,x\n8,Wie?,y\n"
    record = upload(carol, "prompts", "Fragen", content)
    assert record.state == "refused" and "the column prompt or messages is missing" in page_of(carol, record)
    reread(carol, record, **{"column-id": "Nummer", "column-prompt": "Frage", "column-category": "Thema"})
    assert record.state == "previewed" and "Warum?" in page_of(carol, record)
    confirm(carol, record)
    assert list(Prompt.objects.values_list("external_id", "category")) == [("7", "x"), ("8", "y")]


def test_one_column_has_one_meaning(carol):
    record = upload(carol, "prompts", "Start", PROMPTS)
    data = {"column-prompt": "prompt", "column-reference": "prompt"}
    answer = carol.post(reverse("import-reread", args=[record.public_id]), data)
    assert answer.status_code == 422 and "is chosen twice" in answer.content.decode()


def test_a_column_can_be_left_out(carol):
    record = upload(carol, "prompts", "Start", "id,prompt,hard\np1,Why?,perhaps\n")
    assert record.state == "refused" and record.errors[0]["column"] == "hard"
    reread(carol, record, **{"column-hard": ""})
    assert confirm(carol, record).added == 1
    assert Prompt.objects.get().is_hard is None


def test_the_keys_of_json_are_columns_too(carol):
    record = upload(carol, "prompts", "Start", '[{"q": "Why?"}, {"q": "How?", "c": "x"}]', "q.json")
    reread(carol, record, **{"column-prompt": "q", "column-category": "c"})
    assert confirm(carol, record).added == 2


def test_how_a_file_is_read_opens_only_where_that_is_the_question(carol):
    in_doubt = page_of(carol, upload(carol, "prompts", "Wetter", GERMAN.encode("cp1252")))
    assert "<details open><summary>Encoding, columns" in in_doubt
    elsewhere = page_of(carol, upload(carol, "prompts", "Start", "id,prompt\np1,\n"))
    assert "<details><summary>Encoding, columns" in elsewhere and "new prompt set" not in elsewhere


def test_a_name_that_is_too_long_is_told_in_our_words(carol):
    file = SimpleUploadedFile("x" * 300 + ".csv", PROMPTS.encode())
    answer = carol.post("/imports/new/?kind=prompts", {"target": "S" * 130, "file": file})
    page = answer.content.decode()
    assert "Give a shorter name: its length is 130, at most 120." in page and "Ensure" not in page


def test_the_format_of_votes_can_be_named(carol):
    content = "model_a,model_b,winner,anony\nx,y,tie,1\n"
    record = upload(carol, "votes", "old", content)
    assert record.notices[0] == "read as FastChat's clean battles"
    reread(carol, record, format="canonical")
    assert confirm(carol, record).added == 1
    assert Vote.objects.count() == 1


def test_raters_can_be_called_judges(carol):
    record = upload(carol, "votes", "old", "model_a,model_b,winner,judge\nx,y,model_a,some LLM\n")
    reread(carol, record, whose_votes="judges")
    confirm(carol, record)
    assert not Vote.objects.exists() and Battle.objects.get().judgments.count() == 1


def test_a_file_that_is_gone_says_so(carol):
    record = upload(carol, "prompts", "Start", PROMPTS)
    uploads.path_of(record).unlink()
    answer = carol.post(reverse("import-reread", args=[record.public_id]), {}, follow=True)
    assert "The file is no longer here" in answer.content.decode()


def test_what_is_stored_already_is_not_read_again(carol):
    record = confirm(carol, upload(carol, "prompts", "Start", PROMPTS))
    carol.post(reverse("import-reread", args=[record.public_id]), {"encoding": "cp1252"})
    record.refresh_from_db()
    assert record.state == "done"


# --- one file per model, one column per model -------------------------------------------------------------


def test_a_file_of_one_model_is_told_whose_it_is_at_the_upload_or_later(carol):
    confirm(carol, upload(carol, "prompts", "Start", PROMPTS))
    first = upload(carol, "responses", "Start", "prompt,response\nWhy?,Because.\n", model="Ember")
    confirm(carol, first)
    second = upload(carol, "responses", "Start", "prompt_id,response\np1,So.\np2,Thus.\n")
    assert second.state == "refused" and "the column model is missing" in second.errors[0]["reason"]
    confirm(carol, reread(carol, second, model="Fjord"))
    found = Response.objects.order_by("pk").values_list("competitor__name", "prompt__external_id")
    assert list(found) == [("Ember", "p1"), ("Fjord", "p1"), ("Fjord", "p2")]


def test_a_table_with_one_column_per_model_is_offered_and_comes_in(carol):
    confirm(carol, upload(carol, "prompts", "Start", PROMPTS))
    record = upload(carol, "responses", "Start", WIDE)
    assert record.state == "refused"
    page = page_of(carol, record)
    assert "Columns that hold one model" in page and 'value="Fjord 2"' in page
    reread(carol, record, model_columns=["Ember", "Fjord 2"])
    assert (record.state, record.added) == ("previewed", 3)
    page = page_of(carol, record)
    assert "<em>So</em>" in page and "columns ignored: note" in page
    assert "1 row skipped because a model's column holds no text there" in page
    confirm(carol, record)
    found = Response.objects.order_by("pk").values_list("prompt__external_id", "competitor__name", "text")
    assert list(found) == [("p1", "Ember", "Because."), ("p1", "Fjord 2", "*So*"), ("p2", "Fjord 2", "Thus.")]


def test_an_error_in_a_models_column_names_that_column():
    reading = read("responses", b'{"prompt": "x", "A": "y", "B": 5}', how=How(model_columns=("A", "B")))
    assert [(problem.line, problem.column) for problem in reading.errors] == [(1, "B")]


def test_a_models_column_that_is_not_there_is_refused():
    reading = read("responses", WIDE.encode(), how=How(model_columns=("Nobody",)))
    assert "the file has no column 'Nobody'" in str(reading.errors[0])


@pytest.mark.parametrize(
    ("headers", "models"),
    [
        ("prompt,Ember,Fjord", ("Ember", "Fjord")),
        ("id,prompt,category,Ember,hard", ("Ember",)),
        ("prompt,model,response", ()),
        ("prompt,response,Ember", ()),
        ("x,y,z", ()),
        ("prompt,,Ember", ("Ember",)),
    ],
)
def test_which_columns_may_be_models(headers, models):
    assert likely_models(headers.split(",")) == models


# --- by command -------------------------------------------------------------------------------------------


def test_the_commands_take_the_same_choices(tmp_path, capsys):
    (tmp_path / "german.csv").write_bytes("Nr;Frage\n1;Fön?\n2;Café?\n".encode("cp1252"))
    (tmp_path / "wide.csv").write_text("prompt_id,Ember,Fjord\n1,a,b\n2,c,d\n")
    columns = ("--column", "id=Nr", "--column", "prompt=Frage")
    german = str(tmp_path / "german.csv")
    call_command("import_prompts", german, "--set", "S", "--encoding", "cp1252", "--delimiter", ";", *columns)
    assert [prompt.text for prompt in Prompt.objects.order_by("pk")] == ["Fön?", "Café?"]
    models = ("--model-column", "Ember", "--model-column", "Fjord")
    call_command("import_responses", str(tmp_path / "wide.csv"), "--set", "S", *models)
    assert Response.objects.count() == 4 and Competitor.objects.count() == 2


@pytest.mark.parametrize("told", ["prompt", "nonsense=x", "=x", "prompt="])
def test_a_column_that_says_nothing_is_refused(tmp_path, told):
    (tmp_path / "file.csv").write_text(PROMPTS)
    with pytest.raises(CommandError, match="write one of id, prompt"):
        call_command("import_prompts", str(tmp_path / "file.csv"), "--set", "S", "--column", told)


def test_a_command_points_out_personal_data(tmp_path, capsys):
    (tmp_path / "file.csv").write_text("id,prompt\np1,Write to jo@example.org\n")
    call_command("import_prompts", str(tmp_path / "file.csv"), "--set", "S")
    assert "likely e-mail addresses in 1 text: p1: line 2, prompt" in capsys.readouterr().out


# --- what the page says besides ---------------------------------------------------------------------------


def test_likely_personal_data_is_pointed_out_and_no_reason_to_refuse(carol):
    content = "id,prompt\np1,Write to jo@example.org or +44 20 7946 0018\np2,Pay with 4111 1111 1111 1111\n"
    record = upload(carol, "prompts", "Start", content)
    page = page_of(carol, record)
    assert "likely e-mail addresses in 1 text: p1: line 2, prompt" in page
    assert "likely phone numbers in 1 text: p1: line 2, prompt" in page
    assert "likely card numbers in 1 text: p2: line 3, prompt" in page
    assert confirm(carol, record).added == 2


def test_all_errors_can_be_downloaded(carol):
    rows = "".join(f"p{number},\n" for number in range(150))
    record = upload(carol, "prompts", "Start", f"id,prompt\n{rows}=x,\n")
    page = page_of(carol, record)
    assert page.count("is empty") == 100 and "and 51 more" in page
    answer = carol.get(reverse("import-errors", args=[record.public_id]))
    content = b"".join(answer.streaming_content).decode("utf-8-sig")
    assert answer["Content-Disposition"] == 'attachment; filename="errors.csv"'
    assert len(content.splitlines()) == 152
    assert content.splitlines()[:2] == ["line,column,reason", "2,prompt,is empty"]


def test_a_file_in_order_has_no_errors_to_download(carol):
    record = upload(carol, "prompts", "Start", PROMPTS)
    assert carol.get(reverse("import-errors", args=[record.public_id])).status_code == 404
    assert [path.name for path in uploads.folder().iterdir()] == [record.stored_as]


# --- whatever comes ---------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(
    st.binary(max_size=300)
    | st.text(max_size=200).map(lambda text: f"{WIDE}{text}".encode("utf-8", "ignore")),
    st.sampled_from(sorted(COLUMNS)),
    st.data(),
)
def test_no_file_however_it_is_to_be_read_makes_the_page_fail(content, kind, data):
    """The layout, the form and the preview of whatever it is, read as whatever one may choose."""
    how = data.draw(
        st.builds(
            How,
            format=st.sampled_from(["auto", "canonical", "arena_140k", "fastchat_log"]),
            model=st.sampled_from(["", "Ember"]),
            columns=st.none()
            | st.dictionaries(
                st.sampled_from(list(COLUMNS[kind])), st.sampled_from(["prompt", "Ember", "x", ""])
            ),
            model_columns=st.lists(st.sampled_from(["Ember", "Fjord 2", "x"]), unique=True).map(tuple),
            encoding=st.sampled_from(["", "utf-8", "cp1252", "mac-roman", "utf-16-le", "utf-16-be", "odd"]),
            delimiter=st.sampled_from(["", ",", ";", "\t", "|", "x"]),
        )
    )
    record = Import(kind=kind, team=Team.default(), target="x", file_name="f", stored_as="upload")
    record.options = how.as_json()
    uploads.path_of(record).write_bytes(content)
    assert How.from_json(record.options) == how
    form = ReadingForm(None, kind=kind, layout=layout_of(record), how=how)
    assert form.as_p()
    assert isinstance(first_look(record), list)
    plan = plan_import(kind, record.team, "x", uploads.path_of(record), "f", how=how)
    assert plan.error_count or plan.rows or plan.skipped
    assert not Prompt.stored.exists()


def test_a_layout_tells_what_the_columns_mean():
    found = look_at("responses", b"Prompt ID;Text;Competitor;note\n", "r.csv", AS_FOUND)
    assert found.meanings == {"prompt_id": "Prompt ID", "response": "Text", "model": "Competitor"}
    assert (found.columns[-1], found.delimiter, found.models) == ("note", ";", ())
