"""Where a request comes from, as far as that can be believed."""

import ipaddress

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """What the outermost of our own proxies saw; without one, whoever is connected.

    Each proxy adds the address that it saw at the right of X-Forwarded-For. What stands further left was
    written by the visitor, so it is never looked at.
    """
    peer = request.META.get("REMOTE_ADDR", "")
    if settings.PROXY_COUNT == 0:
        return peer
    seen = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    if len(seen) < settings.PROXY_COUNT:
        return peer
    return _address(seen[-settings.PROXY_COUNT].strip()) or peer


def _address(text: str) -> str:
    """Some proxies write the port too."""
    host = text.rpartition("]")[0].lstrip("[") if text.startswith("[") else text
    if host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return ""
