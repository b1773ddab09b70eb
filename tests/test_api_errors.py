"""Whatever a program does wrong at any address below /api/ is told in JSON, in words."""

import re

import pytest
from django.core.cache import caches
from django.core.exceptions import SuspiciousOperation
from django.test import Client
from django.urls import URLPattern, get_resolver

from arena.exchange.limits import ELSEWHERE

pytestmark = pytest.mark.django_db
FORM = "multipart/form-data; boundary=x"


def patterns(resolver=None, prefix: str = "/") -> list[str]:
    found: list[str] = []
    for entry in (resolver or get_resolver()).url_patterns:
        path = prefix + str(entry.pattern)
        found += [path] if isinstance(entry, URLPattern) else patterns(entry, path)
    return found


def addresses() -> list[str]:
    """Every address of the API, with the number and the slug of nothing."""
    found = [path for path in patterns() if path.startswith("/api/")]
    return sorted(
        {re.sub(r"<(?:(\w+):)?\w+>", lambda m: "1" if m[1] == "int" else "x1", path) for path in found}
    )


def assert_told(answer, status: int, path: str) -> None:
    assert answer.status_code == status, path
    assert answer["Content-Type"].startswith("application/json"), path
    told = answer.json()
    assert isinstance(told, dict) and told and all(told.values()), path
    assert "no-store" in answer["Cache-Control"], path


@pytest.fixture
def carol(cast) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(cast.carol)
    return client


def test_the_walk_goes_over_every_address():
    found = addresses()
    assert len(found) > 15 and "/api/v1/imports/" in found and "/api/v1/campaigns/x1/tables/x1.x1" in found


def test_strangers_and_rows_that_there_arent_are_told_in_json(client, carol):
    for path in addresses():
        for answer in (client.get(path), carol.get(path)):
            if answer.status_code >= 400:
                assert_told(answer, answer.status_code, path)
    assert_told(carol.get("/api/v1/no/such/"), 404, "no such")


def test_another_method_and_a_body_that_cant_be_read_are_told_in_json(carol):
    for path in addresses():
        for method in ("PUT", "DELETE", "POST"):
            answer = carol.generic(method, path, b'{"a": ', "application/json")
            assert answer.status_code in {400, 403, 404, 405, 415}, (method, path)
            assert_told(answer, answer.status_code, f"{method} {path}")


def test_a_parameter_that_nobody_knows_is_told_in_json(carol):
    answers = {path: carol.get(path, {"no-such": "1"}) for path in addresses()}
    for path, answer in answers.items():
        if answer.status_code >= 400:
            assert_told(answer, answer.status_code, path)
    assert_told(answers["/api/v1/leaderboards/"], 400, "leaderboards")


def test_a_body_that_is_too_large_is_told_in_json_with_the_words_of_the_page(carol, settings):
    settings.MAX_UPLOAD_MB = 8
    page = carol.generic("POST", "/no/such/page/", b"", FORM, CONTENT_LENGTH=str(ELSEWHERE + 1))
    for path in [*addresses(), "/api/v1/no/such/"]:
        answer = carol.generic("POST", path, b"", FORM, CONTENT_LENGTH=str(ELSEWHERE + 1))
        assert_told(answer, 413, path)
        words = answer.json()["detail"]
        assert "At most 8 MB" in words and "Split the file" in words and words in page.content.decode()


def test_too_often_is_told_in_json(client, settings):
    settings.API_PER_MINUTE_ANONYMOUS = 1
    caches["throttles"].clear()
    client.get("/api/v1/leaderboards/")
    answer = client.get("/api/v1/leaderboards/")
    assert_told(answer, 429, "leaderboards")
    assert int(answer["Retry-After"]) > 0


@pytest.mark.parametrize(
    ("error", "status"), [(RuntimeError("broken"), 500), (SuspiciousOperation("odd"), 400)]
)
def test_what_nobody_foresaw_is_told_in_json(carol, monkeypatch, error, status):
    def fail(*_args, **_named):
        raise error

    monkeypatch.setattr("arena.leaderboards.api.LeaderboardViewSet.get_queryset", fail)
    answer = carol.get("/api/v1/leaderboards/")
    assert_told(answer, status, "leaderboards")
    assert "broken" not in answer.json()["detail"]
