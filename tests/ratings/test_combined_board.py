"""The combined board as a leaderboard."""

from dataclasses import replace

import numpy as np
import pytest

from ratings.board_options import LeaderboardOptions
from ratings.combined_board import fit_combined_leaderboard
from ratings.comparisons import Comparisons
from ratings.errors import BadOptionError
from ratings.leaderboard import fit_leaderboard
from ratings.prediction_powered import RefusedError, fit_prediction_powered
from ratings.scale import POINTS_PER_LOG_ODDS
from ratings.simulate import VoteModel, simulate_votes

MODEL = VoteModel((0.5, 0.2, 0.0, -0.2, -0.5), raters=40, rater_sd=0.4, prompts=60, prompt_sd=0.3, tie=0.4)


def study(seed=0, people=600, judged=4000):
    votes = simulate_votes(MODEL, people + judged, seed=seed)
    rng = np.random.default_rng(seed)
    judge = np.where(rng.random(len(votes)) < 0.8, votes.outcome, rng.integers(2, size=len(votes)))
    rest = np.arange(people, people + judged)
    further = Comparisons.of(5, votes.a[rest], votes.b[rest], judge[rest], prompt=votes.prompt[rest])
    return votes.as_comparisons().select(np.arange(people)), judge[:people], further


def test_ratings_and_intervals_are_those_of_the_estimator():
    people, judge, judged = study()
    board = fit_combined_leaderboard(people, judge, judged)
    estimate = fit_prediction_powered(people, judge, judged)
    for s in board.leaderboard.standings:
        rating = 1000 + POINTS_PER_LOG_ODDS * estimate.strengths[s.competitor]
        assert s.rating == pytest.approx(rating, abs=1e-5)
        reach = POINTS_PER_LOG_ODDS * estimate.half_width[s.competitor]
        assert (s.rating - s.lower, s.upper - s.rating) == pytest.approx((reach, reach), abs=1e-5)
    assert board.lam == pytest.approx(estimate.lam)
    assert board.gain == pytest.approx(estimate.gain)


def test_the_judge_narrows_what_people_alone_would_show():
    people, judge, judged = study()
    combined = fit_combined_leaderboard(people, judge, judged)
    alone = fit_leaderboard(people, LeaderboardOptions(bootstrap=0))
    width = {s.competitor: s.upper - s.lower for s in alone.standings}
    assert combined.gain > 0.2
    assert sum(s.upper - s.lower for s in combined.leaderboard.standings) < sum(width.values())
    assert combined.leaderboard.n_votes == alone.n_votes == 600
    assert combined.effective_votes == pytest.approx(600 * (1 + combined.gain))


@pytest.mark.parametrize("cluster", [("rater",), ("prompt",), ("rater", "prompt")])
def test_without_the_judge_an_interval_is_the_one_of_peoples_own_board(cluster):
    people, judge, judged = study()
    options = LeaderboardOptions(cluster=cluster, bootstrap=0, check=False)
    combined = fit_combined_leaderboard(people, judge, judged, options, lam=0.0).leaderboard
    alone = fit_leaderboard(people, options)
    for mine, other in zip(combined.standings, alone.standings, strict=True):
        assert mine.competitor == other.competitor
        assert (mine.rating, mine.lower, mine.upper) == pytest.approx(
            (other.rating, other.lower, other.upper), abs=1e-4
        )


@pytest.mark.parametrize("dimension", ["rater", "prompt"])
def test_errors_are_those_of_leaving_out_each_cluster_in_turn(dimension):
    people, judge, judged = study()
    other = "prompt" if dimension == "rater" else "rater"
    people, judged = replace(people, **{other: None}), replace(judged, prompt=judged.prompt)
    if dimension == "rater":
        judged = replace(judged, prompt=None)
    board = fit_prediction_powered(people, judge, judged, lam=0.5)
    ids = getattr(people, dimension)
    moves = []
    for each in np.unique(ids):
        mine = ids != each
        rest = judged if dimension == "rater" else judged.select(judged.prompt != each)
        without = fit_prediction_powered(people.select(mine), judge[mine], rest, lam=0.5)
        moves.append(without.strengths - board.strengths)
    jackknife = np.sqrt(np.sum(np.square(moves), axis=0) * (len(moves) - 1) / len(moves))
    ratio = board.covariance.deviations / jackknife
    # by rater the judge's further battles, 4,000 that stand alone, add a little of their own
    assert np.all((ratio > 0.98) & (ratio < (1.02 if dimension == "prompt" else 1.07)))


