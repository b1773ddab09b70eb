"""What caches may keep: a snapshot never changes; while raters vote blind, nothing of theirs is kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from django.http import HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.http import quote_etag
from rest_framework.request import Request

from arena.leaderboards.models import Leaderboard, Snapshot

YEAR = 365 * 24 * 60 * 60


def cached(
    request: Request,
    snapshot: Snapshot,
    form: str,
    make: Callable[[], HttpResponseBase],
    *,
    is_its_own_address: bool,
) -> HttpResponseBase:
    """304 without making anything if the visitor has it; `form` tells the representations apart."""
    etag = quote_etag(hashlib.sha256(f"{snapshot.pk}\n{snapshot.taken_at}\n{form}".encode()).hexdigest()[:32])
    response = get_conditional_response(request._request, etag=etag) or make()
    response["ETag"] = etag
    response["Cache-Control"] = _cache_control(snapshot.leaderboard, is_its_own_address)
    patch_vary_headers(response, ["Accept", "Authorization", "Cookie"])
    return response


def _cache_control(leaderboard: Leaderboard, is_its_own_address: bool) -> str:
    if leaderboard.campaign.is_voting_blind:
        return "private, no-store"
    who = "public" if leaderboard.visibility == Leaderboard.Visibility.PUBLIC else "private"
    # The newest snapshot's address gives another one tomorrow: it is asked about every time.
    return f"{who}, max-age={YEAR}, immutable" if is_its_own_address else f"{who}, no-cache"
