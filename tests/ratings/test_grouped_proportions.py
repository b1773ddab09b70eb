"""Many groups at once say what the single tests say of each."""

from math import atan, pi, sqrt

import numpy as np
import pytest
from scipy import stats

from ratings.errors import BadValueError, ShapeError
from ratings.grouped_proportions import clustered_means, mcnemars, net_rates, sign_tests
from ratings.pairwise import effect_sizes, effects_of, non_inferiorities, non_inferiority
from ratings.planner import direct_votes_needed, direct_votes_of_each, new_raters_needed, new_raters_of_each
from ratings.proportions import clustered_mean, mcnemar, sign_test

GROUPS = 40


@pytest.fixture
def votes():
    """Scores of 40 groups, among them one of a single row, one of one cluster and one without rows."""
    rng = np.random.default_rng(7)
    group = np.concatenate([rng.integers(3, GROUPS, 900), [0], [1] * 5])
    cluster = np.concatenate([rng.integers(0, 30, 900), [4], [9] * 5])
    return rng.integers(-1, 2, len(group)), group, cluster


def same(value, expected) -> bool:
    if expected is None:
        return bool(np.isnan(value))
    return value == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("clustered", [True, False])
def test_means_of_groups_are_the_means_of_each(votes, clustered):
    score, group, ids = votes
    cluster = ids if clustered else None
    means = clustered_means(score, group, GROUPS, cluster, confidence=0.9)
    seen = set()
    for g in range(GROUPS):
        mine = group == g
        if not mine.any():
            assert np.isnan([means.estimate[g], means.p[g], means.effective_clusters[g]]).all()
            continue
        single = clustered_mean(score[mine], ids[mine] if clustered else None, confidence=0.9)
        for name in ("estimate", "standard_error", "lower", "upper", "p", "n", "clusters"):
            assert same(getattr(means, name)[g], getattr(single, name)), (g, name)
        assert same(means.effective_clusters[g], single.effective_clusters)
        seen.add(single.standard_error is None)
    assert seen == {True, False}


def test_a_group_whose_votes_all_agree_is_sure_of_it():
    means = clustered_means([1, 1, 1, 0, 0], [0, 0, 0, 1, 1], 2)
    assert means.p.tolist() == [0.0, 1.0]
    assert means.standard_error.tolist() == [0.0, 0.0]


def test_signs_and_prompts_of_groups_are_those_of_each():
    wins = np.array([0, 3, 10, 40, 7, 0, 300])
    losses = np.array([0, 0, 4, 41, 7, 12, 250])
    signs, prompts = sign_tests(wins, losses, confidence=0.99), mcnemars(wins, losses)
    for g, (won, lost) in enumerate(zip(wins.tolist(), losses.tolist(), strict=True)):
        test = mcnemar(won, lost)
        for name in ("exact_p", "mid_p", "chi_squared", "chi_squared_p", "corrected", "corrected_p", "p"):
            assert same(getattr(prompts, name)[g], getattr(test, name)), (g, name)
        assert same(prompts.odds_ratio[g], test.odds_ratio)
        if won + lost == 0:
            assert np.isnan([signs.p[g], signs.share[g], signs.lower[g]]).all()
            continue
        sign = sign_test(won, lost, confidence=0.99)
        told = (signs.p[g], signs.share[g], signs.lower[g], signs.upper[g])
        for value, expected in zip(
            told, (sign.p, sign.share.estimate, sign.share.lower, sign.share.upper), strict=True
        ):
            assert same(value, expected), g


def test_effects_and_needs_of_pairs_are_those_of_each():
    difference, deviation = np.array([0.3, -1.2, 0.0]), np.array([0.1, 0.5, 0.02])
    degrees = np.array([12.5, np.inf, 3.0])
    effects = effects_of(difference, deviation, degrees, confidence=0.9, tie_odds=0.4)
    worse = non_inferiorities(difference, deviation, degrees, 10.0)
    clusters = {"lasting_errors": np.array([2.0, 4.0, 0.0]), "effective": degrees + 1}
    clusters["lasting_effective"] = np.array([20.0, 30.0, np.inf])
    new = new_raters_of_each(
        20.0, standard_errors=100 * deviation, raters=30, comparisons=6, cap=500, **clusters
    )
    held = {"lasting_errors": np.array([1.0, 9.0, 0.0]), "effective": degrees + 1}
    votes = direct_votes_of_each(
        20.0, model_errors=100 * deviation, design_effects=degrees[[0, 2, 2]], **held
    )
    for m in range(3):
        single = (float(difference[m]), float(deviation[m]), float(degrees[m]))
        effect = effect_sizes(*single, confidence=0.9, tie_odds=0.4)
        for name, values in effects.items():
            assert values[m] == pytest.approx(getattr(effect, name), rel=1e-14), name
        assert same(worse[m], non_inferiority(*single, 10.0))
        error = float(100 * deviation[m])
        mine = {name.replace("errors", "error"): float(values[m]) for name, values in clusters.items()}
        one = new_raters_needed(20.0, standard_error=error, raters=30, comparisons=6, cap=500, **mine)
        assert new[m] == (np.inf if one.count is None else one.count)
        deff = float(degrees[[0, 2, 2]][m])
        own = {name.replace("errors", "error"): float(values[m]) for name, values in held.items()}
        need = direct_votes_needed(20.0, model_error=error, design_effect=deff, **own)
        assert votes[m] == (np.inf if need.count is None else need.count)
    assert np.isinf(new).any() and np.isfinite(new).any()


