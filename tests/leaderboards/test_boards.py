"""The board pages: what they say, to whom, and what they say when there is nothing to show."""

import csv
import io
import re

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from arena.battles.models import Retraction
from arena.corpus.models import Competitor
from arena.leaderboards.boards.board_rows import in_order, rank_words, standings_of
from arena.leaderboards.boards.duels import say_share
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots
from arena.leaderboards.models import Leaderboard, Snapshot
from arena.leaderboards.run_models import SnapshotRun
from arena.leaderboards.schedule import request_snapshot, request_snapshots
from arena.leaderboards.sentences import signed
from arena.leaderboards.style_words import say_typical, worth_of
from arena.raters.models import Rater
from tests.conftest import past_triggers

pytestmark = pytest.mark.usefixtures("charts_left_undrawn")

PAGE = "/boards/joust/"


@pytest.fixture
def joust(voted_campaign, cast):
    """A campaign whose three boards of people have been taken."""
    small = voted_campaign("joust")
    for leaderboard in ensure_leaderboards(small.campaign):
        assert snapshots.take_snapshot(leaderboard).snapshot
    return small


def show_to(campaign, visibility: str) -> None:
    campaign.leaderboards.update(visibility=visibility)
    close(campaign)


def close(campaign) -> None:
    type(campaign).objects.filter(pk=campaign.pk).update(status="closed")


def text_of(response) -> str:
    """The page's words, tags and runs of white space taken out."""
    return " ".join(re.sub(r"<[^>]*>", " ", response.content.decode()).split())


# --- what the page says -----------------------------------------------------------------------------------


def test_the_page_shows_every_standing_of_the_three_boards(joust, signed_in):
    page = signed_in("ravi").get(PAGE)
    assert page.status_code == 200
    html = page.content.decode()
    for snapshot in Snapshot.objects.all():
        for standing in snapshot.standings.select_related("competitor"):
            label = f"{standing.rating:.0f}, interval from {standing.lower:.0f} to {standing.upper:.0f}"
            assert f"<title>{label}</title>" in html
            assert standing.competitor.name in html
    assert html.count('class="interval"') == 15


def test_the_page_begins_with_a_sentence_to_quote(joust, signed_in):
    for rater in Rater.objects.filter(admission=Rater.Admission.SIMULATED):
        rater.admission = Rater.Admission.RECORDED
        rater.save()
    call_command("take_snapshots")
    words = text_of(signed_in("ravi").get(PAGE))
    overall = Snapshot.objects.filter(leaderboard__slug="joust-overall").first()
    first = overall.standings.filter(tied_first=True).order_by("-rating")
    names = [standing.competitor.name for standing in first]
    assert 2 <= len(names) <= 3
    assert f"{', '.join(names[:-1])} and {names[-1]} are tied for first." in words
    assert re.search(
        r"at equal length and format Fjord drops by \d+ points, the largest move that is clear", words
    )


def test_facts_stand_above_the_table(joust, signed_in):
    words = text_of(signed_in("ravi").get(PAGE))
    assert "600 votes" in words
    assert re.search(r"20 raters \(effective 1\d\)", words)
    assert re.search(r"24 prompts \(effective 2\d\), 8 hard", words)
    assert re.search(r"design effect \d\.\d", words)
    assert "ties count half" in words
    assert "hard: marked so, or ≥ 6 of 7 criteria" in words
    assert "checked against choix, largest difference &lt; 0.0001 points" in words


def test_warnings_stand_below_under_the_name_of_their_board(joust, signed_in):
    words = text_of(signed_in("ravi").get(PAGE))
    care = words[words.index("What to be careful about") :]
    hard = Snapshot.objects.get(leaderboard__slug="joust-hard")
    assert hard.warnings
    for warning in hard.warnings:
        assert warning.replace("'", "&#x27;") in care
    assert "(hard prompts)" in care


