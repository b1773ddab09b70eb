"""Published and textbook values; sources in textbook_boards.py."""

import choix
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from textbook_boards import baseball, board, citations, pudding, style_rows

from ratings.bradley_terry import PairLikelihood, RowLikelihood, fit_bradley_terry
from ratings.comparisons import Comparisons, Policies, tally
from ratings.errors import NotConvergedError, NoVotesError
from ratings.rows import sort_rows
from ratings.scale import POINTS_PER_LOG_ODDS, to_ratings
from ratings.style import scale_covariates
from ratings.uncertainty import tally_sandwich


def scaled(comparisons):
    z = scale_covariates(comparisons.covariates, "relative").z
    return comparisons.with_covariates(z, comparisons.covariate_names)


def test_two_competitors_differ_by_the_log_odds():
    fit = fit_bradley_terry(board(2, [(0, 1, 30, 20)]))
    difference = POINTS_PER_LOG_ODDS * (fit.strengths[0] - fit.strengths[1])
    assert difference == pytest.approx(70.4365036222725, abs=1e-8)
    assert to_ratings(fit.strengths) == pytest.approx([1035.2182518111363, 964.7817481888637], abs=1e-8)
    model_error = POINTS_PER_LOG_ODDS * np.sqrt(fit.bread[0, 0] + fit.bread[1, 1] - 2 * fit.bread[0, 1])
    assert model_error == pytest.approx(50.148007206882305, abs=1e-8)


def test_a_tie_counts_half_for_each_side():
    comparisons = board(2, [(0, 1, 5, 3, 4)])
    fit = fit_bradley_terry(comparisons)
    assert fit.strengths[0] - fit.strengths[1] == pytest.approx(0.3364722366212129, abs=1e-10)
    sandwich = tally_sandwich(tally(comparisons, Policies()), fit)
    assert sandwich.difference_deviations[0, 1] == pytest.approx(0.47466422073817566, abs=1e-10)
    dropped = fit_bradley_terry(comparisons, Policies(ties="drop"))
    assert POINTS_PER_LOG_ODDS * 2 * dropped.strengths[0] == pytest.approx(88.73949984654254, abs=1e-8)


@pytest.mark.parametrize(
    ("pairs", "points"),
    [
        ([(0, 1, 3, 1), (1, 2, 3, 1)], [190.84850188786498, 381.69700377572997]),
        ([(0, 1, 2, 1), (1, 2, 2, 1), (0, 2, 4, 1)], [120.41199826559247, 240.82399653118495]),
        ([(0, 1, 7, 3), (1, 2, 7, 3), (2, 0, 7, 3)], [0.0, 0.0]),
    ],
    ids=["tree", "consistent", "cycle"],
)
def test_three_competitors_have_exact_strengths(pairs, points):
    strengths = fit_bradley_terry(board(3, pairs)).strengths
    assert POINTS_PER_LOG_ODDS * (strengths[0] - strengths[1:]) == pytest.approx(points, abs=1e-8)


def test_baseball_of_1987_is_as_agresti_published_it():
    comparisons = baseball()
    fit = fit_bradley_terry(comparisons)
    expected = [1.5813558766613935, 1.4364084318124357, 1.2944851239118058, 1.2476178451413873]
    expected += [1.107697705378654, 0.6838527692]
    assert fit.strengths[:6] - fit.strengths[6] == pytest.approx(expected, abs=1e-9)
    assert fit.log_likelihood == pytest.approx(-172.24817599471595, abs=1e-9)
    errors = POINTS_PER_LOG_ODDS * tally_sandwich(tally(comparisons, Policies()), fit).deviations
    assert errors[0] == pytest.approx(36.072338048509835, abs=1e-8)
    assert errors[6] == pytest.approx(39.68512058327426, abs=1e-8)


def test_the_home_advantage_is_the_coefficient_of_the_position():
    home = baseball().with_covariates(np.ones((273, 1)), ["home"])
    fit = fit_bradley_terry(home)
    assert fit.coefficients == pytest.approx([0.3022606555289408], abs=1e-9)
    assert np.sqrt(fit.bread[7, 7]) == pytest.approx(0.13094370745590975, abs=1e-9)
    assert fit.strengths[0] - fit.strengths[6] == pytest.approx(1.6195549935873637, abs=1e-9)


def test_citations_among_statistics_journals():
    fit = fit_bradley_terry(citations())
    expected = [-2.9490724968439093, -0.4795697697519925, 0.2689540558194725]
    assert fit.strengths[1:] - fit.strengths[0] == pytest.approx(expected, abs=1e-9)


def test_half_win_strengths_of_the_puddings():
    assert to_ratings(fit_bradley_terry(pudding()).strengths) == pytest.approx(
        [977.6756586342, 1005.5241529101, 997.0179927880, 999.8212614447, 994.6010497859, 1025.3598844372],
        abs=1e-8,
    )


