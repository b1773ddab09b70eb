"""Fleiss' kappa with an interval that knows about prompts."""

import numpy as np
import pytest

from ratings.agreement import fleiss_kappa
from ratings.clustered_fleiss import clustered_fleiss
from ratings.errors import BadValueError, ShapeError


def drawn(units: int, raters: int, seed: int, agree: float = 0.6) -> np.ndarray:
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=(units, 1))
    return np.where(rng.random((units, raters)) < agree, truth, rng.integers(3, size=(units, raters)))


def table_of(codes: np.ndarray) -> np.ndarray:
    return np.stack([(codes == code).sum(axis=1) for code in range(3)], axis=1)


def test_the_estimate_is_fleiss_and_the_error_the_jackknife_by_hand():
    codes, cluster = drawn(40, 3, 1), np.arange(40) // 4
    found = clustered_fleiss(codes, 3, cluster)
    assert found.estimate == pytest.approx(fleiss_kappa(table_of(codes)))
    without = [fleiss_kappa(table_of(codes[cluster != one])) for one in range(10)]
    by_hand = np.sqrt(9 / 10 * np.sum((np.array(without) - found.estimate) ** 2))
    assert found.standard_error == pytest.approx(by_hand)
    assert (found.n, found.raters, found.clusters) == (40, 3, 10)


def test_copies_of_the_same_units_tell_nothing_new():
    codes = drawn(60, 4, 2)
    once = clustered_fleiss(codes, 3)
    often = clustered_fleiss(np.concatenate([codes] * 3), 3, np.tile(np.arange(60), 3))
    assert often.estimate == pytest.approx(once.estimate)
    assert often.standard_error == pytest.approx(once.standard_error)


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    truth = clustered_fleiss(drawn(200_000, 3, 3), 3).estimate
    found = [clustered_fleiss(drawn(120, 3, seed), 3) for seed in range(10, 310)]
    covered = np.mean([one.lower <= truth <= one.upper for one in found])
    assert 0.91 <= covered <= 0.985


def test_one_cluster_has_no_interval():
    found = clustered_fleiss(drawn(30, 3, 4), 3, np.zeros(30, dtype=int))
    assert (found.standard_error, found.lower, found.upper) == (None, None, None)


@pytest.mark.parametrize(
    ("codes", "cluster", "error"),
    [
        (np.zeros((4, 3), dtype=int), None, BadValueError),
        (np.array([[0, 3]]), None, BadValueError),
        (np.array([[0, -1]]), None, BadValueError),
        (np.array([[0], [1]]), None, ShapeError),
        (np.zeros((0, 3), dtype=int), None, ShapeError),
        (np.array([[0, 1], [1, 1]]), [1], ShapeError),
    ],
)
def test_what_has_no_kappa_is_refused(codes, cluster, error):
    with pytest.raises(error):
        clustered_fleiss(codes, 3, cluster)
