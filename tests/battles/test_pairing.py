from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise
from random import Random, SystemRandom

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chisquare

from arena.battles import draw
from arena.battles.pairing import (
    EXPLORE,
    FLOOR,
    Text,
    choose_kind,
    choose_pair,
    choose_texts,
    pairs_that_can_meet,
    propensities,
    sample_ids,
)
from ratings.pairing import pair_propensities

# Every statistical test below is seeded; the bound is for whoever changes the seed.
P_MIN = 1e-4


def texts(**hashes: str) -> list[Text]:
    """texts(c1="x", c2="y"): competitor 1 wrote x, competitor 2 wrote y."""
    return [
        Text(response=100 + n, competitor=int(name[1:].split("_")[0]), text_hash=text)
        for n, (name, text) in enumerate(hashes.items())
    ]


pairs_and_counts = st.integers(2, 9).flatmap(
    lambda n: st.fixed_dictionaries({pair: st.integers(0, 5) for pair in combinations(range(n), 2)})
)


@given(pairs_and_counts)
def test_propensities_are_probabilities_and_leave_none_without_its_share(counts):
    chances = propensities(list(counts), counts)
    assert sum(chances.values()) == pytest.approx(1)
    assert min(chances.values()) >= EXPLORE / len(counts) * (1 - 1e-12)


@given(pairs_and_counts)
def test_the_pairs_that_met_least_get_the_rest_in_equal_parts(counts):
    chances = propensities(list(counts), counts)
    least = min(counts.values())
    first = {pair: chances[pair] for pair, count in counts.items() if count == least}
    others = [chances[pair] for pair, count in counts.items() if count > least]
    assert len(set(first.values())) == 1
    assert all(chance < min(first.values()) for chance in others)


def test_at_least_a_fifth_of_the_draws_explores():
    assert EXPLORE >= 0.2


def test_a_pair_without_a_count_has_never_met():
    chances = propensities([(1, 2), (1, 3)], {(1, 2): 4})
    assert chances[1, 3] == pytest.approx(0.9)
    assert chances[1, 2] == pytest.approx(0.1)


def test_no_pair_at_all_is_an_error_and_no_draw():
    with pytest.raises(ValueError, match="no pair can meet"):
        choose_pair([], {}, Random(1))


def test_pairs_are_drawn_as_often_as_their_propensity_says():
    counts = {(1, 2): 3, (1, 3): 0, (2, 3): 1, (1, 4): 0, (2, 4): 2, (3, 4): 7}
    random, n = Random(20261130), 20_000
    drawn = Counter()
    for _ in range(n):
        pair, propensity = choose_pair(list(counts), counts, random)
        assert propensity == propensities(list(counts), counts)[pair]
        drawn[pair] += 1
    expected = [propensities(list(counts), counts)[pair] * n for pair in counts]
    assert chisquare([drawn[pair] for pair in counts], expected).pvalue > P_MIN


weights_of = st.integers(2, 9).flatmap(
    lambda n: st.fixed_dictionaries(
        {pair: st.floats(0, 1e300, allow_subnormal=False) for pair in combinations(range(n), 2)}
    )
)


@given(weights_of)
def test_pairs_that_have_met_often_enough_are_drawn_by_their_weight(weights):
    """The same numbers as the ratings package gives, which is used where boards are simulated."""
    counts = dict.fromkeys(weights, FLOOR)
    chances = propensities(list(weights), counts, weights)
    expected = pair_propensities(list(weights.values()), exploration=EXPLORE)
    assert list(chances.values()) == pytest.approx(expected.tolist(), rel=1e-9)
    assert min(chances.values()) >= EXPLORE / len(weights) * (1 - 1e-12)


def test_until_every_pair_has_met_a_few_times_weights_do_not_decide():
    counts = {(1, 2): FLOOR - 1, (1, 3): FLOOR + 9, (2, 3): FLOOR}
    chances = propensities(list(counts), counts, {(1, 3): 5.0})
    assert chances[1, 2] == pytest.approx(EXPLORE / 3 + 1 - EXPLORE)
    assert chances[1, 3] == chances[2, 3] == pytest.approx(EXPLORE / 3)


def test_without_a_board_the_pairs_that_met_least_come_first_for_good():
    counts = {(1, 2): 40, (1, 3): 41}
    assert propensities(list(counts), counts)[1, 2] == pytest.approx(EXPLORE / 2 + 1 - EXPLORE)


