"""Prompts that say nearly the same, found without comparing each with each. Pure.

Two texts are as similar as the share of their runs of three words that they have in common (Jaccard). A pair
that is similar enough must share one of its rarer runs, so only such pairs are compared (prefix filtering:
Chaudhuri, Ganti, Kaushik 2006; Bayardo, Ma, Srikant 2007). No such pair is missed but those that share only
what more than COMMON prompts share: a template filled in many times is no duplicate.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

SIMILAR = 0.8
RUN = 3
COMMON = 100
# What a text is compared by; later words of a longer one can't make it another prompt to a reader.
LOOKED_AT = 4_000
# Where somebody waits, a second or two: characters of all texts together, and how often two are compared.
CHARACTERS, COMPARED = 4_000_000, 300_000
# Scripts that put no space between words go character by character.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# A sign before a number is a word of its own: 1+1 isn't 1-1.
_SIGN = r"[-+*/^=<>%\u00b1\u00d7\u00f7\u2212](?=\s*\d)"
_WORD = re.compile(rf"[{_UNSPACED}]|{_SIGN}|[^\W{_UNSPACED}]+")

Runs = frozenset[int]


@dataclass(frozen=True)
class Pair:
    """The later of two prompts that are alike, the earlier one, and how alike: 1 is the same words."""

    later: str
    earlier: str
    similarity: float


def near_duplicates(
    texts: Mapping[str, str], similar: float = SIMILAR, compared: int | None = None
) -> list[Pair]:
    """Of texts by their id, in their order: each pair at least that similar; a text that repeats, once.

    `compared` ends the search after so many comparisons; none are left out otherwise.
    """
    if not 0 < similar <= 1:
        raise ValueError(f"similarity is a share above 0 up to 1, not {similar}")
    same: dict[Runs, str] = {}
    pairs: list[Pair] = []
    for name, text in texts.items():
        runs = runs_of(text)
        if not runs:
            continue
        first = same.setdefault(runs, name)
        if first != name:
            pairs.append(Pair(name, first, 1.0))
    every, names = list(same), list(same.values())
    for later, earlier in islice(_candidates(every, similar), compared):
        similarity = _similarity(every[earlier], every[later], similar)
        if similarity >= similar:
            pairs.append(Pair(names[later], names[earlier], similarity))
    order = {name: place for place, name in enumerate(texts)}
    return sorted(pairs, key=lambda pair: (-pair.similarity, order[pair.later], order[pair.earlier]))


def runs_of(text: str) -> Runs:
    """Hashes of every three words in a row; of all words where there are fewer."""
    words = _WORD.findall(unicodedata.normalize("NFKC", text[:LOOKED_AT]).casefold())
    if len(words) < RUN:
        return frozenset([hash(tuple(words))] if words else [])
    return frozenset(map(hash, zip(words, words[1:], words[2:], strict=False)))


def within(texts: Iterable[tuple[str, str]], characters: int = CHARACTERS) -> dict[str, str]:
    """The first texts of so many characters together."""
    found: dict[str, str] = {}
    for name, text in texts:
        characters -= len(text[:LOOKED_AT])
        if characters < 0:
            break
        found[name] = text[:LOOKED_AT]
    return found


def _candidates(every: list[Runs], similar: float) -> Iterator[tuple[int, int]]:
    """Places of two texts that may be alike, the later first."""
    often = Counter(run for runs in every for run in runs)
    places: defaultdict[int, list[int]] = defaultdict(list)
    for later, runs in enumerate(every):
        rarest_first = sorted(runs, key=lambda run: (often[run], run))
        prefix = rarest_first[: len(runs) - math.ceil(similar * len(runs)) + 1]
        for earlier in sorted({place for run in prefix for place in places[run]}):
            yield later, earlier
        for run in prefix:
            if 1 < often[run] <= COMMON:
                places[run].append(later)


def _similarity(one: Runs, other: Runs, similar: float) -> float:
    small, large = sorted((len(one), len(other)))
    if small < similar * large:
        return 0.0
    common = len(one & other)
    return common / (small + large - common)
