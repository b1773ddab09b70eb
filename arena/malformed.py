"""What no page can read or no column can hold is refused before anything is made of it.

U+0000 in an address, its query, a cookie or a form: PostgreSQL keeps no such text. A body in another encoding
than UTF-8: nothing here sends one, and Django's reading of it fails in ways of its own. What the API takes is
read by its serializers, once the caller is known.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable

from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext as _

_READABLE = {"utf-8", "ascii"}
NUL = "\0"


class MalformedAnswer:
    """Stands before whatever looks into a body; forms are read once the request is known to be no forgery."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not is_readable(request.content_params or {}):
            return refuse(request, _("The request isn't encoded in UTF-8, and nothing was changed."), 415)
        request.encoding = "utf-8"  # by whichever of its names
        cookies = [*request.COOKIES, *request.COOKIES.values()]
        if NUL in request.path_info or any(NUL in text for text in cookies) or holds_nul(request.GET):
            return refuse_nul(request)
        return self.get_response(request)


class MalformedFormAnswer:
    """Stands after the protection against forgery, which reads forms first."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_view: object) -> HttpResponse | None:
        is_form = request.method == "POST" and not request.path.startswith("/api/")
        return refuse_nul(request) if is_form and holds_nul(request.POST) else None


def is_readable(content: dict[str, str]) -> bool:
    try:
        return codecs.lookup(content.get("charset", "utf-8")).name in _READABLE
    except (LookupError, ValueError):
        return False


def holds_nul(data: QueryDict) -> bool:
    texts: Iterable[str] = (text for name, values in data.lists() for text in (name, *values))
    return any(NUL in text for text in texts)


def refuse_nul(request: HttpRequest) -> HttpResponse:
    return refuse(
        request,
        _("The request holds the character U+0000, which can't be stored, and nothing was changed."),
        400,
    )


def refuse(request: HttpRequest, words: str, status: int) -> HttpResponse:
    if request.path.startswith("/api/"):
        return JsonResponse({"detail": words}, status=status)
    return render(request, "malformed.html", {"words": words}, status=status)