def test_the_worth_of_style_is_told_in_points(joust, signed_in):
    words = text_of(signed_in("ravi").get(PAGE))
    length = Snapshot.objects.get(leaderboard__slug="joust-style").coefficients[0]
    assert length["name"] == "length"
    doubled = [
        signed(length["per_doubling"] * end / length["estimate"])
        for end in (length["lower"], length["upper"])
    ]
    told = rf"length in characters \+{length['points']:.0f} .*? \+{length['per_doubling']:.0f} "
    assert re.search(told + re.escape(" … ".join(doubled)), words)
    times = (1 + length["scale"]) / (1 - length["scale"])
    assert f"so much more than the other: length in characters {times:.1f} to 1," in words


def test_twice_as_much_has_the_interval_of_its_coefficient_in_its_own_unit():
    told = {"name": "length", "points": 40.0, "per_doubling": 10.0, "lower": 0.1, "upper": 0.3, "scale": 0.5}
    worth = worth_of(told, "characters")
    assert worth.doubled_lower == pytest.approx(worth.lower / 4) and worth.doubled_upper > worth.doubled
    assert worth.times == 3
    unknown = worth_of(told | {"per_doubling": None, "lower": None, "upper": None}, "tokens")
    assert (unknown.doubled_lower, unknown.doubled_upper, unknown.times) == (None, None, None)
    assert say_typical([unknown]) == ""


def test_simulated_votes_are_named_wherever_they_are_shown(joust, signed_in):
    ravi = signed_in("ravi")
    page = text_of(ravi.get(PAGE))
    assert "All 600 votes here are simulated." in page
    assert "In simulated votes, " in page
    listed = text_of(ravi.get("/boards/"))
    assert "In simulated votes, " in listed
    assert "600 votes, 5 models" in listed
    rows = csv.DictReader(io.StringIO(ravi.get("/boards/joust/joust-overall.csv").content.decode()))
    assert {row["simulated_votes"] for row in rows} == {"600"}
    assert ravi.get("/boards/joust/joust-overall.json").json()["counts"]["simulated"] == 600


def test_people_and_a_judge_are_two_tabs_and_never_pooled(joust, make_judge, signed_in):
    battles = joust.campaign.battles.order_by("pk")[:300]
    judge = make_judge(joust, "Sage", dict.fromkeys(battles, "model_b"))
    call_command("take_snapshots")
    ravi = signed_in("ravi")
    people, judged = (
        text_of(ravi.get(PAGE, {"source": source})) for source in ("raters", f"judge:{judge.pk}")
    )
    assert "600 votes" in people
    assert "300 judgments" not in people
    assert "300 judgments" in judged
    assert "According to the judge Sage, " in judged
    assert "simulated" not in judged


def test_a_narrow_window_shows_one_board_at_a_time_by_links(joust, signed_in):
    ravi = signed_in("ravi")
    assert 'class="board-table show-overall"' in ravi.get(PAGE).content.decode()
    hard = ravi.get(PAGE, {"board": "hard"}).content.decode()
    assert 'class="board-table show-hard"' in hard
    assert 'href="?source=raters&amp;board=style#table"' in hard
    assert 'class="board-table show-overall"' in ravi.get(PAGE, {"board": "<b>"}).content.decode()


@pytest.mark.parametrize("name", ["overall", "hard", "style"])
def test_ranks_order_and_votes_are_those_of_the_board_that_was_chosen(joust, signed_in, name):
    board = Leaderboard.objects.get(campaign=joust.campaign, slug=f"joust-{name}")
    standings = in_order(standings_of(board.snapshots.first()))
    rank, model, votes = (
        r'<td class="rank[^"]*">([^<]*)<',
        r'<th scope="row">.*?<a [^>]*>([^<]*)<',
        r'votes">([^<]*)<',
    )
    page = signed_in("ravi").get(PAGE, {"board": name}).content.decode()
    shown = re.findall(f"{rank}.*?{model}.*?{votes}", page.partition("<tbody")[2], re.DOTALL)
    told = [(rank, name, count.strip()) for rank, name, count in shown]
    assert told == [(rank_words(s), s.competitor.name, f"{s.battles:,}") for s in standings]
    rates = re.findall(r'votes">[^<]*<span class="range">([^<]*)<', page)
    assert rates == [say_share((s.wins + s.ties / 2) / s.battles) for s in standings]


def test_the_page_holds_no_style_attribute_and_no_inline_script(joust, signed_in):
    html = signed_in("ravi").get(PAGE).content.decode()
    assert " style=" not in html
    assert not re.search(r"<script(?![^>]*\bsrc=)", html)


