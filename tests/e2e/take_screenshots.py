"""The pictures of docs/raters.md: `./tiltyard test tests/e2e/take_screenshots.py` takes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.battles.models import Battle
from arena.campaigns.models import Campaign
from arena.corpus.models import Prompt, Response
from arena.corpus.render import render

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PICTURES = Path(__file__).resolve().parents[2] / "docs" / "images"
MOST_BYTES = 150_000
WIDE = {"width": 1280, "height": 800}
NARROW = {"width": 375, "height": 760}

ENGLISH = (
    "My laptop's battery lasts an hour since the last update. What do I check first, and how do I see what "
    "drains it?",
    "Start with what changed: after an update the search index is built anew for a day or two, so see "
    "whether it settles by tomorrow.\n\nThen look at the list of programs by energy use:\n\n"
    "| system | where |\n|---|---|\n| Windows | Settings → System → Battery usage |\n"
    "| macOS | Activity Monitor → Energy |\n\n"
    "If nothing stands out, compare the battery's capacity with the day it was new:\n\n"
    "```sh\npowercfg /batteryreport   # writes battery-report.html\n```\n\n"
    "Worn is about $c / c_0 < 0.7$; a new one costs $60 to $90.",
    "<think>They ask for an order of checks. Keep it short.</think>Here are the steps:\n\n"
    "1. **Check background apps.** Many programs run in the background.\n"
    "2. **Lower the brightness.** The screen takes most of it.\n"
    "3. **Update the drivers.** Old graphics drivers keep the card awake.\n"
    "4. **Turn off what starts by itself.**\n\n- [x] done after a restart\n- [ ] still to try\n\n"
    "You can see what drains it in the task manager, in the column for power usage.",
)
ARABIC = (
    "بطارية حاسوبي لا تدوم سوى ساعة منذ التحديث الأخير. ما أول شيء أفحصه؟",
    "ابدأ بما تغيّر: بعد التحديث يُعاد بناء فهرس البحث يومًا أو يومين، فانتظر حتى الغد.\n\n"
    "ثم افتح **الإعدادات ← النظام ← البطارية** وانظر أي برنامج يستهلك أكثر.\n\n"
    "```sh\npowercfg /batteryreport\n```",
    "إليك الخطوات:\n\n1. خفّض سطوع الشاشة.\n2. أغلق البرامج التي تعمل في الخلفية.\n3. حدّث برامج التشغيل.",
)


@pytest.fixture
def sit(browser, at_work, make_campaign):
    opened = []

    def sit_down(size, scheme: str, texts=ENGLISH, locale: str = "en-GB", **fields):
        small = make_campaign(
            prompts=4, names=("Heron 3", "Marten mini"), **{"name": "Support answers, autumn"} | fields
        )
        prompt, *replies = texts
        Prompt.objects.update(rendered_html=render(prompt), messages=[{"role": "user", "content": prompt}])
        for competitor, reply in zip(small.competitors, replies, strict=True):
            Response.objects.filter(competitor=competitor).update(rendered_html=render(reply))
        context = browser.new_context(viewport=size, color_scheme=scheme, locale=locale)
        opened.append(context)
        rater = at_work(context.new_page())
        rater.page.goto(f"{rater.url}/join/{small.token}/")
        rater.page.locator("main form button").click()
        rater.settle()
        return rater

    yield sit_down
    for context in opened:
        context.close()


def take(page, name: str) -> None:
    path = PICTURES / f"{name}.png"
    page.screenshot(path=path, animations="disabled")
    assert path.stat().st_size <= MOST_BYTES, f"{name} is {path.stat().st_size} bytes"


@pytest.mark.parametrize(("size", "scheme"), [(WIDE, "light"), (NARROW, "dark")], ids=["wide", "narrow"])
def test_battle_vote_undo_and_offline(sit, size, scheme):
    rater = sit(size, scheme, quota=4)
    page, end = rater.page, "wide" if size == WIDE else "narrow"
    take(page, f"battle-{end}")
    for _ in range(2):
        page.evaluate("document.querySelector('.pane-b').scrollIntoView()")
        page.wait_for_timeout(300)
        rater.press("a")
    page.keyboard.press("1")
    page.keyboard.press("4")
    page.wait_for_selector("#recorded:has-text('Clarity')")
    take(page, f"vote-{end}")
    rater.press("z")
    take(page, f"undo-{end}")
    page.evaluate("document.querySelector('.pane-b').scrollIntoView()")
    page.wait_for_timeout(300)
    page.context.set_offline(True)
    page.keyboard.press("b")
    page.wait_for_selector("#word.bad")
    take(page, f"offline-{end}")


@pytest.mark.parametrize(("size", "scheme"), [(WIDE, "dark"), (NARROW, "light")], ids=["wide", "narrow"])
def test_finished_and_reveal(sit, size, scheme):
    rater = sit(size, scheme, quota=2)
    page, end = rater.page, "wide" if size == WIDE else "narrow"
    for key in "ab":
        page.evaluate("document.querySelector('.pane-b').scrollIntoView()")
        page.wait_for_timeout(300)
        rater.press(key)
    page.wait_for_selector(".finished")
    take(page, f"finished-{end}")
    Campaign.objects.update(status="closed")
    page.goto(f"{rater.url}/campaigns/small/my-votes/")
    take(page, f"reveal-{end}")


def test_reveal_after_each_vote(sit):
    rater = sit(WIDE, "light", reveal=Campaign.Reveal.AFTER_VOTE)
    rater.press("b")
    take(rater.page, "reveal-each-wide")


def test_empty(sit):
    rater = sit(WIDE, "light")
    Battle.objects.all().delete()
    Response.objects.update(text_hash="0" * 64)
    rater.page.reload()
    take(rater.page, "empty-wide")


def test_arabic(sit):
    rater = sit(NARROW, "light", ARABIC, "ar-EG", name="إجابات الدعم")
    take(rater.page, "arabic-narrow")
