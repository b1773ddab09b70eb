"""Whose address a sign-in counts: ours to believe only as far as our own proxies reach."""

import pytest
from django.test import Client, RequestFactory

from arena.raters.addresses import client_address

PROXY = "10.0.0.1"


def seen(settings, count: int, forwarded: str | None) -> str:
    settings.PROXY_COUNT = count
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    return client_address(RequestFactory().get("/", REMOTE_ADDR=PROXY, headers=headers))


@pytest.mark.parametrize(
    ("count", "forwarded", "address"),
    [
        (0, None, PROXY),
        (0, "203.0.113.7", PROXY),
        (1, "203.0.113.7", "203.0.113.7"),
        (1, "198.51.100.1, 203.0.113.7", "203.0.113.7"),
        (2, "198.51.100.1, 203.0.113.7,10.0.0.2", "203.0.113.7"),
        (1, "2001:db8::1", "2001:db8::1"),
        (1, "203.0.113.7:4711", "203.0.113.7"),
        (1, "[2001:db8::1]:4711", "2001:db8::1"),
    ],
)
def test_the_address_is_what_the_outermost_of_our_proxies_saw(settings, count, forwarded, address):
    assert seen(settings, count, forwarded) == address


@pytest.mark.parametrize(
    ("count", "forwarded"),
    [(1, None), (1, ""), (2, "203.0.113.7"), (1, "unknown"), (1, "' OR 1=1"), (1, "::g")],
)
def test_without_a_believable_header_it_is_the_peer(settings, count, forwarded):
    assert seen(settings, count, forwarded) == PROXY


@pytest.fixture
def lockout(settings, cast):
    settings.AXES_ENABLED = True
    settings.AXES_FAILURE_LIMIT = 3

    def sign_in(address: str, password: str = "wrong", forged: str = "") -> int:
        forwarded = f"{forged}, {address}" if forged else address
        fields = {"username": "carol", "password": password}
        return (
            Client(REMOTE_ADDR=PROXY, headers={"X-Forwarded-For": forwarded})
            .post("/accounts/login/", fields)
            .status_code
        )

    return sign_in


def test_behind_a_proxy_one_visitor_is_locked_out_and_another_is_not(settings, lockout):
    settings.PROXY_COUNT = 1
    answers = [lockout("203.0.113.7", forged=f"198.51.100.{number}") for number in range(4)]
    assert answers[-1] == 429, "whatever the visitor wrote further left"
    assert lockout("203.0.113.7", "lance-and-shield-7") == 429
    assert lockout("203.0.113.8", "lance-and-shield-7") == 302


def test_without_a_proxy_the_header_helps_nobody(settings, lockout):
    settings.PROXY_COUNT = 0
    assert [lockout(f"203.0.113.{number}") for number in range(4)][-1] == 429
