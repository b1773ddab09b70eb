import pytest

from arena.corpus.versions import draft_next

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_prompt_is_changed_in_the_list_and_found_as_one_types(live_server, page, small_campaign, signed_in):
    draft = draft_next(small_campaign.prompt_set)
    cookie = signed_in("carol").cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
    page.set_viewport_size({"width": 375, "height": 800})
    page.goto(f"{live_server.url}/prompt-sets/{draft.pk}/")
    assert page.evaluate("document.documentElement.scrollWidth") == 375
    page.get_by_role("link", name="Change p2").click()
    page.get_by_label("Text").fill("What was the tournament called?")
    page.get_by_role("button", name="Add a turn").click()
    page.get_by_label("Text").nth(1).fill("The Jousts of Tours.")
    page.get_by_label("By").nth(1).select_option("assistant")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("The Jousts of Tours.").wait_for()
    assert [turn["role"] for turn in draft.prompts.get(external_id="p2").messages] == ["user", "assistant"]
    page.get_by_role("searchbox").fill("jousts")
    page.locator("#prompts").get_by_text("1 prompt", exact=True).wait_for()
    assert "q=jousts" in page.url
    page.get_by_label("Choose p2").check()
    page.locator("#bulk").get_by_label("Value").select_option("yes")
    page.get_by_role("button", name="Set", exact=True).click()
    page.get_by_text("1 prompt has another label.").wait_for()
    assert draft.prompts.get(external_id="p2").is_hard is True
