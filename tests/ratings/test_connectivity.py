import numpy as np
import pytest
from textbook_boards import board

from ratings.bradley_terry import fit_bradley_terry
from ratings.comparisons import Policies, tally
from ratings.connectivity import connectivity
from ratings.firth import one_sided_bound
from ratings.scale import POINTS_PER_LOG_ODDS, to_ratings


def graph_of(k, pairs):
    return connectivity(tally(board(k, pairs), Policies()))


def test_groups_without_a_battle_between_them_are_components():
    graph = graph_of(5, [(0, 1, 3, 1), (2, 3, 2, 2)])
    assert graph.component.tolist() == [0, 0, 1, 1, 2]
    assert graph.fought.tolist() == [True, True, True, True, False]
    assert not graph.separated.any()


def test_who_never_lost_is_unbounded_and_dominates():
    graph = graph_of(3, [(0, 1, 4, 0), (1, 2, 2, 1)])
    assert graph.dominance == ((0,), (1, 2))
    assert graph.unbounded_above.tolist() == [True, False, False]
    assert not graph.unbounded_below.any()
    assert graph.separated.all()


def test_a_tie_goes_both_ways():
    graph = graph_of(3, [(0, 1, 4, 0, 1), (1, 2, 2, 1)])
    assert graph.dominance == ((0, 1, 2),)
    assert not graph.separated.any()


def test_a_chain_of_single_competitors_is_unbounded_both_ways_in_the_middle():
    graph = graph_of(3, [(0, 1, 1, 0), (1, 2, 1, 0)])
    assert graph.dominance == ((0,), (1,), (2,))
    assert graph.unbounded_above.tolist() == [True, True, False]
    assert graph.unbounded_below.tolist() == [False, True, True]


def test_separate_components_are_each_centred():
    fit = fit_bradley_terry(board(4, [(0, 1, 3, 1), (2, 3, 2, 2)]))
    assert fit.strengths == pytest.approx([np.log(3) / 2, -np.log(3) / 2, 0, 0], abs=1e-12)


def test_five_to_nothing_is_ln_eleven_by_firth():
    fit = fit_bradley_terry(board(2, [(0, 1, 5, 0)]))
    assert fit.strengths[0] - fit.strengths[1] == pytest.approx(np.log(11), abs=1e-9)
    assert fit.pseudo.sum() == pytest.approx(1, abs=1e-9)


def test_firth_with_three_competitors():
    fit = fit_bradley_terry(board(3, [(0, 1, 4, 0), (0, 2, 3, 0), (1, 2, 2, 1)]))
    assert fit.strengths - fit.strengths[2] == pytest.approx([2.9131204995, 0.4953242660, 0], abs=1e-6)
    assert to_ratings(fit.strengths) == pytest.approx([1308.691710, 888.677443, 802.630847], abs=2e-4)
    assert fit.pseudo.sum() == pytest.approx(2, abs=1e-8)  # K − 1


def test_firth_leaves_other_components_alone():
    fit = fit_bradley_terry(board(4, [(0, 1, 3, 1), (2, 3, 5, 0)]))
    assert fit.strengths[0] - fit.strengths[1] == pytest.approx(np.log(3), abs=1e-10)
    assert fit.strengths[2] - fit.strengths[3] == pytest.approx(np.log(11), abs=1e-9)


def test_five_to_nothing_is_bounded_by_the_exact_binomial():
    comparisons = board(2, [(0, 1, 5, 0)])
    fit, cells = fit_bradley_terry(comparisons), tally(comparisons, Policies())
    lower, upper = (one_sided_bound(cells, fit, i, 0.95) for i in (0, 1))
    assert POINTS_PER_LOG_ODDS * 2 * lower == pytest.approx(34.35497319153343, abs=1e-8)
    assert upper == -lower


def test_a_profile_bound_holds_the_penalised_likelihood_at_its_drop():
    comparisons = board(3, [(0, 1, 4, 0), (0, 2, 3, 0), (1, 2, 2, 1)])
    fit, cells = fit_bradley_terry(comparisons), tally(comparisons, Policies())
    bounds = [one_sided_bound(cells, fit, 0, confidence) for confidence in (0.8, 0.95, 0.99)]
    assert fit.strengths[0] > bounds[0] > bounds[1] > bounds[2] > -1
    # Penalised profile by brute force: θ = (b, −b/2 + t, −b/2 − t), maximised over t on a grid.
    assert _drop(cells, bounds[1]) == pytest.approx(1.3527717, abs=1e-3)  # χ²₁ quantile 0.90, halved


def _drop(cells, bound):
    grid = np.linspace(-3, 3, 2001)
    height = lambda b: max(_penalised(cells, np.array([b, t - b / 2, -t - b / 2])) for t in grid)  # noqa: E731
    return max(height(b) for b in np.linspace(1, 3, 101)) - height(bound)


def _penalised(cells, theta):
    eta = theta[cells.low] - theta[cells.high]
    p = 1 / (1 + np.exp(-eta))
    x = np.zeros((len(eta), 3))
    x[np.arange(len(eta)), cells.low], x[np.arange(len(eta)), cells.high] = 1, -1
    information = (x.T * (cells.total * p * (1 - p))) @ x
    value = cells.score @ eta - cells.total @ np.logaddexp(0, eta)
    return value + 0.5 * np.log(np.linalg.det(information[:2, :2]))
