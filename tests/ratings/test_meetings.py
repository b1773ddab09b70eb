"""Who met whom: what is said of a graph of battles is true of it, on real shapes and on drawn ones."""

from __future__ import annotations

import csv
from itertools import combinations

import numpy as np
import pytest

from ratings.comparisons import Comparisons
from ratings.meetings import NOBODY, meetings
from tests.ratings.textbook_boards import GOLDEN

# vicuna.lmsys.org, March 2023: seven models on 80 prompts; gpt35 and bard met only the three Vicunas
ALPACA, BARD, GPT35, LLAMA, *VICUNAS = range(7)
BLOG = [(one, vicuna, 80) for one in (ALPACA, BARD, GPT35, LLAMA) for vicuna in VICUNAS] + [
    (ALPACA, LLAMA, 80)
]
WEAVER = 55


def crowd():
    """Votes on each pair of LLMFAO's 59 models (D. Ustalov, CC BY 4.0): one stands in 31 % of them."""
    with (GOLDEN / "crowd_pairs.csv").open() as file:
        return [(int(row["low"]), int(row["high"]), int(row["votes"])) for row in csv.DictReader(file)]


def votes(k, pairs):
    a, b, n = (np.array(column) for column in zip(*pairs, strict=True))
    a, b = np.repeat(a, n), np.repeat(b, n)
    return Comparisons.of(k, a, b, np.zeros(len(a), dtype=np.int8))


def test_a_competitor_in_a_third_of_the_votes_is_nothing_to_tell_of_if_the_others_met_without_it():
    found = meetings(votes(59, crowd()))
    assert (found.cut, found.alone, found.hub) == (None, (), None)
    without = [(a, b) for a, b, _votes in crowd() if WEAVER not in (a, b)]
    assert len(without) == 869 and len(pieces(set(range(59)) - {WEAVER}, without)) == 1


def test_those_that_met_only_a_few_are_named_with_these():
    found = meetings(votes(7, BLOG))
    assert (found.alone, found.through) == ((BARD, GPT35), tuple(VICUNAS))
    assert (found.cut, found.hub) == (None, None)


def test_a_star_falls_apart_without_its_middle():
    found = meetings(votes(20, [(0, leaf, 3) for leaf in range(1, 20)]))
    assert (found.cut, found.pieces, found.hub, found.leaning) == (0, (1,) * 19, 0, 19)
    assert (found.alone, found.through) == (tuple(range(1, 20)), (0,))


def test_two_groups_that_one_competitor_joins_are_told_by_their_sizes():
    cliques = [*combinations(range(5), 2), *combinations(range(4, 10), 2)]
    found = meetings(votes(10, [(a, b, 2) for a, b in cliques]))
    assert (found.cut, found.pieces, found.alone) == (4, (5, 4), ())


def test_a_near_star_is_told_by_those_that_have_most_votes_against_its_middle():
    rim = [(leaf, leaf + 1, 2) for leaf in range(1, 11)]
    found = meetings(votes(12, [(0, leaf, 9) for leaf in range(1, 12)] + rim))
    assert (found.cut, found.hub, found.leaning, found.others) == (None, 0, 11, 11)
    even = meetings(votes(12, [(0, leaf, 4) for leaf in range(1, 12)] + rim))
    assert even.hub is None


@pytest.mark.parametrize("k", [2, 3, 7, 30])
def test_where_all_met_nothing_is_told(k):
    found = meetings(votes(k, [(a, b, 1) for a, b in combinations(range(k), 2)]))
    assert (found.cut, found.alone, found.hub) == (None, (), None)


def test_only_the_largest_group_is_told_of_and_two_competitors_are_none():
    found = meetings(votes(8, [(0, 1, 5), (3, 4, 1), (4, 5, 1), (4, 6, 1), (4, 7, 1)]))
    assert (found.cut, found.pieces, found.others) == (4, (1, 1, 1, 1), 4)
    assert meetings(votes(2, [(0, 1, 5)])) == NOBODY


def test_votes_from_two_sources_connect_together():
    star = votes(4, [(0, 1, 1), (0, 2, 1), (0, 3, 1)])
    assert meetings(star).cut == 0
    assert meetings(star, votes(4, [(1, 2, 1), (2, 3, 1), (1, 3, 1)])).cut is None


@pytest.mark.parametrize("seed", range(60))
def test_what_is_told_is_true_of_the_graph(seed):
    """By searches of its own over a set of edges."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(3, 14))
    every = list(combinations(range(k), 2))
    chosen = [pair for pair in every if rng.random() < rng.choice([0.15, 0.3, 0.6])] or every[:1]
    counted = [(a, b, int(rng.integers(1, 9))) for a, b in chosen]
    found = meetings(votes(k, counted))
    group = max(pieces(set(range(k)), chosen), key=len)
    if found.cut is not None:
        rest = pieces(group - {found.cut}, chosen)
        assert sorted(map(len, rest), reverse=True) == list(found.pieces) and len(rest) > 1
    for one in found.alone:
        assert opponents(one, chosen) <= set(found.through) and one not in found.through
        assert {one} in pieces(group - set(found.through), chosen)
        assert opponents(one, chosen) != group - {one}
    if found.hub is not None:
        leaning = [one for one in group if one != found.hub and leans(one, found.hub, counted)]
        assert len(leaning) == found.leaning and 2 * len(leaning) > found.others == len(group) - 1


@pytest.mark.parametrize("seed", range(30))
def test_nobody_is_kept_silent_about(seed):
    """Whoever met but one, or two that met the same few, are among those told of, or as many others are."""
    rng = np.random.default_rng(1000 + seed)
    k = int(rng.integers(4, 12))
    chosen = [pair for pair in combinations(range(k), 2) if rng.random() < 0.4] or [(0, 1)]
    found = meetings(votes(k, [(a, b, 1) for a, b in chosen]))
    group = max(pieces(set(range(k)), chosen), key=len)
    few = [opponents(one, chosen) for one in group if len(opponents(one, chosen)) <= min(3, len(group) - 2)]
    must = len(group) > 2 and any(len(one) == 1 or few.count(one) > 1 for one in few)
    assert found.alone or not must
    assert len(found.alone) >= (max(map(few.count, few)) if must else 0)


def opponents(one, edges):
    return {b if a == one else a for a, b in edges if one in (a, b)}


def pieces(among, edges):
    left, found = set(among), []
    while left:
        piece, new = set(), {left.pop()}
        while new:
            piece |= new
            new = {other for one in new for other in opponents(one, edges)} & (set(among) - piece)
        left -= piece
        found.append(piece)
    return found


def leans(one, hub, counted):
    mine = {(b if a == one else a): n for a, b, n in counted if one in (a, b)}
    return 2 * mine.get(hub, 0) > sum(mine.values())
