from io import StringIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from arena.corpus.label_models import LabelChange
from arena.corpus.models import Prompt, PromptSet
from arena.exchange.formats.problems import RefusedError
from arena.exchange.import_labels import apply, check
from arena.raters.models import Team

pytestmark = pytest.mark.django_db


@pytest.fixture
def prompt_set(db) -> PromptSet:
    made = PromptSet.objects.create(team=Team.default(), name="Start", status="published")
    for name in ("p1", "p2", "7"):
        Prompt.objects.create(
            prompt_set=made, external_id=name, messages=[{"role": "user", "content": "?"}], creativity=True
        )
    return made


def labels(prompt_set: PromptSet) -> dict[str, tuple]:
    rows = prompt_set.prompts.values_list("external_id", "is_hard", "creativity", "complexity")
    return {name: flags for name, *flags in rows}


def test_a_table_sets_the_labels_it_names_and_leaves_the_rest(prompt_set):
    checked = check(prompt_set, b"prompt_id;Hard;complexity;note\np1;1;;x\np2;;no;y\n", "labels.csv")
    assert checked.is_sound and apply(checked, "carol") == 2
    assert labels(prompt_set) == {
        "p1": [True, True, None],
        "p2": [None, True, False],
        "7": [None, True, None],
    }
    assert set(LabelChange.objects.values_list("source", "by")) == {("file", "carol")}
    assert apply(checked, "carol") == 0


def test_json_lines_do_too(prompt_set):
    lines = b'{"id": 7, "is_hard": false}\n{"id": "p1", "creativity": true, "complexity": null}\n'
    assert apply(check(prompt_set, lines, "labels.jsonl"), "") == 1
    assert labels(prompt_set)["7"] == [False, True, None]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("id,hard\np1,1\np9,1\n", "line 3, column id: “Start v1” holds no prompt 'p9'"),
        ("id,hard\np1,1\np1,0\n", "line 3, column id: stands on line 2 already"),
        ("id,hard\np1,maybe\n", 'line 2, column is_hard: "maybe" is neither yes nor no'),
        ("id,hard\n,1\n", "line 2, column id: is empty"),
    ],
)
def test_one_wrong_row_and_nothing_is_changed(prompt_set, signed_in, table, words):
    before = labels(prompt_set)
    file = SimpleUploadedFile("labels.csv", table.encode())
    page = signed_in("carol").post(f"/prompt-sets/{prompt_set.pk}/labels/file/", {"file": file})
    assert page.status_code == 422
    checked = check(prompt_set, table.encode(), "labels.csv")
    assert words in str(checked.errors[0]) and checked.error_count == 1
    with pytest.raises(ValueError, match="with errors"):
        apply(checked, "")
    assert labels(prompt_set) == before


@pytest.mark.parametrize("table", ["id,note\np1,x\n", "hard\n1\n", "", "id,hard\n", "\x00\x01"])
def test_a_file_without_ids_or_labels_is_refused_with_words(prompt_set, signed_in, table):
    with pytest.raises(RefusedError):
        check(prompt_set, table.encode(), "labels.csv")
    file = SimpleUploadedFile("labels.csv", table.encode())
    page = signed_in("carol").post(f"/prompt-sets/{prompt_set.pk}/labels/file/", {"file": file})
    assert page.status_code == 422 and "errorlist" in page.content.decode()


def test_an_admin_uploads_labels_on_the_page(prompt_set, signed_in):
    file = SimpleUploadedFile("labels.csv", b"id,hard\np1,1\n")
    path = f"/prompt-sets/{prompt_set.pk}/labels/file/"
    page = signed_in("carol").post(path, {"file": file}, follow=True).content.decode()
    assert "1 prompt has another label" in page and labels(prompt_set)["p1"][0] is True
    assert signed_in("ravi").get(path).status_code == signed_in("dora").get(path).status_code == 404


def test_the_command_sets_them_and_names_what_is_wrong(prompt_set, tmp_path):
    file = tmp_path / "labels.csv"
    file.write_text("id,hard\np1,1\n")
    out = StringIO()
    call_command("import_labels", str(file), "--set", "Start", stdout=out)
    assert "1 prompt of" in out.getvalue()
    file.write_text("id,hard\np1,perhaps\n")
    with pytest.raises(CommandError, match="neither yes nor no"):
        call_command("import_labels", str(file), "--set", "Start")
    for arguments in ([str(tmp_path / "none.csv"), "--set", "Start"], [str(file), "--set", "None"]):
        with pytest.raises(CommandError, match="There is no"):
            call_command("import_labels", *arguments)