def test_positions_keep_their_points_in_a_language_with_commas(joust, signed_in):
    html = signed_in("ravi").get(PAGE, headers={"accept-language": "de"}).content.decode()
    positions = re.findall(r' (?:x1|x2|cx)="([^"]+)"', html)
    assert len(positions) == 15 * 5
    assert all(re.fullmatch(r"\d+\.\d\d%", position) for position in positions)


def test_a_models_name_is_text_and_nothing_else(joust, signed_in):
    Competitor.objects.filter(name="Ember").update(name="<script>alert(1)</script>")
    html = signed_in("ravi").get(PAGE).content.decode()
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


def test_a_withdrawn_model_stays_and_says_so(joust, signed_in):
    Competitor.objects.filter(name="Ember").update(status=Competitor.Status.WITHDRAWN)
    words = text_of(signed_in("ravi").get(PAGE))
    assert re.search(r"Ember (too few raters )?withdrawn", words)
    assert words.count("withdrawn") == 1


def test_groups_without_battles_between_them_are_set_apart(make_campaign, cast, cast_vote, signed_in):
    small = make_campaign("joust", names=("Ember", "Fjord", "Grove", "Heron"), prompts=10)
    for rater in (cast.alice_rater, cast.bob_rater):
        for number, prompt in enumerate(small.prompts):
            cast_vote(small, prompt, "Ember", "Fjord", ["model_a", "model_b"][number % 2], rater)
            cast_vote(small, prompt, "Grove", "Heron", ["model_b", "model_a"][number % 2], rater)
    call_command("take_snapshots")
    words = text_of(signed_in("ravi").get(PAGE))
    assert "The models fall into 2 groups that can&#x27;t be compared" in words
    assert words.count("Not comparable with the models above") == 1


def test_the_page_takes_few_queries(joust, signed_in, django_assert_max_num_queries):
    ravi = signed_in("ravi")
    with django_assert_max_num_queries(25):
        ravi.get(PAGE)


def test_every_interval_is_printed_under_its_rating(joust, signed_in):
    words = text_of(signed_in("ravi").get(PAGE))
    for snapshot in Snapshot.objects.all():
        for standing in snapshot.standings.all():
            assert f"{standing.rating:.0f} {standing.lower:.0f} … {standing.upper:.0f}" in words


def test_bootstrap_intervals_are_shown_when_asked_for_with_their_number_and_how(joust, signed_in):
    ravi = signed_in("ravi")
    standing = Snapshot.objects.get(leaderboard__slug="joust-overall").standings.first()
    assert standing.bootstrap_upper != standing.upper
    robust, resampled = text_of(ravi.get(PAGE)), text_of(ravi.get(PAGE, {"interval": "bootstrap"}))
    assert f"{standing.bootstrap_lower:.0f} … {standing.bootstrap_upper:.0f}" in resampled
    assert f"{standing.lower:.0f} … {standing.upper:.0f}" in robust
    assert "Show the bootstrap intervals 20 resamples, drawn with replacement: whole raters" in robust
    assert "Intervals shown: bootstrap. 20 resamples" in resampled
    assert "&amp;interval=bootstrap#table" in ravi.get(PAGE, {"interval": "bootstrap"}).content.decode()


def test_the_api_gives_both_intervals(joust, signed_in):
    row = signed_in("ravi").get("/boards/joust/joust-overall.json").json()["standings"][0]
    assert row["bootstrap_lower"] < row["rating"] < row["bootstrap_upper"]


def test_each_term_of_the_facts_is_explained_and_the_seven_criteria_named(joust, signed_in):
    words = text_of(signed_in("ravi").get(PAGE))
    meant = words[words.index("What these figures mean") :]
    for term in ("effective raters", "design effect", "checked against choix", "hard", "technical accuracy"):
        assert term in meant