def test_style_control_reproduces_the_reference_rows():
    comparisons = style_rows()
    plain = fit_bradley_terry(comparisons.with_covariates(None, []))
    styled = fit_bradley_terry(scaled(comparisons))
    assert to_ratings(plain.strengths) == pytest.approx(
        [1061.3496203471864, 1078.7141874036279, 961.2327151073578, 898.7034771418281], abs=1e-8
    )
    assert to_ratings(styled.strengths) == pytest.approx(
        [1078.3398005527542, 1033.4326894751453, 995.3589526753732, 892.8685572967272], abs=1e-8
    )
    gamma = [0.18362796947499693, 0.1779795361071653, 0.10011148081121175, 0.19300353595410683]
    assert styled.coefficients == pytest.approx(gamma, abs=1e-9)


def test_weights_by_pair_give_the_reweighted_board():
    plain = style_rows().with_covariates(None, [])
    pairs = np.minimum(plain.a, plain.b) * 4 + np.maximum(plain.a, plain.b)
    weight = 1 / np.bincount(pairs)[pairs]
    weighted = Comparisons.of(4, plain.a, plain.b, plain.outcome, weight=weight / weight.mean())
    fit = fit_bradley_terry(weighted)
    assert to_ratings(fit.strengths) == pytest.approx(
        [1061.84802420418, 1081.0078818735071, 956.0921667789378, 901.0519271433751], abs=1e-8
    )
    errors = POINTS_PER_LOG_ODDS * tally_sandwich(tally(weighted, Policies()), fit).deviations
    assert errors == pytest.approx(
        [21.710587570655562, 22.782209127004595, 22.839196889516938, 23.559731246339187], abs=1e-8
    )


@pytest.mark.parametrize("pseudo", [False, True])
@pytest.mark.parametrize("kind", ["pairs", "rows"])
def test_gradient_and_hessian_agree_with_finite_differences(kind, pseudo):
    comparisons = scaled(style_rows())
    if kind == "pairs":
        likelihood = PairLikelihood(tally(comparisons, Policies()))
        size = len(likelihood.cells.low)
    else:
        likelihood = RowLikelihood(sort_rows(comparisons, Policies()))
        size = len(likelihood.rows)
    rng = np.random.default_rng(5)
    held = rng.random(size) if pseudo else None
    at = rng.normal(size=4 + likelihood.n_covariates)
    _, gradient, hessian = likelihood.evaluate(at, held)
    value_of = lambda p: likelihood.evaluate(p, held)[0]  # noqa: E731
    assert approx_fprime(at, value_of, 1e-7) == pytest.approx(gradient, abs=2e-4)
    numeric = approx_fprime(at, lambda p: likelihood.evaluate(p, held)[1], 1e-6)
    assert -numeric == pytest.approx(hessian, abs=1e-4)


def test_choix_finds_the_same_strengths():
    comparisons = citations()
    cells = tally(comparisons, Policies())
    wins = np.zeros((4, 4))
    wins[cells.low, cells.high] = cells.score
    wins[cells.high, cells.low] = cells.total - cells.score
    other = choix.ilsr_pairwise_dense(wins, tol=1e-10)
    assert fit_bradley_terry(comparisons).strengths == pytest.approx(other - other.mean(), abs=1e-7)


def test_nothing_left_to_fit_is_said():
    with pytest.raises(NoVotesError):
        fit_bradley_terry(board(2, [(0, 1, 0, 0, 3)]), Policies(ties="drop"))


def test_a_covariate_that_repeats_another_is_refused():
    comparisons = style_rows()
    twice = comparisons.covariates[:, [0, 0]]
    with pytest.raises(NotConvergedError, match="drop a covariate"):
        fit_bradley_terry(comparisons.with_covariates(twice, ["length", "again"]))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_row_order_sides_and_names_change_nothing(seed):
    rng = np.random.default_rng(seed)
    comparisons = scaled(style_rows())
    fit = fit_bradley_terry(comparisons)
    names = rng.permutation(4).astype(np.int32)
    changed = comparisons.swap_sides(rng.random(240) < 0.5).select(rng.permutation(240))
    renamed = Comparisons.of(
        4,
        names[changed.a],
        names[changed.b],
        changed.outcome,
        covariates=changed.covariates,
        covariate_names=changed.covariate_names,
    )
    other = fit_bradley_terry(renamed)
    assert other.strengths[names] == pytest.approx(fit.strengths, abs=1e-10)
    assert other.coefficients == pytest.approx(fit.coefficients, abs=1e-10)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_quarter_wins_count_the_same_by_cells_and_by_rows(seed):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 4, 200)
    b = (a + rng.integers(1, 4, 200)) % 4
    votes = Comparisons.of(4, a, b, rng.integers(0, 7, 200), weight=rng.uniform(0.5, 2, 200))
    policies = Policies(unstable="average", ties="drop")
    cells, rows = tally(votes, policies), sort_rows(votes, policies)
    at = rng.normal(size=4)
    for one, other in zip(
        PairLikelihood(cells).evaluate(at, None), RowLikelihood(rows).evaluate(at, None), strict=True
    ):
        assert one == pytest.approx(other, rel=1e-10, abs=1e-10)
    fit = fit_bradley_terry(votes, policies)
    residual, _ = RowLikelihood(rows).scores(fit.params)
    meat = RowLikelihood(rows).outer(residual**2)
    assert tally_sandwich(cells, fit).matrix == pytest.approx(
        fit.bread @ meat @ fit.bread, rel=1e-8, abs=1e-12
    )
