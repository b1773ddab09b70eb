"""What another site, or a page on it, can make a visitor's browser do here: nothing."""

from __future__ import annotations

import pytest
from django.test import Client

from arena.battles.models import Battle, Vote
from arena.campaigns.models import Campaign
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db

EVIL = "https://evil.test"


@pytest.fixture
def rater(small_campaign) -> Client:
    """A browser that has begun, and whose requests are looked at as strictly as in operation."""
    client = Client(enforce_csrf_checks=True)
    client.get(f"/join/{small_campaign.token}/")
    begun = client.post(f"/join/{small_campaign.token}/", headers={"X-CSRFToken": token(client)})
    assert begun.status_code == 302
    assert client.get("/campaigns/small/battle/").status_code == 200
    return client


def token(client: Client) -> str:
    return client.cookies["csrftoken"].value


def ballot(path: str, client: Client, **options):
    body = {"outcome": "model_a", "key": "key-12345"}
    return client.post(path, body, **options)


@pytest.fixture
def path(rater) -> str:
    return f"/battles/{Battle.objects.earliest('pk').public_id}/vote/"


def test_the_browsers_own_vote_is_taken(rater, path):
    """So that the refusals below can't come from something else that is wrong."""
    own = {"X-CSRFToken": token(rater), "Origin": "http://testserver", "HX-Request": "true"}
    assert ballot(path, rater, headers=own).status_code == 200


FOREIGN = [
    {"Origin": origin} for origin in (EVIL, "null", "http://testserver.evil.test", "http://testserver:81")
]
WITHOUT_TOKEN = (
    {},
    {"Origin": "http://testserver"},
    {"HX-Request": "true"},
    {"X-Requested-With": "XMLHttpRequest"},
)


@pytest.mark.parametrize("headers", FOREIGN)
def test_another_site_is_refused_even_with_the_token(rater, path, headers):
    assert ballot(path, rater, headers=headers | {"X-CSRFToken": token(rater)}).status_code == 403
    assert not Vote.objects.exists()


@pytest.mark.parametrize("headers", WITHOUT_TOKEN)
def test_without_the_token_nobody_votes(rater, path, headers):
    assert ballot(path, rater, headers=headers).status_code == 403
    assert not Vote.objects.exists()


@pytest.mark.parametrize(
    "referer", [None, f"{EVIL}/page", "http://testserver/", "https://testserver.evil.test/"]
)
def test_over_https_a_vote_needs_a_referer_from_here(rater, path, referer):
    headers = {"X-CSRFToken": token(rater)} | ({"Referer": referer} if referer else {})
    assert ballot(path, rater, headers=headers, secure=True).status_code == 403
    assert not Vote.objects.exists()


@pytest.mark.parametrize("kind", ["text/plain", "application/json"])
def test_a_vote_as_text_or_json_is_refused(rater, path, kind):
    body = '{"outcome": "model_a", "key": "key-12345"}'
    headers = {"Origin": EVIL}
    assert rater.post(path, body, content_type=kind, headers=headers).status_code == 403
    own = {"X-CSRFToken": token(rater)}
    assert rater.post(path, body, content_type=kind, headers=own).status_code == 422, "no form, no ballot"
    assert not Vote.objects.exists()


@pytest.mark.parametrize("name", ["X-HTTP-Method-Override", "X-Method-Override", "X-HTTP-Method"])
def test_a_get_that_calls_itself_a_post_is_a_get(rater, path, name):
    asked = f"{path}?outcome=model_a&key=key-12345&_method=POST"
    assert rater.get(asked, headers={name: "POST", "Origin": EVIL}).status_code == 405
    assert not Vote.objects.exists()


def test_another_site_signs_nobody_in_or_out_and_begins_for_nobody(cast, small_campaign):
    Campaign.objects.update(admission=Campaign.Admission.LOGIN)
    visitor = Client(enforce_csrf_checks=True)
    signed = {"username": "alice", "password": PASSWORD}
    for headers in ({}, {"Origin": EVIL}, {"Origin": "null"}):
        assert visitor.post("/accounts/login/", signed, headers=headers).status_code == 403
        assert "_auth_user_id" not in visitor.session
    visitor.force_login(cast.alice, backend="django.contrib.auth.backends.ModelBackend")
    for address in ("/accounts/logout/", "/campaigns/small/begin/", f"/join/{small_campaign.token}/"):
        assert visitor.post(address, headers={"Origin": EVIL}).status_code == 403, address
    assert visitor.session["_auth_user_id"] == str(cast.alice.pk)
    assert "raters" not in visitor.session


PAGES = (
    "/",
    "/accounts/login/",
    "/campaigns/small/battle/",
    "/static/nowhere.css",
    "/nowhere/",
    "/api/v1/campaigns/",
)


@pytest.mark.parametrize("path", PAGES)
def test_no_page_can_be_framed_read_from_elsewhere_or_made_to_load_from_elsewhere(rater, path):
    for answer in (rater.get(path, headers={"Origin": EVIL}), rater.options(path, headers={"Origin": EVIL})):
        policy = answer["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert "connect-src 'self'" in policy and "form-action 'self'" in policy
        assert "unsafe" not in policy and "*" not in policy
        assert "Content-Security-Policy-Report-Only" not in answer
        assert answer["X-Frame-Options"] == "DENY"
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Referrer-Policy"] == "same-origin"
        assert not [name for name in answer.headers if name.lower().startswith("access-control-")]


# --- sessions ---------------------------------------------------------------------------------------------


def test_the_session_changes_at_sign_in_and_ends_at_sign_out_and_with_the_password(cast, client):
    client.get("/")
    session = client.session
    session["planted"] = 1
    session.save()
    planted = session.session_key
    client.cookies["sessionid"] = planted
    signed = client.post("/accounts/login/", {"username": "ravi", "password": PASSWORD})
    assert signed.status_code == 302
    at_work = client.cookies["sessionid"].value
    assert at_work != planted
    thief = Client()
    thief.cookies["sessionid"] = planted
    assert thief.get("/campaigns/").status_code == 302, "the planted session is signed in by nobody"
    thief.cookies["sessionid"] = at_work
    assert thief.get("/campaigns/").status_code == 200
    client.post("/accounts/logout/")
    assert thief.get("/campaigns/").status_code == 302, "a session outlived its sign-out"
    client.post("/accounts/login/", {"username": "ravi", "password": PASSWORD})
    thief.cookies["sessionid"] = client.cookies["sessionid"].value
    cast.ravi.set_password("another-lance-8")
    cast.ravi.save()
    assert thief.get("/campaigns/").status_code == 302, "a session outlived its password"


def test_an_invite_leads_to_an_address_without_it_and_is_used_up(client, small_campaign):
    small_campaign.invite.max_uses = 1
    small_campaign.invite.save()
    begun = client.post(f"/join/{small_campaign.token}/")
    assert begun.status_code == 302
    assert small_campaign.token not in begun.url
    assert small_campaign.token not in client.get(begun.url).content.decode()
    assert Client().post(f"/join/{small_campaign.token}/").status_code == 410
