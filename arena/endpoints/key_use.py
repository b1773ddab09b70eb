"""Which endpoint may use which key: one team, one server. Asked when a key is named and again at every call.

Whoever administers a team chooses the server that a key is sent to, so a name alone must not be enough:
else one team could have another's key sent to a server of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from arena.endpoints.hosts import is_named, origin_of
from arena.endpoints.keys import KeyMissingError, check_name, read_key
from arena.endpoints.models import Endpoint


class KeyRefusedError(KeyMissingError):
    """This endpoint may not use the key that it names; the message says why and what to do."""


def endpoint_key(endpoint: Endpoint) -> str:
    """The key that goes with a call to this endpoint; raises KeyMissingError when there is none to be had."""
    check_use(endpoint, endpoint.base_url, endpoint.key_variable, endpoint.key_file)
    return read_key(endpoint.key_variable, endpoint.key_file, secrets=[settings.SECRET_KEY])


def check_use(endpoint: Endpoint, base_url: str, variable: str, file: str) -> None:
    """May this endpoint send that key to that server? The three may be new to it. Raises KeyRefusedError."""
    check_name(variable, file)
    if not variable and not file:
        return
    bound = _bound_host(variable, file)
    scheme, host, port = origin_of(base_url)
    if bound and not is_named(host, port, [bound]):
        raise KeyRefusedError(
            f"{variable or file} goes to {bound} alone, says ENDPOINT_KEY_HOSTS; not to {host}:{port}"
        )
    for other in _others_that_name(endpoint, variable, file):
        if other.team_id != endpoint.team_id:
            raise KeyRefusedError(
                f"{variable or file} is named by an endpoint of another team: a key belongs to one team; "
                "give yours a name of its own"
            )
        if not bound and origin_of(other.base_url) != (scheme, host, port):
            raise KeyRefusedError(
                f"{variable or file} is named by the endpoint {other.name} for another server "
                f"({other.host}): a key goes to one server; give this one's a name of its own"
            )


def _bound_host(variable: str, file: str) -> str:
    """What the operator said about this key; empty when nothing."""
    for name, host in settings.ENDPOINT_KEY_HOSTS.items():
        if variable == name or (file and name.startswith("/") and _is_same_file(file, name)):
            return host
    return ""


def _others_that_name(endpoint: Endpoint, variable: str, file: str) -> Iterator[Endpoint]:
    others = Endpoint.objects.exclude(pk=endpoint.pk).order_by("pk")
    if variable:
        yield from others.filter(key_variable=variable)
    else:
        yield from (other for other in others.exclude(key_file="") if _is_same_file(file, other.key_file))


def _is_same_file(one: str, other: str) -> bool:
    """By whatever path: links and dots lead to the same key."""
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    try:
        return Path(one).samefile(other)
    except OSError:
        return False
