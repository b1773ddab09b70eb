"""A board says where its order hangs on few votes."""

from dataclasses import replace

import numpy as np
import pytest

from arena.battles.models import Vote
from arena.leaderboards.boards.board_cautions import cautions_of
from arena.leaderboards.boards.board_rows import find_column
from arena.leaderboards.defaults import BOARDS, ensure_leaderboards
from arena.leaderboards.fitting import fragile, snapshots
from arena.leaderboards.fitting.fragile import first_hangs_on
from arena.leaderboards.fitting.snapshots import options_for
from arena.leaderboards.fitting.sources import Round
from ratings.board import fit_board
from ratings.bradley_terry import fit_bradley_terry
from ratings.influence import flips_first, leader_of
from ratings.influence_of_rows import flips_first_of
from tests.leaderboards.test_boards import text_of
from tests.leaderboards.test_combined import combined_of, judge_all_pairs


@pytest.fixture
def overall(voted_campaign):
    board = ensure_leaderboards(voted_campaign("joust").campaign)[0]
    return snapshots.take_snapshot(board).snapshot


def said_of(snapshot, **options):
    column = find_column(BOARDS[0], [snapshot.leaderboard])
    column.snapshot.counts = snapshot.counts
    return [one.text for one in cautions_of([column], **options) if "order hangs on" in one.text]


def hang(snapshot, votes, of=600):
    first, second = snapshot.standings.order_by("-rating")[:2]
    assert first.tied_first
    told = {"votes": votes, "of": of, "leader": first.competitor_id, "successor": second.competitor_id}
    snapshot.counts["first_hangs_on"] = told
    return first.competitor, second.competitor


def test_it_is_found_as_ratings_finds_it_and_without_these_votes_another_is_first(overall):
    board = overall.leaderboard
    rows, _cutoff = Round().rows_of(board)
    options = options_for(board)
    flip = flips_first(rows.comparisons, options.policies, challengers=2, most=0.5)
    found = first_hangs_on(rows, fit_board(rows.comparisons, options)).get("first_hangs_on")
    if flip.count > 0.02 * flip.total:
        assert found is None
    else:
        assert (found["votes"], found["of"]) == (flip.count, Vote.objects.count())
        assert rows.competitors[flip.leader] == found["leader"]


def test_under_style_control_it_is_looked_for_in_the_model_with_the_features(voted_campaign, monkeypatch):
    monkeypatch.setattr(fragile, "MOST", 0.5)
    styled = ensure_leaderboards(voted_campaign("joust").campaign)[2]
    assert styled.style_control
    snapshot = snapshots.take_snapshot(styled).snapshot
    rows, _cutoff = Round().rows_of(styled)
    board = fit_board(rows.comparisons, options_for(styled))
    flip = flips_first_of(board, most=0.5)
    found = snapshot.counts["first_hangs_on"]
    assert (found["votes"], found["of"]) == (flip.count, Vote.objects.count())
    first = snapshot.standings.order_by("-rating").first().competitor_id
    assert found["leader"] == first == rows.competitors[flip.leader]
    kept = np.setdiff1d(np.arange(len(rows.comparisons)), flip.units)
    names = [coefficient["name"] for coefficient in snapshot.coefficients]
    places = [rows.comparisons.covariate_names.index(name) for name in names]
    z = rows.comparisons.covariates[:, places].astype(np.float64)
    rest = rows.comparisons.with_covariates(z, names).select(kept)
    assert rows.competitors[fit_bradley_terry(rest).strengths.argmax()] == found["successor"]


def test_few_votes_are_told_with_both_names_and_many_are_not(overall):
    first, second = hang(overall, 6)
    assert said_of(overall) == [
        f"The order hangs on 6 of 600 votes: without those that speak most for {first.name},"
        f" {second.name} would be first."
    ]
    hang(overall, 1)
    assert "without the one that speaks most" in said_of(overall)[0]
    hang(overall, 7)
    assert said_of(overall) == []


