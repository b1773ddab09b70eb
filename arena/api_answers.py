"""What every answer of the API has: words for programs, and what caches may do with it."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _

API = "/api/"


class ApiAnswer:
    """An answer that says nothing of caches is nobody's but the caller's, and an error that no view of
    the API told, or that one didn't foresee, is told in JSON as theirs are.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not request.path.startswith(API):
            return response
        if response.status_code >= 400 and is_a_page(response):
            response = tell(response)
        if "Cache-Control" not in response:
            response["Cache-Control"] = "private, no-store"
        patch_vary_headers(response, ["Authorization", "Cookie"])
        return response


def is_a_page(response: HttpResponse) -> bool:
    return response.get("Content-Type", "").startswith("text/")


def tell(page: HttpResponse) -> JsonResponse:
    told = JsonResponse({"detail": say_error(page.status_code)}, status=page.status_code)
    if "Allow" in page:  # what 405 must name
        told["Allow"] = page["Allow"]
    told.cookies = page.cookies
    # Django notes on an answer that it was logged, and would log this one once more.
    told._has_been_logged = getattr(page, "_has_been_logged", False)  # type: ignore[attr-defined]
    return told


def say_error(status: int) -> str:
    if status == 404:
        return _(
            "There is no such address; /api/v1/ lists those that there are, /api/v1/schema/ for programs."
        )
    if status == 405:
        return _("This address takes no such method; /api/v1/ lists what there is.")
    if status >= 500:
        return _("The server failed at this request, which its log tells of. Ask whoever runs it.")
    return _("This request isn't understood; /api/v1/ lists what there is.")
