"""From 200,000 votes on, columns are single precision and resamples drawn per pair: the same numbers."""

from dataclasses import replace

import numpy as np
import pytest

from ratings import board as board_module
from ratings import board_intervals
from ratings.board import fit_board
from ratings.board_options import LeaderboardOptions
from ratings.bootstrap_large import _Chord, bootstrap_large, sample_votes, sums_of_cells, sums_of_rows
from ratings.bradley_terry import RowLikelihood, fit_bradley_terry
from ratings.clusters import cr0, effective_per_parameter, sparse_scores
from ratings.comparisons import Comparisons, Policies
from ratings.leaderboard import fit_leaderboard
from ratings.newton import gauge, maximise
from ratings.rows import sort_rows
from ratings.scale import POINTS_PER_LOG_ODDS
from ratings.simulate import StyleFeature, VoteModel, simulate_votes

MODEL = VoteModel(
    tuple(np.linspace(-0.8, 0.8, 12)),
    tie=0.7,
    raters=40,
    rater_sd=0.3,
    prompts=3000,
    prompt_sd=0.3,
    style=(StyleFeature("length", 0.25), StyleFeature("lists", 0.1, typical=4.0)),
)
OPTIONS = LeaderboardOptions(style=True, bootstrap=0, check=False)


@pytest.fixture(scope="module")
def votes():
    return simulate_votes(MODEL, 210_000, seed=1).as_comparisons()


@pytest.fixture(scope="module")
def large(votes):
    return fit_board(votes, OPTIONS)


@pytest.fixture(scope="module")
def exact(votes):
    with pytest.MonkeyPatch.context() as patch:
        for module in ("ratings.board", "ratings.rows"):
            patch.setattr(f"{module}.LARGE", 10**9)
        return fit_board(votes, OPTIONS)


def test_single_precision_is_used_and_only_on_large_boards(large, exact):
    assert large.rows.score.dtype == np.float32
    assert exact.rows.score.dtype == np.float64
    assert board_module.LARGE > board_intervals.RESAMPLED_BY_PAIR


def test_ratings_agree_with_an_exact_fit_to_a_thousandth_of_a_point(large, exact):
    assert POINTS_PER_LOG_ODDS * large.fit.params == pytest.approx(
        POINTS_PER_LOG_ODDS * exact.fit.params, abs=1e-3
    )
    assert large.fit.iterations <= 3


def test_errors_and_effective_clusters_agree(large, exact):
    assert large.covariance.deviations == pytest.approx(exact.covariance.deviations, rel=1e-3)
    assert large.covariance.independent == pytest.approx(exact.covariance.independent, rel=1e-3, abs=1e-9)
    for one, other in zip(large.covariance.dimensions, exact.covariance.dimensions, strict=True):
        assert one.per_parameter == pytest.approx(other.per_parameter, rel=0.02)
        assert (one.count, one.effective) == (other.count, pytest.approx(other.effective))


def test_intersections_are_the_same_vote_by_vote(exact):
    scores, bread = exact.scores, exact.fit.bread
    rater, prompt = exact.covariance.dimensions
    cell = np.unique(rater.labels * prompt.count + prompt.labels, return_inverse=True)[1]
    u = sparse_scores(scores.rows, scores.residual, scores.residual * scores.rows.z, cell, cell.max() + 1)
    direct = bread @ (u.T @ u).toarray() @ bread
    assert cr0(scores, bread, cell, int(cell.max()) + 1) == pytest.approx(direct, rel=1e-8, abs=1e-12)


def test_the_spread_of_resamples_is_the_sandwichs(exact):
    sums = sums_of_rows(exact.scores)
    runs = bootstrap_large(exact.fit, sums, sample_votes(sums, 12), resamples=3000, seed=2)
    ratio = runs.deviations / np.sqrt(np.diag(exact.covariance.independent))
    assert ratio == pytest.approx(1, abs=0.05)
    assert runs.params.mean(axis=0) == pytest.approx(exact.fit.params, abs=3e-3)


