import pytest

from arena.endpoints.forms import EndpointForm
from arena.endpoints.models import Endpoint
from tests.endpoints.fake_server import FakeServer, answer, status

pytestmark = pytest.mark.django_db

FIELDS = {
    "name": "Local",
    "base_url": "https://llm.example.org/v1/",
    "model_id": "small",
    "structured_mode": "json_schema",
    "max_tokens": 300,
    "max_tokens_field": "max_tokens",
    "parameters": "{}",
    "concurrency": 2,
    "timeout_seconds": 30,
}


@pytest.fixture
def endpoint(cast):
    return Endpoint.objects.create(
        team=cast.team, name="Mine", base_url="https://a.example.org/v1", model_id="m", key_variable="MY_KEY"
    )


@pytest.fixture
def served(cast, settings):
    with FakeServer() as server:
        settings.ENDPOINT_ALLOWED_HOSTS = ["127.0.0.1"]
        made = Endpoint.objects.create(
            team=cast.team, name="Here", base_url=server.base_url, model_id="m", key_variable="MY_KEY"
        )
        yield server, made


def errors(answered) -> str:
    assert answered.status_code == 422
    return answered.content.decode()


def test_an_endpoint_is_made_and_listed_with_its_key_as_missing_or_set(signed_in, cast, monkeypatch):
    carol = signed_in("carol")
    assert carol.post("/endpoints/new/", FIELDS | {"key_variable": "SOME_KEY"})["Location"] == "/endpoints/"
    assert Endpoint.objects.get().base_url == "https://llm.example.org/v1"
    assert "missing" in carol.get("/endpoints/").content.decode()
    monkeypatch.setenv("SOME_KEY", "sk-canary-123456")
    page = carol.get("/endpoints/").content.decode()
    assert ">set<" in page
    assert "sk-canary" not in page


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("base_url", "http://llm.example.org/v1", "in the clear"),
        ("base_url", "http://127.0.0.1:8000/v1", "ENDPOINT_ALLOWED_HOSTS"),
        ("base_url", "https://me:secret@llm.example.org/v1", "carries a user"),
        ("key_variable", "sk-live-abcdef", "name of an environment variable"),
        ("parameters", "[1]", "JSON object"),
        ("parameters", '{"model": "other"}', "Tiltyard sets these itself"),
        ("parameters", "{", "valid JSON"),
        ("base_url", "https://llm.example.org/v1 \r\nX-More: 1", "a line break"),
        ("base_url", "https://llm.exa\tmple.org/v1", "a control character"),
        ("base_url", "https://llm.example.org/a b", "a space"),
        ("base_url", "https://llm.example.org:99999999999/v1", "is no URL"),
        ("parameters", "[" * 5000 + "]" * 5000, "deeper than 20 levels"),
        ("parameters", '{"a":' * 21 + "1" + "}" * 21, "deeper than 20 levels"),
        ("parameters", '{"a": 1e999}', "JSON doesn't know (inf)"),
        ("parameters", '{"a": NaN}', "JSON doesn't know (nan)"),
        ("parameters", '{"a": [-Infinity]}', "JSON doesn't know (-inf)"),
        ("parameters", '{"a": ' + "9" * 5000 + "}", "a number that is too long"),
        ("parameters", '{"a": "\\u0000"}', "can't be stored"),
        ("parameters", '{"a": "\\ud800"}', "can't be stored"),
        ("max_tokens", "0", "greater than or equal to 1"),
        ("concurrency", "0", "greater than or equal to 1"),
    ],
)
def test_a_wrong_field_gets_words_and_changes_nothing(signed_in, field, value, words):
    page = errors(signed_in("carol").post("/endpoints/new/", FIELDS | {field: value}))
    assert words in page.replace("&#x27;", "'")
    assert not Endpoint.objects.exists()


def test_a_name_is_given_once(signed_in, endpoint):
    assert "Another endpoint" in errors(signed_in("carol").post("/endpoints/new/", FIELDS | {"name": "Mine"}))


def test_a_name_taken_in_the_same_moment_gets_words(signed_in, cast, monkeypatch):
    looked = EndpointForm.clean_name

    def clean_then_the_other_comes(form):
        name = looked(form)
        Endpoint.objects.create(team=cast.team, name=name, base_url="https://a.example.org/v1", model_id="m")
        return name

    monkeypatch.setattr(EndpointForm, "clean_name", clean_then_the_other_comes)
    assert "Another endpoint" in errors(signed_in("carol").post("/endpoints/new/", FIELDS))
    assert Endpoint.objects.count() == 1


