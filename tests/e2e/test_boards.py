"""Boards in a real browser: wide and on a phone, light and dark, on paper, and taken by a button."""

from __future__ import annotations

from itertools import pairwise

import pytest
from axe_playwright_python.sync_playwright import Axe

from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from tests.e2e.conftest import follow
from tests.leaderboards.conftest import make_judge, voted_campaign

__all__ = ["make_judge", "voted_campaign"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WIDE = {"width": 1440, "height": 900}
PHONE = {"width": 375, "height": 812}
BOARDS = ("overall", "hard", "style")


@pytest.fixture
def visit(open_context, live_server, signed_in, at_work):
    """visit("ravi", viewport=PHONE) is a page with that person's session, and a record of complaints."""

    def make(name: str, **options):
        context = open_context(**options)
        session = signed_in(name).cookies["sessionid"].value
        context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
        page = context.new_page()
        return page, at_work(page).record

    return make


@pytest.fixture
def joust(voted_campaign, cast):
    small = voted_campaign("joust", votes=300)
    for leaderboard in ensure_leaderboards(small.campaign):
        assert snapshots.take_snapshot(leaderboard).snapshot
    return small


def overflow(page) -> int:
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def shown(page) -> list[str]:
    return [board for board in BOARDS if page.locator(f"tbody td.{board} svg").first.is_visible()]


def test_a_wide_window_shows_three_boards_beside_each_other_ranked_by_one(joust, visit, live_server):
    page, record = visit("ravi", viewport=WIDE)
    page.goto(f"{live_server.url}/boards/joust/")
    assert shown(page) == list(BOARDS)
    rank = page.locator(".board-table th:first-child").first
    assert " ".join(rank.inner_text().split()) == "Rank on the board Overall"
    page.locator("nav.board-choice").get_by_role("link", name="Hard prompts").click()
    page.wait_for_url("**board=hard**")
    assert " ".join(rank.inner_text().split()) == "Rank on the board Hard prompts"
    assert shown(page) == list(BOARDS)
    assert overflow(page) == 0
    assert record.complaints == []


def test_marks_stand_where_their_ratings_are_on_one_scale_for_all_boards(joust, visit, live_server):
    page, _record = visit("ravi", viewport=WIDE)
    page.goto(f"{live_server.url}/boards/joust/")
    marks = page.evaluate(
        """() => [...document.querySelectorAll("svg.interval:not(.scale)")].map(svg => {
          const box = svg.getBoundingClientRect(), dot = svg.querySelector("circle").getBoundingClientRect();
          const mean = svg.querySelector(".mean").getBoundingClientRect();
          const rating = parseFloat(svg.previousElementSibling.textContent);
          return [rating, (dot.left + dot.width / 2 - mean.left - mean.width / 2) / box.width];
        })"""
    )
    assert len(marks) == 15
    far = [(rating, offset) for rating, offset in marks if abs(rating - 1000) > 30]
    slopes = [offset / (rating - 1000) for rating, offset in far]
    assert max(slopes) < 1.1 * min(slopes)


def test_a_phone_shows_one_board_at_a_time_and_links_to_the_others(joust, visit, live_server):
    page, record = visit("ravi", viewport=PHONE)
    page.goto(f"{live_server.url}/boards/joust/")
    assert shown(page) == ["overall"]
    assert overflow(page) == 0
    page.get_by_role("link", name="Style-controlled").click()
    assert shown(page) == ["style"]
    assert page.locator("tbody td.style-move").first.is_visible()
    assert overflow(page) == 0
    assert record.complaints == []


@pytest.mark.parametrize("size", [PHONE, WIDE], ids=["phone", "wide"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_the_board_pages(joust, visit, live_server, scheme, size):
    page, _record = visit("ravi", viewport=size, color_scheme=scheme)
    for address in ("/boards/", "/boards/joust/"):
        page.goto(f"{live_server.url}{address}")
        assert findings(page) == []


def findings(page) -> list[str]:
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [f"{one['id']}: {[node['target'] for node in one['nodes']]}" for one in found]


def test_the_empty_page_holds_the_button_that_mends_it(voted_campaign, visit, live_server):
    voted_campaign("joust", votes=200)
    page, record = visit("ravi", viewport=WIDE)
    page.goto(f"{live_server.url}/boards/joust/")
    page.get_by_role("button", name="Take a snapshot now").click()
    page.wait_for_selector("table.board-table")
    assert shown(page) == list(BOARDS)
    assert record.complaints == []


def test_on_paper_there_are_no_buttons(joust, visit, live_server):
    page, _record = visit("ravi", viewport=WIDE)
    page.goto(f"{live_server.url}/boards/joust/")
    page.emulate_media(media="print")
    assert page.get_by_role("button").count() == 0
    assert all(page.locator(f"tbody td.{board} .figure").first.is_visible() for board in BOARDS)


@pytest.mark.parametrize("width", [360, 375])
def test_a_phone_has_wide_bars_printed_intervals_and_a_scale_to_read_them_off(
    joust, make_judge, visit, live_server, width
):
    judge = make_judge(joust, "Sage", dict.fromkeys(joust.campaign.battles.all(), "model_b"))
    for leaderboard in ensure_leaderboards(joust.campaign):
        snapshots.take_snapshot(leaderboard)
    page, record = visit("ravi", viewport={"width": width, "height": 800})
    for source in ("raters", f"judge:{judge.pk}"):
        for board in BOARDS:
            page.goto(f"{live_server.url}/boards/joust/?source={source}&board={board}")
            assert overflow(page) == 0, (source, board)
            bar = page.locator(f"tbody td.{board} svg.interval").first
            if source == "raters":
                assert bar.bounding_box()["width"] > 150
                assert page.locator(f"tbody td.{board} .range").first.is_visible()
            ticks = page.locator(f"tfoot td.{board} svg.scale text:visible")
            boxes = sorted((tick.bounding_box() for tick in ticks.all()), key=lambda box: box["x"])
            assert len(boxes) >= 3
            for left, right in pairwise(boxes):
                assert left["x"] + left["width"] < right["x"]
    assert record.complaints == []


@pytest.mark.parametrize("width", [1160, 1280, 1440, 1720])
def test_the_numbers_of_a_scale_stand_apart_where_three_boards_share_the_window(
    joust, visit, live_server, width
):
    page, _record = visit("ravi", viewport={"width": width, "height": 800})
    page.goto(f"{live_server.url}/boards/joust/")
    for board in BOARDS:
        ticks = page.locator(f"tfoot td.{board} svg.scale text:visible")
        boxes = sorted((tick.bounding_box() for tick in ticks.all()), key=lambda box: box["x"])
        assert len(boxes) >= 2
        for left, right in pairwise(boxes):
            assert left["x"] + left["width"] < right["x"]


def test_what_figures_mean_opens_by_keyboard(joust, visit, live_server):
    page, _record = visit("ravi", viewport=PHONE)
    page.goto(f"{live_server.url}/boards/joust/")
    page.locator("details.terms summary").focus()
    page.keyboard.press("Enter")
    assert page.get_by_text("technical accuracy").is_visible()


def test_hidden_columns_stay_hidden_when_the_reader_comes_back(joust, visit, live_server):
    page, record = visit("ravi", viewport=WIDE)
    page.goto(f"{live_server.url}/boards/joust/")
    page.get_by_text("Columns", exact=True).click()
    page.get_by_label("Hard prompts").uncheck()
    page.get_by_label("Votes").uncheck()
    assert shown(page) == ["overall", "style"]
    page.goto(f"{live_server.url}/boards/joust/?sort=name")
    assert shown(page) == ["overall", "style"]
    assert page.locator("tbody td.votes").first.is_hidden()
    page.get_by_text("Columns", exact=True).click()
    page.get_by_label("Hard prompts").check()
    assert shown(page) == list(BOARDS)
    assert overflow(page) == 0
    assert record.complaints == []


def test_without_javascript_models_are_found_sorted_and_kept_on_top(joust, visit, live_server):
    page, _record = visit("ravi", viewport=PHONE, java_script_enabled=False)
    page.goto(f"{live_server.url}/boards/joust/")
    assert page.get_by_text("Columns", exact=True).is_hidden()
    page.get_by_label("Keep on top: Inlet").check()
    page.get_by_label("Sort by").select_option("name")
    follow(page.get_by_role("button", name="Show"))
    assert page.locator("tbody th a").all_inner_texts()[:2] == ["Inlet", "Ember"]
    assert page.get_by_label("Keep on top: Inlet").is_checked()
