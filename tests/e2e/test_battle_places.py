"""The same loop without scripts, on a phone, in the dark, on paper and from right to left."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from arena.battles.models import Battle, BattleNote, Outcome, Vote
from arena.corpus.models import Response
from tests.e2e.conftest import follow

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PHONE = {"width": 375, "height": 812}


@pytest.fixture
def open_page(open_context):
    return lambda **options: open_context(**options).new_page()


def make_long(words: str = "A line of words that goes on for a while. ") -> None:
    Response.objects.update(rendered_html=f"<p>{words * 80}</p>")


def test_without_scripts_vote_undo_skip_and_flag_work_by_forms(open_page, live_server, make_campaign):
    small = make_campaign(prompts=6)
    page = open_page(java_script_enabled=False)
    page.goto(f"{live_server.url}/join/{small.token}/")
    follow(page.get_by_role("button", name="Begin"))
    for name in ("A is better", "Tie", "Both bad", "B is better"):
        follow(page.get_by_role("button", name=name))
    assert list(Vote.objects.order_by("pk").values_list("outcome", flat=True)) == [
        Outcome.MODEL_A,
        Outcome.TIE,
        Outcome.BOTH_BAD,
        Outcome.MODEL_B,
    ]
    assert "4 votes" in page.locator("#progress").inner_text()
    assert "Recorded: B." in page.locator("#recorded").inner_text()
    follow(page.get_by_role("button", name="Undo"))
    assert "3 votes" in page.locator("#progress").inner_text()
    follow(page.get_by_role("button", name="Skip"))
    page.get_by_role("button", name="Flag", exact=True).click()
    follow(page.get_by_role("button", name="Flag it"))
    assert sorted(BattleNote.objects.values_list("kind", flat=True)) == ["flag", "skip"]
    page.get_by_role("button", name="Guide").click()
    assert page.locator("#guide").is_visible()
    assert "Which response helps more?" in page.locator("#guide").inner_text()


def test_without_scripts_a_form_sent_twice_is_one_vote(open_page, live_server, make_campaign):
    small = make_campaign()
    page = open_page(java_script_enabled=False)
    page.goto(f"{live_server.url}/join/{small.token}/")
    follow(page.get_by_role("button", name="Begin"))
    with page.expect_navigation():
        page.get_by_role("button", name="Tie").click()
    page.wait_for_load_state()
    page.go_back()
    with page.expect_navigation():
        page.get_by_role("button", name="A is better").click()
    votes = Vote.objects.order_by("pk").values_list("battle", flat=True)
    assert len(set(votes)) == len(votes)


def test_on_a_phone_both_sides_are_looked_at_before_a_vote(open_page, at_work, make_campaign):
    small = make_campaign(prompts=6)
    make_long()
    page = open_page(viewport=PHONE, has_touch=True, is_mobile=True)
    rater = at_work(page)
    rater.begin(small.token)
    first = rater.battle()
    page.get_by_role("button", name="Tie").tap()
    page.wait_for_selector("#word:has-text('look at B too')")
    assert rater.battle() == first
    assert not Vote.objects.exists()
    page.wait_for_timeout(400)
    page.get_by_role("button", name="Tie").tap()
    page.wait_for_function("() => document.querySelector('#recorded').textContent.includes('Recorded')")
    assert Vote.objects.get().layout == "narrow-ltr"


def test_on_a_phone_the_bar_stays_under_the_thumb_and_nothing_sticks_out(open_page, at_work, make_campaign):
    small = make_campaign(prompts=6)
    make_long("unbreakable" * 30)
    page = open_page(viewport=PHONE, has_touch=True, is_mobile=True)
    rater = at_work(page)
    rater.begin(small.token)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    boxes = [button.bounding_box() for button in page.locator("#vote-bar .vote").all()]
    assert len(boxes) == 4
    for box in boxes:
        assert box["height"] >= 44
        assert box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"]
        assert PHONE["height"] / 2 < box["y"] and box["y"] + box["height"] <= PHONE["height"]
    assert len({box["x"] for box in boxes}) == len({box["y"] for box in boxes}) == 2
    for name in ("Skip", "Flag", "Keys", "Guide"):
        assert page.get_by_role("button", name=name, exact=True).is_visible()
    panes = [pane.bounding_box() for pane in page.locator(".pane").all()]
    assert panes[0]["x"] == panes[1]["x"] and panes[0]["y"] < panes[1]["y"]


def test_wide_the_panes_stand_side_by_side_and_lines_are_short_enough_to_read(
    open_page, at_work, make_campaign
):
    small = make_campaign(prompts=6)
    make_long()
    page = open_page(viewport={"width": 2560, "height": 1200})
    at_work(page).begin(small.token)
    a, b = (pane.bounding_box() for pane in page.locator(".pane").all())
    assert (a["y"], a["width"], a["height"]) == (b["y"], b["width"], b["height"])
    assert a["x"] + a["width"] < b["x"]
    in_ch = page.evaluate(
        """() => {
          const prose = document.querySelector(".pane .prose"), ruler = document.createElement("span");
          ruler.textContent = "0"; prose.append(ruler);
          const widths = [prose.getBoundingClientRect().width, ruler.getBoundingClientRect().width];
          ruler.remove();
          return widths[0] / widths[1];
        }"""
    )
    assert in_ch <= 68.5
    size = page.evaluate("parseFloat(getComputedStyle(document.querySelector('.pane .prose')).fontSize)")
    assert 16 <= size <= 17


@pytest.mark.parametrize("size", [PHONE, {"width": 1440, "height": 860}], ids=["phone", "wide"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_the_battle_page(open_page, at_work, make_campaign, scheme, size):
    small = make_campaign(prompts=6, quota=5)
    make_long()
    page = open_page(viewport=size, color_scheme=scheme)
    rater = at_work(page)
    rater.begin(small.token)
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    page.wait_for_timeout(300)
    rater.press("b")
    assert findings(page) == []
    page.keyboard.press("?")
    assert findings(page) == []


def test_axe_finds_nothing_when_all_is_done_and_in_my_votes(open_page, at_work, make_campaign):
    small = make_campaign(prompts=2, quota=2, reveal="after_vote")
    page = open_page(viewport=PHONE)
    rater = at_work(page)
    rater.begin(small.token)
    rater.press("b")
    assert findings(page) == []
    rater.press("a")
    page.wait_for_selector(".finished")
    assert findings(page) == []
    page.get_by_role("link", name="My votes").click()
    page.wait_for_selector(".my-votes")
    assert findings(page) == []


def findings(page) -> list[str]:
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [f"{one['id']}: {[node['target'] for node in one['nodes']]}" for one in found]


def test_printed_the_page_is_prompt_and_responses(open_page, at_work, make_campaign):
    page = open_page()
    at_work(page).begin(make_campaign().token)
    page.emulate_media(media="print")
    assert page.locator("#vote-bar").is_hidden()
    assert page.locator(".pane").first.is_visible()


def test_from_right_to_left_a_stands_right_and_its_arrow_points_right(open_page, at_work, make_campaign):
    page = open_page(viewport={"width": 1280, "height": 800})
    rater = at_work(page)
    page.route(
        "**/battle/",
        lambda route: route.fulfill(
            response=(answer := route.fetch()),
            body=answer.text().replace('lang="en"', 'lang="ar" dir="rtl"', 1),
        ),
    )
    rater.begin(make_campaign().token)
    page.reload()  # only a page asked for by itself can be changed on its way
    rater.settle()
    a, b = (pane.bounding_box() for pane in page.locator(".pane").all())
    assert a["x"] > b["x"]
    battle = rater.battle()
    rater.press("ArrowRight")
    vote = Vote.objects.get(battle__public_id=battle)
    assert (vote.outcome, vote.layout) == (Outcome.MODEL_A, "wide-rtl")


def test_time_in_another_tab_is_no_time_on_the_screen(open_page, at_work, make_campaign):
    page = open_page()
    rater = at_work(page)
    rater.begin(make_campaign().token)
    page.evaluate(
        """Object.defineProperty(document, "hidden", {configurable: true, get: () => window.away});
           window.away = true; document.dispatchEvent(new Event("visibilitychange"))"""
    )
    page.wait_for_timeout(1500)
    page.evaluate("window.away = false; document.dispatchEvent(new Event('visibilitychange'))")
    before = page.evaluate("performance.now()")
    rater.press("a")
    assert Vote.objects.get().dwell_ms < before - 1400
    assert Battle.objects.filter(vote__isnull=False).count() == 1
