import numpy as np
import pytest
from scipy.optimize import approx_fprime
from textbook_boards import board, pudding, style_rows

from ratings.comparisons import Policies
from ratings.davidson import TieLikelihood, fit_davidson
from ratings.errors import BadOptionError, IncomparableError
from ratings.rows import sort_rows
from ratings.scale import POINTS_PER_LOG_ODDS


def test_two_competitors_are_saturated():
    fit = fit_davidson(board(2, [(0, 1, 5, 3, 4)]))
    assert fit.nu == pytest.approx(1.0327955589886444, abs=1e-9)
    assert POINTS_PER_LOG_ODDS * 2 * fit.fit.params[0] == pytest.approx(88.73949984654254, abs=1e-7)


def test_puddings_are_as_davidson_published_them():
    found = fit_davidson(pudding())
    worth = np.exp(found.fit.params[:6])
    expected = [0.13880337518068817, 0.17300149998299466, 0.16174743403678732, 0.16537295776291405]
    expected += [0.15868539457471847, 0.2023893384618974]
    assert worth / worth.sum() == pytest.approx(expected, abs=1e-9)
    assert found.nu == pytest.approx(0.7468229876542896, abs=1e-9)
    assert found.fit.log_likelihood == pytest.approx(-809.7095100902873, abs=1e-8)
    assert np.sqrt(found.fit.bread[6, 6]) == pytest.approx(0.08249869172098383, abs=1e-8)
    assert np.sqrt(found.fit.bread[0, 0]) == pytest.approx(0.12194896625176642, abs=1e-8)


def test_gradient_and_hessian_agree_with_finite_differences():
    likelihood = TieLikelihood(sort_rows(style_rows(), Policies(ties="davidson")))
    at = np.random.default_rng(1).normal(size=9) / 2
    _, gradient, hessian = likelihood.evaluate(at)
    assert approx_fprime(at, lambda p: likelihood.evaluate(p)[0], 1e-7) == pytest.approx(gradient, abs=2e-4)
    numeric = approx_fprime(at, lambda p: likelihood.evaluate(p)[1], 1e-6)
    assert -numeric == pytest.approx(hessian, abs=1e-4)


def test_clusters_widen_the_sandwich_only_where_they_agree():
    found = fit_davidson(pudding())
    each = np.arange(len(found.rows))
    n = len(each)
    assert found.sandwich(each) == pytest.approx(found.sandwich() * n / (n - 1), abs=1e-12)


def test_boards_davidson_cannot_fit_are_refused():
    with pytest.raises(BadOptionError, match="no tie"):
        fit_davidson(board(2, [(0, 1, 5, 3)]))
    with pytest.raises(IncomparableError):
        fit_davidson(board(3, [(0, 1, 5, 3, 1), (2, 1, 3, 0)]))
