"""Who meets whom. Pure: texts, counts, weights and randomness in; a choice and its probability out.

A share of the draws is uniform over all pairs that can meet, so that every pair keeps a known probability
above zero and no order of arrival can starve one. The rest goes to the pairs that have met least until each
has met a few times, and from then on, where a board exists, to pairs by how much a vote on them would settle.
The probability is that of the unordered pair given the prompt: the prompt is uniform and the sides are a fair
coin, whatever the pair.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from random import Random
from types import MappingProxyType

# Share of draws that ignore counts and weights.
EXPLORE = 0.2
# Battles that every pair gets before weights decide: a fit needs a few of each to see where models don't fit.
FLOOR = 3

Pair = tuple[int, int]
Possible = dict[Pair, list[tuple["Text", "Text"]]]


@dataclass(frozen=True, slots=True)
class Text:
    """A response that may be drawn; equal hashes mean identical texts."""

    response: int
    competitor: int
    text_hash: str


def pairs_that_can_meet(
    texts: Iterable[Text], met: Collection[Pair] = (), revealed: Collection[int] = ()
) -> Possible:
    """Each pair (lower id first) with its combinations of different texts; none met before or revealed."""
    by_competitor: dict[int, list[Text]] = {}
    for text in texts:
        if text.competitor not in revealed:
            by_competitor.setdefault(text.competitor, []).append(text)
    possible = {}
    for pair in combinations(sorted(by_competitor), 2):
        if pair in met:
            continue
        low, high = by_competitor[pair[0]], by_competitor[pair[1]]
        if len(low) == len(high) == 1:  # nearly always; half of a draw's time is spent here
            if low[0].text_hash != high[0].text_hash:
                possible[pair] = [(low[0], high[0])]
        elif different := [texts for texts in product(low, high) if texts[0].text_hash != texts[1].text_hash]:
            possible[pair] = different
    return possible


def propensities(
    pairs: Collection[Pair], counts: Mapping[Pair, int], weights: Mapping[Pair, float] = MappingProxyType({})
) -> dict[Pair, float]:
    """The probability of each pair; they sum to 1. A pair without a count has never met.

    weights: how much a vote on a pair would settle; empty before the first board. A pair that the board
    didn't know yet is worth as much as the best.
    """
    if not pairs:
        raise ValueError("no pair can meet on this prompt: look at another prompt before choosing a pair")
    drawn = [counts.get(pair, 0) for pair in pairs]
    least = min(drawn)
    if least < FLOOR or not weights:
        shares = [1.0 if times == least else 0.0 for times in drawn]
    else:
        shares = _by_weight(pairs, weights)
    even, rest = EXPLORE / len(pairs), (1 - EXPLORE) / math.fsum(shares)
    return {pair: even + rest * share for pair, share in zip(pairs, shares, strict=True)}


def _by_weight(pairs: Collection[Pair], weights: Mapping[Pair, float]) -> list[float]:
    """Relative to the largest, so that their sum stays finite; all alike where nothing is left to settle."""
    known = [weights[pair] for pair in pairs if pair in weights]
    if bad := [weight for weight in known if not 0 <= weight < math.inf]:
        raise ValueError(f"weight {bad[0]}: weights are finite and not negative; take a new snapshot")
    largest = max(known, default=0.0)
    if not largest:
        return [1.0] * len(pairs)
    return [weights.get(pair, largest) / largest for pair in pairs]


def choose_pair(
    pairs: Collection[Pair],
    counts: Mapping[Pair, int],
    random: Random,
    weights: Mapping[Pair, float] = MappingProxyType({}),
) -> tuple[Pair, float]:
    """A pair and the probability with which it was drawn."""
    chances = propensities(pairs, counts, weights)
    (pair,) = random.choices(list(chances), weights=list(chances.values()))
    return pair, chances[pair]


def choose_texts(combinations_: Sequence[tuple[Text, Text]], random: Random) -> tuple[Text, Text]:
    """One combination of the pair's texts, the sides by a fair coin: the first is shown first."""
    one, other = random.choice(combinations_)
    return (one, other) if random.getrandbits(1) else (other, one)


def sample_ids(spans: Iterable[tuple[int, int]], size: int, random: Random) -> list[int]:
    """At most `size` distinct numbers from inclusive spans, which may overlap; each is equally likely."""
    ranges: list[range] = []
    for first, last in sorted(spans):
        start = max(first, ranges[-1].stop) if ranges else first
        if start <= last:
            ranges.append(range(start, last + 1))
    total = sum(map(len, ranges))
    sampled = []
    for offset in random.sample(range(total), min(size, total)):
        for ids in ranges:
            if offset < len(ids):
                sampled.append(ids[offset])
                break
            offset -= len(ids)
    return sampled


def choose_kind(gold_share: float, repeat_share: float, random: Random) -> str:
    """What the next battle is to be, if there is one of that kind: gold, repeat or regular."""
    number = random.random()
    if number < gold_share:
        return "gold"
    return "repeat" if number < gold_share + repeat_share else "regular"