def test_ties_alone_draw_no_dot_and_no_certainty(make_campaign, cast, cast_vote, signed_in):
    small = make_campaign("joust", names=("Ember", "Fjord", "Grove"), prompts=2)
    cast_vote(small, small.prompts[0], "Ember", "Fjord", "tie", cast.alice_rater)
    cast_vote(small, small.prompts[1], "Fjord", "Grove", "tie", cast.alice_rater)
    call_command("take_snapshots")
    page = signed_in("ravi").get(PAGE, {"source": "raters"})
    words = text_of(page)
    assert words.count("1000 no interval yet") == 5
    assert "<circle" not in page.content.decode()
    assert "3 models have no interval yet" in words
    assert "Fewer than 100 votes: take every number for a sketch." in words
    assert "No board “style-controlled” yet. There is no style to control for: in 2 votes no two" in words
    assert "Error" not in words
    assert 'class="notice error"' not in page.content.decode()


@pytest.mark.parametrize("votes", [1, 2, 3, 7, 25])
def test_small_campaigns_and_judges_get_calm_words_and_no_error(
    voted_campaign, make_judge, signed_in, cast, votes, caplog
):
    small = voted_campaign("joust", votes=votes)
    judge = make_judge(small, "Sage", dict.fromkeys(small.campaign.battles.order_by("pk")[:2], "model_b"))
    call_command("take_snapshots")
    assert not SnapshotRun.objects.filter(state=SnapshotRun.State.FAILED).exists()
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
    for source in ("raters", f"judge:{judge.pk}"):
        page = signed_in("ravi").get(PAGE, {"source": source})
        assert "notice error" not in page.content.decode()
        assert not re.search(r"Error|singular|Hessian", text_of(page))


def test_after_a_success_the_failure_before_it_is_gone(joust, signed_in):
    board = Leaderboard.objects.get(slug="joust-overall")
    SnapshotRun.objects.create(leaderboard=board, state=SnapshotRun.State.FAILED, reason="the sky fell")
    ravi = signed_in("ravi")
    assert "the sky fell" in text_of(ravi.get(PAGE))
    snapshots.take_snapshot(board)
    assert "the sky fell" not in text_of(ravi.get(PAGE))
    assert "notice error" not in ravi.get(PAGE).content.decode()


# --- nothing to show --------------------------------------------------------------------------------------


def test_a_campaign_without_votes_offers_to_invite_raters(make_campaign, signed_in):
    make_campaign("joust")
    words = text_of(signed_in("ravi").get(PAGE))
    assert "No votes yet" in words
    assert "Invite raters" in words


def test_a_campaign_of_one_model_says_that_a_board_needs_two(make_campaign, signed_in):
    make_campaign("joust", names=("Ember",))
    assert "A board needs two models" in text_of(signed_in("ravi").get(PAGE))


def test_votes_without_a_snapshot_offer_to_take_one(voted_campaign, cast, signed_in):
    voted_campaign("joust", votes=7)
    page = signed_in("ravi").get(PAGE)
    assert "No snapshot yet 7 votes are in." in text_of(page)
    assert f'action="{reverse("snapshot-take", args=["joust"])}"' in page.content.decode()


def test_before_the_first_snapshot_votes_taken_back_count_nowhere_and_an_old_reason_is_not_told(
    make_campaign, cast, cast_vote, signed_in
):
    small = make_campaign("joust")
    undone = cast_vote(small, small.prompts[0], "Ember", "Fjord", "model_a", cast.alice_rater)
    Retraction.objects.create(vote=undone)
    board = ensure_leaderboards(small.campaign)[0]
    snapshots.do_round([request_snapshot(board)])
    now = timezone.now()
    cast_vote(small, small.prompts[0], "Ember", "Grove", "model_a", cast.alice_rater, at=now)
    words = text_of(signed_in("ravi").get(PAGE))
    assert "1 vote is in." in words
    assert "There is no vote yet" not in words


def test_a_board_that_cant_be_made_says_what_is_missing(voted_campaign, cast, signed_in):
    small = voted_campaign("joust", votes=100)
    for prompt in small.prompts:
        prompt.is_hard = None
        prompt.save()
    call_command("take_snapshots")
    words = text_of(signed_in("ravi").get(PAGE))
    assert "No board “hard prompts” yet. Nothing here is about a prompt known to be hard." in words