def test_a_judge_who_guesses_does_not_help_and_one_like_people_does():
    found = []
    for seed in range(30):
        people, _judge, judged = study(seed)
        rng = np.random.default_rng(seed)
        guesses = rng.integers(2, size=len(people)), rng.integers(2, size=len(judged))
        found.append(
            fit_prediction_powered(
                people, guesses[0], replace(judged, outcome=guesses[1].astype(np.int8)), match_pairs=True
            )
        )
    assert sum(board.helps for board in found) <= 3
    assert sum(board.gain > 0 for board in found) > 8  # which is why a gain alone says nothing
    assert all(fit_prediction_powered(*study(seed)).helps for seed in range(3))


def test_what_the_judge_adds_is_told_as_widths_of_one_kind():
    people, judge, judged = study()
    board = fit_combined_leaderboard(people, judge, judged)
    alone = fit_combined_leaderboard(people, judge, judged, lam=0.0)
    widths = [sum(s.upper - s.lower for s in b.leaderboard.standings) for b in (board, alone)]
    assert board.narrower == pytest.approx(1 - widths[0] / widths[1], abs=1e-4)
    assert alone.narrower == pytest.approx(0, abs=1e-9)


def test_the_board_says_what_it_is():
    board = fit_combined_leaderboard(*study()).leaderboard
    assert board.method.startswith("prediction-powered (PPI++, lam = 0.")
    assert board.method.endswith("cluster-robust (CR3) by rater and prompt")
    assert board.estimand.endswith("as people would vote")
    assert any("4000 further battles were judged by a model" in w for w in board.warnings)
    assert board.options.bootstrap == 0
    assert board.as_dict([f"m{i}" for i in range(5)])["standings"][0]["competitor"] == "m0"


def test_ids_never_change_a_row_of_the_board():
    people, judge, judged = study()
    names = np.array([3, 0, 4, 1, 2])

    def renamed(votes):
        return Comparisons.of(
            5, names[votes.a], names[votes.b], votes.outcome, rater=votes.rater, prompt=votes.prompt
        )

    first = fit_combined_leaderboard(people, judge, judged).leaderboard
    second = fit_combined_leaderboard(renamed(people), judge, renamed(judged)).leaderboard
    for mine, other in zip(first.standings, second.standings, strict=True):
        assert other.competitor == names[mine.competitor]
        assert (other.rating, other.lower, other.rank_lower, other.rank_upper) == (
            mine.rating,
            mine.lower,
            mine.rank_lower,
            mine.rank_upper,
        )


def test_clusters_policies_and_anchor_follow_the_options():
    people, judge, judged = study()
    options = LeaderboardOptions(ties="drop", cluster=("prompt",), anchor=2, anchor_rating=1200.0)
    board = fit_combined_leaderboard(people, judge, judged, options).leaderboard
    assert board.method.endswith("by prompt")
    assert board.n_dropped == np.count_nonzero((people.outcome >= 2) | (judge >= 2))
    assert next(s.rating for s in board.standings if s.competitor == 2) == pytest.approx(1200)


def test_a_judge_with_too_few_peoples_votes_is_refused_and_options_it_can_not_honour_too():
    people, judge, judged = study(people=80)
    with pytest.raises(RefusedError, match="80 votes by people"):
        fit_combined_leaderboard(people, judge, judged)
    for options in (
        LeaderboardOptions(position=True),
        LeaderboardOptions(style=True),
        LeaderboardOptions(interval="percentile"),
    ):
        with pytest.raises(BadOptionError):
            fit_combined_leaderboard(people, judge, judged, options)
