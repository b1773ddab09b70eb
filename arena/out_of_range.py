"""A number from outside that no column can hold is the sender's mistake: 400 with words, no failure of ours.

Forms have bounds of their own and say more; this is for what needs no form: ids, offsets, limits.
"""

from __future__ import annotations

from collections.abc import Callable

from django.db import DataError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from psycopg.errors import NumericValueOutOfRange


class OutOfRangeAnswer:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not is_out_of_range(exception):
            return None
        if request.path.startswith("/api/"):
            return JsonResponse({"detail": _("A number in this request is too large.")}, status=400)
        return render(request, "out_of_range.html", status=400)


def is_out_of_range(error: BaseException) -> bool:
    """As SQLite's driver says it, and as PostgreSQL does; no other overflow is anybody's input."""
    if isinstance(error, OverflowError):
        return "too large to convert to SQLite INTEGER" in str(error)
    return isinstance(error, DataError) and isinstance(error.__cause__, NumericValueOutOfRange)
