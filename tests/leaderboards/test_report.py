"""One click, nine parts, one file; what nobody has said is named as missing, on the report."""

import re
from datetime import datetime

import pytest
from django.urls import reverse
from django.utils.html import escape

from arena.battles.models import Battle
from arena.campaigns.models import Guide
from arena.corpus.models import Competitor, Prompt, PromptSet
from arena.leaderboards.charts import chart_rows
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.models import Leaderboard, PairResult
from arena.leaderboards.reading.reading_models import Reading
from arena.leaderboards.report import report, report_open
from arena.leaderboards.report.report_draft import Cell, Draft
from arena.leaderboards.report.report_models import ReportText
from arena.leaderboards.report.report_protocol import say_reveal
from arena.leaderboards.report.report_views import STYLE
from arena.leaderboards.run_models import SnapshotRun
from tests.conftest import past_triggers


@pytest.fixture
def judged(voted_campaign):
    small = voted_campaign(votes=400)
    Battle.objects.update(kind="regular", rater=None)  # as if given out here
    for board in ensure_leaderboards(small.campaign):
        snapshots.take_snapshot(board)
    return small


def listed(part) -> str:
    return "\n".join(item for block in part.blocks for item in block.items)


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
    assert not re.search(r'(src|href)="(?!data:image/svg|#part-)', page)
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


PAPER = {"width": 718, "height": 1047}
"""CSS pixels of A4 less the margins that Chromium prints with."""
CUT = """() => {
  const wide = [];
  for (const one of document.body.querySelectorAll('*')) {
    const box = one.getBoundingClientRect();
    if (box.right > innerWidth + 1 || box.left < -1) wide.push([one.tagName, one.textContent.slice(0, 70)]);
    const hidden = one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== 'visible';
    if (hidden && one.clientWidth) wide.push(['hidden', one.tagName, one.textContent.slice(0, 70)]);
  }
  return wide;
}"""


@pytest.mark.browser
def test_printed_on_a4_nothing_of_the_report_is_cut_off(judged, live_server, page, signed_in):
    name = "Competitor-with-a-name-that-goes-on/without-any-space:7B-instruct-2026"
    Competitor.objects.filter(name="Inlet").update(name=name)
    for number, prompt in enumerate(judged.prompts):
        Prompt.objects.filter(pk=prompt.pk).update(category=f"instruction-following-{number % 12}")
    ReportText.objects.create(campaign=judged.campaign, baselines="x" * 300)
    Guide.publish(judged.campaign, "    " + "code " * 60 + "y" * 200)
    PromptSet.objects.filter(campaigns=judged.campaign).update(content_hash="ab" * 32)
    for board in ensure_leaderboards(judged.campaign):
        snapshots.take_snapshot(board)
    cookie = signed_in("ravi").cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
    page.set_viewport_size(PAPER)
    page.emulate_media(media="print")
    page.goto(live_server.url + reverse("board-report", args=["joust"]))
    told = page.inner_text("body")
    snapshot = ensure_leaderboards(judged.campaign)[0].snapshots.first()
    for words in (snapshot.vote_digest, snapshot.code_version, "ab" * 32, name, "Seed"):
        assert words in told, words
    assert page.evaluate(CUT) == []
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_of_votes_from_a_file_the_report_claims_no_protocol(judged):
    assert "recorded elsewhere" not in told(built(judged).parts[2])
    three = list(Battle.objects.order_by("pk").values_list("pk", flat=True)[:3])
    Battle.objects.filter(pk__in=three).update(kind="recorded")
    both = told(built(judged).parts[2])
    assert "Raters were admitted" in both and "3 votes were recorded elsewhere" in both
    Battle.objects.update(kind="recorded")
    part = built(judged).parts[2]
    assert "Raters were admitted" not in told(part) and "by version" not in told(part)
    assert any("what they were asked" in words for words in part.missing)
    ReportText.objects.create(campaign=judged.campaign, protocol="Asked on paper in May.")
    part = built(judged).parts[2]
    assert "Asked on paper in May." in told(part) and not part.missing


@pytest.mark.parametrize(
    ("reveal", "status", "shown_at", "words"),
    [
        ("after_close", "open", None, "Names are shown once the campaign closes, and haven’t been yet."),
        ("after_close", "closed", None, "Names were shown once the campaign had closed."),
        ("after_close", "open", "2026-05-04", "Names were shown when it closed on 2026-05-04"),
        ("after_vote", "open", None, "Names were shown to a rater after each of their votes."),
        ("never", "closed", None, "Raters are never shown names."),
    ],
)
def test_the_protocol_says_when_raters_saw_names(small_campaign, cast, reveal, status, shown_at, words):
    campaign = small_campaign.campaign
    at = shown_at and datetime.fromisoformat(f"{shown_at}T12:00+00:00")
    campaign.reveal, campaign.status, campaign.names_shown_at = reveal, status, at
    assert words in say_reveal(campaign)


def test_the_guide_stands_in_the_report_as_raters_read_it(judged, signed_in):
    Guide.publish(judged.campaign, "Which is **better**?")
    page = signed_in("ravi").get(reverse("board-report", args=["joust"])).content.decode()
    assert "Which is <strong>better</strong>?" in page and "**better**" not in page


