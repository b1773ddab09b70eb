"""Raw agreement, kappas and alpha."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ratings.agreement import agreement, agreement_table, cohen_kappa, fleiss_kappa, krippendorff_alpha
from ratings.comparisons import BOTH_BAD, MODEL_A, MODEL_B, TIE
from ratings.errors import BadOptionError, BadValueError, NoVotesError, ShapeError, UnknownOutcomeError

_ = np.nan
CLASSIC = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
]
FLEISS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]
THREE = [[44, 5, 1], [7, 20, 3], [9, 5, 6]]

tables = st.lists(st.lists(st.integers(0, 30), min_size=3, max_size=3), min_size=3, max_size=3)


def test_kappa_of_two_by_two_with_both_standard_errors():
    kappa = cohen_kappa([[20, 5], [10, 15]])
    assert kappa.estimate == pytest.approx(0.4, abs=1e-12)
    assert (kappa.observed, kappa.expected) == pytest.approx((0.7, 0.5))
    assert kappa.standard_error == pytest.approx(0.12699606293110033, abs=1e-12)
    assert kappa.standard_error_at_zero == pytest.approx(0.13856406460551018, abs=1e-12)
    assert (kappa.lower, kappa.upper) == pytest.approx((0.151092290476661, 0.6489077095233389), abs=1e-9)


def test_kappa_of_three_categories_plain_and_quadratic():
    plain = cohen_kappa(THREE)
    assert plain.estimate == pytest.approx(0.49152542372881347, abs=1e-12)
    assert plain.standard_error == pytest.approx(0.07212745929334068, abs=1e-12)
    quadratic = cohen_kappa(THREE, weights="quadratic")
    assert quadratic.estimate == pytest.approx(0.4545454545454546, abs=1e-12)


def test_with_two_categories_weights_change_nothing():
    table = [[20, 5], [10, 15]]
    for weights in ("linear", "quadratic"):
        weighted = cohen_kappa(table, weights=weights)
        assert weighted.estimate == pytest.approx(0.4)
        assert weighted.standard_error == pytest.approx(cohen_kappa(table).standard_error)


def test_standard_error_of_kappa_matches_its_spread_over_simulated_tables():
    truth = np.array(THREE) / 100
    rng = np.random.default_rng(0)
    for weights in ("none", "linear", "quadratic"):
        drawn = rng.multinomial(400, truth.ravel(), size=300).reshape(-1, 3, 3)
        kappas = [cohen_kappa(table, weights=weights) for table in drawn]
        spread = np.std([kappa.estimate for kappa in kappas])
        assert np.mean([kappa.standard_error for kappa in kappas]) == pytest.approx(spread, rel=0.12)


@given(tables)
def test_kappa_is_symmetric_and_at_most_one(table):
    counts = np.array(table)
    if counts.sum() == 0 or np.count_nonzero(counts) < 2:
        return
    try:
        kappa = cohen_kappa(counts)
    except BadValueError:
        return
    assert kappa.estimate == pytest.approx(cohen_kappa(counts.T).estimate, abs=1e-9)
    assert kappa.estimate <= 1 + 1e-12


def test_fleiss_kappa_of_fourteen_raters():
    assert fleiss_kappa(FLEISS) == pytest.approx(0.20993070442195522, abs=1e-12)


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("nominal", 0.743421052631579),
        ("ordinal", 0.8153875037548814),
        ("interval", 0.8491071428571428),
        ("ratio", 0.7974027747116121),
    ],
)
def test_alpha_of_the_classic_four_raters_with_gaps(level, expected):
    alpha = krippendorff_alpha(CLASSIC, level=level)
    assert alpha.estimate == pytest.approx(expected, abs=1e-12)
    assert alpha.lower < alpha.estimate < alpha.upper
    assert (alpha.units, alpha.ratings) == (11, 40)


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(4)), st.permutations(range(12)), st.sampled_from(["nominal", "ordinal"]))
def test_alpha_ignores_the_order_of_raters_and_units(raters, units, level):
    shuffled = np.array(CLASSIC)[raters][:, units]
    expected = krippendorff_alpha(CLASSIC, level=level, resamples=1).estimate
    assert krippendorff_alpha(shuffled, level=level, resamples=1).estimate == pytest.approx(expected)


def test_alpha_ignores_names_of_nominal_values_and_scale_of_the_others():
    table = np.array(CLASSIC)
    renamed = (table * 3) % 7
    for level, other in (("nominal", renamed), ("ordinal", table**3), ("interval", 5 * table - 2)):
        expected = krippendorff_alpha(table, level=level, resamples=1).estimate
        assert krippendorff_alpha(other, level=level, resamples=1).estimate == pytest.approx(expected)


def test_alpha_with_a_seed_is_repeatable_and_narrows_with_more_units():
    rng = np.random.default_rng(5)
    truth = rng.integers(3, size=800)
    noisy = np.where(rng.random((3, 800)) < 0.3, rng.integers(3, size=(3, 800)), truth).astype(float)
    few, many = krippendorff_alpha(noisy[:, :50]), krippendorff_alpha(noisy)
    assert krippendorff_alpha(noisy[:, :50]) == few
    assert (many.upper - many.lower) < 0.5 * (few.upper - few.lower)
    assert many.lower < 0.49 < many.upper  # 0.7^2: both raters follow the truth


def test_alphas_interval_holds_the_quantiles_of_resampled_units():
    table = np.array(CLASSIC)[:, :11]
    rng = np.random.default_rng(2)
    replicates = [
        krippendorff_alpha(table[:, rng.integers(11, size=11)], level="ordinal", resamples=1).estimate
        for _ in range(60)
    ]
    alpha = krippendorff_alpha(table, level="ordinal", resamples=60, seed=2, confidence=0.8)
    assert (alpha.lower, alpha.upper) == pytest.approx(tuple(np.quantile(replicates, [0.1, 0.9])))


def test_alpha_by_cluster_knows_that_copies_of_a_unit_tell_nothing_new():
    rng = np.random.default_rng(3)
    truth = rng.integers(3, size=40)
    once = np.where(rng.random((3, 40)) < 0.3, rng.integers(3, size=(3, 40)), truth).astype(float)
    alone = krippendorff_alpha(once, np.arange(40))
    copied = krippendorff_alpha(np.repeat(once, 10, axis=1), np.repeat(np.arange(40), 10))
    assert (copied.clusters, copied.units) == (40, 400)
    assert copied.upper - copied.lower == pytest.approx(alone.upper - alone.lower, rel=0.02)
    by_unit = krippendorff_alpha(np.repeat(once, 10, axis=1))
    assert by_unit.upper - by_unit.lower < 0.4 * (copied.upper - copied.lower)


def test_alphas_jackknife_covers_a_known_alpha_under_clustering():
    """Ten units a prompt, each of 25 prompts with its own rate of agreement; 300 runs."""
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(300):
        rate = np.repeat(rng.beta(3, 1, size=25), 10)
        first = rng.integers(2, size=250)
        second = np.where(rng.random(250) < rate, first, 1 - first)
        found = krippendorff_alpha(np.array([first, second], dtype=float), np.repeat(np.arange(25), 10))
        hits += found.lower <= 0.5 <= found.upper  # 2 · E[rate] − 1
    assert 0.91 <= hits / 300 <= 0.985


def test_alpha_of_one_prompt_or_of_prompts_all_alike_has_no_interval():
    table = [[0, 1, 0, 1], [0, 1, 1, 1]]
    assert krippendorff_alpha(table, [7, 7, 7, 7]).lower is None
    assert krippendorff_alpha([[0, 1, 0, 1], [0, 1, 0, 1]], [1, 1, 2, 2]).lower is None
    with pytest.raises(ShapeError, match="for 4 units"):
        krippendorff_alpha(table, [1, 2])


def test_alpha_counts_resamples_in_which_nothing_varies():
    alpha = krippendorff_alpha([[0, 0, 0, 1], [0, 0, 0, 1]], resamples=400)
    assert alpha.estimate == 1.0
    assert 80 < alpha.undefined < 180  # (3/4)^4 = 0.32 of 400 never draw the last unit


def test_agreement_counts_all_outcomes_and_decisive_ones_apart():
    judge = [MODEL_A, MODEL_A, TIE, MODEL_B, MODEL_A, BOTH_BAD]
    people = [MODEL_A, MODEL_B, MODEL_B, MODEL_B, TIE, BOTH_BAD]
    result = agreement(judge, people)
    assert (result.every.successes, result.every.n) == (3, 6)
    assert (result.decisive.successes, result.decisive.n) == (2, 3)
    assert agreement([TIE], [MODEL_A]).decisive is None


def test_agreement_on_few_prompts_is_less_certain():
    judge, people = np.tile([0, 1, 0, 0], 25), np.tile([0, 0, 0, 1], 25)
    prompts = np.tile(np.arange(4), 25)
    plain, clustered = agreement(judge, people), agreement(judge, people, prompts)
    assert clustered.every.lower < plain.every.lower
    assert clustered.decisive.upper > plain.decisive.upper


def test_table_of_two_raters_feeds_kappa():
    first, second = [0, 0, 1, 2, 2], [0, 1, 1, 2, 0]
    assert agreement_table(first, second, 3).tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 1]]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: cohen_kappa([[1, 2, 3], [1, 2, 3]]), ShapeError),
        (lambda: cohen_kappa([[0, 0], [0, 0]]), NoVotesError),
        (lambda: cohen_kappa([[9, 0], [0, 0]]), BadValueError),
        (lambda: cohen_kappa([[9, 1], [0, 3]], weights="cubic"), BadOptionError),
        (lambda: fleiss_kappa([[2, 1], [1, 1]]), ShapeError),
        (lambda: fleiss_kappa([[2, 0], [2, 0]]), BadValueError),
        (lambda: krippendorff_alpha([[1, _], [_, 2]]), NoVotesError),
        (lambda: krippendorff_alpha([[1, 1], [1, 1]]), BadValueError),
        (lambda: krippendorff_alpha([[1, -1], [1, 1]], level="ratio"), BadValueError),
        (lambda: krippendorff_alpha([[1, 2], [1, 1]], level="cardinal"), BadOptionError),
        (lambda: agreement([0, 1], [0]), ShapeError),
        (lambda: agreement([0, -1], [0, 1]), UnknownOutcomeError),
        (lambda: agreement([], []), NoVotesError),
        (lambda: agreement_table([0, 3], [0, 1], 3), BadValueError),
    ],
)
def test_what_is_not_defined_is_refused(call, error):
    with pytest.raises(error):
        call()