def test_a_pair_that_the_board_did_not_know_is_worth_as_much_as_the_best():
    counts = dict.fromkeys([(1, 2), (1, 3), (2, 3)], FLOOR)
    chances = propensities(list(counts), counts, {(1, 2): 3.0, (1, 3): 1.0})
    assert chances[2, 3] == chances[1, 2] > chances[1, 3]


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_a_weight_that_is_none_is_refused(weight):
    counts = dict.fromkeys([(1, 2), (1, 3)], FLOOR)
    with pytest.raises(ValueError, match="weight"):
        propensities(list(counts), counts, {(1, 2): weight})


def test_weighed_pairs_are_drawn_as_often_as_their_propensity_says():
    pairs = list(combinations(range(1, 6), 2))
    counts = dict.fromkeys(pairs, FLOOR)
    weights = {pair: float(pair[0] * pair[1] % 7) for pair in pairs}
    random, n = Random(20261130), 20_000
    drawn, expected = Counter(), propensities(pairs, counts, weights)
    for _ in range(n):
        pair, propensity = choose_pair(pairs, counts, random, weights)
        assert propensity == expected[pair]
        drawn[pair] += 1
    observed = [drawn[pair] for pair in pairs]
    assert chisquare(observed, [n * expected[pair] for pair in pairs]).pvalue > P_MIN


@pytest.mark.parametrize(("gold", "repeat"), [(0, 0), (0.1, 0.2), (0.3, 0.5)])
def test_kinds_come_in_the_shares_asked_for(gold, repeat):
    random, n = Random(3), 20_000
    kinds = Counter(choose_kind(gold, repeat, random) for _ in range(n))
    for kind, share in (("gold", gold), ("repeat", repeat), ("regular", 1 - gold - repeat)):
        assert binomtest(kinds[kind], n, share).pvalue > P_MIN


def test_each_model_stands_left_in_half_of_its_battles():
    possible = pairs_that_can_meet(texts(c1="x", c2="y"))
    random, n = Random(7), 10_000
    left = sum(choose_texts(possible[1, 2], random)[0].competitor == 1 for _ in range(n))
    assert binomtest(left, n).pvalue > P_MIN


def test_the_side_says_nothing_about_the_pair():
    possible = pairs_that_can_meet(texts(c1="x", c2="y", c3="z"))
    random = Random(11)
    table = Counter()
    for _ in range(12_000):
        pair, _ = choose_pair(possible, {}, random)
        table[pair, choose_texts(possible[pair], random)[0].competitor == pair[0]] += 1
    for pair in possible:
        assert binomtest(table[pair, True], table[pair, True] + table[pair, False]).pvalue > P_MIN


def test_a_side_says_nothing_about_the_next():
    """Wald and Wolfowitz: as many runs of equal sides as a coin makes."""
    possible = pairs_that_can_meet(texts(c1="x", c2="y"))
    random, n = Random(13), 10_000
    left = [choose_texts(possible[1, 2], random)[0].competitor == 1 for _ in range(n)]
    changes = sum(one != other for one, other in pairwise(left))
    assert binomtest(changes, n - 1).pvalue > P_MIN


def test_the_coin_of_the_draws_is_the_systems():
    assert type(draw._random) is SystemRandom


def test_identical_texts_never_fight():
    assert pairs_that_can_meet(texts(c1="same", c2="same", c3="other")).keys() == {(1, 3), (2, 3)}


def test_of_several_samples_only_those_that_differ_are_combined():
    possible = pairs_that_can_meet(texts(c1_1="same", c1_2="other", c2="same"))
    ((one, other),) = possible[1, 2]
    assert (one.text_hash, other.text_hash) == ("other", "same")


def test_a_pair_met_before_and_a_model_revealed_before_are_left_out():
    possible = pairs_that_can_meet(texts(c1="w", c2="x", c3="y", c4="z"), met={(1, 2)}, revealed={4})
    assert possible.keys() == {(1, 3), (2, 3)}


spans = st.lists(st.tuples(st.integers(1, 60), st.integers(0, 20)), max_size=6).map(
    lambda starts: [(start, start + length) for start, length in starts]
)


@given(spans, st.integers(0, 40), st.randoms(use_true_random=False))
def test_sampled_ids_lie_in_the_spans_and_none_comes_twice(spans, size, random):
    everything = {number for first, last in spans for number in range(first, last + 1)}
    sampled = sample_ids(spans, size, random)
    assert len(sampled) == len(set(sampled)) == min(size, len(everything))
    assert set(sampled) <= everything


def test_ids_of_overlapping_spans_are_equally_likely():
    random, n = Random(5), 30_000
    drawn = Counter(sample_ids([(1, 4), (3, 6), (9, 9)], 1, random)[0] for _ in range(n))
    assert sorted(drawn) == [1, 2, 3, 4, 5, 6, 9]
    assert chisquare(list(drawn.values())).pvalue > P_MIN
