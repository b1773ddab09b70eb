"""The pages around a board on a phone, light and dark: all of them can be read, and axe finds nothing."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from arena.leaderboards.agreement import campaign_agreement
from arena.leaderboards.charts import drawing
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.models import Leaderboard
from tests.e2e.phone_faults import comes_in_sight, in_sight, phone_faults
from tests.e2e.test_boards import PHONE, overflow, visit
from tests.leaderboards.conftest import cast_vote, make_judge, voted_campaign

__all__ = ["cast_vote", "make_judge", "visit", "voted_campaign"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGES = (
    "/boards/joust/?q=e&sort=style&pin=Inlet",
    "/boards/joust/charts/",
    "/boards/joust/charts/?board=style&sort=wins:1",
    "/boards/joust/compare/?a=Ember&b=Fjord",
    "/boards/joust/model/?name=Ember",
    "/boards/joust/battles/?pick=influential",
    "/boards/joust/agreement/",
    "/boards/joust/report/",
    "/api/v1/",
    "/boards/joust/parts/",
    "/boards/joust/joust-overall/snapshots/",
    "/boards/joust/joust-overall/diff/",
    "/campaigns/joust/analysis-plan/",
    "/campaigns/joust/plan/",
)


@pytest.fixture
def joust(voted_campaign, make_judge, cast, cast_vote):
    """Two snapshots of people's board, a judge's, and charts."""
    small = voted_campaign("joust", votes=300)
    overall = ensure_leaderboards(small.campaign)[0]
    assert snapshots.take_snapshot(overall).snapshot
    cast_vote(small, small.prompts[0], "Ember", "Grove", "model_a", cast.alice_rater)
    make_judge(small, "Sage", dict.fromkeys(small.campaign.battles.all(), "model_b"))
    ensure_leaderboards(small.campaign)
    part = {"category": "writing", "language": "en", "first_day": "2026-11-01", "last_day": "2026-11-07"}
    Leaderboard.objects.create(campaign=small.campaign, slug="joust-part", name="A part", part=part)
    Leaderboard.objects.create(campaign=small.campaign, slug="b", name="B", part={"category": "reasoning"})
    for leaderboard in Leaderboard.objects.order_by("pk"):
        snapshots.take_snapshot(leaderboard)
    drawing.draw(overall.snapshots.first())
    drawing.draw(Leaderboard.objects.get(slug="joust-style").snapshots.first())
    campaign_agreement.compute_due()
    return small


def faults_of(page) -> list[str]:
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [f"{one['id']}: {[node['target'] for node in one['nodes']]}" for one in found]


def test_a_phone_shows_the_pages_around_a_board_whole_and_to_everybody(joust, visit, live_server):
    page, record = visit("ravi", viewport=PHONE)
    first, second = Leaderboard.objects.get(slug="joust-overall").snapshots.order_by("pk")
    further = (
        f"/snapshots/{second.pk}/",
        f"/boards/joust/joust-overall/diff/?before={first.pk}&after={second.pk}",
    )
    found = []
    for address in (*PAGES, *further):
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert page.goto(live_server.url + address).status == 200, address
            found += [f"{scheme} {address} {fault}" for fault in faults_of(page)]
            if over := overflow(page):
                found.append(f"{address} hangs {over} px over the edge")
            page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            found += [f"{address} {fault}" for fault in phone_faults(page)]
    assert not found, "\n".join(found)
    assert record.complaints == []


def test_what_is_cut_and_what_is_broken_is_found(visit):
    """That the look above sees what it is meant to see."""
    page, _record = visit("ravi", viewport=PHONE)
    cut = f"<div style='width:4em;overflow-x:auto;white-space:nowrap'>{'wider ' * 9}</div>"
    page.set_content(f"{cut}<p style='width:3em;overflow-wrap:anywhere'>undecided</p>")
    assert phone_faults(page) == [
        "DIV. is cut, and no key reaches it by a name",
        "“undecided” is broken",
    ]
    page.set_content(cut.replace("<div", "<div tabindex=0 role=region aria-label=Wide"))
    assert phone_faults(page) == ["DIV. is cut without a shade at its edge"]


@pytest.fixture
def phone(joust, visit, live_server):
    """phone("/boards/…") opens that page on a phone."""
    page, _record = visit("ravi", viewport=PHONE)

    def open_page(address: str):
        assert page.goto(live_server.url + address).status == 200
        return page

    return open_page


def test_the_figures_that_matter_stand_in_sight_on_a_phone(phone):
    newest = Leaderboard.objects.get(slug="joust-overall").snapshots.first()
    model, compare = "/boards/joust/model/?name=Ember", "/boards/joust/compare/?a=Ember&b=Fjord"
    wanted = {
        f"/snapshots/{newest.pk}/": ("tbody td.number .range", "tbody tr:last-child td.number"),
        "/boards/joust/agreement/": ("tbody td:nth-child(2)", "tbody td:nth-child(3)"),
        model: ("section[aria-labelledby=boards] tbody td:nth-child(3) .range",),
        compare: (".compare-table tbody td.number .range", ".compare-direct tbody td:nth-child(3)"),
        f"/boards/joust/joust-overall/diff/?after={newest.pk}": ("tbody td.number",),
    }
    hidden = []
    for address, selectors in wanted.items():
        page = phone(address)
        hidden += [f"{address} {selector}" for selector in selectors if not in_sight(page, selector)]
    assert hidden == []
    page = phone("/boards/joust/agreement/")
    assert page.locator("thead th").all_inner_texts()[1:3] == ["κ", "Krippendorff’s α"]


def test_keys_scroll_a_table_to_its_end_while_the_names_of_its_rows_stay(phone):
    page = phone("/boards/joust/compare/?a=Ember&b=Fjord")
    assert not in_sight(page, ".compare-table td.net")
    page.locator(".scroll:has(.compare-table)").focus()
    for _press in range(30):
        page.keyboard.press("ArrowRight")
    comes_in_sight(page, ".compare-table td.verdict")
    assert in_sight(page, ".compare-table tbody th[scope=row]")


def test_the_names_of_a_chart_stay_where_a_phone_scrolls_the_rest_away(phone):
    page = phone("/boards/joust/charts/")
    for chart in ("ratings", "slopes", "wins", "history"):
        names = page.locator(f".chart.{chart} .chart-names img")
        names.scroll_into_view_if_needed()
        names.evaluate("image => image.decode()")
        assert names.evaluate("image => image.naturalWidth") > 40
        for end in (0, 10_000):
            page.locator(f".chart.{chart} .scroll:has(img)").evaluate(
                "(one, end) => one.scrollLeft = end", end
            )
            assert in_sight(page, f".chart.{chart} .chart-names img"), (chart, end)


def test_the_report_is_dark_on_a_dark_screen_and_white_on_paper(joust, visit, live_server):
    page, record = visit("ravi", viewport=PHONE, color_scheme="dark")
    page.goto(f"{live_server.url}/boards/joust/report/")
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) == "rgb(21, 23, 26)"
    picture = "document.querySelector('figure img').currentSrc"
    dark = page.evaluate(picture)
    page.emulate_media(media="print")
    page.wait_for_function(f"() => {picture} !== {dark!r}")
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    assert record.complaints == []
