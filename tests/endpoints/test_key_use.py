"""One team, one server for each key: asked when a key is named, and again when a call is made."""

import pytest

from arena.endpoints.connection import probe
from arena.endpoints.key_use import KeyRefusedError, endpoint_key
from arena.endpoints.keys import KeyMissingError
from arena.endpoints.ledger import endpoint_config
from arena.endpoints.models import Endpoint
from tests.endpoints.fake_server import FakeServer
from tests.endpoints.test_endpoint_pages import FIELDS, errors

pytestmark = pytest.mark.django_db

KEY = "sk-canary-123456"


@pytest.fixture(autouse=True)
def key_is_set(monkeypatch):
    monkeypatch.setenv("OUR_API_KEY", KEY)


@pytest.fixture
def make_endpoint(cast):
    def make(name: str, base_url: str = "https://a.example.org/v1", team=None, **fields) -> Endpoint:
        fields = {"model_id": "m", "key_variable": "OUR_API_KEY"} | fields
        return Endpoint.objects.create(team=team or cast.team, name=name, base_url=base_url, **fields)

    return make


@pytest.fixture
def key_file(tmp_path):
    path = tmp_path / "ours.key"
    path.write_text(KEY)
    path.chmod(0o600)
    return path


def text(answered) -> str:
    return errors(answered).replace("&#x27;", "'")


# --- names ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "variable", ["PATH", "HOME", "DATABASE_PASSWORD", "MONKEY", "KEY_ID", "_KEY", "SECRET_KEY", "OURAPIKEY"]
)
def test_a_variable_that_is_not_named_like_a_key_is_never_sent(
    signed_in, make_endpoint, monkeypatch, variable
):
    monkeypatch.setenv(variable, "something-secret")
    errors(signed_in("carol").post("/endpoints/new/", FIELDS | {"key_variable": variable}))
    assert not Endpoint.objects.exists()
    with pytest.raises(KeyMissingError, match="never sent"):
        endpoint_config(make_endpoint("from an older version", key_variable=variable))


@pytest.mark.parametrize("name", ["pgpass", "id_ed25519", "passwd", "key.pem", "monkey", "environ"])
def test_a_file_that_is_not_named_like_a_key_is_never_sent(signed_in, make_endpoint, tmp_path, name):
    path = tmp_path / name
    path.write_text("something-secret")
    path.chmod(0o600)
    fields = FIELDS | {"key_file": str(path)}
    assert "may hold anything" in text(signed_in("carol").post("/endpoints/new/", fields))
    with pytest.raises(KeyMissingError, match="may hold anything"):
        endpoint_config(make_endpoint("from an older version", key_variable="", key_file=str(path)))


@pytest.mark.parametrize("name", ["key", "token", "openai.key", "openai_token", "OPENAI-KEY"])
def test_a_file_named_like_a_key_is_read(make_endpoint, tmp_path, name):
    path = tmp_path / name
    path.write_text(KEY)
    path.chmod(0o600)
    assert endpoint_key(make_endpoint("E", key_variable="", key_file=str(path))) == KEY


# --- teams and servers ------------------------------------------------------------------------------------


def test_another_teams_key_cannot_be_named(signed_in, make_endpoint):
    make_endpoint("Ours")
    fields = FIELDS | {"base_url": "https://evil.example.org/v1", "key_variable": "OUR_API_KEY"}
    assert "named by an endpoint of another team" in text(signed_in("dora").post("/endpoints/new/", fields))
    fields["base_url"] = "https://a.example.org/v1"
    assert "another team" in text(signed_in("dora").post("/endpoints/new/", fields))
    assert Endpoint.objects.count() == 1


def test_an_endpoint_that_is_changed_cannot_take_another_teams_key(signed_in, make_endpoint, cast):
    make_endpoint("Ours")
    theirs = make_endpoint("Theirs", team=cast.other_team, key_variable="THEIR_KEY")
    fields = FIELDS | {"base_url": theirs.base_url, "key_variable": "OUR_API_KEY"}
    assert "another team" in text(signed_in("dora").post(f"/endpoints/{theirs.pk}/", fields))
    theirs.refresh_from_db()
    assert theirs.key_variable == "THEIR_KEY"


