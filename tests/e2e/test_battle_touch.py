"""Keys are spoken of where they work, and what a finger tapped doesn't look chosen afterwards."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

BY_KEY, BY_BUTTON = "You vote with one key", "You vote with one of four buttons"
KEYS = "#vote-bar kbd:visible, .plain-choice kbd:visible, .about-keys:visible"
BORDERS = (
    "[...document.querySelectorAll('#vote-bar .vote')].map((one) => getComputedStyle(one).borderTopColor)"
)


@pytest.fixture
def open_page(open_context):
    def make(**options):
        options = {"viewport": {"width": 1280, "height": 760}, "locale": "en-GB"} | options
        return open_context(**options).new_page()

    return make


TOUCH = {"viewport": {"width": 1000, "height": 700}, "has_touch": True, "is_mobile": True}


@pytest.mark.parametrize(
    ("options", "words", "hints"),
    [({}, BY_KEY, True), ({"java_script_enabled": False}, BY_BUTTON, False), (TOUCH, BY_BUTTON, False)],
    ids=["keyboard", "no scripts", "touch"],
)
def test_keys_are_spoken_of_where_they_work(open_page, at_work, small_campaign, options, words, hints):
    rater = at_work(open_page(**options))
    page = rater.page
    page.goto(f"{rater.url}/join/{small_campaign.token}/")
    said = page.locator("main").inner_text()
    assert [one in said for one in (BY_KEY, BY_BUTTON)] == [words == BY_KEY, words == BY_BUTTON]
    page.get_by_role("button", name="Begin").click()
    page.wait_for_selector("article.battle")
    page.wait_for_load_state()  # with its style sheets, which hide the keys
    shown = page.locator(KEYS).count()
    if hints:
        assert shown > 8
    else:
        assert page.locator("#vote-bar kbd:visible, .plain-choice kbd:visible").count() == 0
    if "java_script_enabled" in options:
        assert shown == 0


def test_a_tapped_button_looks_like_the_others_in_the_next_battle(open_page, at_work, small_campaign):
    rater = at_work(open_page(**TOUCH))
    rater.begin(small_campaign.token)
    page, before = rater.page, rater.battle()
    untouched = page.evaluate(BORDERS)
    page.get_by_role("button", name="Tie").tap()
    page.wait_for_function(
        "before => document.querySelector('#stage > article.battle')?.dataset.battle !== before", arg=before
    )
    assert page.evaluate(BORDERS) == untouched
    assert page.evaluate("document.activeElement.matches('#vote-bar *')") is False


@pytest.mark.parametrize("size", [(1280, 760), (1280, 680), (1024, 768)])
@pytest.mark.parametrize("lines", [1, 30], ids=["short prompt", "long prompt"])
def test_the_button_below_cut_texts_stands_above_the_bar(open_page, at_work, small_campaign, size, lines):
    from arena.corpus.models import Prompt, Response

    Prompt.objects.update(rendered_html="<p>A line of the prompt.</p>" * lines)
    Response.objects.update(rendered_html="<p>A line of the response.</p>" * 60)
    rater = at_work(open_page(viewport={"width": size[0], "height": size[1]}))
    rater.begin(small_campaign.token)
    for _battle in range(2):
        buttons = rater.page.locator("#stage .whole-panes:visible")
        bar = rater.page.locator("#vote-bar").bounding_box()
        assert buttons.count() == 2
        for button in buttons.all():
            box = button.bounding_box()
            assert box["y"] + box["height"] <= bar["y"]
        rater.press("x")
