"""A board and its charts printed on A4: nothing lies over anything, nothing that matters stays folded."""

from __future__ import annotations

import pytest

from arena.leaderboards.boards.board_cautions import care_of
from tests.e2e.test_boards import BOARDS, joust, make_judge, visit, voted_campaign

__all__ = ["joust", "make_judge", "visit", "voted_campaign"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

A4 = {"width": 718, "height": 1047}
"""Within margins of a centimetre, at 96 pixels an inch."""

BROKEN_NAMES = """() => [...document.querySelectorAll(".board-table tbody th a")].filter((name) => {
  const words = document.createRange(), text = name.firstChild;
  return [...text.data.matchAll(/\\S+/g)].some((word) => {
    words.setStart(text, word.index);
    words.setEnd(text, word.index + word[0].length);
    return words.getClientRects().length > 1;
  });
}).map((name) => name.textContent)"""


@pytest.fixture
def paper(visit, live_server):
    def put(address: str):
        page, _record = visit("ravi", viewport=A4)
        page.emulate_media(media="print")
        page.goto(f"{live_server.url}{address}")
        return page

    return put


def test_a_printed_board_has_whole_names_and_its_drawn_intervals(joust, paper):
    page = paper("/boards/joust/?board=overall")
    assert page.evaluate(BROKEN_NAMES) == []
    for board in BOARDS:
        bar = page.locator(f"tbody td.{board} svg.interval").first.bounding_box()
        assert bar is not None
        assert bar["width"] > 50
    assert page.evaluate("document.documentElement.scrollWidth") <= A4["width"]


def test_printed_the_notes_of_a_board_stand_below_each_other_with_every_caution(joust, paper, monkeypatch):
    monkeypatch.setitem(care_of.__kwdefaults__, "shown", 0)
    page = paper("/boards/joust/?board=overall")
    style, care = (
        page.locator(f"section[aria-labelledby={name}]").bounding_box() for name in ("style", "care")
    )
    assert style["y"] + style["height"] <= care["y"]
    assert page.locator(".more-cautions li").count() > 0
    assert all(caution.is_visible() for caution in page.locator(".cautions li").all())


def test_no_printed_heading_is_left_alone_at_the_foot_of_a_page(joust, paper):
    for address in ("/boards/joust/?board=overall", "/boards/joust/charts/", "/boards/joust/report/"):
        page = paper(address)
        kept = "[...document.querySelectorAll('main h2')].map((one) => getComputedStyle(one).breakAfter)"
        assert set(page.evaluate(kept)) == {"avoid"}, address
