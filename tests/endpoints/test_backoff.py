from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.endpoints.backoff import (
    CIRCUIT_AFTER,
    LONGEST_PAUSE,
    MAX_ATTEMPTS,
    GiveUp,
    Retry,
    jittered_wait,
    next_step,
    read_retry_after,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@given(st.integers(1, 10_000), st.integers())
def test_waits_lie_between_one_second_and_a_doubling_ceiling(attempts, seed):
    wait = jittered_wait(attempts, Random(seed))
    assert 1 <= wait <= min(60, 2.0 ** min(attempts, 16))


def test_calls_that_failed_together_come_back_apart():
    waits = {round(jittered_wait(4, Random(seed)), 3) for seed in range(100)}
    assert len(waits) > 90


@pytest.mark.parametrize("attempts", range(1, MAX_ATTEMPTS))
def test_a_passing_failure_is_tried_again(attempts):
    assert isinstance(next_step(attempts, True, None, Random(1)), Retry)


def test_the_sixth_failure_is_the_last():
    assert MAX_ATTEMPTS == 6
    assert isinstance(next_step(6, True, None, Random(1)), GiveUp)
    assert isinstance(next_step(6, True, 5.0, Random(1)), GiveUp)


def test_a_lasting_failure_is_not_tried_again():
    assert isinstance(next_step(1, False, 3.0, Random(1)), GiveUp)


@given(st.integers(1, 5), st.floats(0, 1e12), st.integers())
def test_no_call_comes_back_before_the_server_said(attempts, retry_after, seed):
    step = next_step(attempts, True, retry_after, Random(seed))
    assert isinstance(step, Retry)
    assert step.wait >= min(retry_after, LONGEST_PAUSE)
    assert step.wait >= 1
    assert step.pause == (step.wait > CIRCUIT_AFTER)


def test_a_wait_of_more_than_ten_minutes_rests_the_endpoint():
    assert not next_step(1, True, 600, Random(1)).pause
    assert next_step(1, True, 601, Random(1)).pause


def test_attempts_are_counted_from_one():
    with pytest.raises(ValueError, match="counted from 1"):
        next_step(0, True, None, Random(1))


@pytest.mark.parametrize(
    ("seconds", "milliseconds", "expected"),
    [
        (None, None, None),
        ("", "", None),
        ("7", None, 7),
        ("7", "250", 0.25),
        ("7", "soon", 7),
        ("-1", None, 0),
        ("inf", None, None),
        ("Thu, 01 Jan 2026 00:01:00 GMT", None, 60),
        ("Thu, 01 Jan 2026 00:01:00", None, 60),
        ("Wed, 31 Dec 2025 23:59:00 GMT", None, 0),
        ("Thu, 99 Jan 2026 00:01:00 GMT", None, None),
        ("tomorrow", None, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(seconds, milliseconds, expected):
    assert read_retry_after(seconds, milliseconds, NOW) == expected


@given(st.none() | st.text(), st.none() | st.text())
def test_retry_after_is_read_whatever_stands_there(seconds, milliseconds):
    wait = read_retry_after(seconds, milliseconds, NOW)
    assert wait is None or wait >= 0