def test_a_failed_fit_shows_the_last_snapshot_and_the_reason(joust, signed_in, cast, cast_vote):
    cast_vote(joust, joust.prompts[0], "Ember", "Grove", "model_a", cast.alice_rater)
    board = Leaderboard.objects.get(slug="joust-overall")
    SnapshotRun.objects.create(leaderboard=board, state=SnapshotRun.State.FAILED, reason="the sky fell")
    page = signed_in("ravi").get(PAGE)
    words = text_of(page)
    assert "The newest snapshot of the board “overall” failed: the sky fell" in words
    assert "Shown is the last one that didn’t." in words
    assert page.content.decode().count('class="interval"') == 15


# --- who may see ------------------------------------------------------------------------------------------

SEES = {
    "private": {"ravi", "carol"},
    "signed_in": {"ravi", "carol", "alice", "mallory", "dora"},
    "public": {"ravi", "carol", "alice", "mallory", "dora", None},
}
ADDRESSES = [
    "/boards/joust/",
    "/boards/joust/joust-overall.csv",
    "/boards/joust/joust-overall.json",
    "/api/v1/leaderboards/joust-overall/",
    "/api/v1/leaderboards/joust-overall/snapshots/latest/",
]


@pytest.mark.parametrize(
    ("status", "reveal", "seen"),
    [
        ("open", "after_close", 404),
        ("paused", "never", 404),
        ("open", "after_vote", 200),
        ("draft", "never", 200),
    ],
)
def test_while_raters_vote_blind_only_researchers_see_a_board(joust, signed_in, client, status, reveal, seen):
    show_to(joust.campaign, "public")
    type(joust.campaign).objects.update(status=status, reveal=reveal)
    assert client.get(reverse("board", args=["joust"])).status_code == seen
    assert signed_in("ravi").get(reverse("board", args=["joust"])).status_code == 200


@pytest.mark.parametrize("visibility", SEES)
def test_boards_are_seen_by_whom_they_are_shown_to_and_are_missing_to_all_others(
    joust, signed_in, client, visibility
):
    show_to(joust.campaign, visibility)
    for person in ("ravi", "carol", "alice", "mallory", "dora", None):
        visitor = signed_in(person) if person else client
        expected = 200 if person in SEES[visibility] else 404
        assert [visitor.get(address).status_code for address in ADDRESSES] == [expected] * 5, person
        listed = "joust" in visitor.get("/boards/").content.decode()
        assert listed == (person in SEES[visibility]), person


def test_a_board_can_be_shown_while_its_sibling_stays_private(joust, make_judge, client):
    make_judge(joust, "Sage", dict.fromkeys(joust.campaign.battles.all(), "model_b"))
    call_command("take_snapshots")
    joust.campaign.leaderboards.filter(judge=None).update(visibility="public")
    close(joust.campaign)
    page = client.get(PAGE)
    assert page.status_code == 200
    assert "Sage" not in page.content.decode()
    assert client.get(PAGE, {"source": "judge:1"}).status_code == 200
    assert "Sage" not in client.get(PAGE, {"source": "judge:1"}).content.decode()


def test_strangers_get_no_buttons(joust, client):
    show_to(joust.campaign, "public")
    assert 'method="post"' not in client.get(PAGE).content.decode()


def test_an_unknown_campaign_and_an_unknown_board_are_missing(joust, signed_in):
    ravi = signed_in("ravi")
    for address in ("/boards/nowhere/", "/boards/joust/other.csv", "/boards/nowhere/joust-overall.csv"):
        assert ravi.get(address).status_code == 404


def test_pages_answer_only_their_methods(joust, signed_in):
    carol = signed_in("carol")
    assert carol.post(PAGE).status_code == 405
    assert carol.get(reverse("snapshot-take", args=["joust"])).status_code == 405
    assert carol.get(reverse("board-visibility", args=["joust"])).status_code == 405


# --- acts -------------------------------------------------------------------------------------------------


def test_taking_a_snapshot_only_asks_for_it(voted_campaign, cast, signed_in, monkeypatch):
    voted_campaign("joust", votes=60)
    monkeypatch.setattr(snapshots, "fit_board", lambda *_: pytest.fail("a request fitted"))
    response = signed_in("ravi").post(reverse("snapshot-take", args=["joust"]))
    assert (response.status_code, response["Location"]) == (302, PAGE)
    assert set(SnapshotRun.objects.values_list("state", flat=True)) == {"queued"}


