"""Many threads of one consumer and one SQLite file: nobody starves, and no paid reply is dropped."""

import threading

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from arena.endpoints import ledger
from arena.endpoints.client import EndpointConfig, Reply
from arena.endpoints.models import Call, CallAttempt, Endpoint
from arena.endpoints.turns import turn_to_write
from arena.raters.models import Team

REPLY = Reply("A text.", "stop", "", "", 1, 1, "m", "", "{}", 200)


@pytest.fixture
def claim(transactional_db):
    endpoint = Endpoint.objects.create(
        team=Team.default(), name="E", base_url="https://a.example.org/v1", model_id="m"
    )
    call = Call.objects.create(key="k", endpoint=endpoint, state=Call.State.CLAIMED, lease_token="t")
    attempt = CallAttempt.objects.create(call=call, number=1, request={}, started_at=timezone.now())
    prepared = ledger.Prepared({}, EndpointConfig("https://a.example.org/v1", "m"), 0)
    return ledger.Claim(call.pk, endpoint, "t", attempt, prepared)


def busy_for(times: int, monkeypatch) -> list[int]:
    tries = []
    record = ledger.record

    def busy(*arguments):
        tries.append(1)
        if len(tries) <= times:
            raise OperationalError("database is locked")
        record(*arguments)

    monkeypatch.setattr(ledger, "record", busy)
    monkeypatch.setattr(ledger, "ask", lambda *_: REPLY)
    return tries


def test_a_reply_is_stored_when_the_database_is_free_again(claim, monkeypatch):
    tries = busy_for(2, monkeypatch)
    ledger.send(claim)
    assert len(tries) == 3
    assert CallAttempt.objects.get().reply_text == claim.attempt.reply_text == "A text."


def test_a_database_that_stays_busy_is_an_error_in_the_end(claim, monkeypatch):
    tries = busy_for(99, monkeypatch)
    with pytest.raises(OperationalError):
        ledger.send(claim)
    assert len(tries) == ledger.RECORDING_TRIES


def test_a_process_writes_from_one_thread_at_a_time_where_the_database_has_no_turns_of_its_own(db):
    waits = connection.vendor == "sqlite"
    entered = threading.Event()
    finished = threading.Event()

    def other() -> None:
        with turn_to_write():
            entered.set()
        finished.set()

    with turn_to_write(), turn_to_write():
        thread = threading.Thread(target=other)
        thread.start()
        assert entered.wait(0.1 if waits else 5) != waits
    assert finished.wait(5)
    thread.join()
