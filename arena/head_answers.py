"""HEAD is answered with what GET says of an answer, and nothing of it.

gunicorn leaves a body out, but has the whole of it made first where it comes in pieces, and warns of each.
"""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase


class HeadAnswer:
    """Stands before all others, who look at bodies: lengths, tags and packing are those of GET."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.method == "HEAD":
            if isinstance(response, StreamingHttpResponse):
                response.streaming_content = ()
            elif isinstance(response, HttpResponse):
                response.content = b""
        return response
