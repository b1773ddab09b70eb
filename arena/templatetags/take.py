"""{% take "TABLE" %}: under a table of a page, its files."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import template
from django.http import HttpRequest
from django.urls import reverse

from arena.leaderboards.downloads import SAID
from arena.leaderboards.tables.every_table import PAGE_OF

register = template.Library()


@register.inclusion_tag("leaderboards/take.html", takes_context=True)
def take(context: dict[str, Any], table: str, campaign: str = "", **asked: object) -> dict[str, Any]:
    """What the page was asked for goes on to the files; what it chose by itself is given here."""
    request: HttpRequest = context["request"]
    slug = campaign or context["campaign"].slug
    named = {name: request.GET[name] for name in PAGE_OF[table].asks if request.GET.get(name)}
    query = urlencode(named | {name: value for name, value in asked.items() if value})
    files = [(said, reverse("page-table", args=[slug, table, kind])) for kind, said in SAID.items()]
    return {"files": [(said, f"{address}?{query}" if query else address) for said, address in files]}


@register.inclusion_tag("leaderboards/take.html")
def take_files(address: str, *asked: object) -> dict[str, Any]:
    """Files at addresses of their own, which end in the kind."""
    return {"files": [(said, reverse(address, args=[*asked, kind])) for kind, said in SAID.items()]}
