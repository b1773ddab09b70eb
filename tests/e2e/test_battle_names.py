"""What a screen reader says of the battle page's controls."""

from __future__ import annotations

import re

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CONTROLS = re.compile(r'- \'?(link|button|checkbox|textbox|heading|region|group|article) "([^"]*)"')


def said(page) -> list[tuple[str, str]]:
    return CONTROLS.findall(page.locator("body").aria_snapshot())


@pytest.fixture
def rater(page, at_work, make_campaign):
    rater = at_work(page)
    rater.begin(make_campaign(prompts=6).token)
    rater.press("t")
    return rater


def test_every_control_is_named_for_what_it_does_and_no_name_comes_twice(rater):
    controls = said(rater.page)
    assert [one for one in controls if one[0] in ("link", "button")] == [
        ("link", "Skip to the content"),
        ("link", "Tiltyard"),
        ("link", "1 vote"),
        ("button", "Language: English"),
        ("button", "A and B as plain text"),
        ("button", "Undo"),
        ("button", "Why?"),
        ("button", "A is better"),
        ("button", "Tie"),
        ("button", "Both bad"),
        ("button", "B is better"),
        ("button", "Skip"),
        ("button", "Flag"),
        ("button", "Guide"),
        ("button", "Keys"),
    ]
    assert len(set(controls)) == len(controls)


def test_the_two_responses_and_the_votes_are_regions_with_names(rater):
    controls = said(rater.page)
    assert ("region", "Response A") in controls
    assert ("region", "Response B") in controls
    assert ("group", "Your vote") in controls


def test_reasons_are_named_without_their_digits(rater):
    rater.page.keyboard.press("w")
    boxes = [name for role, name in said(rater.page) if role == "checkbox"]
    assert boxes == ["Facts", "Keeps to the prompt", "Completeness", "Clarity", "Length", "Tone", "Safety"]
