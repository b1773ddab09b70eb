import pytest

from arena.endpoints.hosts import (
    HostRefusedError,
    HostUnknownError,
    allowed_addresses,
    check_url,
    is_named,
    is_public,
)


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_public_addresses_are_public(address):
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.9.9.9", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254",
        "100.64.0.1", "224.0.0.1", "255.255.255.255", "198.18.0.1", "::1", "::", "fe80::1", "fe80::1%eth0",
        "fc00::1", "fec0::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1",
        "64:ff9b:1::a00:1", "::127.0.0.1", "::10.0.0.5", "::8.8.8.8",
        "2002:7f00:1::", "2001:0:53aa:64c:0:0:80ff:fffe", "2001:db8::1", "", "localhost",
    ],
)  # fmt: skip
def test_addresses_of_a_machine_or_its_network_are_not_public(address):
    assert not is_public(address)


def resolver(*addresses):
    return lambda host, port: list(addresses)


def test_a_public_host_gives_its_addresses():
    assert allowed_addresses("judge.example", 443, (), resolver("8.8.8.8", "2606:4700::1111")) == [
        "8.8.8.8",
        "2606:4700::1111",
    ]


def test_one_private_address_among_public_ones_refuses_the_host():
    with pytest.raises(HostRefusedError, match=r"10\.0\.0\.5, which is not public"):
        allowed_addresses("judge.example", 443, (), resolver("8.8.8.8", "10.0.0.5"))


@pytest.mark.parametrize("entry", ["judge.lan", "JUDGE.lan", " judge.lan ", "judge.lan:8000"])
def test_a_named_host_may_be_private(entry):
    assert allowed_addresses("judge.lan", 8000, (entry,), resolver("10.0.0.5")) == ["10.0.0.5"]


@pytest.mark.parametrize("entry", ["judge.lan:8001", "lan", "*.lan", "judge", "xjudge.lan", ""])
def test_another_entry_does_not_name_the_host(entry):
    with pytest.raises(HostRefusedError):
        allowed_addresses("judge.lan", 8000, (entry,), resolver("10.0.0.5"))


def test_a_host_without_addresses_is_unknown():
    with pytest.raises(HostUnknownError, match="has no address"):
        allowed_addresses("judge.example", 443, (), resolver())


@pytest.mark.parametrize("entry", ["::1", "[::1]", "[::1]:80"])
def test_an_address_of_version_6_can_be_named(entry):
    assert is_named("::1", 80, [entry])


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("ftp://judge.example/v1", "must begin with https"),
        ("judge.example/v1", "must begin with https"),
        ("https:///v1", "name a host"),
        ("https://judge.example:port/v1", "is no URL"),
        ("https://user:word@judge.example/v1", "carries a user"),
        ("https://judge.example/v1?key=secret", "carries a user, a password, a query"),
        ("https://judge.example/v1#x", "fragment"),
        ("http://judge.example/v1", "would send the key in the clear"),
        ("https://judge.example/v1\n", "a line break"),
        ("https://judge.exa\r\nmple/v1", "a line break"),
        ("https://judge.example/\x00v1", "a control character"),
        ("https://judge example/v1", "a space"),
        ("https://judge.example/\u2028v1", "a line break"),
        ("https://judge.example\u200b/v1", "a control character"),
        ("https://[::1/v1", "is no URL"),
        ("https://" + "a" * 70 + "\u00e9.example/v1", "is no URL"),
    ],
)
def test_a_url_that_may_not_be_asked_is_refused_with_words(url, words):
    with pytest.raises(HostRefusedError, match=words) as refused:
        check_url(url, ())
    assert "secret" not in str(refused.value)
    assert "word@" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://judge.example/v1", ()),
        ("http://localhost:8000/v1", ("localhost:8000",)),
        ("http://[::1]:8000/v1", ("[::1]:8000",)),
        ("http://judge.lan/v1", ("judge.lan:80",)),
    ],
)
def test_a_url_that_may_be_asked_passes(url, allowed):
    check_url(url, allowed)
