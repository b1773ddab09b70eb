"""What the import pages propose where a file doesn't say how it is to be read, and what they remember."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from arena.corpus.models import Competitor, Prompt, Response
from arena.exchange import uploads
from arena.exchange.models import Import
from tests.exchange.import_pages import confirm, page_of, reread

pytestmark = pytest.mark.django_db

TABLE = (
    "Nr;Frage;Modell Süd;Modell Nord;Länge\n"
    "1;Erkläre den Föhn.;Ein warmer Wind.;Ein Fallwind der Alpen.;12\n"
    "2;Was kostet 1 €?;Das ist Unsinn.;Genau einen Euro.;9\n"
)
AS_PROMPTS = {"encoding": "cp1252", "column-id": "Nr", "column-prompt": "Frage"}


@pytest.fixture(autouse=True)
def own_folder(tmp_path, settings):
    settings.DATA_DIR = tmp_path


@pytest.fixture
def carol(signed_in) -> Client:
    return signed_in("carol")


def upload(visitor: Client, kind: str, content: str | bytes, **fields) -> Import:
    raw = content if isinstance(content, bytes) else content.encode()
    sent = {"target": "Wetter", "file": SimpleUploadedFile("wetter.csv", raw)} | fields
    assert visitor.post(f"/imports/new/?kind={kind}", sent).status_code == 302
    return Import.objects.latest("pk")


@pytest.fixture
def prompts(carol) -> Import:
    return confirm(carol, reread(carol, upload(carol, "prompts", TABLE), **AS_PROMPTS | {"encoding": ""}))


def test_a_table_without_a_name_of_ours_is_recognised_by_the_prompts_that_it_holds(carol, prompts):
    record = upload(carol, "responses", TABLE.replace("Länge", "Laenge"))
    page = page_of(carol, record)
    assert record.state == "refused" and "one column for each model" in page
    assert "How this file is to be read isn't certain" in page
    form = carol.get(reverse("import", args=[record.public_id])).context["form"]
    assert form["model_columns"].initial == ["Modell Süd", "Modell Nord"]
    assert form["column-prompt_id"].initial == "Nr"
    reread(carol, record)
    assert (record.state, record.added) == ("previewed", 4)
    confirm(carol, record)
    assert sorted(Competitor.objects.values_list("name", flat=True)) == ["Modell Nord", "Modell Süd"]


def test_a_file_with_a_column_of_responses_is_no_table_of_models(carol, prompts):
    record = upload(carol, "responses", "prompt_id,response,remark\n1,Warm.,so it is\n")
    form = carol.get(reverse("import", args=[record.public_id])).context["form"]
    assert form.proposal.models == ()
    reason = record.errors[0]["reason"]
    assert "the column model is missing; found: prompt_id, response, remark" in reason
    assert "Name the model whose responses these all are" in reason


def test_prompts_say_that_other_columns_look_like_responses_and_the_same_file_goes_on_to_them(carol):
    record = reread(carol, upload(carol, "prompts", TABLE.encode("cp1252")), **AS_PROMPTS)
    page = page_of(carol, record)
    assert "look like the responses of one model each" in page and "Modell Süd" in page
    assert record.notices[:2] == [
        "columns ignored: Länge",
        "columns that look like responses, no part of the prompts: Modell Süd, Modell Nord",
    ]
    confirm(carol, record)
    assert uploads.is_kept(record) and "Import the responses in the same file" in page_of(carol, record)
    answer = carol.post(reverse("import-onward", args=[record.public_id]))
    following = Import.objects.latest("pk")
    assert answer["Location"] == reverse("import", args=[following.public_id])
    assert (following.kind, following.state, following.added) == ("responses", "previewed", 4)
    confirm(carol, following)
    assert Response.objects.count() == 4
    assert list(uploads.folder().iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "told", "untold"),
    [
        ("prompts", "one column for each model’s responses is welcome too", "other arenas"),
        ("responses", "one column for each model is welcome too", "other arenas"),
        ("votes", "as other arenas publish them", "is welcome too"),
    ],
)
def test_the_upload_page_says_what_becomes_of_other_columns_and_encodings(carol, kind, told, untold):
    page = carol.get(f"/imports/new/?kind={kind}").content.decode()
    assert told in page and "Other columns are named and ignored." in page and untold not in page
    assert "you choose it by how its words look" in page


def test_a_file_that_went_on_already_or_is_no_longer_here_goes_nowhere(carol):
    record = confirm(carol, reread(carol, upload(carol, "prompts", TABLE), **AS_PROMPTS | {"encoding": ""}))
    onward = reverse("import-onward", args=[record.public_id])
    carol.post(onward)
    answer = carol.post(onward, follow=True)
    assert "The file is no longer here" in answer.content.decode()
    assert Import.objects.count() == 2


def test_a_file_of_prompts_alone_is_gone_once_it_is_imported(carol):
    confirm(carol, upload(carol, "prompts", "id,prompt,note\np1,Why is it so?,seen\np2,How is it so?,seen\n"))
    assert list(uploads.folder().iterdir()) == []


def test_the_name_of_the_model_survives_the_choice_of_an_encoding(carol, prompts):
    content = "Über,prompt_id,response\nx,1,Föhn.\nx,2,Süß.\n".encode("cp1252")
    record = upload(carol, "responses", content, model="Ember")
    reread(carol, record, encoding="cp1252")
    assert (record.state, record.options["model"]) == ("previewed", "Ember")
    confirm(carol, record)
    assert set(Response.objects.values_list("competitor__name", "text")) == {
        ("Ember", "Föhn."),
        ("Ember", "Süß."),
    }


def test_the_name_of_the_model_survives_where_nothing_but_the_encoding_can_be_asked(carol, prompts):
    content = "prompt_id,response\n1,Föhn.\n".encode("utf-16-le")
    record = reread(carol, upload(carol, "responses", content, model="Ember"), encoding="utf-16-le")
    assert (record.state, record.options["model"]) == ("previewed", "Ember")


def test_encoding_and_columns_are_chosen_in_one_step_though_the_header_has_odd_letters(carol):
    content = "Nº;Fräge\n1;Föhn?\n".encode("mac-roman")
    record = upload(carol, "prompts", content)
    form = carol.get(reverse("import", args=[record.public_id])).context["form"]
    shown = form.layout.columns
    assert len(shown) == 2 and form.layout.encoding == "cp1252"
    reread(carol, record, encoding="mac-roman", **{"column-id": shown[0], "column-prompt": shown[1]})
    assert (record.state, record.added) == ("previewed", 1)
    confirm(carol, record)
    assert Prompt.objects.get().text == "Föhn?"


def test_choosing_the_encoding_is_the_first_thing_asked_of_an_eight_bit_file(carol):
    record = upload(carol, "prompts", "id,prompt\n1,Föhn?\n".encode("cp1252"))
    page = page_of(carol, record)
    assert '<button class="primary">Check again' in page
    assert 'class="button primary"' not in page and "Upload a mended file" in page
    answer = carol.post(reverse("import-reread", args=[record.public_id]), {})
    assert answer.status_code == 422 and "This field is required" in answer.content.decode()


def test_what_was_chosen_for_a_file_is_remembered_for_its_team_alone(carol, signed_in):
    content = TABLE.encode("cp1252")
    reread(carol, upload(carol, "prompts", content), **AS_PROMPTS)
    again = upload(carol, "prompts", content)
    assert (again.state, again.added) == ("previewed", 2)
    assert "read as was chosen for this file before" in page_of(carol, again)
    reread(carol, again, **{"column-id": "", "column-prompt": "Frage"})
    assert "id" not in again.options["columns"]
    theirs = upload(signed_in("dora"), "prompts", content)
    assert (theirs.state, theirs.options) == ("refused", {})


def test_the_page_for_a_mended_file_has_the_model_filled_in(carol):
    record = upload(carol, "responses", "prompt_id,response\n1,x\n", model="Ember & Co")
    page = page_of(carol, record)
    assert "model=Ember%20%26%20Co" in page
    page = carol.get("/imports/new/?kind=responses&model=Ember%20%26%20Co").content.decode()
    assert 'value="Ember &amp; Co"' in page


def test_a_stranger_takes_no_file_onward(carol, signed_in, client):
    record = confirm(carol, reread(carol, upload(carol, "prompts", TABLE), **AS_PROMPTS | {"encoding": ""}))
    onward = reverse("import-onward", args=[record.public_id])
    assert signed_in("dora").post(onward).status_code == 404
    assert signed_in("ravi").post(onward).status_code in (403, 404)
    assert client.post(onward).status_code == 302
    assert carol.get(onward).status_code == 405
    assert Import.objects.count() == 1
