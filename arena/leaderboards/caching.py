"""What caches may keep: nothing that they don't ask about again each time. A snapshot's numbers never change;
the names in it may, what its plan calls it, and who may see it. While raters vote blind nothing of theirs is
kept, and a page only by whoever hasn't signed in.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest, HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.http import quote_etag
from rest_framework.request import Request

from arena.leaderboards.citation import cite
from arena.leaderboards.models import Leaderboard, Snapshot
from arena.leaderboards.plans.looks import looks_of


def cached(
    request: Request | HttpRequest,
    snapshot: Snapshot,
    form: str,
    make: Callable[[], HttpResponseBase],
) -> HttpResponseBase:
    """304 without making anything if the visitor has it; `form` tells the representations apart."""
    asked = request._request if isinstance(request, Request) else request
    known = f"{snapshot.pk}\n{snapshot.taken_at}\n{form} as listed\n{_changeable(snapshot)}"
    etag = quote_etag(hashlib.sha256(known.encode()).hexdigest()[:32])
    response = get_conditional_response(asked, etag=etag) or make()
    response["ETag"] = etag
    response["Cache-Control"] = _cache_control(snapshot.leaderboard)
    patch_vary_headers(response, ["Accept", "Authorization", "Cookie"])
    return response


def _changeable(snapshot: Snapshot) -> str:
    """What a snapshot is called by, and its models, which may be renamed; and whether it is final by now."""
    board = snapshot.leaderboard
    models = snapshot.standings.order_by("competitor").values_list(
        "competitor", "competitor__name", "competitor__organisation"
    )
    look = looks_of([snapshot]).get(snapshot.pk)
    called = [cite(snapshot), board.slug, board.campaign.slug, look and look.kind]
    return json.dumps([*called, list(models)])


def kept_if_public(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """For pages: whoever hasn't signed in sees public boards alone, and may keep them and ask again.

    Never for others between: a page's forms are of one visitor.
    """

    @wraps(view)
    def wrapped(request: HttpRequest, *args: object, **names: object) -> HttpResponseBase:
        response = view(request, *args, **names)
        if "Cache-Control" not in response:
            response["Cache-Control"] = (
                f"private, {'no-store' if request.user.is_authenticated else 'no-cache'}"
            )
        patch_vary_headers(response, ["Cookie"])
        return response

    return wrapped


def _cache_control(leaderboard: Leaderboard) -> str:
    if leaderboard.campaign.is_voting_blind:
        return "private, no-store"
    who = "public" if leaderboard.visibility == Leaderboard.Visibility.PUBLIC else "private"
    return f"{who}, no-cache"
