"""Claims that hold however often a board is looked at."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaln

from ratings.comparisons import Comparisons
from ratings.errors import BadOptionError, BadValueError
from ratings.sequential import (
    confidence_sequence,
    e_benjamini_hochberg,
    e_path,
    e_value,
    fair_bets,
    watch_pairs,
)
from ratings.simulate import VoteModel, simulate_votes


@pytest.mark.parametrize(
    ("wins", "losses", "e"),
    [
        (1, 0, 1.0),
        (5, 0, 5.333333333333329),
        (9, 1, 9.309090909090889),
        (15, 5, 3.220600520910118),
        (30, 20, 0.46842431075109675),
        (60, 40, 0.9130497784876539),
        (65, 35, 11.461393947691642),
    ],
)
def test_e_value_of_wins_against_losses(wins, losses, e):
    assert e_value(wins, losses) == pytest.approx(e, abs=1e-10)
    assert e_value(losses, wins) == pytest.approx(e, abs=1e-10)


@pytest.mark.parametrize("bets", [0, 1, 7, 200])
def test_a_fair_coin_expects_an_e_value_of_one(bets):
    wins = np.arange(bets + 1)
    log_chance = -betaln(wins + 1, bets - wins + 1) - np.log(bets + 1) - bets * np.log(2)
    assert np.sum(np.exp(log_chance) * e_value(wins, bets - wins)) == pytest.approx(1.0, abs=1e-9)


def test_overwhelming_evidence_is_infinite_and_raises_no_warning():
    assert e_value(5_000, 0) == np.inf


@pytest.mark.parametrize(
    ("wins", "losses", "lower", "upper"),
    [
        (9, 1, 0.45488174728681086, 0.9995435831173224),
        (30, 20, 0.3838265323659696, 0.7921939397351656),
        (60, 40, 0.4407744481879108, 0.7460362553482378),
    ],
)
def test_confidence_sequence_of_wins_and_losses(wins, losses, lower, upper):
    result = confidence_sequence(wins, losses)
    assert (result.lower, result.upper) == pytest.approx((lower, upper), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 400), st.integers(0, 400), st.sampled_from([0.8, 0.95, 0.999]))
def test_confidence_sequence_excludes_a_coin_exactly_where_the_e_value_claims(wins, losses, confidence):
    result = confidence_sequence(wins, losses, confidence=confidence)
    share = wins / (wins + losses) if wins + losses else 0.5
    assert 0 <= result.lower <= share <= result.upper <= 1
    e = float(e_value(wins, losses))
    if abs(e * (1 - confidence) - 1) > 1e-9:
        assert (e >= 1 / (1 - confidence)) == (not result.lower < 0.5 < result.upper)
    mirrored = confidence_sequence(losses, wins, confidence=confidence)
    assert (mirrored.lower, mirrored.upper) == pytest.approx((1 - result.upper, 1 - result.lower), abs=1e-9)


def test_without_votes_or_without_losses_nothing_above_is_ruled_out():
    empty, clean = confidence_sequence(0, 0), confidence_sequence(20, 0)
    assert (empty.lower, empty.upper) == (0.0, 1.0)
    assert clean.upper == 1.0
    assert clean.lower == pytest.approx((0.05 / 21) ** (1 / 20), abs=1e-12)


def test_looking_after_every_vote_claims_falsely_less_often_than_promised():
    rng = np.random.default_rng(0)
    ever = np.mean([e_path(rng.random(1000) < 0.5).max() >= 20 for _ in range(800)])
    assert 0 < ever <= 0.05


def test_a_better_competitor_is_found_after_a_few_hundred_votes():
    rng = np.random.default_rng(1)
    paths = [e_path(rng.random(1500) < 0.6) >= 20 for _ in range(200)]
    median = np.median([np.argmax(path) + 1 for path in paths])
    assert all(path.any() for path in paths)
    assert 150 < median < 300


def test_e_bh_claims_only_the_first_of_the_reference():
    e = [60.0, 8.0, 3.0, 1.2, 0.4]
    assert e_benjamini_hochberg(e, false_discovery=0.1).tolist() == [True, False, False, False, False]


def test_e_bh_claims_a_block_that_no_single_value_would_earn():
    assert e_benjamini_hochberg([10.0, 10.0, 10.0, 10.0], false_discovery=0.1).all()
    assert not e_benjamini_hochberg([10.0, 10.0, 10.0, 9.9], false_discovery=0.1).any()


def test_pairs_planned_but_not_seen_make_claims_dearer():
    assert e_benjamini_hochberg([50.0], planned=2).tolist() == [True]
    assert not e_benjamini_hochberg([50.0], planned=3).any()


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_e_bh_ignores_order_and_never_prefers_the_smaller(e, random):
    claimed = e_benjamini_hochberg(e)
    order = list(range(len(e)))
    random.shuffle(order)
    shuffled = e_benjamini_hochberg([e[i] for i in order])
    assert sorted(np.array(e)[claimed]) == sorted(np.array(e)[order][shuffled])
    if claimed.any() and not claimed.all():
        assert min(np.array(e)[claimed]) >= max(np.array(e)[~claimed])


def board(rows, raters):
    a, b, outcome = zip(*rows, strict=True)
    return Comparisons.of(3, np.array(a), np.array(b), list(outcome), rater=np.array(raters))


def test_a_rater_bets_once_on_a_pair_with_the_first_decisive_vote():
    votes = board(
        [
            (0, 1, "tie"),
            (1, 0, "model_a"),
            (0, 1, "model_a"),
            (0, 2, "model_b"),
            (0, 1, "model_a"),
            (2, 0, "both_bad"),
        ],
        raters=[7, 7, 7, 7, 2, 2],
    )
    assert fair_bets(votes).tolist() == [1, 3, 4]
    watch = watch_pairs(votes)
    assert list(zip(watch.low, watch.high, watch.wins, watch.losses, strict=True)) == [
        (0, 1, 1, 1),
        (0, 2, 0, 1),
    ]
    assert watch.planned == 3


def bets_one_by_one(votes) -> list[int]:
    """By the definition, a row at a time."""
    seen, found = set(), []
    for row, (a, b, outcome) in enumerate(zip(votes.a, votes.b, votes.outcome, strict=True)):
        pair = min(a, b), max(a, b)
        ids = {("rater", votes.rater[row], pair), ("prompt", votes.prompt[row], pair)}
        if outcome < 2 and not ids & seen:
            seen |= ids
            found.append(row)
    return found


@given(
    st.lists(
        st.tuples(
            st.sampled_from([(0, 1), (1, 0), (0, 2), (2, 1)]),
            st.sampled_from(["model_a", "model_b", "tie", "both_bad"]),
            st.integers(0, 5),
            st.integers(0, 5),
        ),
        max_size=60,
    )
)
def test_neither_a_rater_nor_a_prompt_bets_twice_on_a_pair(rows):
    sides = np.array([pair for pair, *_ in rows], dtype=np.int64).reshape(-1, 2)
    outcomes = [outcome for _, outcome, *_ in rows]
    rater, prompt = (np.array([row[place] for row in rows], dtype=np.int64) for place in (2, 3))
    votes = Comparisons.of(3, sides[:, 0], sides[:, 1], outcomes, rater=rater, prompt=prompt)
    assert fair_bets(votes).tolist() == bets_one_by_one(votes)


def test_one_prompt_that_all_judge_alike_doesnt_fool_the_watch():
    """Everybody votes on it first."""
    votes = Comparisons.of(
        2,
        np.zeros(40, dtype=int),
        np.ones(40, dtype=int),
        ["model_a"] * 40,
        rater=np.arange(40),
        prompt=np.zeros(40, dtype=int),
    )
    watch = watch_pairs(votes)
    assert (watch.wins.tolist(), watch.e.tolist()) == ([1], [1.0])


def test_repeat_raters_with_taste_dont_fool_the_watch():
    model = VoteModel(strengths=(0.0, 0.0), raters=60, rater_sd=1.0)
    claims = [
        watch_pairs(simulate_votes(model, 3000, seed=s).as_comparisons()).claimed.any() for s in range(60)
    ]
    assert np.mean(claims) <= 0.05


def test_the_watch_is_the_same_when_sides_are_flipped():
    votes = simulate_votes(VoteModel((0.5, 0.0, -0.5), raters=100, tie=0.5), 900, seed=2).as_comparisons()
    flipped = votes.swap_sides(np.random.default_rng(0).random(900) < 0.5)
    first, second = watch_pairs(votes), watch_pairs(flipped)
    assert np.array_equal(first.e, second.e)
    assert first.claimed.any()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: e_value(-1, 2), BadValueError),
        (lambda: confidence_sequence(1, -2), BadValueError),
        (lambda: confidence_sequence(1, 2, confidence=0.0), BadOptionError),
        (lambda: e_benjamini_hochberg([1.0, 2.0], planned=1), BadOptionError),
        (lambda: e_benjamini_hochberg([1.0], false_discovery=1.5), BadOptionError),
        (lambda: e_benjamini_hochberg([1.0], false_discovery=0.0), BadOptionError),
        (lambda: e_benjamini_hochberg([1.0, -0.1]), BadValueError),
        (lambda: e_benjamini_hochberg([1.0, np.nan]), BadValueError),
        (lambda: watch_pairs(Comparisons.of(2, [0], [1], ["model_a"])), BadOptionError),
    ],
)
def test_impossible_evidence_is_refused(call, error):
    with pytest.raises(error):
        call()
