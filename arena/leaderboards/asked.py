"""What a page about boards was asked for, found once for the page and for the files of its tables."""

from __future__ import annotations

from django.http import Http404, HttpRequest

from arena.campaigns.models import Campaign
from arena.leaderboards.boards import board_page, compare_page, model_page
from arena.leaderboards.boards.board_view import View
from arena.leaderboards.charts import chart_page
from arena.leaderboards.visible import get_visible_campaign, visible_boards


def compared(
    request: HttpRequest, slug: str
) -> tuple[Campaign, compare_page.Choice, compare_page.Page | None]:
    """?a=…&b=…&source=…; no page where there aren't two models to compare."""
    campaign = get_visible_campaign(request, slug)
    boards = list(visible_boards(request, campaign))
    names = compare_page.names_of(boards)
    wanted = request.GET.get("a", ""), request.GET.get("b", "")
    if any(name and name not in names for name in wanted):
        raise Http404
    choice = compare_page.choose(names, *wanted)
    if len(names) < 2 or choice.a == choice.b:
        return campaign, choice, None
    return campaign, choice, compare_page.build(boards, choice, request.GET.get("source", ""))


def about_model(request: HttpRequest, slug: str) -> tuple[Campaign, model_page.Page]:
    """?name=…&source=…; by default the first model."""
    campaign = get_visible_campaign(request, slug)
    boards = list(visible_boards(request, campaign))
    name = request.GET.get("name") or next(iter(compare_page.names_of(boards)), "")
    competitor = model_page.find_competitor(boards, name)
    if competitor is None:
        raise Http404
    return campaign, model_page.build(campaign, boards, competitor, request.GET.get("source", ""))


def boarded(request: HttpRequest, slug: str, view: View) -> tuple[Campaign, board_page.Page]:
    """?source=…&board=…&interval=…, and what a view understands."""
    campaign = get_visible_campaign(request, slug)
    boards = visible_boards(request, campaign)
    source, interval, asked = (request.GET.get(name, "") for name in ("source", "interval", "board"))
    return campaign, board_page.build(boards, source, interval, view, asked)


def charted(request: HttpRequest, slug: str) -> tuple[Campaign, chart_page.Page]:
    """?source=…&board=…&sort=…"""
    campaign = get_visible_campaign(request, slug)
    asked = (request.GET.get(name, "") for name in ("source", "board", "sort"))
    return campaign, chart_page.build(visible_boards(request, campaign), *asked)