def test_rows_that_cannot_be_grouped_are_refused():
    with pytest.raises(ShapeError, match="groups"):
        clustered_means([1, 0], [0], 1)
    with pytest.raises(ShapeError, match="cluster"):
        clustered_means([1, 0], [0, 0], 1, [1])
    with pytest.raises(BadValueError, match="nan"):
        clustered_means([1, np.nan], [0, 0], 1)
    with pytest.raises(BadValueError, match="negative"):
        mcnemars([-1], [2])


def test_a_net_rate_of_prompts_that_all_say_the_same_is_no_certainty():
    group = np.repeat([0, 1, 2, 3], [7, 2, 6, 4])
    values = np.concatenate([np.ones(7), -np.ones(2), np.zeros(6), [1, 1, -1, 1]])
    nets = net_rates(values, group, 4, [np.arange(19), np.arange(19)])
    t = stats.t.isf(0.025, 6)
    assert (nets.lower[0], nets.upper[0]) == (pytest.approx(2 * 7 / (7 + t * t) - 1), 1)
    assert nets.p[0] == pytest.approx(2 / 2**7)
    assert nets.lower[1] == -1
    assert 0.9 < nets.upper[1] < 1  # two prompts tell next to nothing
    assert nets.p[1] == pytest.approx(0.5)
    assert np.isnan([nets.lower[2], nets.upper[2], nets.p[2]]).all()
    assert (nets.lower[3], nets.upper[3]) == (-1, 1)  # cut to what a rate can be
    assert 0.2 < nets.p[3] < 1


# Two raters on two prompts: one degree of freedom, whose t is Cauchy's, 1 at the upper quartile.
RATERS, PROMPTS = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])


def half_width(values, *clusters) -> float:
    net = net_rates(values, np.zeros(len(values), dtype=int), 1, clusters, confidence=0.5)
    return net.estimate[0] - net.lower[0]


def test_the_variance_of_a_net_rate_is_that_by_rater_and_by_prompt_less_that_by_both():
    values = np.array([1, 1, 1, -1])
    # By rater, as by prompt: (G - 1)/G ((0 - 1/2)^2 + (1 - 1/2)^2) = 1/4; cells: (3 (1/2)^2 + (3/2)^2)/16.
    variance = 1 / 4 + 1 / 4 - 3 / 16
    assert half_width(values, RATERS, PROMPTS) == pytest.approx(sqrt(variance))
    net = net_rates(values, np.zeros(4, dtype=int), 1, [RATERS, PROMPTS])
    assert net.p[0] == pytest.approx(1 - 2 / pi * atan(0.5 / sqrt(variance)))
    # Votes repeated within their cell say nothing new of raters or prompts.
    assert half_width(np.tile(values, 2), np.tile(RATERS, 2), np.tile(PROMPTS, 2)) == pytest.approx(
        sqrt(variance)
    )
    assert half_width(values, RATERS) == pytest.approx(1 / 2)


def test_the_variance_of_a_net_rate_is_never_below_one_way_and_not_far_below_that_of_independent_votes():
    # By rater 1, by prompt 0, cells 1/4: 3/4 would be less than the raters alone.
    assert half_width(np.array([1, 1, -1, -1]), RATERS, PROMPTS) == pytest.approx(1)
    # Every rater and every prompt is even with itself: what is left is HC0, 4/16.
    assert half_width(np.array([1, -1, -1, 1]), RATERS, PROMPTS) == pytest.approx(1 / 2)


def test_a_net_rate_that_a_single_rater_gave_has_no_interval():
    net = net_rates([1, 0, 1, -1], np.zeros(4, dtype=int), 1, [np.zeros(4, dtype=int), np.arange(4)])
    assert net.estimate[0] == pytest.approx(0.25)
    assert np.isnan([net.lower[0], net.upper[0], net.p[0]]).all()
    with pytest.raises(ShapeError, match="3 ways to cluster"):
        net_rates([1], [0], 1, [[0], [0], [0]])


@pytest.mark.parametrize(
    ("raters", "prompts", "votes", "boards"),
    [
        (30, 30, 600, 600),
        (15, 20, 600, 600),
        pytest.param(30, 30, 2000, 1500, marks=pytest.mark.long),
        pytest.param(60, 100, 2000, 1500, marks=pytest.mark.long),
    ],
)
def test_intervals_of_net_rates_cover_where_tastes_of_raters_and_prompts_cross(
    raters, prompts, votes, boards
):
    rng = np.random.default_rng(11)
    board = np.repeat(np.arange(boards), votes)
    rater, prompt = rng.integers(0, raters, len(board)), rng.integers(0, prompts, len(board))
    taste, kind = rng.normal(0, 0.6, (boards, raters)), rng.normal(0, 0.6, (boards, prompts))
    win = 1 / (1 + np.exp(-taste[board, rater] - kind[board, prompt]))
    values = np.where(rng.random(len(board)) < win, 1, -1)
    nets = net_rates(values, board, boards, [rater, prompt])
    covered = np.mean((nets.lower <= 0) & (nets.upper >= 0))
    # The wider of two one-way intervals covers .88 to .92 here; 600 boards know a share of .95 to .9 points.
    assert 0.93 < covered < 0.975
    assert np.mean(nets.p < 0.05) == pytest.approx(1 - covered, abs=1e-9)
