"""Whose mean is 1000: a model with a vote or two moves no other rating, interval or rank."""

from dataclasses import replace

import numpy as np
import pytest

from ratings.board_options import LeaderboardOptions
from ratings.comparisons import Comparisons
from ratings.leaderboard import fit_leaderboard
from ratings.simulate import VoteModel, simulate_votes

QUICK = LeaderboardOptions(bootstrap=0, check=False)
FOUR = VoteModel((0.3, 0.1, -0.1, -0.3), tie=0.5, raters=20, rater_sd=0.3)


def board_of(votes, options=QUICK):
    return {s.competitor: s for s in fit_leaderboard(votes, options).standings}


def with_newcomer(votes, outcomes=(0,), rater=1, opponent=0):
    """One more competitor, shown on side b in a vote for each outcome, all by one rater."""
    new, n = votes.n_competitors, len(outcomes)
    covariates = votes.covariates
    if covariates is not None:
        covariates = np.vstack([covariates, np.full((n, covariates.shape[1]), 0.1)])
    return Comparisons.of(
        new + 1,
        np.append(votes.a, [opponent] * n),
        np.append(votes.b, [new] * n),
        np.append(votes.outcome, outcomes),
        rater=np.append(votes.rater, [rater] * n),
        covariates=covariates,
        covariate_names=votes.covariate_names,
    )


@pytest.fixture(scope="module")
def good():
    return simulate_votes(FOUR, 300, seed=1).as_comparisons()


@pytest.mark.parametrize("outcomes", [(0,), (2,), (0, 1)])
@pytest.mark.parametrize(
    "options",
    [
        QUICK,
        replace(QUICK, ties="davidson"),
        replace(QUICK, bootstrap=200, interval="bootstrap"),
        replace(QUICK, bootstrap=1000, interval="percentile"),
        replace(QUICK, interval="iid"),
    ],
    ids=["robust", "davidson", "bootstrap", "percentile", "iid"],
)
def test_a_vote_or_two_for_a_new_model_leave_the_others_as_they_were(good, outcomes, options):
    if options.ties == "davidson" and outcomes == (0,):
        outcomes = (0, 1, 0)  # a strength without a maximum is refused there
    before, after = board_of(good, options), board_of(with_newcomer(good, outcomes), options)
    for competitor, old in before.items():
        new = after[competitor]
        assert (new.rank_lower, new.rank_upper) == (old.rank_lower, old.rank_upper)
        assert new.ranked and not new.too_few_raters and new.in_mean
        assert new.rating == pytest.approx(old.rating, abs=3)
        assert new.upper - new.lower == pytest.approx(old.upper - old.lower, rel=0.1)
    assert not after[4].in_mean
    assert not after[4].ranked


def test_under_style_control_a_newcomer_leaves_the_others_alone_too(good):
    rng = np.random.default_rng(2)
    votes = replace(good, covariates=rng.normal(size=(len(good), 1)) / 4, covariate_names=("words",))
    options = replace(QUICK, style=True)
    before, after = board_of(votes, options), board_of(with_newcomer(votes, (2,)), options)
    for competitor, old in before.items():
        new = after[competitor]
        assert new.standard_error == pytest.approx(old.standard_error, rel=0.05)
        assert new.style_shift == pytest.approx(old.style_shift, abs=1)
        moved, stood = (s.style_shift_upper - s.style_shift_lower for s in (new, old))
        assert moved == pytest.approx(stood, rel=0.1)


def test_a_large_board_keeps_its_half_widths_when_a_vote_for_a_new_model_comes():
    many = VoteModel(tuple(np.linspace(-0.8, 0.8, 20)), tie=0.5, raters=60, rater_sd=0.3)
    votes = simulate_votes(many, 20_000, seed=3).as_comparisons()
    before, after = board_of(votes), board_of(with_newcomer(votes, (2,)))
    for competitor, old in before.items():
        assert after[competitor].effective_clusters == pytest.approx(old.effective_clusters, rel=0.02)
        assert after[competitor].standard_error == pytest.approx(old.standard_error, rel=0.02)


def test_the_mean_of_those_in_it_is_1000_and_the_board_says_whom_it_leaves_out(good):
    fit = fit_leaderboard(with_newcomer(good, (0,)), QUICK)
    assert np.mean([s.rating for s in fit.standings if s.in_mean]) == pytest.approx(1000, abs=1e-5)
    assert sum("1000 is the mean" in sentence for sentence in fit.warnings) == 1
    assert not any("1000 is the mean" in sentence for sentence in fit_leaderboard(good, QUICK).warnings)


def test_an_anchor_keeps_its_rating_beside_a_newcomer(good):
    options = replace(QUICK, anchor=2, anchor_rating=1200.0)
    before, after = board_of(good, options), board_of(with_newcomer(good, (2,)), options)
    assert after[2].rating == 1200
    for competitor, old in before.items():
        assert after[competitor].rating == pytest.approx(old.rating, abs=1)


def test_whose_mean_it_is_depends_neither_on_names_nor_on_the_order_of_votes(good):
    votes = with_newcomer(good, (0, 1))
    rng = np.random.default_rng(4)
    names, order = rng.permutation(5), rng.permutation(len(votes))
    other = Comparisons.of(
        5,
        names[votes.b][order],
        names[votes.a][order],
        swapped(votes.outcome)[order],
        rater=votes.rater[order],
    )
    one, two = board_of(votes), board_of(other)
    for competitor, standing in one.items():
        assert replace(two[int(names[competitor])], competitor=competitor) == standing


def swapped(outcome):
    return np.where(outcome < 2, 1 - outcome, outcome)


def test_where_all_have_few_votes_the_mean_is_of_all():
    few = simulate_votes(FOUR, 40, seed=6).as_comparisons()
    board = board_of(few)
    assert all(s.in_mean for s in board.values())
    assert np.mean([s.rating for s in board.values()]) == pytest.approx(1000, abs=1e-5)


def test_one_model_that_met_all_others_isnt_the_mean_alone():
    # 100 votes on the hub, 20 on each of the others
    a, b = np.zeros(100, dtype=int), np.repeat(np.arange(1, 6), 20)
    outcome = np.tile([0, 1, 2, 0, 1], 20)
    board = board_of(Comparisons.of(6, a, b, outcome, rater=np.arange(100) % 20))
    assert all(s.in_mean for s in board.values())
    assert board[0].standard_error > 0
