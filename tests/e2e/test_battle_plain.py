"""The rater's own choice of plain text: a key or a button, both panes at once, remembered."""

from __future__ import annotations

import pytest

from arena.battles.models import Battle, Vote
from arena.campaigns.models import Campaign
from arena.corpus.models import Response
from arena.corpus.render import render
from tests.e2e.conftest import follow

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PHONE = {"width": 375, "height": 812}
WIDE = {"width": 1280, "height": 800}
MARKED = (
    "# Answer\n\n- **bold** & <b>raw</b>\n    - [x] done\n\n| a | b |\n|---|---|\n| 1 | $x^2$ |\n\n"
    "```py\nprint('" + "long " * 30 + "')\n```\n\nمرحبا\n"
)
PANES = "[...document.querySelectorAll('#stage .pane > .prose')]"
TAGS = f"() => {PANES}.map(text => text.querySelectorAll('*').length)"
TEXTS = f"() => {PANES}.map(text => text.textContent)"
STYLES = """() => [...document.querySelectorAll('#stage .pane > .prose')].map(text => {
  const { whiteSpaceCollapse, fontFamily, fontSize, fontWeight, color } = getComputedStyle(text);
  return [text.className, whiteSpaceCollapse, fontFamily, fontSize, fontWeight, color].join();
})"""


@pytest.fixture
def sit(open_context, at_work, make_campaign):
    """sit(size) is a rater before battles whose responses are full of marks; `scripts`: whether any run."""

    def sit_down(size=WIDE, *, scripts: bool = True, **fields):
        small = make_campaign(prompts=6, names=("Ember", "Fjord"), **fields)
        for response in Response.objects.all():
            text = f"{MARKED}{response.pk}"
            Response.objects.filter(pk=response.pk).update(text=text, rendered_html=render(text))
        context = open_context(viewport=size, java_script_enabled=scripts)
        rater = at_work(context.new_page())
        if scripts:
            rater.begin(small.token)
        else:
            rater.page.goto(f"{rater.url}/join/{small.token}/")
            rater.page.get_by_role("button", name="Begin").click()
        return rater

    return sit_down


def written(rater) -> list[str]:
    battle = Battle.objects.select_related("response_a", "response_b").get(public_id=rater.battle())
    return [battle.response_a.text, battle.response_b.text]


@pytest.mark.parametrize("size", [PHONE, WIDE], ids=["phone", "wide"])
def test_the_toggle_takes_every_tag_out_of_both_panes_and_puts_all_back(sit, size):
    rater = sit(size)
    page = rater.page
    before = [page.evaluate(TAGS), page.evaluate(TEXTS)]
    assert min(before[0]) > 20
    button = page.get_by_role("button", name="A and B as plain text")
    button.click()
    assert page.evaluate(TAGS) == [0, 0]
    assert page.evaluate(TEXTS) == written(rater)
    one, other = page.evaluate(STYLES)
    assert one == other and "as-written,preserve," in one
    assert button.get_attribute("aria-pressed") == "true"
    assert page.locator("#announce").text_content() == "A and B are plain text now."
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    button.click()
    assert [page.evaluate(TAGS), page.evaluate(TEXTS)] == before
    assert not Vote.objects.exists()


def test_its_key_is_listed_and_keys_still_vote(sit):
    rater = sit()
    page = rater.page
    page.keyboard.press("?")
    assert page.locator("#keys dt", has_text="P").count() == 1
    page.keyboard.press("Escape")
    rater.press("b")
    page.keyboard.press("p")
    assert page.evaluate(TAGS) == [0, 0]
    rater.press("a")
    rater.press("ArrowRight")
    assert page.evaluate(TAGS) == [0, 0], "it lasts over the next battles"
    layouts = Vote.objects.order_by("pk").values_list("outcome", "layout")
    plain = "wide-ltr-plain"
    assert list(layouts) == [("model_b", "wide-ltr"), ("model_a", plain), ("model_b", plain)]


