"""How far ratings move between two boards that share votes."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.coverage_moves import SCENARIOS, study, table
from ratings.board_options import LeaderboardOptions
from ratings.comparisons import Comparisons
from ratings.errors import BadOptionError, NoVotesError, ShapeError
from ratings.leaderboard import fit_leaderboard
from ratings.rating_moves import fit_moves
from ratings.rows import LARGE
from ratings.simulate import VoteModel, simulate_votes

STRENGTHS = (0.6, 0.3, 0.0, -0.3, -0.6)
MODEL = VoteModel(STRENGTHS, tie=0.5, raters=30, rater_sd=0.4, prompts=40, prompt_sd=0.4)
BY_NAME = {s.name: s for s in SCENARIOS}


def campaign(votes=1500, seed=1, hard=14, model=MODEL):
    rows = simulate_votes(model, votes, seed=seed).as_comparisons()
    return rows, np.ones(votes, dtype=bool), rows.prompt < hard


def ratings_of(rows, options=None):
    board = fit_leaderboard(rows, options or LeaderboardOptions(bootstrap=0, check=False))
    return np.array([s.rating for s in sorted(board.standings, key=lambda s: s.competitor)])


def widths(moves):
    return moves.upper - moves.lower


def test_a_move_is_the_difference_of_what_the_two_boards_show():
    rows, every, hard = campaign()
    moves = fit_moves(rows, every, hard)
    assert moves.members.all()
    assert moves.offset == 0
    assert moves.move == pytest.approx(ratings_of(rows.select(hard)) - ratings_of(rows), abs=1e-5)
    assert np.all((moves.lower < moves.move) & (moves.move < moves.upper))


def test_the_same_votes_twice_move_nothing_by_nothing():
    rows, every, _ = campaign()
    moves = fit_moves(rows, every, every)
    for column in (moves.move, moves.lower, moves.upper, moves.standard_error):
        assert column.tolist() == [0.0] * 5


@pytest.mark.parametrize("dimensions", [(), ("rater",), ("prompt",)])
def test_variances_add_where_two_boards_share_no_cluster(dimensions):
    """Two halves by raters and prompts that have nothing to do with each other: V(B − A) = V(A) + V(B)."""
    first, second = (simulate_votes(MODEL, 900, seed=seed).as_comparisons() for seed in (3, 4))
    joined = Comparisons.of(
        5,
        np.r_[first.a, second.a],
        np.r_[first.b, second.b],
        np.r_[first.outcome, second.outcome],
        rater=np.r_[first.rater, second.rater + 30],
        prompt=np.r_[first.prompt, second.prompt + 40],
    )
    half = np.arange(1800) < 900
    options = LeaderboardOptions(cluster=dimensions, bootstrap=0, check=False)
    moves = fit_moves(joined, half, ~half, options)
    errors = []
    for rows in (first, second):
        board = fit_leaderboard(rows, options)
        errors.append([s.standard_error for s in sorted(board.standings, key=lambda s: s.competitor)])
    # boards take CR3 by clusters, moves CR1: alike to a few per cent with thirty of them
    tolerance = 0.08 if dimensions else 1e-6
    assert moves.standard_error == pytest.approx(np.hypot(*errors), rel=tolerance)


@settings(max_examples=12, deadline=None)
@given(st.permutations(range(5)), st.integers(0, 2**31))
def test_names_sides_and_row_order_change_nothing(names, seed):
    rows, every, hard = campaign(votes=600)
    expected = fit_moves(rows, every, hard)
    rng, renamed = np.random.default_rng(seed), np.array(names)
    order, flip = rng.permutation(600), rng.random(600) < 0.5
    turned = rows.select(order).swap_sides(flip)
    turned = replace(
        turned,
        a=renamed[turned.a].astype(np.int32),
        b=renamed[turned.b].astype(np.int32),
        rater=rng.permutation(30).astype(np.int32)[turned.rater],
        prompt=rng.permutation(40).astype(np.int32)[turned.prompt],
    )
    again = fit_moves(turned, every, hard[order])
    for name in ("move", "lower", "upper"):
        assert getattr(again, name)[renamed] == pytest.approx(getattr(expected, name), abs=1e-5)
    back = fit_moves(rows, hard, every)
    assert back.move == pytest.approx(-expected.move, abs=1e-5)
    assert widths(back) == pytest.approx(widths(expected), abs=1e-5)


def test_votes_of_neither_board_count_for_nothing():
    rows, every, hard = campaign()
    other = every.copy()
    other[1000:] = False
    expected = fit_moves(rows.select(np.arange(1000)), other[:1000], hard[:1000])
    moves = fit_moves(rows, other, hard & other)
    assert moves.move.tolist() == expected.move.tolist()
    assert moves.upper.tolist() == expected.upper.tolist()


@pytest.mark.parametrize("dimension", ["rater", "prompt"])
def test_errors_are_those_of_a_bootstrap_that_refits_both_boards(dimension):
    """Clusters are drawn with replacement, prompts among the hard and among the others."""
    rows, every, hard = campaign(votes=3000, hard=16)
    options = LeaderboardOptions(cluster=(dimension,), bootstrap=0, check=False)
    moves = fit_moves(rows, every, hard, options)
    rng = np.random.default_rng(0)
    ids = getattr(rows, dimension)
    groups = [np.arange(16), np.arange(16, 40)] if dimension == "prompt" else [np.arange(30)]
    members = [np.flatnonzero(ids == each) for each in range(40)]
    drawn = []
    for _ in range(300):
        chosen = np.concatenate([rng.choice(group, size=len(group)) for group in groups])
        at = np.concatenate([members[each] for each in chosen])
        drawn.append(fit_moves(rows.select(at), every[at], hard[at], options).move)
    # 300 draws tell a standard deviation to 4 %; a bootstrap lacks the factor (G − 1)/G
    assert np.std(drawn, axis=0).mean() == pytest.approx(moves.standard_error.mean(), rel=0.08)


def test_intervals_that_ignore_the_shared_votes_would_be_far_too_wide():
    rows, every, _ = campaign(hard=32)
    hard = rows.prompt < 32
    moves = fit_moves(rows, every, hard)
    errors = [
        [s.standard_error for s in sorted(fit_leaderboard(part).standings, key=lambda s: s.competitor)]
        for part in (rows, rows.select(hard))
    ]
    assert np.all(moves.standard_error < 0.6 * np.hypot(*errors))


def test_a_model_without_hard_votes_or_unbounded_on_them_has_no_move_and_moves_nobody():
    rows, every, hard = campaign()
    last = (rows.a == 4) | (rows.b == 4)
    moves = fit_moves(rows, every, hard & ~last)
    assert np.isnan(moves.move[4])
    assert np.isnan(moves.lower[4])
    assert np.isfinite(moves.move[:4]).all()
    assert moves.members.tolist() == [True] * 4 + [False]
    loses = np.where(last & hard, np.where(rows.a == 4, 1, 0), rows.outcome).astype(np.int8)
    unbounded = fit_moves(replace(rows, outcome=loses), every, hard)
    assert np.isnan(unbounded.move).tolist() == [False] * 4 + [True]


def test_zero_is_the_mean_of_the_same_models_on_both_boards_and_the_offset_tells_the_rest():
    rows, every, hard = campaign()
    rng = np.random.default_rng(0)
    last = (rows.a == 4) | (rows.b == 4)
    hard &= ~last | (rng.random(len(rows)) < 0.1)  # a few hard votes: in the mean of all boards but this one
    moves = fit_moves(rows, every, hard)
    assert moves.members.tolist() == [True] * 4 + [False]
    assert moves.move[:4].mean() == pytest.approx(0, abs=1e-5)
    shown = ratings_of(rows.select(hard)) - ratings_of(rows)
    assert abs(moves.offset) > 1
    assert shown - moves.move == pytest.approx(np.full(5, moves.offset), abs=1e-4)


def test_models_that_hard_battles_do_not_connect_with_the_others_have_no_move():
    model = VoteModel((0.4, 0.2, 0.0, -0.2, -0.4), tie=0.3, raters=20, rater_sd=0.2, prompts=30)
    rows = simulate_votes(model, 1500, seed=2).as_comparisons()
    apart = (rows.a < 3) == (rows.b < 3)
    moves = fit_moves(rows, np.ones(1500, dtype=bool), (rows.prompt < 15) & apart)
    assert np.isnan(moves.move).tolist() == [False] * 3 + [True] * 2


def test_too_few_votes_or_clusters_give_a_move_without_interval():
    rows, every, hard = campaign()
    few = hard & (np.cumsum(hard) <= 40)
    moves = fit_moves(rows, every, few)
    assert np.isnan(moves.lower).all()
    assert np.isnan(moves.standard_error).all()
    one_prompt = fit_moves(rows, every, rows.prompt == 3, LeaderboardOptions(cluster=("prompt",)))
    assert np.isnan(one_prompt.upper).all()


def test_fewer_than_two_models_in_the_mean_give_no_move_at_all():
    rows = Comparisons.of(3, [0, 1, 0, 1], [1, 0, 1, 0], [0, 0, 2, 2])
    moves = fit_moves(rows, [True] * 4, [True, False, False, False])
    assert np.isnan(moves.move).all()
    assert not moves.members.any()


def test_a_large_campaign_gives_what_a_small_one_of_its_votes_would():
    """Beyond LARGE votes columns are single and effective clusters are nearly counted."""
    rows, every, hard = campaign(votes=2000)
    times = LARGE // 2000 + 1
    many = rows.select(np.tile(np.arange(2000), times))
    large = fit_moves(many, np.tile(every, times), np.tile(hard, times))
    small = fit_moves(rows, every, hard)
    assert large.move == pytest.approx(small.move, abs=1e-3)
    assert large.standard_error == pytest.approx(small.standard_error, rel=0.02)
    assert large.degrees == pytest.approx(small.degrees, rel=0.15)


def test_what_has_no_move_is_refused_with_the_reason():
    rows, every, hard = campaign(votes=200)
    for options in (
        LeaderboardOptions(style=True),
        LeaderboardOptions(position=True),
        LeaderboardOptions(ties="davidson"),
    ):
        with pytest.raises(BadOptionError, match="plain boards"):
            fit_moves(rows, every, hard, options)
    with pytest.raises(ShapeError, match="`after`"):
        fit_moves(rows, every, hard[:5])
    with pytest.raises(NoVotesError, match="after"):
        fit_moves(rows, every, np.zeros(200, dtype=bool))


@pytest.mark.parametrize(("name", "least"), [("third", 0.92), ("most", 0.92)])
def test_intervals_of_moves_cover_what_they_promise(name, least):
    """A seeded sample of bench/coverage_moves.py."""
    row = study(BY_NAME[name], 120, seed=5)
    assert least <= row["coverage"] <= 0.985
    assert row["interval_given"] == 1
    assert f"| {name} |" in table([row])


@pytest.mark.long
@pytest.mark.parametrize("name", list(BY_NAME))
def test_every_scenario_of_moves_covers_94_to_98_percent(name):
    row = study(BY_NAME[name], 500)
    assert 0.94 <= row["coverage"] <= 0.98
