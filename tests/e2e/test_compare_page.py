"""Two models head to head in a real browser: clean for axe, readable on a phone, quiet on paper."""

from __future__ import annotations

import itertools
import re

import pytest

from arena.leaderboards.charts import drawing
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from tests.e2e.test_boards import PHONE, WIDE, findings, overflow, visit
from tests.leaderboards.conftest import make_judge, voted_campaign

__all__ = ["make_judge", "visit", "voted_campaign"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGE = "/boards/joust/compare/?a=Fjord&b=Ember"


@pytest.fixture
def joust(voted_campaign, make_judge, cast):
    """Votes in three categories, and a judge who likes the first side."""
    small = voted_campaign("joust", votes=300)
    for number, prompt in enumerate(small.prompts):
        prompt.category = ("cooking", "law", "")[number % 3]
    type(small.prompts[0]).objects.bulk_update(small.prompts, ["category"])
    outcomes = ("model_a", "model_a", "model_b", "tie")
    battles = enumerate(small.campaign.battles.order_by("pk")[:200])
    make_judge(small, "Sage", {battle: outcomes[number % 4] for number, battle in battles})
    for leaderboard in ensure_leaderboards(small.campaign):
        assert snapshots.take_snapshot(leaderboard).snapshot
    return small


@pytest.mark.parametrize("size", [PHONE, WIDE], ids=["phone", "wide"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_sticks_out(joust, visit, live_server, scheme, size):
    page, record = visit("ravi", viewport=size, color_scheme=scheme)
    page.goto(f"{live_server.url}{PAGE}")
    assert findings(page) == []
    assert overflow(page) == 0
    assert page.locator("table.compare-table svg.interval:not(.scale)").count() == 8
    assert record.complaints == []


def test_the_dot_stands_on_the_side_of_the_model_ahead(joust, visit, live_server):
    page, _record = visit("ravi", viewport=WIDE)
    page.goto(f"{live_server.url}{PAGE}")
    marks = page.evaluate(
        """() => [...document.querySelectorAll("svg.wide:not(.scale)")].map(svg => {
          const zero = svg.querySelector(".mean").getBoundingClientRect();
          const dot = svg.querySelector("circle").getBoundingClientRect();
          const points = parseFloat(svg.getAttribute("aria-label").replace("−", "-"));
          return [points, dot.left + dot.width / 2 - zero.left];
        })"""
    )
    assert len(marks) == 8
    assert all((points > 0) == (offset > 0) for points, offset in marks if abs(points) > 2)


def test_another_pair_is_chosen_by_keyboard_and_form(joust, visit, live_server):
    page, record = visit("ravi", viewport=WIDE)
    page.goto(f"{live_server.url}/boards/joust/")
    page.get_by_role("link", name="Compare two").click()
    page.get_by_label("B", exact=True).select_option("Inlet")
    page.get_by_role("button", name="Compare").press("Enter")
    page.wait_for_url("**b=Inlet")
    assert "Inlet" in page.get_by_role("heading", level=1).inner_text()
    assert record.complaints == []


@pytest.mark.parametrize("size", [PHONE, WIDE], ids=["phone", "wide"])
def test_charts_are_images_that_the_policy_allows_beside_tables(joust, visit, live_server, size):
    drawing.draw(joust.campaign.leaderboards.order_by("pk").first().snapshots.first())
    page, record = visit("ravi", viewport=size)
    page.goto(f"{live_server.url}/boards/joust/charts/")
    for image in page.locator(".chart picture:first-child img").all():
        image.scroll_into_view_if_needed()
        image.evaluate("image => image.decode()")
        assert image.evaluate("image => image.naturalWidth") > 100
    # Those of five kinds and online Elo; a first snapshot has no history, a plain board no coefficients.
    assert page.locator(".chart picture:first-child img").count() == 6
    for summary in page.locator(".chart summary").all():
        summary.click()
    assert findings(page) == []
    assert overflow(page) == 0
    assert record.complaints == []


@pytest.mark.parametrize("width", [375, 660, 800, 1024, 1280])
def test_the_numbers_of_the_scale_stand_apart_and_words_say_how_far_it_goes(joust, visit, live_server, width):
    page, _record = visit("ravi", viewport={"width": width, "height": 900})
    page.goto(f"{live_server.url}{PAGE}")
    ends = page.evaluate(
        """() => [...document.querySelectorAll("svg.wide.scale text")]
          .map(text => text.getBoundingClientRect())
          .filter(box => box.width).map(box => [box.left, box.right])"""
    )
    assert len(ends) == 3
    assert all(left[1] + 2 <= right[0] for left, right in itertools.pairwise(ends))
    assert page.get_by_text("scale", exact=True).is_visible()
    shown = page.locator("section[aria-labelledby=boards] .note").first.inner_text()
    assert re.match(r"The drawing goes from −[0-9]+ to \+[0-9]+ points, with a line at 0", shown)
