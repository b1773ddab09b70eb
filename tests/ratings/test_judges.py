"""Judges: both orders merged, biases measured against somebody."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratings.comparisons import (
    BOTH_BAD,
    MODEL_A,
    MODEL_B,
    TIE,
    TIE_UNSTABLE,
    UNSTABLE_A,
    UNSTABLE_B,
    Policies,
)
from ratings.errors import BadValueError, NoVotesError, ShapeError, UnknownOutcomeError
from ratings.judges import (
    FAILED,
    FIRST,
    HARD,
    NO_VERDICT,
    SECOND,
    SOFT,
    STEADY,
    VERDICT_TIE,
    position_bias,
    self_preference,
    side_gap,
    swap_check,
    verbosity_gap,
)

verdicts = st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 2)), min_size=1, max_size=40)


@pytest.mark.parametrize(
    ("ab", "ba", "outcome", "flip"),
    [
        (FIRST, FIRST, TIE_UNSTABLE, HARD),
        (FIRST, SECOND, MODEL_A, STEADY),
        (FIRST, VERDICT_TIE, TIE_UNSTABLE, SOFT),
        (SECOND, FIRST, MODEL_B, STEADY),
        (SECOND, SECOND, TIE_UNSTABLE, HARD),
        (SECOND, VERDICT_TIE, TIE_UNSTABLE, SOFT),
        (VERDICT_TIE, FIRST, TIE_UNSTABLE, SOFT),
        (VERDICT_TIE, SECOND, TIE_UNSTABLE, SOFT),
        (VERDICT_TIE, VERDICT_TIE, TIE, STEADY),
    ],
)
def test_two_orders_make_one_outcome(ab, ba, outcome, flip):
    check = swap_check([ab], [ba])
    assert (check.outcome[0], check.flip[0]) == (outcome, flip)


@pytest.mark.parametrize(
    ("ab", "ba", "leaning"),
    [
        (FIRST, VERDICT_TIE, UNSTABLE_A),
        (VERDICT_TIE, SECOND, UNSTABLE_A),
        (SECOND, VERDICT_TIE, UNSTABLE_B),
        (VERDICT_TIE, FIRST, UNSTABLE_B),
        (FIRST, FIRST, TIE_UNSTABLE),
        (SECOND, SECOND, TIE_UNSTABLE),
        (FIRST, SECOND, MODEL_A),
        (FAILED, FIRST, NO_VERDICT),
    ],
)
def test_a_soft_flip_leans_to_the_side_that_won_once(ab, ba, leaning):
    assert swap_check([ab], [ba]).leaning[0] == leaning


@given(verdicts)
def test_leaning_outcomes_score_the_mean_of_both_orders(calls):
    ab, ba = np.array(calls).T
    heard = (ab != FAILED) & (ba != FAILED)
    leaning = swap_check(ab, ba).leaning[heard]
    of_a = np.array([1.0, 0.0, 0.5])[ab[heard]] + np.array([0.0, 1.0, 0.5])[ba[heard]]
    assert (Policies(unstable="average").quarter_wins()[leaning] / 4).tolist() == (of_a / 2).tolist()


@pytest.mark.parametrize("other", [FIRST, SECOND, VERDICT_TIE, FAILED])
def test_a_failed_call_is_no_verdict_and_never_a_tie(other):
    for ab, ba in ((FAILED, other), (other, FAILED)):
        check = swap_check([ab], [ba])
        assert check.outcome[0] == NO_VERDICT
        assert check.consistency is None
        assert check.unreadable.estimate == 1.0


def test_consistency_counts_only_battles_with_both_verdicts():
    ab = [FIRST, FIRST, FIRST, VERDICT_TIE, FAILED]
    ba = [SECOND, FIRST, VERDICT_TIE, VERDICT_TIE, SECOND]
    check = swap_check(ab, ba)
    assert (check.consistency.successes, check.consistency.n) == (2, 4)
    assert [check.count(kind) for kind in (STEADY, SOFT, HARD, NO_VERDICT)] == [2, 1, 1, 1]
    assert check.unreadable.successes == 1


@given(verdicts)
def test_renaming_the_sides_swaps_the_winners_and_nothing_else(pairs):
    ab, ba = np.array(pairs).T
    check, renamed = swap_check(ab, ba), swap_check(ba, ab)
    swapped = np.select(
        [check.outcome == MODEL_A, check.outcome == MODEL_B], [MODEL_B, MODEL_A], check.outcome
    )
    assert np.array_equal(renamed.outcome, swapped)
    assert np.array_equal(renamed.flip, check.flip)
    if (check.outcome != NO_VERDICT).any():
        assert position_bias(ab, ba) == position_bias(ba, ab)


def test_a_judge_that_always_says_first_wins_nothing_for_anyone_and_leans_fully():
    ab = ba = np.zeros(30, dtype=int)
    check = swap_check(ab, ba)
    assert check.count(HARD) == 30
    assert check.consistency.estimate == 0.0
    bias = position_bias(ab, ba)
    assert bias.difference.estimate == 1.0
    assert (bias.first, bias.second, bias.ties) == (60, 0, 0)


def test_unequal_responses_give_a_fair_judge_no_position_bias():
    bias = position_bias([FIRST] * 10, [SECOND] * 10)
    assert bias.difference.estimate == 0.0
    assert (bias.first, bias.second) == (10, 10)


def test_ties_lean_to_neither_side_and_dilute_the_bias():
    bias = position_bias([FIRST, VERDICT_TIE, VERDICT_TIE, FIRST], [FIRST, VERDICT_TIE, FIRST, SECOND])
    assert bias.difference.estimate == pytest.approx((1 + 0 + 0.5 + 0) / 4)
    assert (bias.first, bias.second, bias.ties) == (4, 1, 3)


def test_position_bias_leaves_out_half_swaps_and_covers_the_truth():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        prompt = np.repeat(np.arange(20), 6)
        lean = 0.3 + 0.1 * rng.normal(size=20)[prompt]
        ab, ba = ((rng.random(120) > (1 + lean) / 2).astype(int) for _ in range(2))
        ab[rng.random(120) < 0.05] = FAILED
        bias = position_bias(ab, ba, prompt)
        assert bias.left_out == np.count_nonzero(ab == FAILED)
        covered += bias.difference.lower <= 0.3 <= bias.difference.upper
    assert 0.92 < covered / 400 < 0.98


def test_self_preference_is_what_the_judge_gives_beyond_what_others_give():
    judge = [MODEL_A, MODEL_A, MODEL_B, TIE, MODEL_A, NO_VERDICT]
    others = [MODEL_A, MODEL_B, MODEL_B, MODEL_B, MODEL_A, MODEL_A]
    own = [1, 1, -1, 1, 0, 1]
    gap = self_preference(judge, others, own)
    assert (gap.judge, gap.reference) == ((1 + 1 + 1 + 0.5) / 4, (1 + 0 + 1 + 0) / 4)
    assert gap.difference.estimate == pytest.approx(1.5 / 4)
    assert gap.left_out == 2


def test_a_better_family_alone_is_no_self_preference():
    rng = np.random.default_rng(1)
    quality = rng.random(400) < 0.8
    judge, others = (np.where(rng.random(400) < 0.9, quality, ~quality).astype(int) for _ in range(2))
    gap = self_preference(judge, others, np.full(400, -1))
    assert gap.judge > 0.65
    assert gap.difference.lower < 0 < gap.difference.upper


def test_verbosity_gap_compares_longer_wins_with_peoples():
    gap = verbosity_gap(
        judge=[MODEL_A, MODEL_B, MODEL_A, BOTH_BAD, MODEL_A],
        people=[MODEL_B, MODEL_B, TIE_UNSTABLE, MODEL_A, MODEL_A],
        length_a=[100, 50, 300, 10, 7],
        length_b=[90, 80, 200, 20, 7],
    )
    assert gap.judge == pytest.approx((1 + 1 + 1 + 0.5) / 4)
    assert gap.reference == pytest.approx((0 + 1 + 0.5 + 0) / 4)
    assert gap.left_out == 1


@given(st.lists(st.tuples(st.integers(-1, 4), st.integers(-1, 4), st.sampled_from([-1, 1])), min_size=1))
def test_a_gap_doesnt_care_which_side_is_called_a(rows):
    judge, reference, side = (np.array(column) for column in zip(*rows, strict=True))
    if not ((judge >= 0) & (reference >= 0)).any():
        return
    renamed = np.array([MODEL_B, MODEL_A, TIE, BOTH_BAD, TIE_UNSTABLE, NO_VERDICT])
    gap, other = side_gap(judge, reference, side), side_gap(renamed[judge], renamed[reference], -side)
    assert gap == other


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: swap_check([0, 3], [0, 1]), UnknownOutcomeError),
        (lambda: swap_check(["first"], ["second"]), UnknownOutcomeError),
        (lambda: swap_check([0, 1], [0]), ShapeError),
        (lambda: swap_check([[0]], [[0]]), ShapeError),
        (lambda: swap_check([], []), NoVotesError),
        (lambda: swap_check([0], [1], [1, 2]), ShapeError),
        (lambda: position_bias([FAILED], [FIRST]), NoVotesError),
        (lambda: side_gap([MODEL_A], [7], [1]), UnknownOutcomeError),
        (lambda: side_gap([MODEL_A], [MODEL_B], [2]), BadValueError),
        (lambda: side_gap([MODEL_A], [MODEL_B], [0]), NoVotesError),
        (lambda: side_gap([MODEL_A], [MODEL_B, TIE], [1]), ShapeError),
    ],
)
def test_unknown_codes_and_empty_runs_are_refused(call, error):
    with pytest.raises(error):
        call()


def test_the_error_names_the_row_of_the_unknown_verdict():
    with pytest.raises(UnknownOutcomeError, match="row 2: verdict in order ba: unknown code 7"):
        swap_check([0, 1, 2, 0], [0, 1, 7, 0])
