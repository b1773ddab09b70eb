import time

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from huey.contrib.djhuey import HUEY

from arena.operation import health
from arena.tasks import heartbeat


@pytest.fixture(autouse=True)
def no_heartbeat_yet():
    HUEY.get(health.HEARTBEAT)
    yield
    HUEY.get(health.HEARTBEAT)


def test_a_living_process_says_so_without_asking_the_database(client):
    response = client.get("/healthz")
    assert (response.status_code, response.content) == (200, b"alive\n")
    assert "no-cache" in response["Cache-Control"]


def test_ready_once_the_consumer_has_given_a_sign_of_life(client, db):
    heartbeat()
    response = client.get("/readyz")
    assert response.status_code == 200
    assert response.json() == {"ready": True, "database": "ok", "queue": "ok"}


def test_not_ready_before_any_consumer_ran(client, db):
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json() == {"ready": False, "database": "ok", "queue": "no consumer has run yet"}


def test_not_ready_when_the_consumer_has_been_silent_too_long(client, db):
    health.beat(time.time() - health.STALE_SECONDS - 5)
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["queue"].startswith("no sign of life from the consumer for 18")


def test_not_ready_while_a_migration_is_missing(client, db):
    heartbeat()
    recorded = MigrationRecorder(connection).migration_qs.filter(app="arena")
    recorded.order_by("-pk").first().delete()
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["database"] == "not applied: 1 migration; ./tiltyard manage migrate"


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_only_reading_is_allowed(client, db, path):
    assert client.post(path).status_code == 405
