"""Pages of boards sent packed: a board of many models is a sixth of the bytes then.

The length of a packed page tells whether words of its address occur elsewhere in it (the attack called
BREACH). So it goes out packed only where it holds no secret, which is so for visitors who haven't signed in,
or no word that an attacker chose. Django adds bytes at random, and masks the CSRF token anew each time.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

from arena.leaderboards.boards.board_view import SORTS
from arena.leaderboards.defaults import BOARDS
from arena.leaderboards.models import Leaderboard

# What our own links put into an address. Three digits of someone's choice would do to look for a rating.
OURS = {
    "board": "|".join(board.name for board in BOARDS),
    "interval": "robust|bootstrap",
    "page": "[0-9]{1,2}",
    "sort": "|".join(SORTS),
    "source": f"({'|'.join(Leaderboard.Source.values)})(:[0-9]{{1,9}})?",
}


def packed(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """gzip for pages that say nothing of the request but its address."""
    pack = GZipMiddleware(view).process_response

    @wraps(view)
    def wrapped(request: HttpRequest, *args: object, **names: object) -> HttpResponseBase:
        response = view(request, *args, **names)
        if request.user.is_authenticated and not _is_ours(request):
            return response
        return pack(request, response)

    return wrapped


def _is_ours(request: HttpRequest) -> bool:
    pairs = [(name, value) for name, values in request.GET.lists() for value in values]
    return all(name in OURS and re.fullmatch(OURS[name], value) for name, value in pairs)