def test_it_is_remembered_and_comes_from_the_server_in_the_right_form(sit):
    rater = sit()
    page = rater.page
    page.keyboard.press("p")
    page.reload()
    rater.settle()
    assert page.evaluate(TEXTS) == written(rater)
    page.keyboard.press("p")
    assert min(page.evaluate(TAGS)) > 20
    rater.press("t")
    page.reload()
    rater.settle()
    assert min(page.evaluate(TAGS)) > 20


def test_where_the_campaign_wants_plain_text_there_is_nothing_to_choose(sit):
    rater = sit(plain_text=True)
    page = rater.page
    assert page.evaluate(TEXTS) == written(rater)
    assert page.locator(".plain").count() == 0
    page.keyboard.press("p")
    assert page.evaluate(TAGS) == [0, 0]
    rater.press("t")
    assert Vote.objects.get().layout == "wide-ltr-plain"
    assert Campaign.objects.get().plain_text
    assert rater.record.complaints == []


@pytest.mark.parametrize("size", [PHONE, WIDE], ids=["phone", "wide"])
def test_without_a_script_the_button_does_it_too(sit, size):
    rater = sit(size, scripts=False)
    page = rater.page
    panes = page.locator("#stage .pane > .prose")
    assert panes.first.locator("strong").count() == 1
    follow(page.get_by_role("button", name="A and B as plain text"))
    assert panes.locator("*").count() == 0
    assert [pane.text_content() for pane in panes.all()] == written(rater)
    follow(page.get_by_role("button", name="B is better"))
    assert panes.locator("*").count() == 0
    assert Vote.objects.get().layout == "plain"


def test_on_paper_nothing_of_it_is_cut(sit):
    rater = sit(PHONE)
    page = rater.page
    page.keyboard.press("p")
    page.emulate_media(media="print")
    for side, of in (("scrollWidth", "clientWidth"), ("scrollHeight", "clientHeight")):
        assert page.evaluate(f"() => {PANES}.filter(text => text.{side} > text.{of} + 1).length") == 0
    assert page.locator(".plain:visible").count() == 0


STOPS = """() => [...document.querySelectorAll("#battle-desk button, #battle-desk [tabindex='0']")]
  .filter(one => one.checkVisibility() && !one.closest(".rarer, .acts"))
  .map(one => one.dataset.act === "vote" ? "vote" : one.className)"""
HEIGHTS = """() => { scrollTo(0, document.body.scrollHeight);
  const top = (one) => document.querySelector(one).getBoundingClientRect().top;
  return [".panes", ".plain", ".votes"].map(top); }"""


def is_in_its_place(page) -> bool:
    stops, heights = page.evaluate(STOPS), page.evaluate(HEIGHTS)
    place = stops.index("link plain")
    votes = [at for at, stop in enumerate(stops) if stop == "vote"]
    return heights == sorted(heights) and len(votes) == 4 and place == min(votes) - 1


@pytest.mark.parametrize("size", [PHONE, WIDE], ids=["phone", "wide"])
def test_the_tab_key_comes_to_it_between_the_responses_and_the_votes_as_the_eye_does(sit, size):
    rater = sit(size, quota=2)
    page = rater.page
    assert is_in_its_place(page)
    assert page.locator(".plain-choice kbd").is_visible() is (size == WIDE)
    rater.press("a")
    assert is_in_its_place(page)
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    rater.press("b")
    page.wait_for_selector(".finished")
    assert not page.locator(".plain").is_visible()
    page.keyboard.press("z")
    rater.settle()
    assert is_in_its_place(page), "its part of the page came anew"
    page.get_by_role("button", name="A and B as plain text").click()
    assert page.evaluate(TAGS) == [0, 0]
    assert page.locator(".plain").get_attribute("aria-pressed") == "true"
    assert rater.record.complaints == []


def test_with_letters_off_no_key_is_promised(sit):
    rater = sit()
    page = rater.page
    assert page.locator(".plain-choice kbd").is_visible()
    page.keyboard.press("?")
    page.locator("#letters").uncheck()
    page.keyboard.press("Escape")
    assert not page.locator(".plain-choice kbd").is_visible()
