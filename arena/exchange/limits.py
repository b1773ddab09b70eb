"""How much anybody may send. A body that is too large is refused before anything reads it."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.urls import resolve
from django.utils.translation import gettext as _

from arena.api_answers import API
from arena.exchange.forms import say_too_large
from arena.exchange.models import Import
from arena.malformed import refuse
from arena.row_numbers import as_id

KILOBYTE, MEGABYTE = 1024, 1024 * 1024
# Of a rater's or a stranger's form: a comment of 2,000 characters in any script is 18 kB. Python takes 180
# times as much memory as there is of "%" in a form.
OF_A_STRANGERS_FORM = 64 * KILOBYTE
# What is sent to any other page is a form, a list of names (1 MB) or of golds (5 MB).
ELSEWHERE = 8 * MEGABYTE
UPLOADS = frozenset({"import-new", "label-file"})
# Programs say who they are in a header, which is looked at before the body.
UPLOADS_BY_PROGRAMS = frozenset({"api-import-list"})


class UploadLimit:
    """Stands before the middleware that reads forms, of strangers too."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        length = as_id(request.META.get("CONTENT_LENGTH") or "0")
        if length is not None and length > OF_A_STRANGERS_FORM and _is_a_strangers_form(request):
            words = _("This form is too large: at most %(n)s kB, and nothing was stored.")
            return refuse(request, words % {"n": OF_A_STRANGERS_FORM // KILOBYTE}, 413)
        if length is not None and length <= min(ELSEWHERE, _largest_file()):
            return _led_on(request, self.get_response(request))
        place = place_of(request)
        limit = _largest_file() if place in UPLOADS | UPLOADS_BY_PROGRAMS else ELSEWHERE
        if length is None or length > limit:
            return _too_large(request, place, limit)
        if length > ELSEWHERE and place in UPLOADS and not get_user(request).is_authenticated:
            return redirect_to_login(request.get_full_path())
        return _led_on(request, self.get_response(request))


def _led_on(request: HttpRequest, answer: HttpResponse) -> HttpResponse:
    """A script that sends a file goes on to the page it led to; following, it would swallow that."""
    if request.headers.get("Upload-By") == "script" and answer.status_code == 302:
        answer.status_code = 204
        answer.headers["Upload-Leads-To"] = str(answer.headers["Location"])
        del answer.headers["Location"]
    return answer


def _too_large(request: HttpRequest, place: str | None, limit: int) -> HttpResponse:
    """With the sections and a way back: whoever sent it may be signed in, though nobody asked yet."""
    kind = request.GET.get("kind", Import.Kind.PROMPTS) if place == "import-new" else ""
    if kind in Import.Kind.values:
        words = f"{say_too_large(kind)} {_('Nothing was stored.')}"
    else:
        words = _(
            "At most %(limit)s MB can be uploaded at once here, and nothing was stored. Split the file,"
            " and send its parts one after the other."
        ) % {"limit": limit // MEGABYTE}
    if request.path.startswith(API):
        return JsonResponse({"detail": words}, status=413)
    request.user = get_user(request)
    return render(request, "exchange/too_large.html", {"words": words}, status=413)


def _is_a_strangers_form(request: HttpRequest) -> bool:
    is_form = request.content_type == "application/x-www-form-urlencoded"
    return is_form and not get_user(request).is_authenticated


def _largest_file() -> int:
    return settings.MAX_UPLOAD_MB * MEGABYTE


def place_of(request: HttpRequest) -> str | None:
    try:
        return resolve(request.path_info).url_name
    except Http404:
        return None
