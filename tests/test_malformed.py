"""What can't be read or stored is refused with words: 400, 404, 410, 413, 415 or 422, and nothing changes."""

import json
import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from arena.exchange.limits import ELSEWHERE, OF_A_STRANGERS_FORM
from arena.exchange.models import Import
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.models import Leaderboard
from arena.row_numbers import as_id

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parent.parent
REFUSED = {400, 404, 410, 413, 415, 422}
LONG = "9" * 5000


@pytest.fixture
def carol(signed_in, small_campaign):
    ensure_leaderboards(small_campaign.campaign)
    Leaderboard.objects.update(visibility="public")
    return signed_in("carol")


@pytest.mark.parametrize(
    "path",
    [
        "/join/%00/",
        "/api/v1/leaderboards/%00/",
        "/api/v1/schema/?version=%00",
        "/boards/small/model/?name=%00",
        "/boards/small/model/?na%00me=x",
        "/judging/new/?campaign=%00",
        "/judging/new/?which=all&campaign=%00",
        "/rubrics/new/?guide=%00",
        "/accounts/login/?next=/%00",
    ],
)
def test_an_address_with_u0000_is_refused_with_words(carol, path):
    answer = carol.get(path)
    assert answer.status_code == 400
    assert "U+0000" in answer.content.decode()
    kind = "application/json" if path.startswith("/api/") else "text/html"
    assert answer["Content-Type"].startswith(kind)


@pytest.mark.parametrize(
    "path",
    [
        "/accounts/tokens/%00/revoke/",
        "/campaigns/small/invites/new/",
        "/accounts/login/",
        "/prompt-sets/new/",
    ],
)
def test_a_form_with_u0000_is_refused_with_words(carol, path):
    answer = carol.post(path, {"label": "a\0b", "username": "a\0b", "name": "a\0b"})
    assert answer.status_code == 400
    assert "U+0000" in answer.content.decode()


def test_a_cookie_with_u0000_is_refused(client):
    client.cookies.load('sessionid="aaaaaaaa\\000aaaaaaaa"')
    assert "\0" in client.cookies["sessionid"].value
    assert client.get("/", HTTP_COOKIE='sessionid="aaaaaaaa\\000aaaaaaaa"').status_code == 400


def test_a_form_of_a_forger_is_refused_as_a_forgery_before_it_is_read():
    answer = Client(enforce_csrf_checks=True).post("/accounts/login/", {"username": "a\0b"})
    assert answer.status_code == 403


@pytest.mark.parametrize("header", ["\0", "\ud800"])
def test_a_column_of_the_api_whose_name_cant_be_stored_is_refused(carol, header):
    file = SimpleUploadedFile("p.csv", b"id,prompt\np1,x\n")
    fields = {"kind": "prompts", "target": "Start", "file": file, "columns": json.dumps({"id": header})}
    answer = carol.post("/api/v1/imports/", fields)
    assert answer.status_code == 400 and "remove it" in answer.content.decode()
    assert not Import.objects.exists()


@pytest.mark.parametrize("columns", ["[" * 5000 + "]" * 5000, '{"id":' * 5000 + "1" + "}" * 5000, LONG])
def test_columns_of_the_api_that_no_reader_holds_are_refused(carol, columns):
    file = SimpleUploadedFile("p.csv", b"id,prompt\np1,x\n")
    fields = {"kind": "prompts", "target": "Start", "file": file, "columns": columns}
    answer = carol.post("/api/v1/imports/", fields)
    assert answer.status_code == 400 and "columns" in answer.json()
    assert not Import.objects.exists()


@pytest.mark.parametrize("version", ["1%0d%0aSet-Cookie:a=b", "x" * 3000, "%22;x", ""])
def test_the_schema_puts_no_visitors_text_into_its_headers(client, version):
    answer = client.get(f"/api/v1/schema/?version={version}")
    assert answer.status_code == 200
    assert answer["Content-Disposition"] == 'inline; filename="Tiltyard.yaml"'
    assert "Set-Cookie" not in answer


@pytest.mark.parametrize("charset", ["utf-16", "utf-7", "utf-32", "rot13", "no-such", ""])
@pytest.mark.parametrize("path", ["/accounts/login/", "/api/v1/imports/"])
def test_a_body_in_another_encoding_is_refused(path, charset):
    client = Client(enforce_csrf_checks=True)
    client.get("/accounts/login/")
    kind = f"application/x-www-form-urlencoded; charset={charset}"
    answer = client.generic("POST", path, b"username=a&password=b", kind)
    assert answer.status_code in ({415} if charset else {403, 415, 401})


@pytest.mark.parametrize("charset", ["utf-8", "UTF8", '"utf-8"', "us-ascii"])
def test_a_body_that_says_its_utf_8_is_read(client, cast, charset):
    kind = f"application/x-www-form-urlencoded; charset={charset}"
    answer = client.generic("POST", "/accounts/login/", b"username=a&password=b", kind)
    assert answer.status_code == 200 and "correct" in answer.content.decode()


