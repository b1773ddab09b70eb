"""A form in place of a row says of what it is, holds the focus, and gives it back."""

from __future__ import annotations

import pytest

from arena.corpus.versions import draft_next

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FOCUSED = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim()"


@pytest.fixture
def go(live_server, page, signed_in):
    """go(prompt_set) is the page of that set, open for Carol."""
    cookie = signed_in("carol").cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])

    def open_set(prompt_set):
        page.goto(f"{live_server.url}/prompt-sets/{prompt_set.pk}/")
        return page

    return open_set


def test_labels_are_given_with_the_prompt_in_view_and_by_keyboard_alone(go, small_campaign):
    page = go(small_campaign.prompt_set)
    page.get_by_role("link", name="Change p1").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Save").wait_for()
    row = page.locator(f"#prompt-{small_campaign.prompts[1].pk}")
    assert row.get_by_text("Prompt number 1?").is_visible()
    assert page.evaluate(FOCUSED) == "Labels of prompt p1"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('tr form') !== null")
    row.get_by_label("Hard").select_option("yes")
    page.get_by_role("button", name="Save").focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Change p1").wait_for()
    page.wait_for_function(f"() => ({FOCUSED}) === 'Change p1'")
    small_campaign.prompts[1].refresh_from_db()
    assert small_campaign.prompts[1].is_hard is True


def test_escape_and_the_link_leave_the_form_and_the_focus_is_where_it_was(go, small_campaign):
    page = go(small_campaign.prompt_set)
    for leave in (
        lambda: page.keyboard.press("Escape"),
        lambda: page.get_by_role("link", name="Leave it").click(),
    ):
        page.get_by_role("link", name="Change p2").click()
        page.wait_for_function(f"() => ({FOCUSED}) === 'Labels of prompt p2'")
        page.wait_for_function("() => !document.querySelector('.htmx-added, .htmx-settling')")
        leave()
        page.wait_for_function(f"() => ({FOCUSED}) === 'Change p2'")
        assert page.locator("tr form").count() == 0


def test_escape_throws_away_no_text_that_was_typed(go, small_campaign):
    draft = draft_next(small_campaign.prompt_set)
    page = go(draft)
    page.get_by_role("link", name="Change p0").click()
    page.wait_for_function(f"() => ({FOCUSED}) === 'Change prompt p0'")
    page.get_by_label("Text").fill("Half a thought")
    page.keyboard.press("Escape")
    page.wait_for_load_state("networkidle")
    assert page.get_by_label("Text").input_value() == "Half a thought"
    page.get_by_label("Text").fill("Prompt number 0?")
    page.keyboard.press("Escape")
    page.wait_for_function(f"() => ({FOCUSED}) === 'Change p0'")


@pytest.mark.parametrize("form", ["labels", "prompt"])
def test_on_a_phone_the_form_is_in_sight_though_the_table_was_scrolled_sideways(go, small_campaign, form):
    prompt_set = small_campaign.prompt_set if form == "labels" else draft_next(small_campaign.prompt_set)
    page = go(prompt_set)
    page.set_viewport_size({"width": 375, "height": 800})
    link = page.get_by_role("link", name="Change p1")
    link.scroll_into_view_if_needed()
    link.evaluate("one => one.closest('.scroll').scrollLeft = 10000")
    assert link.evaluate("one => one.closest('.scroll').scrollLeft") > 50, "or it proves nothing"
    link.click()
    page.get_by_role("button", name="Save").wait_for()
    left, right = page.locator("tr form").evaluate(
        "one => [one.getBoundingClientRect().left, one.getBoundingClientRect().right]"
    )
    assert left >= 0 and right <= 375
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