def test_the_worker_takes_up_the_request_once_it_is_stored(
    voted_campaign, cast, signed_in, django_capture_on_commit_callbacks
):
    voted_campaign("joust", votes=60)
    with django_capture_on_commit_callbacks(execute=True):
        signed_in("ravi").post(reverse("snapshot-take", args=["joust"]))
    assert Snapshot.objects.count() == 3


def test_a_round_that_finds_nothing_new_says_so(voted_campaign, cast_vote, cast, signed_in):
    small, ravi = voted_campaign("joust", votes=60), signed_in("ravi")
    words = "nothing has changed since the snapshots shown, and no new ones were taken"
    for round_ in range(2):
        snapshots.do_round(request_snapshots(small.campaign))
        assert (words in text_of(ravi.get(PAGE))) == bool(round_)
    show_to(small.campaign, "public")
    assert words not in text_of(signed_in("alice").get(PAGE))
    cast_vote(small, small.prompts[0], "Ember", "Fjord", "tie", cast.alice_rater)
    for run in request_snapshots(small.campaign):
        assert words not in text_of(ravi.get(PAGE))
        snapshots.do_round([run])
    assert words not in text_of(ravi.get(PAGE))


@pytest.mark.parametrize("person", ["alice", "mallory", "dora", None])
def test_only_the_teams_researchers_take_snapshots(joust, signed_in, client, person):
    show_to(joust.campaign, "public")
    before = SnapshotRun.objects.count()
    visitor = signed_in(person) if person else client
    assert visitor.post(reverse("snapshot-take", args=["joust"])).status_code == 404
    assert SnapshotRun.objects.count() == before


def test_progress_is_shown_until_all_boards_are_done(voted_campaign, cast, signed_in):
    runs = request_snapshots(voted_campaign("joust", votes=60).campaign)
    ravi = signed_in("ravi")
    assert "Waiting for the worker" in text_of(ravi.get(PAGE))
    snapshots.do_round(runs[:1])
    bar = ravi.get(PAGE, headers={"hx-request": "true"})
    assert "1 of 3 boards done" in text_of(bar)
    assert "<html" not in bar.content.decode()
    assert "HX-Request" in bar["Vary"]
    assert "HX-Refresh" not in bar
    snapshots.do_round(runs[1:])
    assert ravi.get(PAGE, headers={"hx-request": "true"})["HX-Refresh"] == "true"


def test_an_admin_shows_the_boards_of_one_source(joust, make_judge, signed_in, client):
    make_judge(joust, "Sage", dict.fromkeys(joust.campaign.battles.all(), "model_b"))
    ensure_leaderboards(joust.campaign)
    address = reverse("board-visibility", args=["joust"])
    close(joust.campaign)
    response = signed_in("carol").post(address, {"source": "raters", "visibility": "public"})
    assert response["Location"] == f"{PAGE}?source=raters"
    visible = dict(joust.campaign.leaderboards.values_list("judge__name", "visibility"))
    assert visible == {None: "public", "Sage": "private"}
    assert client.get(PAGE).status_code == 200


@pytest.mark.parametrize(
    ("source", "visibility"),
    [("raters", "everybody"), ("judge:99", "public"), ("judge:x", "public"), ("", "public")],
)
def test_a_wrong_choice_of_audience_changes_nothing(joust, signed_in, source, visibility):
    address = reverse("board-visibility", args=["joust"])
    response = signed_in("carol").post(address, {"source": source, "visibility": visibility})
    assert response.status_code == 302
    assert set(joust.campaign.leaderboards.values_list("visibility", flat=True)) == {"private"}


@pytest.mark.parametrize("person", ["ravi", "alice", "dora"])
def test_only_the_teams_admins_choose_the_audience(joust, signed_in, person):
    address = reverse("board-visibility", args=["joust"])
    response = signed_in(person).post(address, {"source": "raters", "visibility": "public"})
    assert response.status_code == 404
    assert not Leaderboard.objects.filter(visibility="public").exists()


