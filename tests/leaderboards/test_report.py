"""One click, nine parts, one file; what nobody has said is named as missing, on the report."""

import re

import pytest
from django.urls import reverse
from django.utils.html import escape

from arena.battles.models import Battle
from arena.corpus.models import Competitor
from arena.leaderboards import report, snapshots
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.report_models import Reading, ReportText
from arena.leaderboards.report_views import STYLE


@pytest.fixture
def judged(voted_campaign, settings):
    settings.BOOTSTRAP_RESAMPLES = 50
    small = voted_campaign(votes=400)
    for board in ensure_leaderboards(small.campaign):
        snapshots.take_snapshot(board)
    return small


def built(small) -> report.Report:
    return report.build(small.campaign, list(small.campaign.leaderboards.select_related("judge")), "")


def told(part) -> str:
    cells = [cell for block in part.blocks for row in block.rows for cell in row]
    return "\n".join([*(block.text for block in part.blocks), *cells])


def test_nine_parts_say_what_is_stored_and_name_what_is_missing(judged):
    made = built(judged)
    assert [part.number for part in made.parts] == list(range(1, 10))
    assert [part.number for part in made.missing] == [1, 2, 4, 7]
    snapshot = ensure_leaderboards(judged.campaign)[0].snapshots.get()
    first = snapshot.standings.select_related("competitor").first()
    assert f"{first.rating:.0f}" in told(made.parts[4])
    assert first.competitor.name in told(made.parts[4])
    assert snapshot.vote_digest in told(made.parts[8])
    assert "every board is exploratory" in told(made.parts[8])


def test_what_people_fill_in_is_missing_no_longer(judged, cast, signed_in):
    ravi = signed_in("ravi")
    words = {
        "capability": "Answering everyday questions in English.",
        "sourcing": "Written by the team in May.",
        "contamination": "Never published before; searched for on the web.",
        "baselines": "The model before this one.",
    }
    assert ravi.post(reverse("report-text", args=["joust"]), words).status_code == 302
    for battle in Battle.objects.order_by("pk")[:20]:
        Reading.objects.create(
            battle=battle, reader=cast.ravi, side="a", failure="wrong", comment="off by one"
        )
    made = built(judged)
    assert made.missing == []
    assert "off by one" in told(made.parts[6])
    page = ravi.get(reverse("board-report", args=["joust"])).content.decode()
    assert all(escape(text) in page for text in words.values())


def test_a_sentinel_is_a_baseline(judged):
    Competitor.objects.filter(name="Inlet").update(role=Competitor.Role.SENTINEL)
    baselines = built(judged).parts[3]
    assert not baselines.missing
    assert "Inlet" in told(baselines)


def test_a_campaign_without_a_board_still_has_a_report_that_says_so(small_campaign):
    made = built(small_campaign)
    assert [part.number for part in made.missing] == [1, 2, 4, 5, 6, 7, 8, 9]


def test_the_file_needs_nothing_else_and_runs_nothing(judged, signed_in):
    ReportText.objects.create(campaign=judged.campaign, capability="<script>alert(1)</script>")
    answer = signed_in("ravi").get(reverse("board-report", args=["joust"]), {"download": ""})
    page = answer.content.decode()
    assert answer["Content-Disposition"] == 'attachment; filename="joust-report.html"'
    assert "<script" not in page
    assert not re.search(r'(src|href)="(?!data:image/svg)', page)
    assert "unsafe-inline" not in answer["Content-Security-Policy"]


def test_the_style_sheet_stands_in_the_page_as_it_was_hashed():
    assert escape(STYLE) == STYLE


def test_raters_and_strangers_get_no_report(judged, signed_in, client):
    address = reverse("board-report", args=["joust"])
    assert client.get(address).status_code == 302
    for name in ("alice", "mallory", "dora"):
        assert signed_in(name).get(address).status_code == 404


@pytest.mark.browser
def test_the_report_is_styled_under_the_policy_of_the_site(judged, live_server, page, signed_in):
    cookie = signed_in("ravi").cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(live_server.url + reverse("board-report", args=["joust"]))
    assert complaints == []
    assert page.evaluate("getComputedStyle(document.querySelector('.missing')).borderLeftWidth") == "4px"
