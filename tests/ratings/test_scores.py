"""Success in k tries, effect sizes, percentile bootstrap."""

import numpy as np
import pytest

from ratings.errors import BadOptionError, BadValueError, NoVotesError, ShapeError
from ratings.scores import bootstrap_ci, cohens_d, hedges_g, paired_d, pass_at_k, pass_hat_k

X = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]
Y = [1.0, 2.0, 3.0, 3.0, 4.0, 4.0, 6.0, 7.0]


@pytest.mark.parametrize(
    ("n", "c", "k", "value"),
    [
        (5, 3, 1, 0.6),
        (5, 3, 2, 0.9),
        (5, 3, 3, 1.0),
        (20, 3, 1, 0.15),
        (20, 3, 10, 0.8947368421052632),
        (100, 7, 10, 0.5332595856827855),
        (200, 1, 100, 0.5),
    ],
)
def test_chance_that_one_of_k_tries_is_right(n, c, k, value):
    assert pass_at_k(n, c, k) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    ("n", "c", "k", "value"), [(5, 3, 1, 0.6), (5, 3, 2, 0.3), (5, 3, 3, 0.1), (4, 4, 4, 1.0), (4, 3, 4, 0.0)]
)
def test_chance_that_all_of_k_tries_are_right(n, c, k, value):
    assert pass_hat_k(n, c, k) == pytest.approx(value, abs=1e-12)


def test_effect_sizes_of_the_textbook_scores():
    assert cohens_d(X, Y) == pytest.approx(0.6063390625908325, abs=1e-12)
    assert hedges_g(X, Y) == pytest.approx(0.5732660228131506, abs=1e-12)
    assert paired_d(X, Y) == pytest.approx(2.7003086243366083, abs=1e-12)
    assert cohens_d(Y, X) == -cohens_d(X, Y)


def test_bootstrap_of_seventy_ones_in_a_hundred():
    interval = bootstrap_ci(np.r_[np.ones(70), np.zeros(30)])
    assert (interval.lower, interval.upper) == pytest.approx((0.61, 0.78), abs=1e-12)
    assert interval.estimate == 0.7


def test_bootstrap_in_blocks_draws_what_one_block_would():
    x = np.random.default_rng(4).normal(size=2_000)
    drawn = np.random.default_rng(7).integers(0, len(x), size=(2_500, len(x)))
    expected = np.quantile(x[drawn].mean(axis=1), [0.05, 0.95])
    interval = bootstrap_ci(x, resamples=2_500, seed=7, confidence=0.9)
    assert (interval.lower, interval.upper) == pytest.approx(tuple(expected), abs=1e-12)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: pass_at_k(5, 6, 1), BadValueError),
        (lambda: pass_hat_k(5, 3, 0), BadValueError),
        (lambda: pass_at_k(5, 3, 6), BadValueError),
        (lambda: cohens_d([1, 1], [2, 2]), BadValueError),
        (lambda: cohens_d([1], [2, 3]), NoVotesError),
        (lambda: paired_d([1, 2, 3], [1, 2]), ShapeError),
        (lambda: paired_d([1, 2, 3], [0, 1, 2]), BadValueError),
        (lambda: bootstrap_ci([]), NoVotesError),
        (lambda: bootstrap_ci([1.0, 2.0], confidence=1.0), BadOptionError),
    ],
)
def test_what_has_no_answer_is_refused(call, error):
    with pytest.raises(error):
        call()
