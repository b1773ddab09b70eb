from dataclasses import replace

import numpy as np
import pytest
from textbook_boards import style_rows

from ratings.board_options import LeaderboardOptions
from ratings.comparisons import Comparisons
from ratings.errors import BadOptionError, BadValueError, ShapeError
from ratings.leaderboard import fit_leaderboard
from ratings.simulate import StyleFeature, VoteModel, simulate_votes
from ratings.style import inflation_factors, relative_differences, scale_covariates

STYLED = LeaderboardOptions(style=True, bootstrap=0)


def test_relative_differences_change_sign_with_the_sides():
    a, b = np.array([[200, 0], [100, 3]]), np.array([[100, 0], [100, 1]])
    assert relative_differences(a, b) == pytest.approx(np.array([[1 / 3, 0], [0, 0.5]]))
    assert relative_differences(b, a) == pytest.approx(-relative_differences(a, b))
    assert relative_differences(a, b, "fastchat") == pytest.approx(np.array([[100 / 301, 0], [0, 0.4]]))


# Natural log-odds per standard deviation, as published: LMSYS, "Does style matter?" (blog, 28 August 2024);
# shrunk: the same feature in the notebook that arena-rank ships, whose default penalty is 1 on the mean loss.
PUBLISHED = {"length": 0.249, "lists": 0.031, "headers": 0.024, "bold": 0.019}
PUBLISHED_LENGTH_ALONE = 0.267
SHRUNK_LENGTH = 0.0388


def _as_published(n=60_000, competitors=10):
    """Votes of a world in which style is worth what was published, its features moderately alike."""
    rng = np.random.default_rng(2024)
    common = rng.normal(size=(n, 1))
    d = np.clip(0.35 * (0.5 * common + np.sqrt(0.75) * rng.normal(size=(n, 4))), -1, 1)
    z = scale_covariates(d, "relative").z
    a = rng.integers(0, competitors, n)
    b = (a + rng.integers(1, competitors, n)) % competitors
    theta = np.linspace(-0.6, 0.6, competitors)
    eta = theta[a] - theta[b] + z @ np.array(list(PUBLISHED.values()))
    outcome = (rng.random(n) > 1 / (1 + np.exp(-eta))).astype(np.int8)
    return Comparisons.of(competitors, a, b, outcome, covariates=d, covariate_names=tuple(PUBLISHED))


def test_coefficients_as_published_are_found_and_not_shrunk():
    board = fit_leaderboard(_as_published(), STYLED)
    for found in board.coefficients:
        assert found.lower - 0.01 < PUBLISHED[found.name] < found.upper + 0.01
    assert board.coefficients[0].estimate > 4 * SHRUNK_LENGTH


def test_length_alone_takes_over_what_markdown_was_worth():
    votes = _as_published()
    alone = votes.with_covariates(votes.covariates[:, :1], ("length",))
    (length,) = fit_leaderboard(alone, STYLED).coefficients
    assert PUBLISHED["length"] < length.estimate
    assert length.estimate == pytest.approx(PUBLISHED_LENGTH_ALONE, abs=0.03)


def test_counts_that_are_none_are_refused():
    with pytest.raises(BadValueError) as caught:
        relative_differences([1, 2, -1], [1, 1, 1])
    assert caught.value.row == 2
    with pytest.raises(BadValueError):
        relative_differences([1], [float("nan")])
    with pytest.raises(ShapeError):
        relative_differences([1, 2], [1])
    with pytest.raises(BadOptionError):
        scale_covariates(np.ones((2, 1)), "log")


def test_scaling_by_the_root_mean_square_keeps_zero_at_zero():
    d = np.array([[0.5], [0.0], [-0.1], [0.3]])
    scaled = scale_covariates(d, "relative")
    assert (scaled.z**2).mean() == pytest.approx(1)
    assert scaled.z[1] == 0
    centred = scale_covariates(d, "fastchat")
    assert (centred.z.mean(), centred.z.std()) == (pytest.approx(0), pytest.approx(1))
    assert scale_covariates(d, "none").z.tolist() == d.tolist()


def test_inflation_of_an_orthogonal_covariate_is_one():
    hessian = np.diag([2.0, 2.0, 5.0, 3.0])
    assert inflation_factors(hessian, np.diag([0.5, 0.5])).tolist() == [1, 1]
    hessian[2, 3] = hessian[3, 2] = np.sqrt(15) * (1 - 1e-14)
    assert np.isinf(inflation_factors(hessian, np.diag([0.5, 0.5]))).all()


def test_position_is_a_coefficient_beside_style():
    fit = fit_leaderboard(style_rows(), replace(STYLED, position=True))
    estimates = {c.name: c.estimate for c in fit.coefficients}
    assert estimates["position"] == pytest.approx(0.03078966057093814, abs=1e-8)
    assert estimates["length"] == pytest.approx(0.18351803332272648, abs=1e-8)
    assert estimates["bold"] == pytest.approx(0.19621591990227022, abs=1e-8)
    position = fit.coefficients[-1]
    assert position.standard_error == pytest.approx(0.12721215920280887, abs=1e-8)
    assert (position.per_doubling, position.scale) == (None, None)


def test_standard_errors_of_the_reference_rows():
    fit = fit_leaderboard(style_rows(), STYLED)
    errors = [c.standard_error for c in fit.coefficients]
    assert errors == pytest.approx([0.1415926772, 0.1352323787, 0.1526637750, 0.1457499548], abs=1e-8)
    assert fit.coefficients[0].inflation >= 1


def test_style_control_finds_the_effect_and_takes_it_out():
    """Six equal models of which the last write at length; 400,000 votes lift a tenth of γ above the noise."""
    lean = tuple(np.linspace(-0.5, 0.5, 6))
    model = VoteModel((0.0,) * 6, style=(StyleFeature("length", 0.25, lean=lean),))
    votes = simulate_votes(model, 400_000, seed=3).as_comparisons()
    styled, plain = fit_leaderboard(votes, STYLED), fit_leaderboard(votes, replace(STYLED, style=False))
    spread = lambda fit: np.ptp([s.rating for s in fit.standings])  # noqa: E731
    assert styled.coefficients[0].estimate == pytest.approx(0.25, abs=0.02)
    left = np.polyfit(lean, [s.rating for s in sorted(styled.standings, key=lambda s: s.competitor)], 1)[0]
    confound = np.polyfit(lean, [s.rating for s in sorted(plain.standings, key=lambda s: s.competitor)], 1)[0]
    assert abs(left) < 0.1 * confound
    assert all(abs(s.style_shift - s.style_contribution) < 0.1 * spread(plain) for s in styled.standings)


def test_without_an_effect_both_boards_agree_within_their_interval():
    model = VoteModel(tuple(np.linspace(-0.5, 0.5, 6)), tie=0.7, style=(StyleFeature("length", 0.0),))
    fit = fit_leaderboard(simulate_votes(model, 8000, seed=3).as_comparisons(), STYLED)
    covered = [s.style_shift_lower <= 0 <= s.style_shift_upper for s in fit.standings]
    assert sum(covered) >= 5
    assert fit.coefficients[0].lower < 0 < fit.coefficients[0].upper
