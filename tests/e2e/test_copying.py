"""A link that is shown once can be copied with one press, and wraps on a phone."""

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("scripts", [True, False])
def test_a_group_link_is_whole_on_a_phone_and_copied_with_one_press(
    open_context, live_server, signed_in, small_campaign, scripts
):
    context = open_context(
        viewport={"width": 375, "height": 800}, java_script_enabled=scripts, base_url=live_server.url
    )
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    session = signed_in("carol").cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
    page = context.new_page()
    page.goto("/campaigns/small/invites/")
    page.get_by_role("button", name="Make a link for a group").click()
    field = page.get_by_label("Invite link")
    link = field.input_value()
    assert "/join/" in link
    if scripts:
        page.get_by_role("button", name="Copy").click()
        page.get_by_text("✓").wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == link
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        assert field.evaluate("one => one.scrollWidth <= one.clientWidth")
    else:
        assert page.get_by_role("button", name="Copy").count() == 0
