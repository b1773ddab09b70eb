"""Shares, means and the tests for two competitors on the same prompts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ratings.errors import BadOptionError, BadValueError, NoVotesError, ShapeError
from ratings.proportions import (
    clustered_mean,
    cohens_h,
    mcnemar,
    paired_difference,
    share,
    sign_test,
    wilson_interval,
)

counts = st.integers(0, 60)


def test_thirty_wins_and_twenty_losses_give_the_known_interval_and_p():
    result = sign_test(30, 20)
    assert (result.share.lower, result.share.upper) == pytest.approx(
        (0.4618143774758935, 0.7239161026974344), abs=1e-12
    )
    assert result.p == pytest.approx(0.20263875106454066, abs=1e-12)
    assert result.share.estimate == 0.6


def test_mcnemar_on_agrestis_approval_ratings():
    result = mcnemar(150, 86)
    assert result.chi_squared == pytest.approx(17.35593220338983, abs=1e-10)
    assert result.chi_squared_p == pytest.approx(3.099293441045215e-05, abs=1e-13)
    assert result.corrected == pytest.approx(16.8177966101695, abs=1e-10)
    assert result.corrected_p == pytest.approx(4.114562281345944e-05, abs=1e-13)
    assert result.exact_p == pytest.approx(3.7159361395713866e-05, abs=1e-13)
    assert result.mid_p == pytest.approx(2.8933895176155007e-05, abs=1e-13)
    assert result.p == result.mid_p
    assert result.odds_ratio == pytest.approx(1.744186046511628, abs=1e-12)
    difference = paired_difference(150, 86, 1600)
    assert difference.estimate == pytest.approx(0.04, abs=1e-12)
    assert difference.standard_error == pytest.approx(0.00954921462739214, abs=1e-12)


def test_mcnemar_with_few_discordant_prompts_reports_the_exact_p():
    result = mcnemar(9, 2)
    assert result.chi_squared == pytest.approx(4.454545454545454, abs=1e-10)
    assert result.corrected == pytest.approx(3.272727272727273, abs=1e-10)
    assert result.corrected_p == pytest.approx(0.070440429272088, abs=1e-12)
    assert result.exact_p == pytest.approx(0.0654296875, abs=1e-12)
    assert result.mid_p == pytest.approx(0.038574218749999986, abs=1e-12)
    assert result.p == result.exact_p


@pytest.mark.parametrize("same", [0, 1, 12, 40])
def test_mcnemar_sees_no_evidence_in_equal_counts(same):
    result = mcnemar(same, same)
    assert result.corrected == result.chi_squared == 0
    p_values = (result.exact_p, result.mid_p, result.corrected_p, result.p)
    assert p_values == pytest.approx((1.0, 1.0, 1.0, 1.0))


def test_without_a_loss_there_is_no_odds_ratio():
    assert mcnemar(3, 0).odds_ratio is None


@given(counts, counts)
def test_mcnemar_is_the_same_from_both_sides(b, c):
    first, second = mcnemar(b, c), mcnemar(c, b)
    assert (first.p, first.mid_p, first.corrected) == (second.p, second.mid_p, second.corrected)
    assert 0 < first.mid_p <= first.exact_p <= 1


@given(st.integers(0, 200), st.integers(0, 200))
def test_wilson_holds_the_estimate_and_mirrors_for_failures(hits, misses):
    if hits + misses == 0:
        return
    lower, upper = wilson_interval(hits, hits + misses)
    assert 0 <= lower <= hits / (hits + misses) <= upper <= 1
    mirrored = wilson_interval(misses, hits + misses)
    assert mirrored == pytest.approx((1 - upper, 1 - lower), abs=1e-12)


def test_clusters_of_one_row_give_the_t_interval_of_a_textbook():
    x = np.random.default_rng(0).normal(size=30)
    mean = clustered_mean(x)
    lower, upper = stats.t.interval(0.95, 29, loc=x.mean(), scale=stats.sem(x))
    assert (mean.lower, mean.upper) == pytest.approx((lower, upper), abs=1e-12)
    assert mean.p == pytest.approx(stats.ttest_1samp(x, 0).pvalue, abs=1e-12)


def test_repeating_every_row_within_its_cluster_adds_no_certainty():
    x = np.random.default_rng(1).normal(size=20)
    once, thrice = clustered_mean(x), clustered_mean(np.repeat(x, 3), np.repeat(np.arange(20), 3))
    assert thrice.standard_error == pytest.approx(once.standard_error, abs=1e-12)
    assert thrice.effective_clusters == pytest.approx(20)
    hits = x > 0
    assert share(np.repeat(hits, 3), np.repeat(np.arange(20), 3)).effective_n == pytest.approx(
        share(hits, np.arange(20)).effective_n
    )


def test_a_share_of_clustered_rows_is_wider_and_stays_inside_zero_and_one():
    cluster = np.repeat(np.arange(8), 25)
    hits = cluster < 5
    clustered, independent = share(hits, cluster), share(hits)
    assert clustered.lower < independent.lower
    assert clustered.upper > independent.upper
    unanimous = share(np.ones(200, dtype=bool), cluster)
    assert unanimous.upper == 1.0
    assert unanimous.lower == pytest.approx(8 / (8 + stats.t.isf(0.025, 7) ** 2))


def test_effective_n_is_the_independent_variance_over_the_jackknifes():
    rng = np.random.default_rng(6)
    cluster = rng.integers(12, size=300)
    hits = rng.random(300) < (0.2 + 0.05 * cluster)
    result = share(hits, cluster)
    without = [hits[cluster != g].mean() for g in range(12)]
    jackknife = 11 / 12 * np.sum((np.array(without) - hits.mean()) ** 2)
    assert result.effective_n == pytest.approx(hits.mean() * (1 - hits.mean()) / jackknife)
    assert 12 < result.effective_n < 300


def test_one_cluster_has_no_interval():
    mean = clustered_mean([0.0, 1.0, 1.0], [4, 4, 4])
    assert mean.estimate == pytest.approx(2 / 3)
    assert mean.lower is None
    assert mean.p is None


def test_effective_clusters_of_uneven_raters():
    rater = np.repeat([0, 1, 2, 3], [100, 50, 25, 25])
    assert clustered_mean(np.zeros(200), rater).effective_clusters == pytest.approx(
        2.909090909090909, abs=1e-12
    )


def test_interval_of_a_clustered_mean_covers_as_often_as_it_says():
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(600):
        effect = rng.normal(size=15)
        x = np.repeat(effect, 10) + rng.normal(size=150)
        mean = clustered_mean(x, np.repeat(np.arange(15), 10))
        covered += mean.lower <= 0 <= mean.upper
    assert 0.925 < covered / 600 < 0.975


def test_cohens_h_of_sixty_against_fifty_percent():
    assert cohens_h(0.6, 0.5) == pytest.approx(0.20135792079033066, abs=1e-12)
    assert cohens_h(0.5, 0.6) == -cohens_h(0.6, 0.5)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: wilson_interval(0, 0), NoVotesError),
        (lambda: wilson_interval(3, 2), BadValueError),
        (lambda: wilson_interval(1, 2, confidence=95), BadOptionError),
        (lambda: share([]), NoVotesError),
        (lambda: clustered_mean([1.0, np.nan]), BadValueError),
        (lambda: clustered_mean([1.0, 2.0], [1]), ShapeError),
        (lambda: sign_test(0, 0), NoVotesError),
        (lambda: mcnemar(-1, 0), BadValueError),
        (lambda: paired_difference(5, 6, 10), BadValueError),
        (lambda: cohens_h(1.2, 0.5), BadValueError),
    ],
)
def test_impossible_counts_are_refused(call, error):
    with pytest.raises(error):
        call()