def test_models_stand_by_falling_rating_with_what_to_be_careful_about(judged):
    snapshot = ensure_leaderboards(judged.campaign)[0].snapshots.get()
    standing = snapshot.standings.order_by("rating").first()
    change = type(standing).objects.filter(pk=standing.pk).update
    past_triggers(change, flags=["too_few_raters"], rank_lower=1)
    rows = next(b.rows for b in built(judged).parts[4].blocks if "To be careful about" in b.head)
    ratings = [float(row[2]) for row in rows]
    assert ratings == sorted(ratings, reverse=True) and len(ratings) == 5
    assert rows[-1][-1] == "too few raters"


def test_of_many_undecided_pairs_the_largest_differences_are_shown_and_it_says_so(judged, monkeypatch):
    monkeypatch.setattr(report_open, "PAIRS_SHOWN", 2)
    snapshot = ensure_leaderboards(judged.campaign)[0].snapshots.get()
    snapshot.pairs.update(verdict=PairResult.Verdict.UNDECIDED)
    largest = sorted(snapshot.pairs.all(), key=lambda pair: -abs(pair.difference))[:2]
    block = next(b for b in built(judged).parts[7].blocks if b.caption.startswith("Pairs that are not"))
    assert block.caption == "Pairs that are not told apart: of 10 the first 2"
    assert [{row[0], row[1]} for row in block.rows] == [{p.first.name, p.second.name} for p in largest]


def test_a_short_list_of_the_parts_leads_to_each_without_a_script(judged, signed_in):
    page = signed_in("ravi").get(reverse("board-report", args=["joust"])).content.decode()
    contents = re.search(r'<nav class="contents" aria-label="Contents">(.*?)</nav>', page, re.DOTALL)[1]
    assert re.findall(r'<a href="#(part-\d)">', contents) == re.findall(r'<h2 id="(part-\d)">', page)
    assert len(re.findall("<a ", contents)) == 9
    assert "<script" not in page


def test_what_to_be_careful_about_is_a_list_and_names_its_boards(judged):
    made = built(judged)
    board = made.parts[7]
    assert "Ranks are sets: at 95\u00a0% confidence" in listed(board)
    assert "(hard prompts)" in listed(board)
    assert not any("To be careful about" in block.head for block in board.blocks)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("−284 … +1460", "figure"),
        ("1–5", "figure"),
        ("1312 (850 … 1773)", "figure"),
        ("53\u00a0% (47\u00a0…\u00a059)", "figure"),
        ("p = 0.015", "figure"),
        ("p < 0.001", "figure"),
        ("2026-11-30 18:49 UTC", "figure"),
        ("+13 (−63 … +88)", "figure"),
        ("0 of 3 named it", ""),
        ("–", ""),
        ("Ember", ""),
        ("no interval yet, and few raters", "words"),
        ("a" * 64, "long"),
        ("1" * 64, "long"),
    ],
)
def test_a_cell_is_known_by_where_it_may_break(words, kind):
    assert Cell(words).kind == kind


def test_a_board_that_is_missing_is_named_with_its_reason_and_without_columns(judged):
    style = Leaderboard.objects.get(slug="joust-style")
    past_triggers(lambda: style.snapshots.all().delete())
    SnapshotRun.objects.create(leaderboard=style, state=SnapshotRun.State.NOT_ENOUGH, reason="Too few texts.")
    breakdowns = built(judged).parts[5]
    assert "No board “style-controlled” yet. Too few texts." in told(breakdowns)
    table = next(block for block in breakdowns.blocks if block.caption == "The boards side by side")
    assert list(table.head) == ["Model", "Overall", "Hard prompts", "Hard move"]
    assert {len(row) for row in table.rows} == {4}


def test_numbers_names_and_empty_cells_are_written_in_one_way_in_every_table():
    draft = Draft()
    draft.lay_out(
        ["Set", "Prompts", "Licence", "Day"], [["Twelve", 1263, "", None]], file="report-prompt-sets"
    )
    (block,) = draft.blocks
    assert list(block.rows[0]) == ["Twelve", "1,263", "–", "–"]
    assert block.values == [("Twelve", 1263, "", None)]


def test_the_table_of_verdicts_names_its_board(judged):
    captions = [block.caption for block in built(judged).parts[7].blocks]
    assert "Verdicts on the board Overall" in captions


def test_a_rating_in_a_category_without_an_interval_stands_alone_and_it_is_said_why():
    bare = {"rating": 1140.2, "lower": None, "upper": None, "says": ""}
    whole = bare | {"lower": 1100.0, "upper": 1180.0}
    endless = {"rating": None, "lower": None, "upper": None, "says": "won all"}
    told = [chart_rows.in_category(one) for one in (bare, whole, bare | {"lower": 1100.0}, endless)]
    assert told == ["1140", "1140 (1100 … 1180)", "1140 (1100 … –)", "won all"]
    assert chart_rows.say_bare([whole, endless]) == ""
    assert "no interval yet: too few votes, raters or prompts" in chart_rows.say_bare([whole, bare])


def test_the_report_says_of_its_table_by_category_what_the_chart_says(judged):
    part = built(judged).parts[5]
    (table,) = [block for block in part.blocks if block.file == "report-categories"]
    note = part.blocks[part.blocks.index(table) + 1].text
    assert note.startswith("A category’s models have the same mean here as on the board")
