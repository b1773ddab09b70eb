"""Long responses: cut at one height, shown whole together, scrolled together on request."""

from __future__ import annotations

import pytest

from arena.battles.models import Vote
from arena.corpus.models import Response
from arena.corpus.render import render

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PHONE = {"width": 375, "height": 812}
WIDE = {"width": 1280, "height": 800}
SENTENCE = "<p>The committee meets on the second floor, and its minutes are kept for ten years.</p>"
TOPS = "() => [...document.querySelectorAll('.pane > .prose')].map(text => text.scrollTop)"


@pytest.fixture
def sit(open_context, at_work, make_campaign):
    """sit(size, a, b) is a rater before battles whose responses have so many paragraphs."""

    def sit_down(size, *lengths: int):
        small = make_campaign(prompts=6, names=("Ember", "Fjord"))
        for competitor, length in zip(small.competitors, lengths, strict=True):
            Response.objects.filter(competitor=competitor).update(rendered_html=SENTENCE * length)
        rater = at_work(open_context(viewport=size).new_page())
        rater.begin(small.token)
        return rater

    return sit_down


def heights(page) -> list[float]:
    return [text.bounding_box()["height"] for text in page.locator("#stage .pane > .prose").all()]


@pytest.mark.parametrize("size", [PHONE, WIDE], ids=["phone", "wide"])
def test_long_responses_are_cut_at_one_height_and_one_button_shows_both_whole(sit, size):
    rater = sit(size, 40, 60)
    page = rater.page
    a, b = heights(page)
    assert a == b < size["height"] * 0.7
    page.get_by_role("button", name="Show all of A and B", exact=True).first.click()
    assert min(heights(page)) > size["height"]
    less = page.get_by_role("button", name="Show less of A and B", exact=True)
    assert [button.get_attribute("aria-expanded") for button in less.all()] == ["true", "true"]
    page.keyboard.press("e")
    assert heights(page) == [a, b]
    assert not Vote.objects.exists()


def test_whole_stays_whole_for_the_next_battle_and_the_next_visit(sit):
    rater = sit(WIDE, 40, 60)
    page = rater.page
    page.keyboard.press("e")
    rater.press("a")
    assert min(heights(page)) > WIDE["height"]
    page.reload()
    rater.settle()
    assert min(heights(page)) > WIDE["height"]
    page.keyboard.press("e")
    assert max(heights(page)) < WIDE["height"]


def test_short_responses_have_neither_button_nor_stop_for_the_tab_key(sit):
    page = sit(WIDE, 2, 3).page
    assert page.locator("#stage .whole-panes:visible, #stage .together:visible").count() == 0
    assert page.locator("#stage .pane > .prose[tabindex]").count() == 0
    page.keyboard.press("e")
    page.keyboard.press("l")
    assert page.evaluate("localStorage.getItem('tiltyard.whole')") is None


def test_scrolled_together_both_reach_their_end_at_once_and_by_itself_each_stays(sit):
    page = sit(WIDE, 30, 90).page
    text = page.locator("#stage .pane > .prose")
    text.nth(0).focus()
    page.keyboard.press("End")
    page.wait_for_function(f"() => ({TOPS})()[0] > 300")
    assert page.evaluate(TOPS)[1] == 0
    page.keyboard.press("l")
    together = page.get_by_role("button", name="Scroll A and B together")
    assert together.get_attribute("aria-pressed") == "true"
    page.keyboard.press("Home")
    page.wait_for_function(f"() => ({TOPS})().every(top => top === 0)")
    text.nth(1).focus()
    page.keyboard.press("End")
    ends = (
        "[...document.querySelectorAll('.pane > .prose')].map(text => text.scrollHeight - text.clientHeight)"
    )
    page.wait_for_function(f"() => ({TOPS})().every((top, side) => Math.abs(top - {ends}[side]) < 2)")
    together.click()
    assert together.get_attribute("aria-pressed") == "false"
    assert not Vote.objects.exists()


def test_the_key_for_scrolling_together_is_remembered(sit):
    rater = sit(WIDE, 30, 40)
    rater.page.keyboard.press("l")
    rater.press("b")
    together = rater.page.get_by_role("button", name="Scroll A and B together")
    assert together.get_attribute("aria-pressed") == "true"


def test_with_letters_off_neither_key_does_anything(sit):
    page = sit(WIDE, 30, 40).page
    page.keyboard.press("?")
    page.locator("#letters").uncheck()
    page.keyboard.press("Escape")
    before = heights(page)
    for key in "el1":
        page.keyboard.press(key)
    assert heights(page) == before
    assert page.locator("#word").is_hidden()


def test_printed_the_responses_are_whole(sit):
    page = sit(WIDE, 40, 60).page
    page.emulate_media(media="print")
    assert min(heights(page)) > WIDE["height"]
    assert page.locator(".whole-panes:visible, .together:visible, #vote-bar:visible").count() == 0


WIDE_TEXT = (
    "<think>First the long way round.</think>See:\n\n```sh\n" + "run --with-an-option " * 12 + "\n```\n\n"
    "| "
    + " | ".join(f"column-number-{n}" for n in range(12))
    + " |\n"
    + "|---" * 12
    + "|\n"
    + "| x " * 12
    + "|"
)


def test_on_paper_nothing_is_cut_at_the_side_or_folded_away(sit):
    page = sit({"width": 720, "height": 1000}, 1, 1).page
    Response.objects.update(rendered_html=render(WIDE_TEXT))
    page.reload()
    page.wait_for_selector("article.battle")
    page.emulate_media(media="print")
    cut = """() => [...document.querySelectorAll('#stage .prose, #stage .prose *')]
      .filter(one => getComputedStyle(one).overflowX !== 'visible' && one.scrollWidth > one.clientWidth + 1)
      .map(one => one.tagName + '.' + one.className)"""
    assert page.evaluate(cut) == []
    outside = """() => [...document.querySelectorAll('#stage *')]
      .filter(one => one.getBoundingClientRect().right > innerWidth)
      .map(one => one.tagName + '.' + one.className)"""
    assert page.evaluate(outside) == []
    for text in page.locator("#stage .reasoning p").all():
        assert text.bounding_box()["height"] > 0
