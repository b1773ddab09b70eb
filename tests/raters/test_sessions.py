"""A session is read by one statement, and is gone when it has ended."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from arena.raters.sessions import SessionStore

pytestmark = pytest.mark.django_db


@pytest.fixture
def key() -> str:
    store = SessionStore()
    store["raters"] = {"1": 2}
    store.save()
    return store.session_key


def test_what_was_kept_is_read_by_one_statement(key):
    with CaptureQueriesContext(connection) as queries:
        assert SessionStore(key)["raters"] == {"1": 2}
    assert len(queries) == 1


def test_an_ended_session_is_empty_and_its_key_is_not_used_again(key):
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    store = SessionStore(key)
    assert dict(store.items()) == {}
    assert store.session_key is None


@pytest.mark.parametrize("key", ["", "short", "x" * 32, "'; --", "x" * 400])
def test_a_key_that_was_never_given_out_is_nobodys(key):
    assert SessionStore(key).get("raters") is None


def test_a_key_that_was_made_up_is_not_adopted(client: Client, small_campaign):
    client.cookies["sessionid"] = "m" * 32
    client.post(f"/join/{small_campaign.token}/")
    assert client.cookies["sessionid"].value != "m" * 32
    assert not Session.objects.filter(session_key="m" * 32).exists()
