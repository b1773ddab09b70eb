import numpy as np
import pytest
from textbook_boards import style_rows

from ratings.bradley_terry import fit_bradley_terry
from ratings.comparisons import Comparisons
from ratings.errors import BadOptionError, BadValueError, NoVotesError
from ratings.scale import to_ratings
from ratings.vote_weights import (
    effective_sample_size,
    inverse_propensity_weights,
    pair_weights,
    rater_cap_weights,
)


def test_pairs_count_the_same_however_often_they_met():
    rows = style_rows().with_covariates(None, [])
    weights = pair_weights(rows)
    assert weights.effective == pytest.approx(235.02940781236723, abs=1e-8)
    assert weights.weight.mean() == pytest.approx(1)
    fit = fit_bradley_terry(weights.applied_to(rows))
    expected = [1061.84802420418, 1081.0078818735071, 956.0921667789378, 901.0519271433751]
    assert to_ratings(fit.strengths) == pytest.approx(expected, abs=1e-7)


def test_rarely_drawn_pairs_weigh_more():
    weights = inverse_propensity_weights([0.5, 0.25, 0.25])
    assert weights.weight == pytest.approx([0.6, 1.2, 1.2])
    assert (weights.truncated, weights.kept.all()) == (0, True)
    assert weights.effective == pytest.approx(9 / 3.24)


def test_a_late_pair_keeps_its_weight():
    weights = inverse_propensity_weights([0.5, 0.5], chances=[100, 10])
    assert weights.weight[1] / weights.weight[0] == pytest.approx(10)


def test_extreme_weights_are_truncated_and_counted():
    weights = inverse_propensity_weights([0.5] * 99 + [1e-6], cap=20)
    assert weights.truncated == 1
    assert weights.weight[-1] / weights.weight[0] < 1e6
    assert weights.weight.mean() == pytest.approx(1)
    free = inverse_propensity_weights([0.5] * 99 + [1e-6], cap=None)
    assert free.effective < weights.effective


def test_votes_that_could_not_have_been_drawn_are_left_out():
    weights = inverse_propensity_weights([0.5, 0.0, 0.5])
    assert weights.kept.tolist() == [True, False, True]
    votes = Comparisons.of(2, [0, 0, 1], [1, 1, 0], [0, 1, 0], rater=[1, 2, 3])
    left = weights.applied_to(votes)
    assert (len(left), left.rater.tolist()) == (2, [1, 3])


def test_busy_raters_are_capped():
    weights = rater_cap_weights([7] * 10 + [9, 9], 5)
    assert weights.weight[0] / weights.weight[-1] == pytest.approx(0.5)
    assert weights.truncated == 10
    assert effective_sample_size(np.ones(4)) == 4


def test_bad_input_is_refused():
    with pytest.raises(BadValueError) as caught:
        inverse_propensity_weights([0.5, float("nan")])
    assert caught.value.row == 1
    with pytest.raises(BadValueError):
        inverse_propensity_weights([0.5], chances=[0])
    with pytest.raises(BadOptionError):
        inverse_propensity_weights([0.5], cap=0.5)
    with pytest.raises(NoVotesError):
        inverse_propensity_weights([0.0])
    with pytest.raises(BadOptionError):
        rater_cap_weights([1], 0)
