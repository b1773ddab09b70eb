"""How far a rating moves from the board of all prompts to that of the hard ones, and how surely."""

import json
import re

import pytest
from django.core.management import call_command
from django.urls import reverse

from arena.leaderboards import downloads
from arena.leaderboards.boards.board_cautions import cautions_of
from arena.leaderboards.boards.board_sources import columns_of, source_of
from arena.leaderboards.charts import chart_page
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting import snapshots, whole_board
from arena.leaderboards.fitting.comparisons import cutoff_now
from arena.leaderboards.fitting.sources import Round, cutoff_in, rows_of, rows_to_fit
from arena.leaderboards.models import Snapshot, Standing
from arena.leaderboards.sentences import signed
from ratings.board_options import LeaderboardOptions
from ratings.errors import NotConvergedError
from ratings.rating_moves import fit_moves
from tests.conftest import past_triggers

PAGE = "/boards/joust/?board=hard"
pytestmark = pytest.mark.django_db


def boards_of(campaign):
    people = [b for b in ensure_leaderboards(campaign) if b.source == "raters"]
    return {("style" if b.style_control else b.subset): b for b in people}


@pytest.fixture
def taken(voted_campaign):
    """Newest snapshots of people's boards by name."""
    small = voted_campaign(votes=300)
    return {
        name: snapshots.take_snapshot(board).snapshot for name, board in boards_of(small.campaign).items()
    }


def moves_of(snapshot):
    return dict(snapshot.standings.values_list("competitor_id", "move"))


def test_a_hard_snapshot_keeps_the_move_that_ratings_finds_on_the_votes_of_both(taken):
    hard = taken["hard"]
    rows = rows_to_fit(hard.leaderboard, cutoff_in(hard))
    whole = rows.whole
    assert whole.hard.sum() == len(rows.comparisons) < len(whole.comparisons)
    found = fit_moves(whole.comparisons, [True] * len(whole.hard), whole.hard, LeaderboardOptions())
    for standing in hard.standings.all():
        at = whole.competitors.index(standing.competitor_id)
        assert standing.move == pytest.approx(found.move[at], abs=1e-6)
        assert (standing.move_lower, standing.move_upper) == pytest.approx(
            (found.lower[at], found.upper[at]), abs=1e-6
        )
        overall = taken["all"].standings.get(competitor=standing.competitor_id)
        assert standing.rating - overall.rating == pytest.approx(standing.move, abs=1e-3)
    assert hard.counts["moves"] == {"mean_of": 5, "offset": 0.0}
    assert hard.counts["whole_board"]["digest"] == taken["all"].vote_digest


def test_other_boards_keep_no_move(taken):
    for name in ("all", "style"):
        assert set(moves_of(taken[name]).values()) == {None}
        assert "whole_board" not in taken[name].counts


def test_a_board_of_a_part_has_moves_among_its_own_votes(voted_campaign):
    small = voted_campaign(votes=300)
    board = boards_of(small.campaign)["hard"]
    category = small.prompts[0].category
    type(small.prompts[0]).objects.update(category="maths")
    part = type(board).objects.create(
        campaign=small.campaign, slug="part", name="Part", subset="hard", part={"category": "maths"}
    )
    assert category != "maths"
    snapshot = snapshots.take_snapshot(part).snapshot
    assert all(move is not None for move in moves_of(snapshot).values())


def test_rows_are_read_once_for_both_boards(voted_campaign, django_assert_max_num_queries):
    small = voted_campaign(votes=60)
    boards, round_ = boards_of(small.campaign), Round()
    round_.rows_of(boards["all"])
    with django_assert_max_num_queries(10) as queries:
        rows, _cutoff = round_.rows_of(boards["hard"])
    assert rows.whole is not None
    assert not [q for q in queries.captured_queries if "arena_vote" in q["sql"]]
    assert rows_of(boards["hard"], cutoff_now(boards["hard"])).whole is None


def test_replay_gives_the_same_bytes_and_a_move_is_among_them(taken, capsys):
    hard = taken["hard"]
    call_command("replay_snapshot", str(hard.pk))
    assert "same bytes" in capsys.readouterr().out
    stored, again = snapshots.replay(hard)
    assert snapshots.differences(stored, again) == []
    past_triggers(hard.standings.filter(move__isnull=False).update, move=0.125)
    assert snapshots.differences(*snapshots.replay(hard)) == ["standings"]


def test_a_snapshot_of_before_there_were_moves_replays_and_says_nothing_of_them(taken, signed_in):
    hard = taken["hard"]
    counts = {k: v for k, v in hard.counts.items() if k not in ("moves", "whole_board")}
    past_triggers(Snapshot.objects.filter(pk=hard.pk).update, counts=counts)
    past_triggers(hard.standings.update, move=None, move_lower=None, move_upper=None)
    old = Snapshot.objects.get(pk=hard.pk)
    assert snapshots.differences(*snapshots.replay(old)) == []
    html = signed_in("ravi").get(reverse("board", args=[old.leaderboard.campaign.slug])).content.decode()
    cells = re.findall(r'<td class="number move hard-move ([a-z]*)">(.*?)</td>', html)
    assert len(cells) == 5
    assert {kind for kind, _cell in cells} == {""}
    assert not any("range" in cell for _kind, cell in cells)