def test_boards_of_a_new_judge_are_private_whatever_the_others_are(joust, make_judge):
    show_to(joust.campaign, "public")
    make_judge(joust, "Sage", dict.fromkeys(joust.campaign.battles.all(), "model_b"))
    judged = [board for board in ensure_leaderboards(joust.campaign) if board.judge]
    assert {board.visibility for board in judged} == {"private"}


# --- files and API ----------------------------------------------------------------------------------------


def test_the_csv_holds_every_number_of_the_snapshot(joust, signed_in):
    response = signed_in("ravi").get("/boards/joust/joust-style.csv")
    snapshot = Snapshot.objects.get(leaderboard__slug="joust-style")
    assert response["Content-Disposition"] == (
        f'attachment; filename="joust-style-snapshot-{snapshot.pk}.csv"'
    )
    rows = {row["model"]: row for row in csv.DictReader(io.StringIO(response.content.decode()))}
    assert len(rows) == 5
    for standing in snapshot.standings.select_related("competitor"):
        row = rows[standing.competitor.name]
        for column in ("rating", "lower", "upper", "bootstrap_lower", "bootstrap_upper"):
            assert float(row[column]) == getattr(standing, column)
        for column in ("shift", "shift_lower", "shift_upper"):
            assert float(row[column]) == getattr(standing, column)
        assert row["bootstrap_resamples"] == "20"
        for column in ("rank_lower", "rank_upper", "battles", "wins", "losses", "ties"):
            assert int(row[column]) == getattr(standing, column)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'"])
def test_a_name_that_looks_like_a_formula_is_text_in_a_spreadsheet(joust, signed_in, start):
    Competitor.objects.filter(name="Ember").update(name=f"{start}HYPERLINK(1)", organisation=f"{start}1+1")
    content = signed_in("ravi").get("/boards/joust/joust-overall.csv").content.decode()
    rows = list(csv.DictReader(io.StringIO(content, newline="")))
    assert f"'{start}HYPERLINK(1)" in [row["model"] for row in rows]
    assert f"'{start}1+1" in [row["organisation"] for row in rows]


def test_the_json_file_and_the_api_say_the_same(joust, signed_in):
    ravi = signed_in("ravi")
    file = ravi.get("/boards/joust/joust-overall.json").json()
    api = ravi.get("/api/v1/leaderboards/joust-overall/snapshots/latest/").json()
    assert file == api == ravi.get(f"/api/v1/snapshots/{file['id']}/").json()
    snapshot = Snapshot.objects.get(leaderboard__slug="joust-overall")
    assert file["vote_digest"] == snapshot.vote_digest
    ratings = {row["competitor"]: row["rating"] for row in file["standings"]}
    assert ratings == dict(snapshot.standings.values_list("competitor__name", "rating"))


def test_the_api_lists_what_the_caller_may_see(joust, signed_in, client):
    ravi = signed_in("ravi")
    assert ravi.get("/api/v1/leaderboards/").json()["count"] == 3
    assert ravi.get("/api/v1/leaderboards/", {"campaign": "other"}).json()["count"] == 0
    assert ravi.get("/api/v1/snapshots/", {"leaderboard": "joust-hard"}).json()["count"] == 1
    for visitor in (signed_in("alice"), client):
        assert visitor.get("/api/v1/leaderboards/").json()["count"] == 0
        assert visitor.get("/api/v1/snapshots/").json()["count"] == 0
        snapshot = Snapshot.objects.first()
        assert visitor.get(f"/api/v1/snapshots/{snapshot.pk}/").status_code == 404


def test_the_api_shows_campaigns_to_their_teams_researchers_alone(joust, signed_in, client):
    (campaign,) = signed_in("ravi").get("/api/v1/campaigns/").json()["results"]
    assert campaign["slug"] == "joust"
    assert sorted(campaign["competitors"]) == ["Ember", "Fjord", "Grove", "Heron", "Inlet"]
    for person in ("alice", "mallory", "dora"):
        assert signed_in(person).get("/api/v1/campaigns/").json()["count"] == 0
        assert signed_in(person).get("/api/v1/campaigns/joust/").status_code == 404
    assert client.get("/api/v1/campaigns/").status_code == 403


