"""How much an endpoint is asked: what all workers share stands in its row."""

from datetime import timedelta
from random import Random

import pytest
from django.utils import timezone

from arena.endpoints import ledger, limits
from arena.endpoints.client import CallFailure
from arena.endpoints.models import Call, CallAttempt, Endpoint
from arena.raters.models import Team

pytestmark = pytest.mark.django_db


@pytest.fixture
def endpoint(db):
    return Endpoint.objects.create(
        team=Team.default(), name="E", base_url="https://a.example.org/v1", model_id="m", concurrency=8
    )


def held(endpoint, number: int) -> None:
    Call.objects.create(
        key=f"held {number}",
        endpoint=endpoint,
        state=Call.State.CLAIMED,
        lease_until=timezone.now() + timedelta(seconds=30),
    )


def attempt(endpoint, number: int, started_at=None, **fields) -> CallAttempt:
    call = Call.objects.create(key=f"asked {number}", endpoint=endpoint, state=Call.State.PARSED)
    started_at = started_at or timezone.now()
    return CallAttempt.objects.create(call=call, number=1, request={}, started_at=started_at, **fields)


def slots(endpoint) -> int:
    endpoint.refresh_from_db()
    return endpoint.calls_at_once


# --- fewer calls at once for a busy server ----------------------------------------------------------------


def test_a_busy_server_is_asked_half_as_much_each_time_down_to_one_call(endpoint):
    found = []
    for _ in range(5):
        limits.slow_down(endpoint, timezone.now())
        found.append(slots(endpoint))
    assert found == [4, 2, 1, 1, 1]


def test_a_burst_of_refusals_counts_once(endpoint):
    asked_at = timezone.now()
    for _ in range(8):
        limits.slow_down(endpoint, asked_at)
    assert slots(endpoint) == 4


def test_each_round_of_answers_adds_one_until_all_go_out_again(endpoint):
    limits.slow_down(endpoint, timezone.now())
    random, answers = Random(7), 0
    while slots(endpoint) < 8:
        limits.speed_up(endpoint, random)
        answers += 1
        assert answers < 500
    # Rounds of 4, 5, 6 and 7 answers, give or take.
    assert 8 <= answers <= 60
    assert endpoint.slots is None


def test_an_endpoint_that_is_not_slowed_is_not_written_to(endpoint, django_assert_num_queries):
    with django_assert_num_queries(0):
        limits.speed_up(endpoint, Random(7))


def wait(endpoint, now) -> float | None:
    return limits.wait_for_slot(endpoint, limits.held_calls(endpoint.pk, now).count(), now)


def test_no_more_calls_are_held_than_a_slowed_endpoint_bears(endpoint):
    limits.slow_down(endpoint, timezone.now())
    endpoint.refresh_from_db()
    for number in range(3):
        held(endpoint, number)
    assert wait(endpoint, timezone.now()) is None
    held(endpoint, 3)
    assert wait(endpoint, timezone.now()) is not None


def test_a_lower_concurrency_set_by_hand_stands_above_what_was_learnt(endpoint):
    Endpoint.objects.update(slots=6, concurrency=2)
    assert slots(endpoint) == 2


# --- per minute -------------------------------------------------------------------------------------------


def test_requests_of_the_last_minute_are_counted_and_older_ones_forgotten(endpoint):
    endpoint.requests_per_minute = 2
    now = timezone.now()
    attempt(endpoint, 1, now - timedelta(seconds=61))
    attempt(endpoint, 2, now - timedelta(seconds=40))
    assert wait(endpoint, now) is None
    attempt(endpoint, 3, now - timedelta(seconds=10))
    assert wait(endpoint, now) == pytest.approx(20, abs=0.1)


def test_another_endpoints_requests_are_not_counted(endpoint):
    other = Endpoint.objects.create(
        team=endpoint.team, name="F", base_url="https://b.example.org/v1", model_id="m"
    )
    endpoint.requests_per_minute = endpoint.tokens_per_minute = 1
    attempt(other, 1, tokens_in=500, finished_at=timezone.now())
    assert wait(endpoint, timezone.now()) is None


def test_tokens_of_the_last_minute_are_counted_and_those_on_their_way_at_the_most(endpoint):
    endpoint.tokens_per_minute, endpoint.max_tokens = 1000, 400
    now = timezone.now()
    attempt(endpoint, 1, now - timedelta(seconds=70), tokens_in=900, finished_at=now)
    attempt(endpoint, 2, now, tokens_in=300, tokens_out=350, finished_at=now)
    assert wait(endpoint, now) is None
    attempt(endpoint, 3, now)
    assert wait(endpoint, now) == limits.TOKEN_WAIT


def test_a_lost_attempt_does_not_hold_tokens(endpoint):
    endpoint.tokens_per_minute = endpoint.max_tokens = 100
    attempt(endpoint, 1, error_kind=ledger.LOST)
    assert wait(endpoint, timezone.now()) is None


# --- rests ------------------------------------------------------------------------------------------------


def claim_after(endpoint, *kinds: str) -> ledger.Claim:
    last = [attempt(endpoint, n, error_kind=kind, finished_at=timezone.now()) for n, kind in enumerate(kinds)]
    return ledger.Claim(last[-1].call_id, endpoint, "", last[-1], None)


def failure(kind="server_error", **fields) -> CallFailure:
    return CallFailure(kind, True, "the server answered 500", **fields)


def test_ten_failures_in_a_row_rest_the_endpoint_and_say_so(endpoint):
    claim = claim_after(endpoint, *["server_error"] * 10)
    ledger.rest_after(claim, failure(), 2, False)
    endpoint.refresh_from_db()
    assert endpoint.is_resting
    assert endpoint.rest_reason == "the latest 10 requests failed; the last: the server answered 500"


@pytest.mark.parametrize("kinds", [["server_error"] * 9, ["server_error"] * 9 + [""] + ["server_error"] * 9])
def test_fewer_failures_in_a_row_do_not(endpoint, kinds):
    ledger.rest_after(claim_after(endpoint, *kinds), failure(), 2, False)
    endpoint.refresh_from_db()
    assert not endpoint.is_resting


def test_a_server_that_says_when_to_come_back_rests_until_then_and_is_slowed(endpoint):
    claim = claim_after(endpoint, "rate_limited")
    ledger.rest_after(claim, failure("rate_limited", retry_after=30.0), 30, False)
    endpoint.refresh_from_db()
    assert 25 < wait(endpoint, timezone.now()) <= 30
    assert endpoint.rest_reason == "the server asked for it"
    assert endpoint.slots == 4


def test_a_longer_rest_stands(endpoint):
    now = timezone.now()
    limits.pause(endpoint, now + timedelta(seconds=90), "long")
    limits.pause(endpoint, now + timedelta(seconds=5), "short")
    endpoint.refresh_from_db()
    assert endpoint.rest_reason == "long"
