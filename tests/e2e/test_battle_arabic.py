"""A rater who reads Arabic, on a phone: from the link to the tenth vote, over two days and two devices."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from arena.battles.models import Battle, Vote
from arena.corpus.models import Response
from arena.raters.models import Rater
from tests.e2e.conftest import follow

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PHONE = {"width": 375, "height": 812}
SAID = "() => document.querySelector('#recorded').textContent.includes('سُجّل')"


@pytest.fixture
def open_phone(open_context, at_work):
    def make():
        context = open_context(viewport=PHONE, has_touch=True, is_mobile=True, locale="ar-EG")
        return at_work(context.new_page())

    return make


def begin(rater, address: str) -> None:
    rater.page.goto(address)
    rater.page.get_by_role("button", name="ابدأ").tap()
    rater.settle()


def vote(rater, name: str) -> None:
    """Looks at both sides, then taps a button; the layout and the direction go with the vote."""
    before = rater.battle()
    rater.page.evaluate("document.querySelector('.pane-b').scrollIntoView()")
    rater.page.wait_for_timeout(200)
    rater.page.get_by_role("button", name=name).tap()
    rater.page.wait_for_function(
        "before => document.querySelector('#stage > article')?.dataset.battle !== before", arg=before
    )
    rater.page.wait_for_function(SAID)
    rater.settle()


def nothing_sticks_out(page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_ten_votes_in_arabic_closed_mid_battle_and_gone_on_with_the_next_day_elsewhere(
    open_phone, make_campaign
):
    small = make_campaign(prompts=12, quota=10)
    Response.objects.update(rendered_html='<p dir="auto">نص عربي فيه كلمات كثيرة. </p>' * 12)
    rater = open_phone()
    page = rater.page
    begin(rater, f"{rater.url}/join/{small.token}/")
    assert page.evaluate("[document.documentElement.lang, document.documentElement.dir]") == ["ar", "rtl"]
    for name in ("A أفضل", "تعادل", "كلتاهما سيئة", "B أفضل"):
        vote(rater, name)
    assert rater.progress() == "4 من 10"
    assert nothing_sticks_out(page)

    page.locator("#progress").tap()
    follow(page.get_by_role("button", name="إنشاء رابط شخصي"))
    link = page.locator("#my-link").input_value()
    assert nothing_sticks_out(page)
    page.get_by_role("link", name="العودة إلى المواجهات").tap()
    rater.settle()
    open_then = rater.battle()
    page.close()  # mid-battle

    # The next day: every lease has run out.
    Battle.objects.filter(vote=None).update(expires_at=timezone.now() - timedelta(hours=1))

    other = open_phone()
    begin(other, link)
    assert other.progress() == "4 من 10"
    assert other.battle() != open_then
    for _ in range(5):
        vote(other, "A أفضل")
    other.page.evaluate("document.querySelector('.pane-b').scrollIntoView()")
    other.page.wait_for_timeout(400)
    other.page.get_by_role("button", name="A أفضل").tap()
    other.page.wait_for_selector(".finished")
    assert "أدليت بكل الأصوات التي طلبناها وعددها 10" in other.page.locator(".finished").inner_text()
    assert Vote.objects.count() == 10
    assert {vote.layout for vote in Vote.objects.all()} == {"narrow-rtl"}
    assert Rater.objects.count() == 1
    assert rater.record.complaints == other.record.complaints == []


def test_a_vote_on_a_battle_that_lapsed_under_the_page_brings_a_new_one_and_a_kind_sentence(
    open_phone, make_campaign
):
    small = make_campaign(prompts=6)
    rater = open_phone()
    begin(rater, f"{rater.url}/join/{small.token}/")
    lapsed = rater.battle()
    Battle.objects.update(expires_at=timezone.now() - timedelta(hours=1))
    rater.page.evaluate("document.querySelector('.pane-b').scrollIntoView()")
    rater.page.wait_for_timeout(400)
    rater.page.get_by_role("button", name="تعادل").tap()
    rater.page.wait_for_selector("#word:has-text('ظلّت تلك المواجهة مفتوحة مدة طويلة')")
    rater.settle()
    assert rater.battle() != lapsed
    assert not Vote.objects.exists()
    vote(rater, "تعادل")
    assert Vote.objects.count() == 1


def test_without_scripts_a_lapsed_battle_is_told_on_a_page_and_not_by_a_bare_status(
    open_context, live_server, make_campaign
):
    small = make_campaign(prompts=6)
    page = open_context(viewport=PHONE, java_script_enabled=False, locale="ar-EG").new_page()
    page.goto(f"{live_server.url}/join/{small.token}/")
    follow(page.get_by_role("button", name="ابدأ"))
    Battle.objects.update(expires_at=timezone.now() - timedelta(hours=1))
    follow(page.get_by_role("button", name="تعادل"))
    assert "ظلّت تلك المواجهة مفتوحة مدة طويلة" in page.locator("#notice").inner_text()
    follow(page.get_by_role("button", name="تعادل"))
    assert Vote.objects.count() == 1
