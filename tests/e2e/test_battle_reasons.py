"""Reasons for the last vote: by digit, in the window, without a connection, without scripts."""

from __future__ import annotations

import pytest

from arena.battles.models import BattleNote, Vote
from tests.e2e.conftest import follow

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def rater(page, at_work, make_campaign):
    rater = at_work(page)
    rater.begin(make_campaign(prompts=8).token)
    return rater


def wait_until_sent(page) -> None:
    page.wait_for_function(
        "() => !localStorage.getItem('tiltyard.queue:' + location.pathname).includes('url')"
    )


def said() -> list[tuple[str, str]]:
    return sorted(BattleNote.objects.values_list("kind", "text"))


def test_a_digit_right_after_a_vote_says_why_and_again_takes_it_back(page, rater):
    page.keyboard.press("1")
    page.wait_for_selector("#word:has-text('after your first vote')")
    rater.press("a")
    battle = rater.battle()
    page.keyboard.press("4")
    page.keyboard.press("1")
    page.wait_for_selector("#recorded:has-text('Facts · Clarity')")
    assert page.locator("#announce").text_content().endswith("Facts · Clarity")
    page.keyboard.press("4")
    page.wait_for_selector("#recorded:not(:has-text('Clarity'))")
    assert said() == [("reason", "facts")]
    assert BattleNote.objects.get().battle == Vote.objects.get().battle
    assert rater.battle() == battle
    rater.press("b")
    assert "Facts" not in rater.recorded()
    assert rater.record.complaints == []


def test_in_the_window_digits_tick_and_enter_keeps(page, rater):
    rater.press("t")
    page.keyboard.press("w")
    page.locator("#why").wait_for()
    page.keyboard.press("2")
    page.keyboard.press("7")
    page.get_by_label("In your own words").fill("Both say 3, but it's 4.")
    page.keyboard.press("Enter")
    page.wait_for_selector("#recorded:has-text('Keeps to the prompt · Safety')")
    assert said() == [("comment", "Both say 3, but it's 4."), ("reason", "prompt"), ("reason", "safety")]
    page.keyboard.press("w")
    assert page.get_by_label("Safety").is_checked()
    assert page.get_by_label("In your own words").input_value() == "Both say 3, but it's 4."
    page.keyboard.press("Escape")
    assert Vote.objects.count() == 1


def test_without_a_connection_they_wait_behind_their_vote(page, rater):
    page.context.set_offline(True)
    page.keyboard.press("b")
    page.wait_for_selector("#word.bad")
    page.keyboard.press("3")
    page.keyboard.press("5")
    page.context.set_offline(False)
    wait_until_sent(page)
    assert said() == [("reason", "complete"), ("reason", "length")]
    assert Vote.objects.count() == 1


def test_the_bar_does_not_move_when_reasons_are_given(page, rater):
    rater.press("a")
    before = [button.bounding_box() for button in page.locator("#vote-bar .vote").all()]
    for key in "1234567":
        page.keyboard.press(key)
    page.wait_for_selector("#recorded:has-text('Safety')")
    assert [button.bounding_box() for button in page.locator("#vote-bar .vote").all()] == before


def test_without_scripts_the_window_is_a_form(open_context, live_server, make_campaign):
    small = make_campaign()
    page = open_context(java_script_enabled=False).new_page()
    page.goto(f"{live_server.url}/join/{small.token}/")
    follow(page.get_by_role("button", name="Begin"))
    follow(page.get_by_role("button", name="Tie"))
    page.get_by_role("button", name="Why?").click()
    page.get_by_label("Tone").check()
    follow(page.get_by_role("button", name="Keep"))
    assert "Tone" in page.locator("#recorded").inner_text()
    page.get_by_role("button", name="Why?").click()
    assert page.get_by_label("Tone").is_checked()
    assert said() == [("reason", "tone")]
