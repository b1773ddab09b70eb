import numpy as np
import pytest
from scipy import stats
from textbook_boards import baseball

from ratings.bradley_terry import fit_bradley_terry
from ratings.ranks import (
    arena_rank,
    bonferroni_t,
    critical_values_of_ranks,
    joint_critical_value,
    pair_critical_values,
    rank_sets,
)


def errors_of(covariance):
    return np.sqrt(
        np.maximum(np.diag(covariance)[:, None] + np.diag(covariance)[None, :] - 2 * covariance, 0)
    )


def test_rank_sets_of_baseball_with_bonferronis_critical_value():
    fit = fit_bradley_terry(baseball())
    joint = bonferroni_t(7, np.inf, 0.95)
    assert joint == pytest.approx(3.0380743049242116)
    sets = rank_sets(fit.strengths, errors_of(fit.bread), joint)
    assert [*zip(sets.lower, sets.upper, strict=True)] == [(1, 6)] * 5 + [(1, 7), (6, 7)]
    assert sets.tied_first.tolist() == [True] * 6 + [False]
    marginal = rank_sets(fit.strengths, errors_of(fit.bread), 2.638257273476751)
    assert [*zip(marginal.lower, marginal.upper, strict=True)] == [(1, 5)] + [(1, 6)] * 4 + [(2, 7), (6, 7)]


def test_arena_rank_counts_intervals_wholly_above():
    fit = fit_bradley_terry(baseball())
    reach = 1.96 * np.sqrt(np.diag(fit.bread))
    assert arena_rank(fit.strengths - reach, fit.strengths + reach).tolist() == [1, 1, 1, 1, 1, 2, 6]


def test_two_independent_strengths_need_the_normal_quantile():
    c = joint_critical_value(np.eye(2), np.inf, draws=40_000)
    assert c == pytest.approx(stats.norm.isf(0.025), abs=0.03)


def test_many_equal_strengths_need_the_studentised_range():
    c = joint_critical_value(np.eye(8), np.inf, draws=40_000)
    assert c == pytest.approx(stats.studentized_range.ppf(0.95, 8, np.inf) / np.sqrt(2), abs=0.03)


def test_few_clusters_need_more_and_never_more_than_bonferroni():
    known = joint_critical_value(np.eye(6), np.inf)
    few = joint_critical_value(np.eye(6), 15.0)
    assert known < few <= bonferroni_t(6, 14, 0.95)
    assert joint_critical_value(np.eye(20), 15.0) == bonferroni_t(20, 14, 0.95)  # K > G*


def test_marginal_sets_need_less_than_joint_ones():
    covariance = np.diag(np.linspace(0.5, 2, 6))
    joint, marginal = critical_values_of_ranks(covariance, 30.0)
    assert marginal.shape == (6,)
    assert (marginal < joint).all()
    assert (marginal > stats.norm.isf(0.025)).all()


def test_draws_are_the_same_again_for_a_seed():
    one = joint_critical_value(np.eye(5), 20.0, seed=3)
    assert joint_critical_value(np.eye(5), 20.0, seed=3) == one
    assert joint_critical_value(np.eye(5), 20.0, seed=4) != one


def test_a_pair_with_few_clusters_needs_more():
    values = pair_critical_values(3.0, 40.0, np.array([30.0, 30.0, 2.0]))
    assert values[0, 1] == 3.0
    assert values[0, 2] == values[2, 1] == pytest.approx(stats.t.isf(stats.t.sf(3.0, 39), 2.0))


def test_what_is_not_known_decides_no_rank():
    deviations = np.array([[0, 0.1, np.nan], [0.1, 0, np.nan], [np.nan, np.nan, 0]])
    sets = rank_sets(np.array([1.0, 0.0, -5.0]), deviations, 2.0)
    assert [*zip(sets.lower, sets.upper, strict=True)] == [(1, 2), (2, 3), (1, 3)]
