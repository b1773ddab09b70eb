import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from textbook_boards import baseball, board, citations

from ratings.board_options import LeaderboardOptions
from ratings.bradley_terry import fit_bradley_terry
from ratings.compare import compare_two
from ratings.comparisons import MODEL_A, MODEL_B, TIE, Comparisons
from ratings.errors import BadOptionError, BadValueError, NoVotesError, ShapeError
from ratings.pairwise import adjusted, cost_ratio, effect_sizes, non_inferiority, pair_tests, quasi_variances
from ratings.scale import POINTS_PER_LOG_ODDS

# Benjamini & Hochberg (1995), section 3.2: 15 hypotheses of a thrombolysis trial
FIRST_EIGHT = (0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344)
TRIAL = np.array([*FIRST_EIGHT, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000])


def model_errors(fit):
    b = fit.bread
    return np.sqrt(np.maximum(np.diag(b)[:, None] + np.diag(b)[None, :] - 2 * b, 0))


def test_the_trial_of_benjamini_and_hochberg():
    bh, holm, by = (adjusted(TRIAL, method) for method in ("bh", "holm", "by"))
    assert [(p <= 0.05).sum() for p in (bh, holm, adjusted(TRIAL, "bonferroni"))] == [4, 3, 3]
    assert bh[3] == pytest.approx(0.035625)
    assert bh[4:8] == pytest.approx([0.0603, 0.06385714285714286, 0.06385714285714286, 0.0645])
    assert holm[2:7] == pytest.approx([0.0247, 0.114, 0.2211, 0.278, 0.278])
    assert by[:4] == pytest.approx([0.004977343489843491, 0.009954686979686982, 0.03152317544, 0.11821190788])
    assert adjusted(TRIAL, "none").tolist() == TRIAL.tolist()


def test_baseball_pairs_are_tested_with_the_models_errors():
    fit = fit_bradley_terry(baseball())
    tests = pair_tests(fit.strengths, model_errors(fit))
    at = {(int(i), int(j)): n for n, (i, j) in enumerate(zip(tests.first, tests.second, strict=True))}
    assert tests.p[at[0, 4]] == pytest.approx(0.12717500560548956, abs=1e-10)
    assert tests.p_adjusted[at[0, 5]] == pytest.approx(0.07335041839055917, abs=1e-10)
    assert tests.p_adjusted[at[0, 6]] == pytest.approx(8.581855761695279e-05, abs=1e-12)
    assert adjusted(tests.p, "bh")[at[1, 5]] == pytest.approx(0.04885995566008413, abs=1e-10)
    verdicts = tests.verdicts()
    assert verdicts[at[0, 6]] == "different"
    assert verdicts[at[0, 1]] == "undecided"


def test_verdicts_follow_difference_and_margin():
    points = np.array([0.0, 3.0, 40.0]) / POINTS_PER_LOG_ODDS
    narrow = np.full((3, 3), 0.5 / POINTS_PER_LOG_ODDS)
    tests = pair_tests(points, narrow, margin=10)
    assert tests.verdicts() == ["different, negligible", "different", "different"]
    assert pair_tests(points * 0, narrow, margin=10).verdicts() == ["equivalent"] * 3
    assert pair_tests(points, narrow * 400, margin=10).verdicts() == ["undecided"] * 3
    assert pair_tests(points, narrow, degrees=0.0).verdicts() == ["undecided"] * 3  # no clusters, no claim


def test_equivalence_is_the_larger_of_two_one_sided_tests():
    d, s = np.array([4.0, 0.0]) / POINTS_PER_LOG_ODDS, np.full((2, 2), 3.0 / POINTS_PER_LOG_ODDS)
    tests = pair_tests(d, s, 12.0, margin=10)
    lower, upper = stats.t.sf((4 + 10) / 3, 12), stats.t.sf((10 - 4) / 3, 12)
    assert tests.equivalence[0] == pytest.approx(max(lower, upper))
    assert tests.p[0] == pytest.approx(2 * stats.t.sf(4 / 3, 12))
    assert non_inferiority(d[0], s[0, 1], 12.0, 10) == pytest.approx(lower)


def test_effect_sizes_of_three_to_two():
    effect = effect_sizes(np.log(1.5), 0.2886751345948129, np.inf)
    assert effect.expected_score[0] == pytest.approx(0.6)
    assert effect.cohens_h[0] == pytest.approx(0.20135792079033066)
    assert effect.net_rate[0] == pytest.approx(0.2)
    assert effect.points == pytest.approx((70.4365036222725, -27.8517843996719, 168.72479164421688))


