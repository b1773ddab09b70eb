"""axe looks at every page there is, in light and in dark, about objects of the team that looks."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from arena.campaigns.models import Guide
from arena.corpus.models import Prompt, Response
from arena.corpus.render import render
from arena.languages import RATERS_PAGES
from tests.test_access import fill_route, routes, visitors

__all__ = ["fill_route", "visitors"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 375, "height": 760}
ALL = {"resultTypes": ["violations"]}
CONTRAST = ALL | {"runOnly": {"type": "rule", "values": ["color-contrast"]}}


def pages_of(visitor, fill, *, raters: bool) -> list[str]:
    """Addresses that show this visitor a page; of raters' pages alone, or of all others."""
    found = [
        address
        for route, pattern in sorted(routes().items())
        if (pattern.name in RATERS_PAGES) is raters
        and (answer := visitor.get(address := fill(route))).status_code == 200
        and b"<html" in b"".join(answer)[:200]
    ]
    return [*found, "/nowhere/"]


@pytest.fixture
def look(open_context, live_server, visitors):
    """look(who, addresses) is what axe finds on those pages."""

    def look_at(who: str, addresses: list[str], size=WIDE, findings=findings) -> list[str]:
        context = open_context(viewport=size)
        if session := visitors[who].cookies.get("sessionid"):
            context.add_cookies([{"name": "sessionid", "value": session.value, "url": live_server.url}])
        page = context.new_page()
        found = {address: findings(page, live_server.url + address) for address in addresses}
        return [f"{address} {fault}" for address, faults in found.items() for fault in faults]

    return look_at


def findings(page, address: str) -> list[str]:
    page.emulate_media(color_scheme="light")
    page.goto(address)
    faults = faults_of(page, ALL)
    page.emulate_media(color_scheme="dark")
    return faults + [f"dark: {fault}" for fault in faults_of(page, CONTRAST)]


def findings_by_every_rule(page, address: str) -> list[str]:
    """In dark as thoroughly as in light: what a page hides or shows may hang on it."""
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.goto(address)
        found += [f"{scheme}: {fault}" for fault in faults_of(page, ALL)]
    return found


def faults_of(page, options: dict) -> list[str]:
    violations = Axe().run(page, options=options).response["violations"]
    return [f"{one['id']}: {node['target']}" for one in violations for node in one["nodes"]]


@pytest.fixture
def headed(small_campaign):
    """Prompts, responses and the guide begin with a heading of their own."""
    text = "## Of the text\n\nWords.\n\n#### Below it\n\nMore words."
    for model in (Prompt, Response):
        model.objects.update(rendered_html=render(text))
    Guide.objects.update(text=text)


def test_axe_finds_nothing_on_any_page_of_the_team(look, visitors, fill_route, headed):
    addresses = pages_of(visitors["carol"], fill_route, raters=False)
    assert len(addresses) > 25
    assert look("carol", addresses) == []


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_axe_finds_nothing_on_any_page_of_raters(look, visitors, fill_route, small_campaign, headed, size):
    addresses = pages_of(visitors["alice"], fill_route, raters=True)
    assert len(addresses) > 4
    assert look("alice", addresses, size, findings_by_every_rule) == []
    type(small_campaign.campaign).objects.update(status="closed")
    closed = ["/campaigns/small/battle/", "/campaigns/small/my-votes/"]
    assert look("alice", closed, size, findings_by_every_rule) == []


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_axe_finds_nothing_on_the_pages_that_strangers_get(look, visitors, fill_route, size):
    """The invite before "Begin", signing in, and what has no place."""
    addresses = [*pages_of(visitors["stranger"], fill_route, raters=True), "/campaigns/small/battle/"]
    assert any(address.startswith("/join/") for address in addresses)
    assert look("stranger", addresses, size, findings_by_every_rule) == []
