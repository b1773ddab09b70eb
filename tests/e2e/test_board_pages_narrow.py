"""The pages around a board on a phone, light and dark: nothing hangs over the edge, and axe finds nothing."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from arena.leaderboards.charts import drawing
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.models import Leaderboard
from tests.e2e.test_boards import PHONE, hardly_any_resamples, overflow, visit
from tests.leaderboards.conftest import cast_vote, make_judge, voted_campaign

__all__ = ["cast_vote", "hardly_any_resamples", "make_judge", "visit", "voted_campaign"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGES = (
    "/boards/joust/?q=e&sort=style&pin=Inlet",
    "/boards/joust/charts/",
    "/boards/joust/compare/?a=Ember&b=Fjord",
    "/boards/joust/model/?name=Ember",
    "/boards/joust/battles/?pick=influential",
    "/boards/joust/agreement/",
    "/boards/joust/report/",
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
    return small


def faults_of(page) -> list[str]:
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [f"{one['id']}: {[node['target'] for node in one['nodes']]}" for one in found]


def test_a_phone_shows_the_pages_around_a_board_whole_and_to_everybody(joust, visit, live_server):
    page, record = visit("ravi", viewport=PHONE)
    page.set_default_timeout(60_000)
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
    assert not found, "\n".join(found)
    assert record.complaints == []
