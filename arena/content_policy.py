"""The content security policy, written out once: it is the same on every page that asks for no other."""

from __future__ import annotations

from dataclasses import asdict

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase


class ContentPolicy(CSPMiddleware):
    def __init__(self, get_response) -> None:
        super().__init__(get_response)
        self.usual = build_policy(**asdict(self.get_policy_parts(HttpRequest(), HttpResponse())))

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        # What a view's decorators ask for stands in attributes of its response, a nonce in its request's.
        if hasattr(request, "_csp_nonce") or any(name.startswith("_csp") for name in response.__dict__):
            return super().process_response(request, response)
        response.headers.setdefault(HEADER, self.usual)
        return response
