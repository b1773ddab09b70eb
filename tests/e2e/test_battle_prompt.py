"""A long prompt shows that it goes on, opens, gets out of the way, and is read to its end before a vote."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from arena.battles.models import Vote
from arena.corpus.models import Prompt, Response
from tests.e2e.conftest import follow

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PHONE = {"width": 375, "height": 812}
WIDE = {"width": 1440, "height": 860}
SENTENCE = "The committee meets on the second floor, and its minutes are kept for ten years. "
IN_VIEW = """selector => {
  const box = document.querySelector(selector).getBoundingClientRect();
  return box.bottom > 0 && box.top < innerHeight;
}"""


@pytest.fixture
def open_page(open_context):
    def make(size=PHONE, **options):
        is_phone = size == PHONE
        return open_context(viewport=size, has_touch=is_phone, is_mobile=is_phone, **options).new_page()

    return make


@pytest.fixture
def sit(open_page, at_work, make_campaign):
    """sit(size, sentences) is a rater before a battle whose prompt has so many sentences."""

    def sit_down(size=PHONE, sentences: int = 40, responses: int = 30, **fields):
        small = make_campaign(prompts=6, **fields)
        Prompt.objects.update(rendered_html=f"<p>First words. {SENTENCE * sentences}The last words.</p>")
        Response.objects.update(rendered_html=f"<p>{SENTENCE * responses}</p>")
        rater = at_work(open_page(size))
        rater.begin(small.token)
        return rater

    return sit_down


def prompt_height(page) -> float:
    return page.locator("#stage .prompt .prose").bounding_box()["height"]


def scroll_to(page, y: int) -> None:
    page.evaluate("y => window.scrollTo(0, y)", y)
    page.wait_for_timeout(200)


def look_at_both(page) -> None:
    page.evaluate("document.querySelector('.pane-b').scrollIntoView()")
    page.wait_for_timeout(200)


@pytest.mark.parametrize("size", [PHONE, WIDE], ids=["phone", "wide"])
def test_a_long_prompt_fades_and_its_button_shows_all_and_less_by_the_keyboard(sit, size):
    page = sit(size).page
    button = page.get_by_role("button", name="Show all", exact=True)
    cut = prompt_height(page)
    assert cut < size["height"] / 2
    assert "gradient" in page.evaluate(
        "getComputedStyle(document.querySelector('#stage .prompt .prose')).maskImage"
    )
    button.focus()
    page.keyboard.press("Enter")
    less = page.get_by_role("button", name="Show less", exact=True)
    assert less.get_attribute("aria-expanded") == "true"
    assert prompt_height(page) > cut + 100
    assert not Vote.objects.exists()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "false"
    assert prompt_height(page) == cut
    assert page.locator("[style]").count() == 0


@pytest.mark.parametrize("size", [PHONE, WIDE], ids=["phone", "wide"])
def test_a_short_prompt_has_no_such_button(sit, size):
    page = sit(size, sentences=1).page
    assert page.locator("#stage .whole").is_hidden()
    assert page.locator("#stage .prompt[data-cut]").count() == 0


def test_the_prompt_that_a_vote_brings_is_measured_too(sit):
    rater = sit(WIDE)
    rater.press("a")
    assert rater.page.get_by_role("button", name="Show all", exact=True).is_visible()


def test_wide_the_fade_goes_when_the_prompt_is_scrolled_to_its_end(sit):
    page = sit(WIDE).page
    page.evaluate("document.querySelector('#stage .prompt .prose').scrollTo(0, 10000)")
    page.wait_for_selector("#stage .prompt[data-at-end]")
    mask = page.evaluate("getComputedStyle(document.querySelector('#stage .prompt .prose')).maskImage")
    assert mask == "none"


def test_on_a_phone_a_cut_prompt_is_opened_before_the_vote_and_read_to_its_end(sit):
    rater = sit()
    page = rater.page
    look_at_both(page)
    scroll_to(page, 0)
    page.get_by_role("button", name="Tie").tap()
    page.wait_for_selector("#word:has-text('read the prompt to its end')")
    page.get_by_role("button", name="Show less", exact=True).wait_for()
    assert page.evaluate(IN_VIEW, "#stage .prompt > summary")
    page.wait_for_timeout(400)
    page.get_by_role("button", name="Tie").tap()
    page.wait_for_timeout(400)
    assert not Vote.objects.exists(), "the end lies further down and wasn't seen"
    page.evaluate("document.querySelector('#stage .prompt .end').scrollIntoView({block: 'center'})")
    page.wait_for_selector("#stage .prompt[data-read]")
    page.get_by_role("button", name="Tie").tap()
    page.wait_for_function("() => document.querySelector('#recorded').textContent.includes('Recorded')")
    assert Vote.objects.count() == 1


def test_on_a_phone_folding_a_cut_prompt_away_is_not_reading_it(sit):
    page = sit().page
    look_at_both(page)
    scroll_to(page, 0)
    page.locator("#stage .fold.to-hide").tap()
    page.get_by_role("button", name="Both bad").tap()
    page.wait_for_selector("#word:has-text('read the prompt to its end')")
    assert page.locator("#stage .prompt").get_attribute("open") is not None
    assert not Vote.objects.exists()


def test_on_a_phone_a_prompt_that_fits_asks_for_nothing_more(sit):
    rater = sit(sentences=2, responses=4)
    look_at_both(rater.page)
    rater.press("a")
    assert Vote.objects.count() == 1


def test_on_a_phone_the_prompt_scrolls_away_and_leaves_one_line(sit):
    page = sit().page
    pin = page.locator("#pin")
    assert pin.is_hidden()
    scroll_to(page, 900)
    assert not page.evaluate(IN_VIEW, "#stage .prompt")
    box = pin.bounding_box()
    assert (box["x"], box["y"], box["width"]) == (0, 0, PHONE["width"])
    assert 44 <= box["height"] <= 48
    assert "First words. The committee" in pin.inner_text()
    scroll_to(page, 0)
    assert pin.is_hidden()


def test_the_pinned_line_opens_over_the_texts_and_nothing_below_moves(sit):
    page = sit().page
    page.keyboard.press("e")
    scroll_to(page, 900)
    before = page.locator(".pane-a").bounding_box()
    pin = page.locator("#pin")
    pin.locator("summary").tap()
    assert "The last words." in pin.locator(".prose").inner_text()
    assert pin.bounding_box()["height"] < PHONE["height"] * 0.6
    assert page.locator(".pane-a").bounding_box() == before
    page.locator(".pane-a").tap(position={"x": 100, "y": 800})
    page.wait_for_selector("#pin:not([open])")
    pin.locator("summary").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#pin[open]")
    page.keyboard.press("Escape")
    page.wait_for_selector("#pin:not([open])")


def test_reading_the_end_in_the_pinned_prompt_counts(sit):
    page = sit().page
    look_at_both(page)
    page.locator("#pin summary").tap()
    assert page.locator("#stage .prompt[data-read]").count() == 0
    page.evaluate("document.querySelector('#pin .prose').scrollTo(0, 10000)")
    page.wait_for_selector("#stage .prompt[data-read]", state="attached")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_with_a_cut_prompt_and_with_the_pin_open(sit, scheme):
    rater = sit(reveal="after_vote")
    page = rater.page
    page.emulate_media(color_scheme=scheme)
    assert findings(page) == []
    page.get_by_role("button", name="Show all", exact=True).tap()
    look_at_both(page)
    page.evaluate("document.querySelector('#stage .prompt .end').scrollIntoView({block: 'center'})")
    page.wait_for_selector("#stage .prompt[data-read]")
    rater.press("a")
    look_at_both(page)
    page.locator("#pin summary").tap()
    assert findings(page) == []


def findings(page) -> list[str]:
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [f"{one['id']}: {[node['target'] for node in one['nodes']]}" for one in found]


def test_a_long_guide_keeps_its_close_button_in_view(sit):
    page = sit(sentences=1, guide_text=SENTENCE * 60).page
    page.get_by_role("button", name="Guide").tap()
    page.wait_for_timeout(200)
    box = page.locator("#guide").bounding_box()
    close = page.locator("#guide > .row button").bounding_box()
    assert page.locator("#guide").evaluate("box => box.scrollHeight > box.clientHeight")
    assert box["y"] < close["y"] and close["y"] + close["height"] <= box["y"] + box["height"]
    page.locator("#guide").evaluate("box => box.scrollTo(0, 10000)")
    end = page.locator("#guide .prose").bounding_box()
    assert end["y"] + end["height"] <= page.locator("#guide > .row").bounding_box()["y"] + 1


def test_the_next_battle_closes_the_pin_and_starts_at_the_top(sit):
    rater = sit(sentences=2)
    page = rater.page
    look_at_both(page)
    page.locator("#pin summary").tap()
    page.get_by_role("button", name="A is better").tap()
    page.wait_for_function("() => document.querySelector('#recorded').textContent.includes('Recorded')")
    assert page.locator("#pin").is_hidden()
    assert page.evaluate("scrollY") == 0


def test_the_fold_says_what_it_does(sit):
    page = sit(WIDE, sentences=1).page
    summary = page.locator("#stage .prompt > summary")
    assert summary.inner_text().split() == ["PROMPT", "hide"]
    summary.click()
    assert summary.inner_text().split() == ["PROMPT", "show"]
    assert page.locator("#stage .prompt .prose").is_hidden()


def test_without_scripts_the_whole_prompt_is_there(open_page, live_server, make_campaign):
    small = make_campaign()
    Prompt.objects.update(rendered_html=f"<p>{SENTENCE * 40}</p>")
    page = open_page(java_script_enabled=False)
    page.goto(f"{live_server.url}/join/{small.token}/")
    follow(page.get_by_role("button", name="Begin"))
    assert prompt_height(page) > PHONE["height"]
    assert page.locator("#stage .whole").is_hidden()
    assert page.locator("#pin").is_hidden()


def test_z_says_why_there_is_no_undo_where_names_are_shown(sit):
    rater = sit(WIDE, sentences=1, reveal="after_vote")
    rater.press("a")
    battle = rater.battle()
    rater.page.keyboard.press("z")
    rater.page.wait_for_selector("#word:has-text('There is no undo here')")
    assert rater.battle() == battle
    rater.page.keyboard.press("b")
    rater.page.wait_for_function("() => document.querySelector('#progress').textContent.includes('2')")
    assert Vote.objects.count() == 2


@pytest.mark.parametrize("size", [PHONE, WIDE], ids=["phone", "wide"])
def test_names_of_the_last_battle_stand_in_the_quiet_colour(sit, size):
    """However long they are: the votes stay where they are."""
    names = ("a-model-with-a-name-as-long-as-a-sentence-2026-11", "Fjord")
    rater = sit(size, sentences=1, responses=1, reveal="after_vote", names=names)
    page = rater.page
    look_at_both(page)
    before = [button.bounding_box() for button in page.locator("#vote-bar .vote").all()]
    rater.press("a")
    assert [button.bounding_box() for button in page.locator("#vote-bar .vote").all()] == before
    colours = page.evaluate(
        """[...document.querySelectorAll('#recorded, #recorded :not(kbd)')]
           .map(one => getComputedStyle(one).color)"""
    )
    assert len(set(colours)) == 1
    recorded = page.locator(".recorded")
    assert recorded.evaluate("box => box.scrollHeight <= box.clientHeight"), recorded.inner_text()
