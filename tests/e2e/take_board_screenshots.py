"""The pictures of docs/boards.md: `./tiltyard test tests/e2e/take_board_screenshots.py` takes them."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from arena.leaderboards.charts import drawing
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.reckoning import reckon
from tests.e2e.take_screenshots import NARROW, WIDE, take
from tests.e2e.test_board_pages_narrow import joust
from tests.e2e.test_boards import visit
from tests.leaderboards.conftest import cast_vote, make_judge, voted_campaign

__all__ = ["cast_vote", "joust", "make_judge", "visit", "voted_campaign"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGES = {
    "board": "/boards/joust/",
    "compare": "/boards/joust/compare/?a=Ember&b=Fjord",
    "charts": "/boards/joust/charts/",
    "model": "/boards/joust/model/?name=Ember",
    "agreement": "/boards/joust/agreement/",
    "report": "/boards/joust/report/",
    "reader": "/boards/joust/battles/?pick=influential",
    "plan": "/campaigns/joust/analysis-plan/",
}


@pytest.mark.parametrize(("size", "scheme"), [(WIDE, "light"), (NARROW, "dark")], ids=["wide", "narrow"])
def test_pages_for_researchers(joust, visit, live_server, size, scheme):
    from arena.leaderboards.agreement import campaign_agreement

    for board in joust.campaign.leaderboards.filter(snapshots__isnull=False).distinct():
        drawing.draw(board.snapshots.first())
    campaign_agreement.compute_due()
    plan = AnalysisPlan.objects.create(
        campaign=joust.campaign,
        question="Is Ember better than Fjord at everyday questions?",
        margin=50,
        boards=["overall"],
        raters=20,
        votes=1000,
    )
    plan.freeze(None, asdict(reckon(plan)))
    page, _record = visit("ravi", viewport=size)
    page.set_default_timeout(60_000)
    page.emulate_media(color_scheme=scheme)
    for name, address in PAGES.items():
        assert page.goto(live_server.url + address).status == 200
        if size == NARROW and name in ("board", "charts"):
            page.evaluate("document.querySelector('#table, figure, main img').scrollIntoView()")
        if name == "plan":
            page.evaluate("document.querySelector('#frozen').scrollIntoView()")
        page.wait_for_load_state("networkidle")
        page.wait_for_function(
            "() => [...document.images].slice(0, 2).every(one => one.complete && one.naturalWidth)"
        )
        take(page, f"{name}-{'wide' if size == WIDE else 'narrow'}")
