"""Boards of a panel: what most of a battle's judges found; and soft flips that count by their average."""

import pytest

from arena.endpoints.models import Endpoint
from arena.judging.models import Judge, Judgment
from arena.leaderboards.boards.board_sources import key_of
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting.comparisons import cutoff_now, read_rows
from arena.leaderboards.fitting.snapshots import take_snapshot
from arena.leaderboards.models import Leaderboard
from ratings.comparisons import OUTCOMES

pytestmark = pytest.mark.django_db


@pytest.fixture
def battles(small_campaign, cast, cast_vote):
    return [
        cast_vote(
            small_campaign,
            small_campaign.prompts[n % 4],
            *names,
            "tie",
            (cast.alice_rater, cast.bob_rater)[n // 4],
        ).battle
        for n, names in enumerate([("Ember", "Grove"), ("Grove", "Fjord"), ("Fjord", "Ember")] * 2)
    ]


@pytest.fixture
def board(small_campaign):
    def make(**fields) -> Leaderboard:
        fields = {"slug": f"board-{Leaderboard.objects.count()}", "name": "board"} | fields
        return Leaderboard.objects.create(campaign=small_campaign.campaign, **fields)

    return make


def read(leaderboard):
    rows = read_rows(leaderboard, cutoff_now(leaderboard))
    return [OUTCOMES[code] for code in rows.comparisons.outcome], rows


def test_a_strict_majority_decides_and_its_lack_counts_as_orders_that_disagree(
    small_campaign, battles, make_judge, board
):
    found = {
        "Ada": ["model_a", "model_a", "model_a", "tie", "no_verdict", "model_b"],
        "Bea": ["model_a", "model_a", "model_b", "tie_unstable", "no_verdict", "no_verdict"],
        "Cid": ["model_a", "model_b", "tie", "model_a", "model_b", "model_b"],
    }
    for name, outcomes in found.items():
        make_judge(small_campaign, name, dict(zip(battles, outcomes, strict=True)))
    outcomes, rows = read(board(source=Leaderboard.Source.PANEL))
    assert outcomes == ["model_a", "model_a", "tie_unstable", "tie", "model_b"]
    assert rows.left_out == {"no_quorum": 1, "no_verdict": 3}
    assert rows.comparisons.rater is None


def test_one_judge_alone_is_no_panel_and_a_judge_asked_again_speaks_once(
    small_campaign, battles, make_judge, board
):
    ada = make_judge(small_campaign, "Ada", dict.fromkeys(battles[:2], "model_a"))
    make_judge(small_campaign, "Ada", {battles[0]: "model_b", battles[2]: ""}, ada)
    make_judge(small_campaign, "Bea", {battles[0]: "model_b"})
    outcomes, rows = read(board(source=Leaderboard.Source.PANEL))
    assert outcomes == ["model_b"]
    assert rows.left_out == {"no_quorum": 1, "unresolved": 1}


def test_of_several_judges_with_one_model_only_the_newest_is_heard(
    small_campaign, battles, cast, make_judge, board
):
    endpoint = Endpoint.objects.create(team=cast.team, name="E", base_url="https://e.invalid/v1")
    for name in ("old wording", "new wording"):
        judge = Judge.objects.create(team=cast.team, name=name, endpoint=endpoint)
        make_judge(small_campaign, name, {battles[0]: "model_a" if "new" in name else "model_b"}, judge)
    sources = {board.source for board in ensure_leaderboards(small_campaign.campaign)}
    assert "panel" not in sources, "two wordings on one model are no panel"
    make_judge(small_campaign, "Bea", {battles[0]: "model_a"})
    assert read(board(source=Leaderboard.Source.PANEL))[0] == ["model_a"]


def test_two_judges_make_a_panel_with_boards_of_its_own(small_campaign, battles, make_judge, signed_in):
    make_judge(small_campaign, "Ada", dict.fromkeys(battles, "model_a"))
    assert "panel" not in {board.source for board in ensure_leaderboards(small_campaign.campaign)}
    make_judge(small_campaign, "Bea", dict.fromkeys(battles, "model_a"))
    boards = ensure_leaderboards(small_campaign.campaign)
    panels = [board for board in boards if key_of(board) == "panel"]
    assert len(panels) == 3
    assert boards == ensure_leaderboards(small_campaign.campaign)
    panel = panels[0]
    assert panel.slug == "small-panel-overall"
    run = take_snapshot(panel)
    assert run.state in ("published", "not_enough"), run.reason
    page = signed_in("carol").get("/boards/small/?source=panel").content.decode()
    assert 'aria-current="page">Panel of judges' in page
    assert "People" in page


def test_publishing_peoples_boards_publishes_no_panel(small_campaign, battles, make_judge, signed_in):
    for name in ("Ada", "Bea"):
        make_judge(small_campaign, name, dict.fromkeys(battles, "model_a"))
    ensure_leaderboards(small_campaign.campaign)
    carol = signed_in("carol")
    for source, shown in (("raters", {"raters"}), ("panel", {"raters", "panel"})):
        carol.post("/boards/small/visibility/", {"source": source, "visibility": "public"})
        public = Leaderboard.objects.filter(visibility="public").values_list("source", flat=True)
        assert set(public) == shown
    for nonsense in ("judge:", "raters:1", "jury"):
        carol.post("/boards/small/visibility/", {"source": nonsense, "visibility": "private"})
    others = Leaderboard.objects.filter(visibility="private").exclude(source__in=["judge", "combined"])
    assert others.count() == 0


def test_a_soft_flip_counts_by_its_average_only_where_the_board_says_so(
    small_campaign, battles, make_judge, board
):
    judge = make_judge(small_campaign, "Ada", dict.fromkeys(battles[:3], "tie_unstable"))
    for battle, leaning in zip(battles, ("model_a", "model_b", ""), strict=False):
        Judgment.objects.filter(battle=battle).update(leaning=leaning)
    plain, rows = read(board(source="judge", judge=judge))
    assert plain == ["tie_unstable"] * 3
    average, leaning_rows = read(board(source="judge", judge=judge, policies={"unstable": "average"}))
    assert average == ["unstable_a", "unstable_b", "tie_unstable"]
    assert rows.counts["unstable"] == leaning_rows.counts["unstable"] == 3


def test_a_board_that_counts_flips_by_their_average_can_be_fitted(small_campaign, battles, make_judge, board):
    judge = make_judge(
        small_campaign,
        "Ada",
        dict(zip(battles, ["model_a", "model_a", "model_a", "tie_unstable", "model_b", "tie"], strict=True)),
    )
    Judgment.objects.filter(battle=battles[3]).update(leaning="model_b")
    averaged = take_snapshot(board(source="judge", judge=judge, policies={"unstable": "average"}))
    plain = take_snapshot(board(source="judge", judge=judge))
    assert (averaged.state, plain.state) == ("published", "published"), averaged.reason
    names = {s.competitor.name: s.rating for s in averaged.snapshot.standings.select_related("competitor")}
    before = {s.competitor.name: s.rating for s in plain.snapshot.standings.select_related("competitor")}
    # Ember is a of the fourth battle, and the flip leans to b.
    assert names["Ember"] < before["Ember"]


def test_judges_of_the_same_two_responses_are_one_panel_whichever_battle_and_side_they_saw(
    small_campaign, battles, make_judge, board, cast_vote, cast
):
    """As a file of recorded judgments gives them: a battle for each judge, sides as each saw them."""
    first = battles[0]
    names = first.competitor_b.name, first.competitor_a.name
    turned = cast_vote(small_campaign, first.prompt, *names, "tie", cast.bob_rater).battle
    assert {turned.response_a, turned.response_b} == {first.response_a, first.response_b}
    make_judge(small_campaign, "Ada", {first: "model_a"})
    make_judge(small_campaign, "Bea", {turned: "model_b"})
    outcomes, rows = read(board(source=Leaderboard.Source.PANEL))
    assert (outcomes, rows.left_out) == (["model_a"], {})
    make_judge(small_campaign, "Cid", {turned: "model_a"})
    make_judge(small_campaign, "Dee", {turned: "model_a"})
    outcomes, _rows = read(board(source=Leaderboard.Source.PANEL))
    assert outcomes == ["tie_unstable"]
