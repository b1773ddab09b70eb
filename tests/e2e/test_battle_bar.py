"""The bar of the battle page: in every language and width its controls are whole, apart and in place."""

from __future__ import annotations

import pytest

from arena.battles.models import Outcome, Vote

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LOCALES = ("en-GB", "fr-FR", "ar-EG")
WIDTHS = (320, 375, 414, 600, 768, 1024, 1200, 1280, 1366, 1440, 1536, 1920, 2560)
HEIGHT = 812

# What is wrong with the controls of the bar, in words.
FAULTS = """() => {
  const said = (one) => one.textContent.trim().replace(/\\s+/g, " ");
  const controls = [...document.querySelectorAll("#vote-bar button")].filter((one) => one.checkVisibility());
  const keys = [...document.querySelectorAll("#vote-bar kbd")].filter((one) => one.checkVisibility());
  const boxes = new Map([...controls, ...keys].map((one) => [one, one.getBoundingClientRect()]));
  const faults = [];
  if (document.documentElement.scrollWidth > innerWidth) faults.push("the page is wider than the window");
  for (const [one, box] of boxes) {
    if (box.left < 0 || box.right > innerWidth || box.top < 0 || box.bottom > innerHeight)
      faults.push(`${said(one)} sticks out`);
    if (one.scrollWidth > Math.ceil(box.width)) faults.push(`${said(one)} is wider than its box`);
    for (const [other, its] of boxes) {
      if (one === other || one.contains(other) || other.contains(one)) continue;
      if (box.left < its.right && its.left < box.right && box.top < its.bottom && its.top < box.bottom)
        faults.push(`${said(one)} lies over ${said(other)}`);
    }
  }
  for (const one of controls) {
    const box = boxes.get(one);
    for (const share of [0.2, 0.5, 0.8]) {
      const hit = document.elementFromPoint(box.left + share * box.width, box.top + box.height / 2);
      if (!one.contains(hit)) faults.push(`${said(one)} isn't hit at ${share}`);
    }
  }
  return faults;
}"""


@pytest.fixture
def sit(open_context, at_work, make_campaign):
    """sit(locale, width) is a rater of that language before the first of some battles."""

    def sit_down(locale: str, width: int = 1280, **options):
        context = open_context(viewport={"width": width, "height": HEIGHT}, locale=locale, **options)
        rater = at_work(context.new_page())
        rater.page.goto(f"{rater.url}/join/{make_campaign(prompts=8).token}/")
        rater.page.locator("main form button").click()
        rater.page.wait_for_selector("article.battle")
        return rater

    return sit_down


def places(page) -> list[dict]:
    return [button.bounding_box() for button in page.locator("#vote-bar :is(.votes, .rarer) button").all()]


def faults(page, widths=WIDTHS, height: int = HEIGHT) -> list[tuple[int, str]]:
    found = []
    for width in widths:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
        found += [(width, fault) for fault in page.evaluate(FAULTS)]
    return found


@pytest.mark.parametrize("locale", LOCALES)
def test_in_every_language_the_bar_holds_its_words_at_every_width_and_does_not_move(sit, locale):
    rater = sit(locale)
    rater.settle()
    bar = {}
    for votes in range(2):
        assert faults(rater.page) == []
        for width in WIDTHS:
            rater.page.set_viewport_size({"width": width, "height": HEIGHT})
            assert bar.setdefault(width, places(rater.page)) == places(rater.page), (width, votes)
        if not votes:
            rater.page.set_viewport_size({"width": 1280, "height": HEIGHT})
            rater.press("x")


@pytest.mark.parametrize("locale", LOCALES)
def test_without_scripts_a_click_on_b_is_a_vote_for_b_at_every_width(sit, locale):
    page = sit(locale, java_script_enabled=False).page
    widths = (320, 1200, 1280, 1536)
    for width in widths:
        page.set_viewport_size({"width": width, "height": HEIGHT})
        with page.expect_navigation():
            page.locator(".vote-b").click()
    assert list(Vote.objects.values_list("outcome", flat=True)) == [Outcome.MODEL_B] * len(widths)


@pytest.mark.parametrize("locale", LOCALES)
def test_letters_of_twice_the_size_wrap_and_nothing_lies_over_anything(sit, locale):
    rater = sit(locale)
    rater.settle()
    rater.press("x")
    rater.page.evaluate("document.documentElement.style.fontSize = '200%'")
    assert faults(rater.page, height=1200) == []


@pytest.mark.parametrize("locale", LOCALES)
def test_on_a_phone_undo_and_reasons_are_whole_after_every_outcome_and_nothing_moves(sit, locale):
    rater = sit(locale, 320)
    rater.settle()
    page = rater.page
    widths = (320, 375, 414)
    bar, acts = {}, {}
    for outcome in ("a", "b", "t", "x"):
        page.evaluate("document.querySelector('.pane-b').scrollIntoView()")
        page.wait_for_function("() => document.querySelector('.pane-b').getBoundingClientRect().top < 300")
        rater.press(outcome)
        assert page.locator("#recorded button:visible").count() == 2
        assert faults(page, widths) == []
        for width in widths:
            page.set_viewport_size({"width": width, "height": HEIGHT})
            assert bar.setdefault(width, places(page)) == places(page), (outcome, width)
            now = [button.bounding_box() for button in page.locator("#recorded button").all()]
            assert acts.setdefault(width, now) == now, (outcome, width)
            words = page.locator("#recorded .words")
            assert words.evaluate("box => box.scrollHeight <= box.clientHeight"), words.inner_text()


@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("locale", LOCALES)
def test_the_arrow_that_the_help_names_for_a_votes_for_a_and_that_for_b_for_b(sit, locale, width):
    rater = sit(locale, width)
    rater.settle()
    page = rater.page
    keys = {"←": "ArrowLeft", "→": "ArrowRight"}
    page.keyboard.press("?")
    named = page.locator("#keys dt:has(kbd:nth-child(2))")
    arrows = [named.nth(side).locator("kbd").nth(1).inner_text() for side in (0, 1)]
    page.keyboard.press("Escape")
    page.locator("#keys").wait_for(state="hidden")
    for arrow, outcome in zip(arrows, (Outcome.MODEL_A, Outcome.MODEL_B), strict=True):
        battle = rater.battle()
        page.evaluate("document.querySelector('.pane-b').scrollIntoView()")
        page.wait_for_function(
            "() => document.querySelector('.pane-b').getBoundingClientRect().top < innerHeight - 200"
        )
        rater.press(keys[arrow])
        assert Vote.objects.get(battle__public_id=battle).outcome == outcome


def test_from_right_to_left_a_text_from_left_to_right_starts_at_the_left_edge(sit):
    page = sit("ar-EG").page
    prose = page.locator("#stage .prompt .prose")
    assert prose.evaluate("box => getComputedStyle(box).direction") == "ltr"
    assert prose.bounding_box()["x"] == page.locator("#stage .panes").bounding_box()["x"]


@pytest.mark.parametrize("locale", LOCALES)
def test_on_a_low_phone_the_reasons_are_kept_by_a_button_that_is_in_view(sit, locale):
    rater = sit(locale, 375)
    rater.page.set_viewport_size({"width": 375, "height": 560})
    rater.settle()
    rater.page.keyboard.press("w")
    box = rater.page.locator("#why").bounding_box()
    for button in rater.page.locator("#why-form > .row button").all():
        its = button.bounding_box()
        assert box["y"] < its["y"] and its["y"] + its["height"] <= box["y"] + box["height"]