def test_a_vote_on_another_prompt_makes_a_new_hard_snapshot(voted_campaign, cast, cast_vote):
    small = voted_campaign(votes=60)
    hard = boards_of(small.campaign)["hard"]
    assert snapshots.take_snapshot(hard).state == "published"
    assert snapshots.take_snapshot(hard).state == "unchanged"
    easy = next(prompt for prompt in small.prompts if not prompt.is_hard)
    cast_vote(small, easy, "Ember", "Fjord", "model_a", cast.alice_rater)
    assert snapshots.take_snapshot(hard).state == "published"


def test_davidsons_ties_have_no_moves(voted_campaign):
    small = voted_campaign(votes=300)
    board = boards_of(small.campaign)["hard"]
    board.policies = {"ties": "davidson"}
    snapshot = snapshots.take_snapshot(board).snapshot
    assert set(moves_of(snapshot).values()) == {None}
    assert "moves" not in snapshot.counts


def test_a_board_of_all_prompts_that_cannot_be_fitted_costs_no_hard_snapshot(voted_campaign, monkeypatch):
    def fail(*_args):
        raise NotConvergedError("it never settles")

    monkeypatch.setattr(whole_board, "fit_moves", fail)
    snapshot = snapshots.take_snapshot(boards_of(voted_campaign(votes=60).campaign)["hard"]).snapshot
    assert set(moves_of(snapshot).values()) == {None}


def test_the_page_prints_each_hard_move_with_its_interval(taken, signed_in):
    html = signed_in("ravi").get(PAGE).content.decode()
    cells = re.findall(r'hard-move ([a-z]*)">([^<]+) <span class="range">([^<]+)</span></td>', html)
    hard = Snapshot.objects.get(leaderboard__slug="joust-hard").standings
    wanted = {
        (
            "gain" if s.move_lower > 0 else "loss" if s.move_upper < 0 else "",
            signed(s.move),
            f"{signed(s.move_lower)} … {signed(s.move_upper)}",
        )
        for s in hard.all()
    }
    assert set(cells) == wanted
    assert len(cells) == 5
    assert "knows that both boards rest on the same votes" in html


@pytest.mark.parametrize(
    ("ends", "kind"), [((4.0, 60.0), "gain"), ((-60.0, -4.0), "loss"), ((-4.0, 60.0), "")]
)
def test_a_move_is_marked_where_its_interval_leaves_out_zero(taken, signed_in, ends, kind):
    hard = Snapshot.objects.get(leaderboard__slug="joust-hard").standings
    past_triggers(hard.update, move=1.0, move_lower=-9.0, move_upper=9.0)
    past_triggers(
        hard.filter(competitor__name="Ember").update,
        move=sum(ends) / 2,
        move_lower=ends[0],
        move_upper=ends[1],
    )
    html = signed_in("ravi").get(PAGE).content.decode()
    assert len(re.findall(r'hard-move (?:gain|loss)"', html)) == (1 if kind else 0)
    assert len(re.findall(rf'hard-move {kind}">{re.escape(signed(sum(ends) / 2))} <', html)) == 1


def test_the_table_beside_the_three_boards_has_both_moves(taken):
    snapshot = Snapshot.objects.get(leaderboard__slug="joust-overall")
    board = snapshot.leaderboard
    boards = list(board.campaign.leaderboards.all())
    charts = {c.name: c for c in chart_page.build(boards, "raters", "overall").charts}
    table = charts["slopes"].table
    assert table.head[-2:] == ["Move: Hard prompts", "Move: Style-controlled"]
    hard = Standing.objects.get(snapshot__leaderboard__slug="joust-hard", competitor__name="Ember")
    row = next(row for row in table.rows if row[0] == "Ember")
    assert row[-2] == f"{signed(hard.move)} ({signed(hard.move_lower)} … {signed(hard.move_upper)})"


def test_files_and_api_have_the_move(taken, signed_in):
    hard = Snapshot.objects.get(leaderboard__slug="joust-hard")
    mine = {s.competitor.name: (s.move, s.move_lower, s.move_upper) for s in hard.standings.all()}
    table = downloads.table_of(hard, "standings")
    places = [list(table.columns).index(name) for name in ("model", "move", "move_lower", "move_upper")]
    told = {line[places[0]]: tuple(line[place] for place in places[1:]) for line in table.lines}
    assert told == mine
    rows = signed_in("ravi").get("/boards/joust/joust-hard.json").json()["standings"]
    assert {row["competitor"]: (row["move"], row["move_lower"], row["move_upper"]) for row in rows} == mine
    overall = json.loads(downloads.as_file(downloads.table_of(joust_overall(), "standings"), "json"))
    assert {row["move"] for row in overall} == {None}


def joust_overall():
    return Snapshot.objects.get(leaderboard__slug="joust-overall")


def test_a_board_says_when_its_means_are_of_other_models_or_no_move_can_be_told(taken):
    hard = Snapshot.objects.get(leaderboard__slug="joust-hard")
    boards = list(hard.leaderboard.campaign.leaderboards.all())

    def told(moves):
        past_triggers(Snapshot.objects.filter(pk=hard.pk).update, counts=hard.counts | {"moves": moves})
        source = source_of(hard.leaderboard)
        return " ".join(c.text for c in cautions_of(columns_of(boards, source)) if "move" in c.text.lower())

    assert "well measured" not in told({"mean_of": 5, "offset": 0.2})
    assert "differ by −12 points more" in told({"mean_of": 4, "offset": -12.0})
    assert "fewer than two models are well measured on both" in told({"mean_of": 0, "offset": 0.0})