def test_two_chord_steps_land_on_the_full_refit(votes):
    plain = votes.with_covariates(None, ())
    fit = fit_bradley_terry(plain)
    sums = sums_of_cells(board_module.tally(plain, Policies()), fit)
    scores, relative = sample_votes(sums, 12)(np.random.default_rng(4), 3)
    moves = _Chord.of(fit, sums).moves(scores, relative)
    eta = fit.strengths[sums.low] - fit.strengths[sums.high]
    incidence = np.zeros((12, len(sums.low)))
    incidence[sums.low, np.arange(len(eta))], incidence[sums.high, np.arange(len(eta))] = 1, -1
    for b in range(3):
        weight = relative[:, b] * sums.weight
        base = scores[:, b] + incidence @ (weight / (1 + np.exp(-eta)))

        def objective(theta, weight=weight, base=base):
            p = 1 / (1 + np.exp(-(incidence.T @ theta)))
            value = base @ theta - weight @ np.logaddexp(0, incidence.T @ theta)
            return value, base - incidence @ (weight * p), (incidence * (weight * p * (1 - p))) @ incidence.T

        full = maximise(
            objective, fit.strengths, gauge(np.zeros(12, dtype=np.int32), 0), tolerance=1e-6
        ).params
        half_width = 1.96 * np.sqrt(np.diag(fit.bread)[:12])
        assert (np.abs(fit.strengths + moves[:, b] - full) < 0.01 * half_width).all()


def test_resamples_agree_with_row_by_row_refits(votes):
    """Poisson counts on the rows themselves, refitted by Newton, against the normal sums per pair."""
    small = votes.select(np.arange(0, 210_000, 20))
    fit = fit_bradley_terry(small)
    rows = sort_rows(small, Policies())
    flat, rng, refits = gauge(fit.graph.component, 2), np.random.default_rng(0), []
    for _ in range(80):
        drawn = replace(rows, weight=rng.poisson(1.0, len(rows)).astype(float))
        likelihood = RowLikelihood(drawn)
        refits.append(
            maximise(lambda p, it=likelihood: it.evaluate(p, None), fit.params, flat, tolerance=1e-6).params
        )
    sums = sums_of_rows(board_intervals_scores(rows, fit))
    runs = bootstrap_large(fit, sums, sample_votes(sums, 12), resamples=2000, seed=0)
    ratio = runs.deviations / np.std(refits, axis=0)
    assert ratio.mean() == pytest.approx(1, abs=0.07)  # 14 parameters, 80 refits: 0.02


def board_intervals_scores(rows, fit):
    from ratings.uncertainty import vote_scores

    return vote_scores(rows, fit)


@pytest.mark.parametrize("style", [False, True])
def test_a_large_board_has_bootstrap_intervals_by_clusters(votes, style):
    options = replace(OPTIONS, style=style, bootstrap=300, interval="bootstrap")
    fit = fit_leaderboard(votes, options)
    robust = fit_leaderboard(votes, replace(options, bootstrap=0, interval="robust"))
    widths = [
        (s.upper - s.lower, t.upper - t.lower) for s, t in zip(fit.standings, robust.standings, strict=True)
    ]
    ratio = np.array([a / b for a, b in widths])
    assert ratio == pytest.approx(1, abs=0.2)
    assert fit_leaderboard(votes, options) == fit


def test_effective_clusters_of_unequal_raters_agree():
    rng = np.random.default_rng(3)
    n = 20_000
    a = rng.integers(0, 40, n)
    b = (a + rng.integers(1, 40, n)) % 40
    rater = np.minimum(rng.zipf(1.5, n), 60)
    votes = Comparisons.of(40, a, b, rng.integers(0, 3, n), rater=rater)
    fit, rows = fit_bradley_terry(votes), sort_rows(votes, Policies())
    scores = board_intervals_scores(rows, fit)
    labels = np.unique(rater[rows.source], return_inverse=True)[1]
    exact = effective_per_parameter(scores, fit.bread, labels, int(labels.max()) + 1)
    single = replace(
        scores, residual=scores.residual.astype(np.float32), information=scores.information.astype(np.float32)
    )
    assert effective_per_parameter(single, fit.bread, labels, int(labels.max()) + 1) == pytest.approx(
        exact, rel=0.03
    )


def test_a_large_separated_board_keeps_double_precision(votes):
    first = 11  # the strongest never loses: its votes are turned into wins
    outcome = np.where(votes.a == first, 0, np.where(votes.b == first, 1, votes.outcome)).astype(np.int8)
    board = fit_board(replace(votes, outcome=outcome), OPTIONS)
    assert board.fit.pseudo is not None
    assert board.rows.score.dtype == np.float64
    assert board.fit.graph.unbounded_above.sum() == 1
    assert np.isfinite(board.fit.params).all()
