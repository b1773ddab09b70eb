"""Which hosts may be asked. Pure but for the resolver.

A host named in ENDPOINT_ALLOWED_HOSTS may be anywhere. Any other must be asked by https and have public
addresses only: an endpoint must not become a way into the network that Tiltyard runs in. The address that was
checked is the one that is connected to, so a name can't change its mind in between.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Collection
from urllib.parse import urlsplit

import httpx2

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str, int], list[str]]

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_COMPATIBLE = ipaddress.IPv6Network("::/96")  # carries IPv4 too; given up long ago, and some stacks follow it
_NAT64_LOCAL = ipaddress.IPv6Network("64:ff9b:1::/48")


class HostRefusedError(ValueError):
    """The host may not be asked; the message says why and what to do."""


class HostUnknownError(OSError):
    """The name has no address: the resolver fails or doesn't know it."""


def resolve_name(host: str, port: int) -> list[str]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise HostUnknownError(f"{host} has no address: {error}") from None
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def check_url(base_url: str, allowed: Collection[str]) -> None:
    """What can be told from an endpoint's URL without asking the network; raises HostRefusedError."""
    if any(letter.isspace() or not letter.isprintable() for letter in base_url):
        # urlsplit drops some of these, so what it finds would not be what is sent.
        raise HostRefusedError("the URL holds a space, a line break or a control character: take it out")
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname, parts.port
        httpx2.URL(base_url)
    except (ValueError, httpx2.InvalidURL) as error:
        raise HostRefusedError(f"{base_url} is no URL: {error}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise HostRefusedError(f"{base_url} must begin with https:// and name a host")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise HostRefusedError(
            f"the URL for {host} carries a user, a password, a query or a fragment: "
            "give the address alone; the key has a field of its own"
        )
    port = port or (443 if parts.scheme == "https" else 80)
    if parts.scheme == "http" and not is_named(host, port, allowed):
        raise HostRefusedError(
            f"http://{host} would send the key in the clear: use https, "
            f"or, if the way there is safe, set the environment variable "
            f"ENDPOINT_ALLOWED_HOSTS={host}:{port} and start Tiltyard again"
        )


def origin_of(base_url: str) -> tuple[str, str, int]:
    """Scheme, host and port of a URL that `check_url` let pass: where they are the same, so is the server."""
    parts = urlsplit(base_url)
    host = (parts.hostname or "").casefold().rstrip(".")
    return parts.scheme, host, parts.port or (443 if parts.scheme == "https" else 80)


def allowed_addresses(
    host: str, port: int, allowed: Collection[str], resolve: Resolver = resolve_name
) -> list[str]:
    """The addresses of `host` that may be connected to; raises HostRefusedError or HostUnknownError."""
    addresses = resolve(host, port)
    if not addresses:
        raise HostUnknownError(f"{host} has no address")
    if is_named(host, port, allowed):
        return addresses
    private = [address for address in addresses if not is_public(address)]
    if private:
        raise HostRefusedError(
            f"{host} has the address {private[0]}, which is not public: "
            f"if it may be asked, set the environment variable ENDPOINT_ALLOWED_HOSTS={host}:{port} "
            "and start Tiltyard again"
        )
    return addresses


def is_named(host: str, port: int, allowed: Collection[str]) -> bool:
    """Entries are `host` (any port) or `host:port`; an IPv6 address with a port stands in brackets."""
    host = host.strip("[]").casefold().rstrip(".")
    with_port = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    entries = {entry.strip().casefold() for entry in allowed}
    return host in entries or f"[{host}]" in entries or with_port in entries


def is_public(address: str) -> bool:
    try:
        return _is_public(ipaddress.ip_address(address.split("%")[0]))
    except ValueError:
        return False


def _is_public(address: Address) -> bool:
    """IPv6 addresses that carry an IPv4 address are as public as that one."""
    if isinstance(address, ipaddress.IPv6Address):
        if address in _NAT64_LOCAL or address in _COMPATIBLE:
            return False
        carried = address.ipv4_mapped or address.sixtofour
        if carried is None and address in _NAT64:
            carried = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if carried is not None:
            return _is_public(carried)
        if address.teredo is not None or address.is_site_local:
            return False
    return address.is_global and not address.is_multicast