def test_a_changed_host_forgets_the_keys_name(signed_in, endpoint):
    page = signed_in("carol").post(
        f"/endpoints/{endpoint.pk}/", FIELDS | {"key_variable": "MY_KEY"}, follow=True
    )
    endpoint.refresh_from_db()
    assert endpoint.key_variable == ""
    assert "forgotten" in page.content.decode()


def test_a_changed_host_with_a_key_named_anew_keeps_it(signed_in, endpoint):
    signed_in("carol").post(f"/endpoints/{endpoint.pk}/", FIELDS | {"key_variable": "OTHER_KEY"})
    endpoint.refresh_from_db()
    assert endpoint.key_variable == "OTHER_KEY"


def test_a_server_that_answers_passes_the_test_and_its_own_name_is_kept(signed_in, served, monkeypatch):
    server, made = served
    monkeypatch.setenv("MY_KEY", "sk-canary-123456")
    server.script = [answer("ready")]
    page = signed_in("carol").post(f"/endpoints/{made.pk}/test/", follow=True).content.decode()
    assert "answered in" in page
    assert "fake-judge" in page
    made.refresh_from_db()
    assert made.answering_model == "fake-judge"


def test_a_wrong_key_is_told_and_never_shown(signed_in, served, monkeypatch):
    server, made = served
    monkeypatch.setenv("MY_KEY", "sk-canary-123456")
    server.script = [status(401)]
    page = signed_in("carol").post(f"/endpoints/{made.pk}/test/", follow=True).content.decode()
    assert "Is the key right" in page
    assert "sk-canary" not in page


def test_a_missing_key_names_the_variable_and_asks_nobody(signed_in, served):
    server, made = served
    page = signed_in("carol").post(f"/endpoints/{made.pk}/test/", follow=True).content.decode()
    assert "MY_KEY is not set" in page
    assert server.calls == 0


def test_an_endpoint_that_is_down_gets_words(signed_in, served):
    server, made = served
    server.stop() if hasattr(server, "stop") else server.__exit__(None, None, None)
    Endpoint.objects.update(key_variable="")
    assert (
        "connection failed"
        in signed_in("carol").post(f"/endpoints/{made.pk}/test/", follow=True).content.decode()
    )


@pytest.mark.parametrize("who", ["alice", "ravi", "mallory", "dora"])
def test_others_find_no_endpoint(signed_in, endpoint, who):
    visitor = signed_in(who)
    assert visitor.get(f"/endpoints/{endpoint.pk}/").status_code == 404
    assert visitor.post(f"/endpoints/{endpoint.pk}/test/").status_code == 404
    assert "Mine" not in visitor.get("/endpoints/").content.decode()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"key_variable": "SECRET_KEY"}, "own, which is never sent"),
        ({"key_variable": "A_KEY", "key_file": "/run/secrets/key"}, "either a variable or a file"),
        ({"parameters": '{"model": "x", "stream": true}'}, "Tiltyard sets these itself: model, stream"),
    ],
)
def test_what_must_not_be_is_refused_with_words(signed_in, change, words):
    page = errors(signed_in("carol").post("/endpoints/new/", FIELDS | change))
    assert words in page.replace("&#x27;", "'")
    assert not Endpoint.objects.exists()


def test_a_neighbouring_container_may_be_named(signed_in, settings):
    settings.ENDPOINT_ALLOWED_HOSTS = ["vllm:8000"]
    fields = FIELDS | {"base_url": "http://vllm:8000/v1"}
    assert signed_in("carol").post("/endpoints/new/", fields).status_code == 302


def test_another_path_on_the_same_host_keeps_the_key(signed_in, endpoint):
    fields = FIELDS | {"base_url": "https://a.example.org/v2", "key_variable": "MY_KEY"}
    signed_in("carol").post(f"/endpoints/{endpoint.pk}/", fields)
    endpoint.refresh_from_db()
    assert endpoint.key_variable == "MY_KEY"


def test_the_result_of_a_test_is_a_part_of_the_page_for_htmx(signed_in, served, monkeypatch):
    _, made = served
    monkeypatch.setenv("MY_KEY", "sk-canary-123456")
    carol = signed_in("carol")
    part = carol.post(f"/endpoints/{made.pk}/test/", headers={"HX-Request": "true"}).content.decode()
    assert "answered in" in part
    assert "<html" not in part
    assert "it calls itself “fake-judge”" in part


def test_an_endpoint_that_answers_under_another_name_is_marked(signed_in, endpoint):
    Endpoint.objects.update(answering_model="n-large")
    assert "answers as n-large" in signed_in("carol").get("/endpoints/").content.decode()


def test_a_get_tests_nothing_and_strangers_sign_in(client, signed_in, endpoint):
    assert signed_in("carol").get(f"/endpoints/{endpoint.pk}/test/").status_code == 405
    assert client.get("/endpoints/").status_code == 302
