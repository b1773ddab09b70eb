"""How often the API may be asked. Counted by all web processes of a host together, in files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.core.cache import caches
from rest_framework.request import Request
from rest_framework.throttling import AnonRateThrottle, UserRateThrottle

from arena.raters.addresses import client_address

if TYPE_CHECKING:  # that module imports this one
    from rest_framework.views import APIView


class StrangerThrottle(AnonRateThrottle):
    """By address, as our own proxies saw it."""

    cache = caches["throttles"]

    def get_rate(self) -> str:
        return f"{settings.API_PER_MINUTE_ANONYMOUS}/minute"

    def get_ident(self, request: Request) -> str:
        return client_address(request._request)


class AccountThrottle(UserRateThrottle):
    """By account, whether signed in or with a token."""

    cache = caches["throttles"]

    def get_rate(self) -> str:
        return f"{settings.API_PER_MINUTE}/minute"

    def get_cache_key(self, request: Request, view: APIView) -> str | None:
        return super().get_cache_key(request, view) if request.user.is_authenticated else None
