"""The team's preview in a browser, and the page for whoever has no place."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from arena.battles.models import Battle
from arena.corpus.models import Prompt

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASSWORD = "lance-and-shield-7"


@pytest.fixture
def carol_at(open_context, live_server, cast, small_campaign):
    def sign_in(**options):
        page = open_context(**options).new_page()
        page.goto(f"{live_server.url}/accounts/login/")
        page.locator("input[name=username]").fill("carol")
        page.locator("input[name=password]").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Sign out").wait_for()
        return page

    return sign_in


def findings(page) -> list[str]:
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [f"{one['id']}: {[node['target'] for node in one['nodes']]}" for one in found]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1440])
def test_from_the_raters_address_to_a_preview_that_no_key_can_vote_in(carol_at, live_server, width, scheme):
    Prompt.objects.update(rendered_html=f"<p>{'A long prompt, in many words. ' * 120}</p>")
    page = carol_at(viewport={"width": width, "height": 812}, color_scheme=scheme)
    page.goto(f"{live_server.url}/campaigns/small/battle/")
    assert findings(page) == []
    page.get_by_role("link", name="Preview a battle").click()
    page.get_by_role("button", name="Show all").wait_for()
    assert findings(page) == []
    posts = []
    page.on("request", lambda request: posts.append(request.url) if request.method == "POST" else None)
    for key in "abtxszf":
        page.keyboard.press(key)
    for button in page.locator("#vote-bar .vote").all():
        assert button.is_disabled()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("link", name="Another battle").click()
    page.locator("article.battle").wait_for()
    assert posts == []
    assert not Battle.objects.exists()
