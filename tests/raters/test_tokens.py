"""Tokens by which programs act for a person."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.contrib.auth.hashers import make_password
from django.core.files.base import ContentFile
from django.test import Client
from django.urls import resolve
from django.utils import timezone
from knox.models import AuthToken

from arena.corpus.models import PromptSet
from arena.raters.models import TokenName
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db

ADDRESS = "/accounts/tokens/"


def make(visitor: Client, name: str = "nightly import") -> str:
    answer = visitor.post(ADDRESS, {"name": name, "days": 30})
    assert answer.status_code == 200
    return re.search(r">(tilt_[0-9a-f]{64})</textarea>", answer.content.decode())[1]


def asks(token: str) -> int:
    """What a program with the token is answered."""
    return Client().get("/api/v1/campaigns/", headers={"Authorization": f"Token {token}"}).status_code


def test_a_token_is_shown_once_stored_as_a_hash_and_admits_its_owner(signed_in):
    alice = signed_in("alice")
    token = make(alice)
    assert asks(token) == 200
    assert token not in alice.get(ADDRESS).content.decode()
    stored = AuthToken.objects.get()
    assert token not in {stored.digest, stored.token_key}
    assert stored.expiry - timezone.now() < timedelta(days=30, minutes=1)


def test_a_revoked_token_admits_nobody(signed_in):
    alice = signed_in("alice")
    token, other = make(alice), make(alice)
    answer = alice.post(f"{ADDRESS}{token[:15]}/revoke/", follow=True)
    assert "The token is revoked" in answer.content.decode()
    assert (asks(token), asks(other)) == (403, 200)


def test_nobody_revokes_the_token_of_another(signed_in):
    token = make(signed_in("alice"))
    assert signed_in("mallory").post(f"{ADDRESS}{token[:15]}/revoke/").status_code == 302
    assert asks(token) == 200


def test_an_old_token_admits_nobody_and_is_not_listed(signed_in):
    alice = signed_in("alice")
    token = make(alice)
    AuthToken.objects.update(expiry=timezone.now() - timedelta(seconds=1))
    assert token[:15] not in alice.get(ADDRESS).content.decode()
    assert asks(token) == 403


def test_a_token_of_someone_who_may_no_longer_sign_in_admits_nobody(signed_in, cast):
    token = make(signed_in("alice"))
    cast.alice.is_active = False
    cast.alice.save()
    assert asks(token) == 403


@pytest.mark.parametrize("token", ["", "x", "tilt_" + "0" * 64, "é", "a\x00b", "a b", "tilt_" * 1000])
def test_what_is_no_token_admits_nobody(signed_in, token):
    make(signed_in("alice"))
    assert asks(token) == 403


def test_nobody_has_more_than_twenty(signed_in, cast):
    for _ in range(20):
        AuthToken.objects.create(user=cast.alice)
    answer = signed_in("alice").post(ADDRESS, {"name": "one more", "days": 30})
    assert answer.status_code == 422 and "revoke one first" in answer.content.decode()
    assert AuthToken.objects.count() == 20


@pytest.mark.parametrize("days", ["", "7", "x", "9" * 30])
def test_only_the_offered_times_are_valid(signed_in, days):
    assert signed_in("alice").post(ADDRESS, {"name": "odd", "days": days}).status_code == 422
    assert not AuthToken.objects.exists()


def test_a_stranger_is_sent_to_sign_in(client):
    for address in (ADDRESS, f"{ADDRESS}x/revoke/"):
        assert client.post(address)["Location"].startswith("/accounts/login/")


def test_a_new_password_ends_the_tokens_and_a_new_hash_of_the_old_one_doesnt(cast, settings):
    hashers = "django.contrib.auth.hashers."
    settings.PASSWORD_HASHERS = [f"{hashers}MD5PasswordHasher", f"{hashers}PBKDF2PasswordHasher"]
    AuthToken.objects.create(user=cast.carol)
    AuthToken.objects.create(user=cast.ravi)
    cast.carol.password = make_password(PASSWORD, hasher="pbkdf2_sha256")
    cast.carol.save()
    assert cast.carol.check_password(PASSWORD), "which stores it by the present hasher"
    assert AuthToken.objects.filter(user=cast.carol).exists()
    cast.carol.set_password("another-lance-8")
    cast.carol.save()
    assert list(AuthToken.objects.values_list("user", flat=True)) == [cast.ravi.pk]


def commands(visitor: Client) -> list[str]:
    """The addresses and forms of the page's examples, as a program would send them."""
    page = unescape(visitor.get(ADDRESS).content.decode())
    return [
        " ".join(code.replace("\\\n", " ").split())
        for code in re.findall(r"<pre><code>(.*?)</code>", page, re.DOTALL)
    ]


def test_the_example_of_an_import_stores_what_the_file_holds(signed_in, cast):
    carol = signed_in("carol")
    token = {"Authorization": f"Token {make(carol)}"}
    at_once, confirming, _board = commands(carol)
    fields = dict(re.findall(r'-F (\w+)="?([^"@]+?)"?(?= -F| http)', at_once))
    assert fields == {"kind": "prompts", "target": "Support questions", "confirm": "true"}
    path = at_once.partition("testserver")[2]
    program = Client(headers=token)
    for said, state in ((fields, "done"), (fields | {"target": "Others", "confirm": "false"}, "previewed")):
        file = ContentFile(b"id,prompt\nq1,Why?\n", name="prompts.csv")
        answer = program.post(path, said | {"file": file})
        assert (answer.status_code, answer.json()["state"]) == (201, state)
    confirm = confirming.partition("testserver")[2].replace("ID", answer.json()["id"])
    assert program.post(confirm).json()["state"] == "done"
    assert sorted(PromptSet.objects.values_list("name", flat=True)) == ["Others", "Support questions"]


def test_who_may_not_import_is_shown_how_a_board_is_read(signed_in):
    ravi = signed_in("ravi")
    token = {"Authorization": f"Token {make(ravi)}"}
    (board,) = commands(ravi)
    listed, one = (part.split()[0] for part in board.split("testserver")[1:])
    program = Client(headers=token)
    assert program.get(listed).status_code == 200
    assert resolve(one.replace("SLUG", "spring-overall")).url_name == "latest-table"


def test_tokens_are_told_apart_by_the_names_their_owner_gave(signed_in):
    alice = signed_in("alice")
    first = make(alice, "nightly import")
    make(alice, "notebook")
    page = alice.get(ADDRESS).content.decode()
    row = re.search(r"<tr><th scope=\"row\"><bdi>nightly import</bdi></th><td><code>(\w+)</code>", page)
    assert row[1] == first[:15]
    alice.post(f"{ADDRESS}{row[1]}/revoke/")
    page = alice.get(ADDRESS).content.decode()
    assert "notebook" in page and "nightly import" not in page
    assert list(TokenName.objects.values_list("name", flat=True)) == ["notebook"]


def test_a_token_made_before_there_were_names_is_listed_by_its_beginning(signed_in, cast):
    token, _shown = AuthToken.objects.create(user=cast.alice)
    assert token.token_key in signed_in("alice").get(ADDRESS).content.decode()


@pytest.mark.parametrize("name", ["", " ", "x" * 81])
def test_a_token_without_a_fitting_name_is_not_made(signed_in, name):
    assert signed_in("alice").post(ADDRESS, {"name": name, "days": 30}).status_code == 422
    assert not AuthToken.objects.exists()
