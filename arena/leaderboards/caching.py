"""What caches may keep: a snapshot never changes but for the names in it; while raters vote blind, nothing of
theirs is kept, and a page only by whoever hasn't signed in.
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

YEAR = 365 * 24 * 60 * 60


def cached(
    request: Request | HttpRequest,
    snapshot: Snapshot,
    form: str,
    make: Callable[[], HttpResponseBase],
    *,
    is_its_own_address: bool,
) -> HttpResponseBase:
    """304 without making anything if the visitor has it; `form` tells the representations apart."""
    asked = request._request if isinstance(request, Request) else request
    known = f"{snapshot.pk}\n{snapshot.taken_at}\n{form}\n{_names(snapshot)}"
    etag = quote_etag(hashlib.sha256(known.encode()).hexdigest()[:32])
    response = get_conditional_response(asked, etag=etag) or make()
    response["ETag"] = etag
    response["Cache-Control"] = _cache_control(snapshot.leaderboard, is_its_own_address)
    patch_vary_headers(response, ["Accept", "Authorization", "Cookie"])
    return response


def _names(snapshot: Snapshot) -> str:
    """What a snapshot is called by, and its models: they may be renamed."""
    board = snapshot.leaderboard
    models = snapshot.standings.order_by("competitor").values_list(
        "competitor", "competitor__name", "competitor__organisation"
    )
    return json.dumps([cite(snapshot), board.slug, board.campaign.slug, list(models)])


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


def _cache_control(leaderboard: Leaderboard, is_its_own_address: bool) -> str:
    if leaderboard.campaign.is_voting_blind:
        return "private, no-store"
    who = "public" if leaderboard.visibility == Leaderboard.Visibility.PUBLIC else "private"
    # The newest snapshot's address gives another one tomorrow: it is asked about every time.
    return f"{who}, max-age={YEAR}, immutable" if is_its_own_address else f"{who}, no-cache"