def test_a_page_on_other_models_leaves_it_out(overall):
    first, second = hang(overall, 3)
    last = overall.standings.order_by("rating").first().competitor_id
    assert said_of(overall, about=[last]) == []
    assert len(said_of(overall, about=[second.pk, last])) == 1
    assert said_of(overall, about=[first.pk], leave=["ranks"]) == []


def test_a_snapshot_from_before_says_nothing_of_it(overall):
    overall.counts.pop("first_hangs_on", None)
    assert said_of(overall) == []


def test_it_is_part_of_a_replay(overall):
    stored, again = snapshots.replay(overall)
    assert stored.canonical() == again.canonical()


def test_under_davidsons_ties_and_style_control_it_is_looked_for_with_half_wins(voted_campaign, monkeypatch):
    monkeypatch.setattr(fragile, "MOST", 0.5)
    styled = ensure_leaderboards(voted_campaign("joust").campaign)[2]
    styled.policies = {"ties": "davidson"}
    styled.save()
    snapshot = snapshots.take_snapshot(styled).snapshot
    rows, _cutoff = Round().rows_of(styled)
    flip = flips_first_of(fit_board(rows.comparisons, replace(options_for(styled), ties="half")), most=0.5)
    found = snapshot.counts["first_hangs_on"]
    assert (found["votes"], found["of"]) == (flip.count, Vote.objects.count())
    assert found["leader"] == snapshot.standings.order_by("-rating").first().competitor_id
    assert "first_not_searched" not in snapshot.counts


def test_where_half_wins_have_another_leader_that_is_said_and_no_count_is(overall, monkeypatch):
    rows, _cutoff = Round().rows_of(overall.leaderboard)
    board = fit_board(rows.comparisons, replace(options_for(overall.leaderboard), ties="davidson"))
    monkeypatch.setattr(fragile, "leader_of", lambda fit: 1 + leader_of(fit))
    overall.counts = overall.counts | {"first_hangs_on": None} | first_hangs_on(rows, board)
    assert overall.counts["first_not_searched"] == "other_leader"
    column = find_column(BOARDS[0], [overall.leaderboard])
    column.snapshot.counts = overall.counts
    assert (
        "How few votes the first place hangs on wasn’t looked for: the search counts a tie as half a win for"
        " either, and then another model is first."
    ) in [one.text for one in cautions_of([column])]


def test_a_board_that_a_judge_helps_says_that_nobody_looked_and_one_of_people_alone_is_searched(
    voted_campaign, signed_in, monkeypatch
):
    monkeypatch.setattr(fragile, "MOST", 0.5)
    small = voted_campaign(votes=160)
    judge = judge_all_pairs(small, copies=0.9)
    board = combined_of(small.campaign)
    helped = snapshots.take_snapshot(board).snapshot
    assert helped.counts["combined"]["used"] and helped.counts["first_not_searched"] == "combined"
    words = "wasn’t looked for: where a judge helps, a vote counts by itself and in what corrects the judge"
    ravi = signed_in("ravi")
    assert words in text_of(ravi.get("/boards/joust/", {"source": f"combined:{judge.pk}"}))
    told = ravi.get(f"/api/v1/snapshots/{helped.pk}/").json()["cautions"]
    assert "order_not_searched" in {one["code"] for one in told}
    stored, again = snapshots.replay(helped)
    assert stored.canonical() == again.canonical()


def test_a_combined_board_that_no_judge_helps_is_searched_as_that_of_people(voted_campaign, monkeypatch):
    monkeypatch.setattr(fragile, "MOST", 0.5)
    small = voted_campaign(votes=60)
    judge_all_pairs(small)
    alone = snapshots.take_snapshot(combined_of(small.campaign)).snapshot
    people = snapshots.take_snapshot(ensure_leaderboards(small.campaign)[0]).snapshot
    assert not alone.counts["combined"]["used"]
    assert alone.counts["first_hangs_on"] == people.counts["first_hangs_on"]
    assert "first_not_searched" not in alone.counts