def test_a_user_name_that_no_account_can_have_is_refused_by_the_form(client, cast, settings):
    settings.AXES_ENABLED = True
    answer = client.post("/accounts/login/", {"username": "a" * 300, "password": "x"})
    assert answer.status_code == 200 and "at most 150" in answer.content.decode()
    assert User.objects.count() == 6


@pytest.mark.parametrize("number", [LONG, "٣", "²", "9" * 19, "-1", "1_0"])
def test_no_page_fails_at_what_is_no_number_of_a_row(carol, small_campaign, number):
    of_set = f"/prompt-sets/{small_campaign.prompt_set.pk}"
    board = Leaderboard.objects.first()
    for path in (
        f"{of_set}/compare/?with={number}",
        f"/rubrics/new/?from={number}",
        f"/campaigns/small/guide/edit/?version={number}",
        f"/boards/small/snapshots/diff/?board={board.slug}&before={number}",
    ):
        assert carol.get(path).status_code in {200, *REFUSED}, path
    for path, fields in (
        (f"{of_set}/labels/check/", {"prompt": number}),
        (f"{of_set}/labels/", {"prompt": number, "is_hard": "1"}),
        ("/campaigns/small/invites/revoke/", {"invite": number}),
        (f"{of_set}/prompts/new/", {"turn-TOTAL_FORMS": number, "act": "more"}),
    ):
        assert carol.post(path, fields).status_code in {200, 302, *REFUSED}, path


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("17", 17), ("9" * 18, 10**18 - 1), ("9" * 19, None), ("٣", None), ("²", None)]
    + [(text, None) for text in ("", " 1", "1 ", "1\n", "-1", "+1", "1_0", "1.0", LONG)],
)
def test_a_number_of_a_row_is_plain_digits_that_a_column_holds(text, number):
    assert as_id(text) == number


def test_nothing_else_asks_a_text_whether_it_is_a_number():
    bare = re.compile(r"\.is(decimal|digit|numeric)\(")
    files = [path for path in (ROOT / "arena").rglob("*.py") if "migrations" not in path.parts]
    # It imports nothing of the rest, and reads its own command line.
    told = {path.name for path in files if bare.search(path.read_text())} - {"local_llm.py"}
    assert len(files) > 100 and told == set()


def test_a_large_body_is_taken_where_files_are_and_refused_elsewhere_before_it_is_read(client, cast):
    length = {"CONTENT_LENGTH": str(ELSEWHERE + 1)}
    for path in ("/accounts/login/", "/join/x/", "/prompt-sets/new/", "/no/such/page/"):
        answer = client.generic("POST", path, b"", "multipart/form-data; boundary=x", **length)
        assert answer.status_code == 413 and "8 MB" in answer.content.decode(), path
    for path in ("/imports/new/", "/prompt-sets/1/labels/file/"):
        answer = client.generic("POST", path, b"", "multipart/form-data; boundary=x", **length)
        assert answer.status_code == 302 and answer["Location"].startswith("/accounts/login/"), path


FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    "path", ["/language/", "/join/x/", "/accounts/login/", "/no/such/page/", "/api/v1/imports/"]
)
def test_a_long_form_of_a_strangers_is_refused_before_it_is_read(client, cast, path):
    """Of two million "%" Python would make 460 MB before it is asked whether the page takes them."""
    answer = client.generic("POST", path, CONTENT_TYPE=FORM, CONTENT_LENGTH=str(OF_A_STRANGERS_FORM + 1))
    assert answer.status_code == 413 and "64 kB" in answer.content.decode()


def test_a_rater_is_a_stranger_and_whoever_is_signed_in_writes_long_texts(client, carol, small_campaign):
    content = urlencode({"guide": "雪" * 40_000}).encode()
    assert len(content) > 5 * OF_A_STRANGERS_FORM
    rater = client.post(f"/join/{small_campaign.token}/")
    assert rater.status_code == 302 and client.get(rater["Location"]).status_code == 200
    battle = rater["Location"]
    assert client.post(battle, content, FORM).status_code == 413
    assert carol.post("/no/such/page/", content, FORM).status_code == 404


@pytest.mark.parametrize("length", ["9" * 5000, "-1", "x"])
def test_a_length_that_is_none_is_refused(client, length):
    answer = client.generic(
        "POST", "/accounts/login/", b"", "multipart/form-data; boundary=x", CONTENT_LENGTH=length
    )
    assert answer.status_code in {400, 413}


def test_whoever_is_signed_in_sends_a_large_file(carol):
    row = b"p%d," + b"x" * 1000 + b"\n"
    content = b"id,prompt\n" + b"".join(row % number for number in range(9000))
    assert len(content) > ELSEWHERE
    file = SimpleUploadedFile("p.csv", content)
    answer = carol.post("/imports/new/?kind=prompts", {"target": "Large", "file": file})
    assert answer.status_code == 302 and Import.objects.get().file_size == len(content)
