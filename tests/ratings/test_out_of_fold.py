"""Predicting votes of raters not seen."""

import numpy as np
import pytest
from scipy.special import expit

from ratings.comparisons import Comparisons, Policies
from ratings.errors import BadOptionError, NoVotesError
from ratings.out_of_fold import out_of_fold
from ratings.simulate import StyleFeature, VoteModel, simulate_votes

STYLED = VoteModel(
    strengths=(1.0, 0.3, -0.3, -1.0),
    raters=40,
    style=(StyleFeature("words", 0.5, spread=0.8), StyleFeature("bold", 0.0, typical=3.0)),
)


def test_strengths_beat_the_coin_and_style_adds_what_it_should():
    result = out_of_fold(simulate_votes(STYLED, 6000, seed=0).as_comparisons(), length="words")
    assert [p.name for p in result.predictors][:2] == ["strengths and style", "strengths"]
    assert result["coin"].log_loss == pytest.approx(np.log(2))
    assert result["coin"].gain.estimate == 0.0
    assert result["strengths"].gain.lower > 0
    assert result["style"].log_loss < result["longer"].log_loss < result["coin"].log_loss
    assert result["strengths"].gain.clusters == 40
    assert result.by_rater


def test_loss_is_near_that_of_the_truth():
    model = VoteModel(strengths=(1.0, 0.3, -0.3, -1.0), raters=40)
    votes = simulate_votes(model, 6000, seed=1)
    p = expit(np.take(model.strengths, votes.a) - np.take(model.strengths, votes.b))
    truth = -np.mean(np.where(votes.outcome == 0, np.log(p), np.log(1 - p)))
    assert out_of_fold(votes.as_comparisons())["strengths"].log_loss == pytest.approx(truth, abs=0.003)


def test_strengths_that_mean_nothing_don_t_beat_the_coin():
    gains = []
    for seed in range(20):
        votes = simulate_votes(VoteModel((0.0,) * 4, raters=30), 600, seed=seed).as_comparisons()
        gains.append(out_of_fold(votes)["strengths"].gain.estimate)
    assert -0.02 < np.mean(gains) < 0


def test_calibration_of_true_strengths_lies_on_the_diagonal():
    calibration = out_of_fold(simulate_votes(STYLED, 8_000, seed=2).as_comparisons()).calibration
    assert calibration.votes.sum() == 8_000
    assert np.all(np.diff(calibration.predicted) > 0)
    error = np.sqrt(calibration.observed * (1 - calibration.observed) / calibration.votes)
    assert np.all(np.abs(calibration.observed - calibration.predicted) < 4 * error)


def test_flipping_sides_changes_no_loss():
    votes = simulate_votes(STYLED, 800, seed=3).as_comparisons()
    flipped = votes.swap_sides(np.random.default_rng(0).random(800) < 0.5)
    first, second = out_of_fold(votes, length="words"), out_of_fold(flipped, length="words")
    for predictor in first.predictors:
        assert second[predictor.name].log_loss == pytest.approx(predictor.log_loss, abs=1e-9)
    assert second.calibration.observed == pytest.approx(first.calibration.observed)


def test_without_raters_single_votes_are_held_out_and_dropped_ties_not_counted():
    votes = simulate_votes(VoteModel((0.5, 0.0, -0.5), tie=0.8), 500, seed=4).as_comparisons()
    result = out_of_fold(votes, Policies(ties="drop"))
    assert not result.by_rater
    assert result.votes == np.count_nonzero(votes.outcome < 2)
    assert {p.name for p in result.predictors} == {"strengths", "coin"}


def test_a_competitor_seen_by_one_rater_only_is_guessed_as_a_coin():
    known = simulate_votes(VoteModel((0.5, -0.5), raters=6), 300, seed=5)
    votes = Comparisons.of(
        3,
        np.r_[known.a, np.full(20, 2)],
        np.r_[known.b, np.zeros(20, dtype=int)],
        np.r_[known.outcome, np.zeros(20, dtype=int)],
        rater=np.r_[known.rater, np.full(20, 6)],
    )
    result = out_of_fold(votes, folds=7)
    assert np.isfinite(result["strengths"].log_loss)
    assert result.calibration.predicted[0] == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"folds": 1}, BadOptionError),
        ({"folds": 50}, BadOptionError),
        ({"folds": 900}, NoVotesError),
        ({"length": "emoji"}, BadOptionError),
        ({"confidence": 0}, BadOptionError),
    ],
)
def test_impossible_options_are_refused(options, error):
    votes = simulate_votes(STYLED, 800, seed=6).as_comparisons()
    with pytest.raises(error):
        out_of_fold(votes, **options)
