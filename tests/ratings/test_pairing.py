"""Which pair to ask about next."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from ratings.bradley_terry import fit_bradley_terry
from ratings.errors import BadOptionError, BadValueError, NoVotesError, ShapeError
from ratings.pairing import (
    contested_pairs,
    difference_variance,
    draw_pair,
    pair_information,
    pair_propensities,
)
from ratings.simulate import VoteModel, simulate_votes
from ratings.vote_weights import inverse_propensity_weights


def laplacian(weights):
    return np.diag(weights.sum(axis=1)) - weights


def board(seed, k=5):
    rng = np.random.default_rng(seed)
    theta = rng.normal(scale=0.5, size=k)
    p = expit(np.subtract.outer(theta, theta))
    votes = np.triu(rng.integers(3, 60, size=(k, k)), 1)
    hessian = laplacian((votes + votes.T) * p * (1 - p))
    return theta, hessian, np.linalg.pinv(hessian)


def contested_variance(covariance, contested):
    return np.sum(np.triu(contested, 1) * difference_variance(covariance))


def test_information_is_the_fall_in_variance_that_one_vote_brings():
    theta, hessian, covariance = board(0)
    contested = contested_pairs(theta, covariance)
    assert 0 < contested.sum() < 20
    information = pair_information(theta, covariance, contested)
    before = contested_variance(covariance, contested)
    for a in range(5):
        for b in range(a + 1, 5):
            x = np.eye(5)[a] - np.eye(5)[b]
            p = expit(theta[a] - theta[b])
            after = contested_variance(np.linalg.pinv(hessian + p * (1 - p) * np.outer(x, x)), contested)
            assert information[a, b] == pytest.approx(before - after, rel=1e-8)
            assert information[b, a] == information[a, b]
    assert not np.diag(information).any()


def test_weights_of_contested_pairs_may_differ():
    theta, _, covariance = board(1)
    one, two = np.zeros((5, 5)), np.zeros((5, 5))
    one[0, 1] = one[1, 0] = 1.0
    two[2, 4] = two[4, 2] = 3.0
    both = pair_information(theta, covariance, one + two)
    assert both == pytest.approx(
        pair_information(theta, covariance, one) + pair_information(theta, covariance, two)
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 50), st.permutations(range(5)), st.floats(-5, 5))
def test_names_and_gauge_never_change_the_information(seed, order, shift):
    theta, _, covariance = board(seed)
    contested = contested_pairs(theta, covariance)
    information = pair_information(theta, covariance, contested)
    index = np.ix_(order, order)
    renamed = pair_information(theta[order], covariance[index], contested[index])
    assert renamed == pytest.approx(information[index], abs=1e-12)
    shifted = pair_information(theta + shift, covariance + 7.0, contested)
    assert shifted == pytest.approx(information, abs=1e-9)


def test_pairs_far_apart_in_strength_are_not_contested():
    close = contested_pairs([0.0, 0.1, 5.0], np.eye(3) * 0.04)
    assert close.tolist() == [[False, True, False], [True, False, False], [False, False, False]]


def test_every_eligible_pair_keeps_its_share_of_exploration():
    propensities = pair_propensities([0.0, 0.0, 3.0, 1.0], exploration=0.2)
    assert propensities == pytest.approx([0.05, 0.05, 0.65, 0.25])
    assert pair_propensities([0.0, 0.0]) == pytest.approx([0.5, 0.5])
    assert pair_propensities([0.0, 9.0], exploration=1.0) == pytest.approx([0.5, 0.5])


@given(st.lists(st.floats(0, 1e300), min_size=1, max_size=30), st.floats(0.2, 1.0))
def test_propensities_sum_to_one_and_rise_with_the_weight(weights, exploration):
    propensities = pair_propensities(weights, exploration=exploration)
    assert propensities.sum() == pytest.approx(1.0)
    assert propensities.min() >= exploration / len(weights) * (1 - 1e-12)
    order = np.argsort(weights)
    assert np.all(np.diff(propensities[order]) >= -1e-15)


def test_pairs_are_drawn_at_their_propensities():
    propensities = pair_propensities([5.0, 0.0, 1.0], exploration=0.3)
    even = (np.arange(20_000) + 0.5) / 20_000
    drawn = np.bincount([draw_pair(propensities, u) for u in even], minlength=3) / 20_000
    assert drawn == pytest.approx(propensities, abs=1e-4)


def test_the_largest_uniform_number_below_one_draws_the_last_pair():
    propensities = np.full(7, 1 / 7)
    assert draw_pair(propensities, np.nextafter(1.0, 0.0)) == 6
    assert draw_pair(propensities, 0.0) == 0
    assert draw_pair([0.0, 1.0, 0.0], 0.0) == 1


def test_inverse_propensities_undo_active_pairing():
    model = VoteModel(
        (0.0, 0.0, 0.0),
        pair_effects=((0, 0.8, -0.8), (-0.8, 0, 0.8), (0.8, -0.8, 0)),
        pairs=((0, 1), (0, 2), (1, 2)),
        propensities=(0.8, 0.1, 0.1),
    )
    votes = simulate_votes(model, 30_000, seed=0)
    weights = inverse_propensity_weights(votes.propensity)
    plain = votes.as_comparisons()
    fair = weights.applied_to(plain)
    assert np.ptp(fit_bradley_terry(plain).strengths) > 0.3
    assert np.ptp(fit_bradley_terry(fair).strengths) < 0.1
    assert weights.effective == pytest.approx(30_000 * 9 / (1 / 0.8 + 2 / 0.1), rel=0.02)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: pair_propensities([]), NoVotesError),
        (lambda: pair_propensities([1.0], exploration=0.1), BadOptionError),
        (lambda: pair_propensities([1.0, -1.0]), BadValueError),
        (lambda: pair_propensities([1.0, np.inf]), BadValueError),
        (lambda: draw_pair([0.5, 0.5], 1.0), BadValueError),
        (lambda: draw_pair([0.5, 0.1], 0.5), BadValueError),
        (lambda: contested_pairs([0.0, 1.0], np.eye(3)), ShapeError),
        (lambda: contested_pairs([0.0, np.nan], np.eye(2)), BadValueError),
        (lambda: pair_information([0.0, 1.0], np.eye(2), [[0, 1], [0, 0]]), ShapeError),
    ],
)
def test_what_cannot_be_drawn_from_is_refused(call, error):
    with pytest.raises(error):
        call()