def test_score_and_net_rate_of_a_half_win_board_are_those_of_its_votes():
    # 45 wins, 15 losses, 40 ties: a score of 65 %, and 30 % more won than lost
    outcome = np.repeat([MODEL_A, MODEL_B, TIE], [45, 15, 40])
    votes = Comparisons.of(2, np.zeros(100, int), np.ones(100, int), outcome)
    duel = compare_two(votes, 0, 1)
    assert duel.effect.expected_score[0] == pytest.approx(0.65)
    assert duel.effect.net_rate[0] == pytest.approx(0.45 - 0.15)
    dropped = compare_two(votes, 0, 1, LeaderboardOptions(bootstrap=0, ties="drop"))
    assert dropped.effect.expected_score[0] == pytest.approx(45 / 60)
    davidson = compare_two(votes, 0, 1, LeaderboardOptions(bootstrap=0, ties="davidson"))
    assert davidson.effect.expected_score[0] == pytest.approx(0.65)
    assert davidson.effect.net_rate[0] == pytest.approx(0.3)


def test_a_far_end_of_an_effect_is_a_score_of_one():
    effect = effect_sizes(3000.0, 1.0, np.inf, tie_odds=0.5)
    assert effect.expected_score == (1.0, 1.0, 1.0)


def test_quasi_variances_of_baseball_and_citations():
    quasi = quasi_variances(fit_bradley_terry(baseball()).bread)
    expected = [0.22361658677007107, 0.2194977478896614, 0.21688116018012307, 0.21632348782044603]
    assert np.sqrt(quasi.values[:4]) == pytest.approx(expected, abs=1e-6)
    assert quasi.worst == pytest.approx((-0.009690561853868851, 0.019834638856708553), abs=1e-6)
    quasi = quasi_variances(fit_bradley_terry(citations()).bread)
    expected = [0.04212097015633478, 0.0922359625283451, 0.042845886893594656, 0.058515936988517245]
    assert np.sqrt(quasi.values) == pytest.approx(expected, abs=1e-6)


def test_quasi_variances_are_exact_where_estimates_are_independent():
    quasi = quasi_variances(np.diag([1.0, 2.0, 0.5, 4.0]))
    assert quasi.values == pytest.approx([1.0, 2.0, 0.5, 4.0], rel=1e-4)
    with pytest.raises(BadValueError):
        quasi_variances(np.ones((3, 3)))


def test_bad_input_is_refused():
    with pytest.raises(BadValueError) as caught:
        adjusted(np.array([0.5, 1.5]))
    assert caught.value.row == 1
    with pytest.raises(BadOptionError):
        adjusted(TRIAL, "sidak")


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=30), st.sampled_from(["holm", "bh", "by", "bonferroni"])
)
def test_adjusted_values_keep_the_order_and_never_shrink(p, method):
    values = np.array(p)
    result = adjusted(values, method)
    assert (result >= values - 1e-15).all()
    assert (result <= 1).all()
    order = np.argsort(values, kind="stable")
    assert (np.diff(result[order]) >= -1e-15).all()


def test_model_errors_of_two_competitors():
    assert model_errors(fit_bradley_terry(board(2, [(0, 1, 30, 20)])))[0, 1] == pytest.approx(0.28867513459)


def test_a_cost_ratio_has_an_interval_by_prompt():
    rng = np.random.default_rng(3)
    prompt = np.repeat(np.arange(200), 3)
    size = rng.lognormal(0, 0.5, 200)[prompt]
    first, second = 3 * size * rng.lognormal(0, 0.2, 600), size * rng.lognormal(0, 0.2, 600)
    found = cost_ratio(first, second, prompt)
    assert found.ratio == pytest.approx(first.mean() / second.mean())
    assert found.lower < 3 < found.upper
    assert (found.pairs, found.clusters) == (600, 200)
    back = cost_ratio(second, first, prompt)
    assert (back.lower * found.upper, back.upper * found.lower) == pytest.approx((1, 1))
    assert cost_ratio([2, 2], [1, 1], [0, 0]).lower is None


@pytest.mark.parametrize(
    ("first", "second", "error"),
    [
        ([1, -1], [1, 1], BadValueError),
        ([1, 1], [1, float("nan")], BadValueError),
        ([0, 0], [1, 1], BadValueError),
        ([1], [1, 1], ShapeError),
        ([], [], NoVotesError),
    ],
)
def test_costs_without_a_ratio_are_refused(first, second, error):
    with pytest.raises(error):
        cost_ratio(first, second)