@pytest.mark.parametrize(
    "base_url", ["https://b.example.org/v1", "https://a.example.org:8443/v1", "http://a.example.org:443/v1"]
)
def test_one_teams_key_goes_to_one_scheme_host_and_port(signed_in, make_endpoint, settings, base_url):
    settings.ENDPOINT_ALLOWED_HOSTS = ["a.example.org"]
    make_endpoint("Ours")
    fields = FIELDS | {"base_url": base_url, "key_variable": "OUR_API_KEY"}
    assert "for another server" in text(signed_in("carol").post("/endpoints/new/", fields))


@pytest.mark.parametrize("base_url", ["https://a.example.org/v2", "https://A.example.org.:443/v1"])
def test_a_second_model_on_the_same_server_uses_the_same_key(signed_in, make_endpoint, base_url):
    make_endpoint("Ours")
    fields = FIELDS | {"base_url": base_url, "key_variable": "OUR_API_KEY"}
    assert signed_in("carol").post("/endpoints/new/", fields).status_code == 302


def test_another_scheme_on_the_same_host_forgets_the_key(signed_in, make_endpoint, settings):
    settings.ENDPOINT_ALLOWED_HOSTS = ["a.example.org"]
    ours = make_endpoint("Ours", "https://a.example.org:8000/v1")
    fields = FIELDS | {"base_url": "http://a.example.org:8000/v1", "key_variable": "OUR_API_KEY"}
    signed_in("carol").post(f"/endpoints/{ours.pk}/", fields)
    ours.refresh_from_db()
    assert ours.key_variable == ""


@pytest.mark.parametrize("path", ["same", "dots", "symlink", "hard link"])
def test_a_key_file_is_the_same_by_whatever_path(signed_in, make_endpoint, key_file, path):
    link = key_file.with_name("theirs.key")
    if path == "symlink":
        link.symlink_to(key_file)
    elif path == "hard link":
        link.hardlink_to(key_file)
    other = {"same": key_file, "dots": key_file.parent / ".." / key_file.parent.name / key_file.name}
    make_endpoint("Ours", key_variable="", key_file=str(key_file))
    fields = FIELDS | {"key_file": str(other.get(path, link))}
    assert "another team" in text(signed_in("dora").post("/endpoints/new/", fields))


def test_what_got_past_the_form_is_refused_when_the_call_is_made(make_endpoint, cast, settings):
    with FakeServer() as server:
        settings.ENDPOINT_ALLOWED_HOSTS = ["127.0.0.1"]
        ours = make_endpoint("Ours")
        theirs = make_endpoint("Theirs", server.base_url, team=cast.other_team)
        for endpoint in (ours, theirs):
            with pytest.raises(KeyRefusedError, match="another team"):
                endpoint_config(endpoint)
        finding = probe(theirs)
        assert (finding.works, server.calls) == (False, 0)
        assert KEY not in finding.words
        theirs.delete()
        assert endpoint_config(ours).api_key == KEY


# --- what the operator says -------------------------------------------------------------------------------


def test_a_bound_key_goes_to_its_host_alone(signed_in, make_endpoint, settings, cast):
    settings.ENDPOINT_KEY_HOSTS = {"OUR_API_KEY": "a.example.org"}
    fields = FIELDS | {"base_url": "https://evil.example.org/v1", "key_variable": "OUR_API_KEY"}
    told = text(signed_in("dora").post("/endpoints/new/", fields))
    assert "goes to a.example.org alone, says ENDPOINT_KEY_HOSTS" in told
    with pytest.raises(KeyRefusedError, match=r"a\.example\.org alone"):
        endpoint_config(make_endpoint("Moved", "https://evil.example.org/v1"))
    assert endpoint_config(make_endpoint("Ours")).api_key == KEY, "whatever else names it in vain"


def test_a_bound_key_still_belongs_to_one_team(signed_in, make_endpoint, settings):
    settings.ENDPOINT_KEY_HOSTS = {"OUR_API_KEY": "a.example.org"}
    make_endpoint("Ours")
    fields = FIELDS | {"base_url": "https://a.example.org/v1", "key_variable": "OUR_API_KEY"}
    assert "another team" in text(signed_in("dora").post("/endpoints/new/", fields))


def test_a_bound_file_goes_to_its_host_alone(make_endpoint, settings, key_file):
    settings.ENDPOINT_KEY_HOSTS = {str(key_file): "a.example.org:443"}
    fields = {"key_variable": "", "key_file": str(key_file)}
    assert endpoint_config(make_endpoint("Ours", **fields)).api_key == KEY
    with pytest.raises(KeyRefusedError, match=r"goes to a\.example\.org:443 alone"):
        endpoint_config(make_endpoint("Other port", "https://a.example.org:8443/v1", **fields))
