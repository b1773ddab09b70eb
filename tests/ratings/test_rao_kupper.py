import numpy as np
import pytest
from textbook_boards import board, pudding

from ratings.comparisons import Comparisons
from ratings.errors import BadOptionError, IncomparableError
from ratings.rao_kupper import fit_grounded_rao_kupper, fit_rao_kupper


def votes(k, pairs):
    """Rows (a, b, a wins, b wins, ties, both bad)."""
    rows = [(a, b, o) for a, b, *ns in pairs for o, n in enumerate(ns) for _ in range(n)]
    return Comparisons.of(k, *(np.array(column) for column in zip(*rows, strict=True)))


def test_two_competitors_are_saturated():
    fit = fit_rao_kupper(board(2, [(0, 1, 5, 3, 4)]))
    assert fit.kappa == pytest.approx(2.04939015319192, abs=1e-9)
    assert fit.log_worth[0] - fit.log_worth[1] == pytest.approx(0.38107002602344836, abs=1e-9)


def test_puddings():
    fit = fit_rao_kupper(pudding())
    assert fit.kappa == pytest.approx(1.748457, abs=1e-5)
    assert fit.log_likelihood == pytest.approx(-809.697133489, abs=1e-7)
    assert fit.log_worth[[0, 5]] == pytest.approx([-0.139437, 0.158572], abs=1e-5)
    assert fit.log_worth.sum() == pytest.approx(0, abs=1e-9)
    with pytest.raises(BadOptionError, match="no absolute zero"):
        fit.usable_probability()


def test_the_grounded_model_has_an_absolute_zero():
    fit = fit_grounded_rao_kupper(votes(2, [(0, 1, 40, 25, 20, 15)]))
    assert fit.log_worth == pytest.approx([1.2130413306416927, 0.8341984797929343], abs=1e-8)
    assert fit.kappa == pytest.approx(1.7566678500182336, abs=1e-8)
    pi_a, pi_b = np.exp(fit.log_worth)
    assert 1 / (1 + pi_a + pi_b) == pytest.approx(0.15)  # saturated
    assert pi_a / (pi_a + fit.kappa * pi_b + 1) == pytest.approx(0.40)
    assert fit.usable_probability()[0] == pytest.approx(pi_a / (1 + pi_a))


def test_worse_models_fall_below_the_zero():
    pairs = [(0, 1, 40, 5, 5, 10), (1, 2, 12, 10, 8, 60), (0, 2, 45, 4, 4, 9)]
    fit = fit_grounded_rao_kupper(votes(3, pairs))
    assert fit.log_worth[0] > 0 > fit.log_worth[1:].max()
    assert (fit.deviations > 0).all()


def test_sides_and_names_change_nothing():
    pairs = [(0, 1, 40, 5, 5, 10), (1, 2, 12, 10, 8, 60), (0, 2, 45, 4, 4, 9)]
    one = votes(3, pairs)
    other = one.swap_sides(np.arange(len(one)) % 3 == 0)
    assert fit_grounded_rao_kupper(other).log_worth == pytest.approx(
        fit_grounded_rao_kupper(one).log_worth, abs=1e-8
    )
    renamed = Comparisons.of(3, 2 - one.a, 2 - one.b, one.outcome)
    assert fit_grounded_rao_kupper(renamed).log_worth[::-1] == pytest.approx(
        fit_grounded_rao_kupper(one).log_worth, abs=1e-7
    )


def test_boards_these_models_cannot_fit_are_refused():
    with pytest.raises(BadOptionError, match="without a tie"):
        fit_rao_kupper(board(2, [(0, 1, 5, 3)]))
    with pytest.raises(BadOptionError, match="both-bad"):
        fit_grounded_rao_kupper(votes(2, [(0, 1, 4, 2, 1, 0)]))
    with pytest.raises(IncomparableError):
        fit_rao_kupper(board(3, [(0, 1, 5, 3, 2), (1, 2, 4, 0)]))
    with pytest.raises(IncomparableError):
        fit_grounded_rao_kupper(votes(4, [(0, 1, 4, 2, 1, 1), (2, 3, 4, 2, 1, 1)]))
