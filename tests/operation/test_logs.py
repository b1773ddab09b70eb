"""Whoever reads a log can't come in by it."""

import io
import json
import logging
import re

import pytest
from django.test import Client
from django.urls import get_resolver

from arena.logs import SECRET_PLACES, JsonFormatter, without_secrets

# What an address may hold that admits whoever knows it.
SECRET_NAMES = {"token", "uidb64", "key"}


@pytest.fixture
def log():
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonFormatter())
    logging.getLogger().addHandler(handler)
    yield written
    logging.getLogger().removeHandler(handler)


@pytest.mark.django_db
@pytest.mark.parametrize("end", ["/", "", "/x/", "/?a=1"])
def test_a_link_that_still_works_is_never_logged(log, small_campaign, end):
    visitor = Client(enforce_csrf_checks=True, raise_request_exception=False)
    path = f"/join/{small_campaign.token}{end}"
    assert visitor.post(path).status_code in {403, 404, 301}
    visitor.generic("PATCH", path)
    assert small_campaign.token not in log.getvalue()


@pytest.mark.django_db
def test_a_failure_of_ours_doesnt_log_the_link_either(log, small_campaign, monkeypatch):
    def fail(*_args):
        raise RuntimeError(f"no place at /join/{small_campaign.token}/")

    monkeypatch.setattr("arena.campaigns.join_views.welcome", fail)
    answer = Client(raise_request_exception=False).get(f"/join/{small_campaign.token}/")
    assert answer.status_code == 500
    told = [json.loads(line) for line in log.getvalue().splitlines()]
    assert any("/join/…" in line["event"] for line in told)
    assert any("/join/…" in line.get("exception", "") for line in told)
    assert small_campaign.token not in log.getvalue()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Forbidden: /join/k8Kw-_x/", "Forbidden: /join/…"),
        ("/accounts/reset/MQ/set-1a/ failed", "/accounts/reset/… failed"),
        ("next=%2Fjoin%2Fk8Kw%2F&x=1", "next=%2Fjoin%2F…&x=1"),
        ('got "/join/k8Kw/" twice: /join/abc', 'got "/join/…" twice: /join/…'),
        ("Not Found: /campaigns/join/", "Not Found: /campaigns/join/"),
        ("join the dots", "join the dots"),
    ],
)
def test_what_admits_is_left_out_and_all_else_stays(text, told):
    assert without_secrets(text) == told


def routes(patterns, before: str = ""):
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if hasattr(pattern, "url_patterns"):
            yield from routes(pattern.url_patterns, route)
        else:
            yield route


def test_every_address_with_a_secret_in_it_is_known_to_the_log():
    found = list(routes(get_resolver().url_patterns))
    secret = [route for route in found if SECRET_NAMES & set(re.findall(r"<(?:\w+:)?(\w+)>", route))]
    assert len(found) > 100 and len(secret) >= 3
    assert [route for route in secret if not route.startswith(SECRET_PLACES)] == []
