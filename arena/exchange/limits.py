from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


class UploadLimit:
    """Refuses a body that is too large before anything reads it; stands before the middleware that does."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        length = request.META.get("CONTENT_LENGTH") or "0"
        if not length.isdigit() or int(length) <= settings.MAX_UPLOAD_MB * 1024 * 1024:
            return self.get_response(request)
        context = {"limit": settings.MAX_UPLOAD_MB}
        return render(request, "exchange/too_large.html", context, status=413)
