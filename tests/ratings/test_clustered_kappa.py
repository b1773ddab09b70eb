"""Kappa whose interval knows about prompts."""

import numpy as np
import pytest

from ratings.agreement import agreement_table, cohen_kappa
from ratings.clustered_kappa import clustered_kappa
from ratings.errors import BadValueError, ShapeError


def rows_of(table):
    first, second = [], []
    for i, row in enumerate(table):
        for j, count in enumerate(row):
            first += [i] * count
            second += [j] * count
    return np.array(first), np.array(second)


CLASSIC = rows_of([[44, 5, 1], [7, 20, 3], [9, 5, 6]])


def test_the_estimate_is_cohens_and_the_interval_of_independent_rows_is_close_to_his():
    found = clustered_kappa(*CLASSIC, 3)
    known = cohen_kappa(agreement_table(*CLASSIC, 3))
    assert found.estimate == known.estimate
    assert found.standard_error == pytest.approx(known.standard_error, rel=0.05)
    assert found.lower < found.estimate < found.upper


def test_copies_of_the_same_rows_tell_nothing_new():
    copied = [np.concatenate([codes] * 4) for codes in CLASSIC]
    cluster = np.tile(np.arange(len(CLASSIC[0])), 4)
    once, often = clustered_kappa(*CLASSIC, 3), clustered_kappa(*copied, 3, cluster)
    assert often.standard_error == pytest.approx(once.standard_error)
    assert clustered_kappa(*copied, 3).standard_error < 0.6 * once.standard_error


def test_people_in_no_order_get_the_same_kappa_whoever_comes_first():
    rng = np.random.default_rng(2)
    swapped = rng.random(len(CLASSIC[0])) < 0.5
    first = np.where(swapped, CLASSIC[1], CLASSIC[0])
    second = np.where(swapped, CLASSIC[0], CLASSIC[1])
    one = clustered_kappa(*CLASSIC, 3, symmetric=True)
    other = clustered_kappa(first, second, 3, symmetric=True)
    assert one.estimate == pytest.approx(other.estimate, abs=1e-12)
    # By hand: po = .7; the margins .55, .30, .15 shared by both give pe = .415.
    assert one.estimate == pytest.approx((0.7 - 0.415) / (1 - 0.415), abs=1e-12)


def test_the_jackknife_covers_a_known_kappa_under_clustering():
    """Eight rows a prompt, each prompt with its own rate of agreement: 95 % intervals, 300 runs."""
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(300):
        rate = np.repeat(rng.beta(3, 1, size=60), 8)
        first = rng.integers(2, size=480)
        second = np.where(rng.random(480) < rate, first, 1 - first)
        found = clustered_kappa(first, second, 2, np.repeat(np.arange(60), 8))
        hits += found.lower <= 0.5 <= found.upper  # 2 · E[rate] − 1
    assert 0.91 <= hits / 300 <= 0.985


def test_one_prompt_has_no_interval():
    found = clustered_kappa([0, 1, 1], [0, 1, 0], 2, [5, 5, 5])
    assert (found.lower, found.standard_error, found.clusters) == (None, None, 1)


def test_a_kappa_that_hangs_on_one_prompt_has_no_interval():
    found = clustered_kappa([0, 0, 1], [0, 0, 1], 2)
    assert (found.estimate, found.lower) == (1.0, None)


def test_a_kappa_that_no_prompt_makes_a_difference_to_has_no_interval():
    found = clustered_kappa([0, 1, 0, 1], [0, 0, 0, 0], 2, [1, 1, 2, 2])
    assert (found.estimate, found.lower, found.standard_error) == (0.0, None, None)


def test_one_category_alone_and_unequal_lengths_are_refused():
    with pytest.raises(BadValueError, match="isn't defined"):
        clustered_kappa([1, 1], [1, 1], 2)
    with pytest.raises(ShapeError, match="one id per row"):
        clustered_kappa([0, 1], [0, 1], 2, [1])
