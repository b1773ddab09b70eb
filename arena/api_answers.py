"""What every answer of the API has: words for programs, and what caches may do with it."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _

API = "/api/"


class ApiAnswer:
    """An answer that says nothing of caches is nobody's but the caller's, and an address that there isn't is
    told in JSON.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not request.path.startswith(API):
            return response
        if response.status_code == 404 and response.get("Content-Type", "").startswith("text/html"):
            words = _(
                "There is no such address; /api/v1/ lists those that there are, /api/v1/schema/ for programs."
            )
            response = JsonResponse({"detail": words}, status=404)
        if "Cache-Control" not in response:
            response["Cache-Control"] = "private, no-store"
        patch_vary_headers(response, ["Authorization", "Cookie"])
        return response