def test_the_api_changes_nothing(joust, signed_in):
    carol = signed_in("carol")
    for address in ("/api/v1/leaderboards/", "/api/v1/snapshots/", "/api/v1/campaigns/"):
        assert carol.post(address, {}).status_code == 405


def test_a_board_without_a_snapshot_has_no_latest(make_campaign, signed_in, cast):
    ensure_leaderboards(make_campaign("joust").campaign)
    ravi = signed_in("ravi")
    assert ravi.get("/api/v1/leaderboards/joust-overall/").status_code == 200
    assert ravi.get("/api/v1/leaderboards/joust-overall/snapshots/latest/").status_code == 404
    assert ravi.get("/boards/joust/joust-overall.csv").status_code == 404


def test_the_schema_describes_the_api_without_a_warning(db, client):
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", "/dev/null")
    schema = client.get("/api/v1/schema/").content.decode()
    assert "/api/v1/leaderboards/{slug}/snapshots/latest/" in schema


# --- boards that don't know the same votes ----------------------------------------------------------------


@pytest.mark.parametrize(("behind", "word"), [("hard", "hard prompts"), ("style", "at equal length")])
def test_a_board_that_could_not_be_fitted_anew_says_so_and_is_laid_beside_no_other(
    joust, signed_in, behind, word
):
    ravi = signed_in("ravi")

    def sentence() -> str:
        return re.search(r'board-sentence">([^<]*)<', ravi.get(PAGE).content.decode())[1].lower()

    assert word in sentence()
    leaderboard = Leaderboard.objects.get(slug=f"joust-{behind}")
    run = leaderboard.runs.latest("pk")
    run.pk = None
    run.state, run.snapshot, run.reason = SnapshotRun.State.NOT_ENOUGH, None, "Too few votes for it."
    run.save()
    words = text_of(ravi.get(PAGE))
    assert "could not be fitted anew" in words and "Too few votes for it." in words
    assert word not in sentence()
    column = f"{behind}-move"
    moves = re.findall(rf'<td class="number move {column} *">([^<]*)</td>', ravi.get(PAGE).content.decode())
    assert len(moves) >= 2 and not any(moves)


# --- what the votes are made of ---------------------------------------------------------------------------


def test_the_board_names_a_hub_sides_that_never_change_and_features_that_hardly_differ(joust, signed_in):
    assert "stood first: that it won" not in text_of(signed_in("ravi").get(PAGE))
    overall, _hard, style = (
        Snapshot.objects.filter(leaderboard__slug=f"joust-{name}").first()
        for name in ("overall", "hard", "style")
    )
    hub = overall.standings.select_related("competitor").first().competitor
    met = {"cut": None, "pieces": [], "alone": [], "through": [], "hub": hub.pk, "leaning": 3, "others": 4}
    made_up = {"meetings": met, "one_sided": 0.5}
    past_triggers(lambda: change_counts(overall, **made_up))
    past_triggers(lambda: change_counts(style, differing={"length": 600, "bold": 7}))
    words = text_of(signed_in("ravi").get(PAGE))
    assert f"3 of the other 4 models have most of their votes against {hub.name}" in words
    assert "In 50 % of the votes the file always names the same model of the two first" in words
    assert "Bold passages differ in only 7 of 600 votes" in words and "differ in only 600" not in words


def change_counts(snapshot: Snapshot, **changes) -> None:
    Snapshot.objects.filter(pk=snapshot.pk).update(counts=snapshot.counts | changes)


def test_the_board_says_how_far_ranks_hang_on_how_draws_are_counted(joust, signed_in):
    overall = Snapshot.objects.filter(leaderboard__slug="joust-overall").first()
    moves = overall.counts["policy_moves"]
    assert moves and all(move["largest_rank_move"] is not None for move in moves)
    moves[0]["largest_rank_move"] = 10
    past_triggers(lambda: change_counts(overall, policy_moves=moves))
    words = text_of(signed_in("ravi").get(PAGE))
    assert "Ranks hang on how draws are counted: if " in words and "a model moves by 10 places" in words
    past_triggers(lambda: change_counts(overall, policy_moves=[moves[0] | {"largest_rank_move": 0}]))
    assert "moves by 10 places" not in text_of(signed_in("ravi").get(PAGE))
