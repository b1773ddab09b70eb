"""A table of a page as a file: the page's rows with the page's access, exact, in three kinds."""

from __future__ import annotations

import hashlib

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.http import quote_etag
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.views import APIView

from arena.campaigns.models import Campaign
from arena.leaderboards import downloads
from arena.leaderboards.table_api import FILES, ByAddress
from arena.leaderboards.tables.every_table import ASKS, PAGE_OF

_PARAMETERS = [
    OpenApiParameter("table", str, OpenApiParameter.PATH, enum=tuple(PAGE_OF)),
    OpenApiParameter("kind", str, OpenApiParameter.PATH, enum=tuple(downloads.MEDIA_TYPES)),
    *(OpenApiParameter(name, str, OpenApiParameter.QUERY, description=words) for name, words in ASKS.items()),
]


class PageTable(APIView):
    permission_classes = [AllowAny]
    content_negotiation_class = ByAddress

    @extend_schema(parameters=_PARAMETERS, responses=FILES, operation_id="campaigns_table_retrieve")
    def get(self, request: Request, slug: str, table: str, kind: str) -> HttpResponseBase:
        """A table of one of a campaign's pages about boards, agreement or judges: CSV, JSON or Parquet.

        It holds the rows of the page, in the page's order, for whoever may see the page; its numbers aren't
        rounded.
        """
        page = PAGE_OF.get(table)
        if page is None or kind not in downloads.MEDIA_TYPES:
            tables, kinds = ", ".join(PAGE_OF), ", ".join(downloads.MEDIA_TYPES)
            raise NotFound(f"There is no {table}.{kind}; tables are {tables}, each as {kinds}.")
        if unknown := sorted(request.GET.keys() - page.asks.keys()):
            known = ", ".join(page.asks) or "nothing"
            raise ValidationError({name: [f"{table} is asked for by {known}."] for name in unknown})
        lines = page.lines(plain(request), slug, table)
        found = downloads.Table(page.columns(table), lines)
        response = answer(plain(request), found, kind)
        response["Content-Disposition"] = f'attachment; filename="{slug}-{table}.{kind}"'
        response["Cache-Control"] = cache_control(request, slug)
        patch_vary_headers(response, ["Authorization", "Cookie"])
        return response


def plain(request: Request) -> HttpRequest:
    """As a page gets it, with the account of a session or a token."""
    asked: HttpRequest = request._request
    asked.user = request.user
    return asked


def answer(request: HttpRequest, table: downloads.Table, kind: str) -> HttpResponseBase:
    """304 if the visitor has these very rows: a page shows the newest, and names in it may be changed."""
    known = f"{kind}\n{downloads.as_file(table, downloads.JSON).decode()}\n{list(table.columns)}"
    etag = quote_etag(hashlib.sha256(known.encode()).hexdigest()[:32])
    response = get_conditional_response(request, etag=etag)
    if response is None:
        content = downloads.as_file(table, kind)
        response = HttpResponse(content, content_type=downloads.MEDIA_TYPES[kind])
    response["ETag"] = etag
    return response


def cache_control(request: Request, slug: str) -> str:
    """What a stranger gets is public, all else is one account's; nothing is kept while raters vote blind."""
    if Campaign.objects.get(slug=slug).is_voting_blind:
        return "private, no-store"
    return f"{'private' if request.user.is_authenticated else 'public'}, no-cache"
