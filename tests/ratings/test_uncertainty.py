"""Reference values: 240 rows fitted with style control, rater = row mod 24, prompt = 7·row mod 40."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from textbook_boards import board, style_rows

from ratings.board import fit_board
from ratings.board_options import LeaderboardOptions
from ratings.bradley_terry import fit_bradley_terry
from ratings.clusters import cr0, effective_clusters, effective_for
from ratings.comparisons import Comparisons, Policies, tally
from ratings.deletions import connects_alone
from ratings.rows import sort_rows
from ratings.scale import POINTS_PER_LOG_ODDS
from ratings.simulate import VoteModel, simulate_votes
from ratings.style import scale_covariates
from ratings.uncertainty import critical_values, robust_covariance

ROW = np.arange(240)


def clustered(dimensions, **columns):
    raw = style_rows(**columns)
    comparisons = raw.with_covariates(scale_covariates(raw.covariates, "relative").z, raw.covariate_names)
    fit = fit_bradley_terry(comparisons)
    rows, cells = sort_rows(comparisons, Policies()), tally(comparisons, Policies())
    return fit, *robust_covariance(comparisons, rows, fit, dimensions, cells)[:2]


def points(covariance):
    return POINTS_PER_LOG_ODDS * np.sqrt(np.diag(covariance)[:4])


def test_hc0_takes_votes_as_independent():
    _, covariance, _ = clustered(())
    expected = [23.90790448133999, 31.343812432181807, 26.913496746385725, 24.133784720961444]
    assert POINTS_PER_LOG_ODDS * covariance.deviations[:4] == pytest.approx(expected, abs=1e-8)
    gamma = [0.14159267720879815, 0.13523237872937044, 0.15266377496778796, 0.1457499548137318]
    assert covariance.deviations[4:] == pytest.approx(gamma, abs=1e-9)
    assert covariance.design_effect == pytest.approx(1)
    assert np.isinf(covariance.degrees).all()


def test_cr0_sums_scores_within_clusters():
    fit, covariance, scores = clustered(("rater", "prompt"), rater=ROW % 24, prompt=7 * ROW % 40)
    rater, prompt = covariance.dimensions
    expected = [18.369237806753425, 32.27880908024609, 31.268023065364943, 19.90707157304994]
    assert points(cr0(scores, fit.bread, rater.labels, 24)) == pytest.approx(expected, abs=1e-8)
    expected = [25.22502581034248, 34.008442303140505, 25.314455620060006, 24.42182827087942]
    assert points(cr0(scores, fit.bread, prompt.labels, 40)) == pytest.approx(expected, abs=1e-8)


def test_cr3_deletes_one_cluster_at_a_time_in_one_step():
    _, covariance, _ = clustered(("rater",), rater=ROW % 24)
    expected = [19.13326797, 34.10261545, 33.11312825, 20.64175469]
    assert POINTS_PER_LOG_ODDS * covariance.deviations[:4] == pytest.approx(expected, abs=1e-7)


def test_two_way_adds_the_dimensions_and_takes_their_cells_off():
    fit, covariance, scores = clustered(("rater", "prompt"), rater=ROW % 24, prompt=7 * ROW % 40)
    rater, prompt = covariance.dimensions
    cell = np.unique(rater.labels * 40 + prompt.labels, return_inverse=True)[1]
    parts = [(rater.labels, 24), (prompt.labels, 40), (cell, cell.max() + 1)]
    one, two, both = (cr0(scores, fit.bread, *part) for part in parts)
    expected = [20.96762968, 33.08161113, 29.21553245, 19.68143354]
    assert points(one + two - both) == pytest.approx(expected, abs=1e-7)
    assert covariance.matrix == pytest.approx(rater.covariance + prompt.covariance - both, abs=1e-14)


def test_no_contrast_falls_below_a_one_way_variance():
    _, covariance, _ = clustered(("rater", "prompt"), rater=ROW % 24, prompt=7 * ROW % 40)
    rng = np.random.default_rng(0)
    for contrast in rng.normal(size=(20, 8)):
        floor = max(contrast @ d.covariance @ contrast for d in covariance.dimensions)
        assert covariance.deviation(contrast) ** 2 >= floor * (1 - 1e-12)
    for i, j in [(0, 1), (2, 3)]:
        contrast = np.zeros(8)
        contrast[i], contrast[j] = 1, -1
        assert covariance.difference_deviations[i, j] == pytest.approx(covariance.deviation(contrast))


def test_effective_clusters_count_equal_ones():
    labels = np.repeat([0, 1, 2, 3], [100, 50, 25, 25])
    assert effective_clusters(labels) == pytest.approx(2.909090909090909)


def test_effective_clusters_of_a_contrast_follow_its_information():
    fit, covariance, scores = clustered(("rater",), rater=ROW % 24)
    dimension = covariance.dimensions[0]
    for i in range(8):
        contrast = np.eye(8)[i] - (np.arange(8) < 4) / 4 * (i < 4)
        direct = effective_for(scores, fit.bread, dimension.labels, 24, contrast[:, None])[0]
        assert dimension.per_parameter[i] == pytest.approx(direct, rel=1e-6)


def test_a_new_model_judged_by_one_rater_gets_no_interval():
    pairs = [(a, b, 12, 12) for a in range(3) for b in range(a)] + [(3, 0, 6, 4)]
    comparisons = board(4, pairs)
    rater = np.arange(len(comparisons)) % 8
    rater[(comparisons.a == 3) | (comparisons.b == 3)] = 0
    comparisons = Comparisons.of(4, comparisons.a, comparisons.b, comparisons.outcome, rater=rater)
    fit = fit_bradley_terry(comparisons)
    rows, cells = sort_rows(comparisons, Policies()), tally(comparisons, Policies())
    covariance = robust_covariance(comparisons, rows, fit, ("rater",), cells)[0]
    assert covariance.degrees[3] == 0
    assert np.isnan(critical_values(covariance.degrees, 0.95)[3])
    assert (covariance.degrees[:3] > 1).all()
    assert covariance.fallen_back.tolist() == [False, False, False, True]


def test_deletion_moves_are_those_of_direct_solves():
    _, covariance, scores = clustered(("rater",), rater=ROW // 60)  # four raters: the chord is slow
    rows, labels = scores.rows, covariance.dimensions[0].labels
    x = np.zeros((240, 8))
    x[ROW, rows.low[rows.pair]], x[ROW, rows.high[rows.pair]], x[:, 4:] = 1, -1, rows.z.T
    moves = []
    for g in range(4):
        kept = labels != g
        left = (x[kept].T * scores.information[kept]) @ x[kept]
        moves.append(np.linalg.pinv(left) @ x[~kept].T @ scores.residual[~kept])
    assert covariance.matrix == pytest.approx(np.array(moves).T @ np.array(moves) * 3 / 4, rel=1e-6)


def test_many_clusters_are_worked_off_in_blocks(monkeypatch):
    one, *_ = (clustered(("prompt",), prompt=7 * ROW % 40)[1].matrix,)
    monkeypatch.setattr("ratings.cluster_runs.RUN_ROWS", 20)
    other = clustered(("prompt",), prompt=7 * ROW % 40)[1].matrix
    assert other == pytest.approx(one, rel=1e-8)


def test_a_single_cluster_is_dropped_and_told():
    _, covariance, _ = clustered(("rater", "prompt"), rater=ROW * 0, prompt=ROW % 40)
    assert covariance.conditional_on == ("rater",)
    assert [d.name for d in covariance.dimensions] == ["prompt"]


def test_critical_values_are_t_quantiles():
    values = critical_values(np.array([23.0, np.inf, 0.0]), 0.95)
    assert values[:2] == pytest.approx([2.0686576104190486, stats.norm.ppf(0.975)])
    assert np.isnan(values[2])
    assert all(a >= b for a, b in pairwise(critical_values(np.arange(1.0, 50), 0.95)))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(3, 9), st.integers(2, 8))
def test_deletions_that_disconnect_are_all_found(seed, k, count):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, k, 3 * k)
    b = (a + rng.integers(1, k, 3 * k)) % k
    votes = Comparisons.of(k, a, b, rng.integers(0, 3, 3 * k))
    rows = sort_rows(votes, Policies())
    labels = rng.integers(0, count, 3 * k)

    def parts(kept):
        edges = csr_array((np.ones(kept.sum()), (rows.row_low[kept], rows.row_high[kept])), shape=(k, k))
        return connected_components(edges, directed=False)[0]

    whole = parts(np.ones(3 * k, dtype=bool))
    expected = [parts(labels != g) > whole for g in range(count)]
    assert connects_alone(rows, labels, count).tolist() == expected


def test_sparse_boards_with_many_prompts_are_quick_to_check(monkeypatch):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 100, 5000)
    b = (a + rng.integers(1, 100, 5000)) % 100
    rows = sort_rows(Comparisons.of(100, a, b, rng.integers(0, 3, 5000)), Policies())
    labels = rng.permutation(5000) // 2
    calls = []
    monkeypatch.setattr("ratings.deletions._parts", lambda *_: calls.append(1) or 1)
    connects_alone(rows, labels, 2500)
    assert len(calls) < 20  # not one per prompt


def test_the_design_effect_is_of_the_clusters_and_not_of_the_models_variance_that_stands_in():
    """Votes that are nearly all ties have next to no residuals: the model's own variance is far above."""
    a, b = np.zeros(40, dtype=int), 1 + np.arange(40) % 4
    outcome = np.where(np.arange(40) < 4, [0, 1, 0, 1] * 10, 2)
    votes = Comparisons.of(5, a=a, b=b, outcome=outcome, rater=np.arange(40) % 10)
    covariance = fit_board(votes, LeaderboardOptions(bootstrap=0, check=False)).covariance
    assert covariance.leaning.all()
    assert 0.3 < covariance.design_effect < 3
    assert (covariance.deviations**2 / np.diag(covariance.independent)).max() > 5


def test_floored_are_the_errors_that_are_the_models_own():
    model = VoteModel((0.6, 0.2, 0.0, -0.3), tie=0.3, raters=6, prompts=30)
    counts = []
    for seed in range(12):
        votes = simulate_votes(model, 400, seed=seed).as_comparisons()
        covariance = fit_board(votes, LeaderboardOptions(bootstrap=0, check=False)).covariance
        own = np.sqrt(np.diag(covariance.model))
        assert np.array_equal(covariance.floored, covariance.leaning & (covariance.deviations == own))
        counts.append(int(covariance.floored.sum()))
    assert 0 < sum(counts) < 48
    many = replace(model, raters=200, prompts=300)
    votes = simulate_votes(many, 2000, seed=1).as_comparisons()
    assert not fit_board(votes, LeaderboardOptions(bootstrap=0, check=False)).covariance.floored.any()
