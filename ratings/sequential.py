"""Claims that hold however often a board is looked at: e-values, confidence sequences, e-BH.

A decisive vote on a pair is a bet between "a coin" and "not a coin". Under a fair coin the expected
e-value is at most 1 at any stopping time, so P(it ever reaches 1/alpha) <= alpha (Ville's inequality); a z
test looked at after every vote claims falsely almost half the time. Neither a rater nor a prompt may bet
twice on a pair: a rater's taste makes votes alike, as does what a prompt's two responses are worth, and many
of them would no longer be fair bets.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, log1p

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import betaln

from ratings.comparisons import MODEL_A, MODEL_B, Comparisons, pair_codes
from ratings.errors import BadOptionError, BadValueError
from ratings.proportions import check_confidence

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class ConfidenceSequence:
    """Win shares not ruled out by wins and losses; holds at every look, so wider than one interval."""

    lower: float
    upper: float
    wins: int
    losses: int
    confidence: float


@dataclass(frozen=True, eq=False)
class Watch:
    """Evidence on every pair that had a bet, in rising order of (low, high).

    low, high      (P,) competitors
    wins, losses   (P,) bets won by low and by high
    e              (P,) e-values against a fair coin
    claimed        (P,) bool: different, with the false discovery rate held over `planned` pairs at every look
    planned        how many pairs the plan named before the first vote
    """

    low: Integers
    high: Integers
    wins: Integers
    losses: Integers
    e: Floats
    claimed: NDArray[np.bool_]
    planned: int
    false_discovery: float


def e_value(wins: ArrayLike, losses: ArrayLike) -> Floats:
    """E = 2^n w! l!/(n + 1)!, n = w + l, elementwise: the mixture over a uniform win share against a coin.

    Infinite beyond the largest double. Raises BadValueError for negative counts.
    """
    w, lost = _counts(wins, losses)
    with np.errstate(over="ignore"):
        e: Floats = np.exp((w + lost) * log(2.0) + betaln(w + 1, lost + 1))
    return e


def e_path(won: ArrayLike) -> Floats:
    """(T,) e-value after each of T bets, `won` (T,) bool telling who won; claim where it passes 1/alpha."""
    bets = np.asarray(won, dtype=bool)
    wins = np.cumsum(bets)
    return e_value(wins, np.arange(1, len(bets) + 1) - wins)


def confidence_sequence(wins: int, losses: int, *, confidence: float = 0.95) -> ConfidenceSequence:
    """All win shares p with B(w + 1, l + 1)/(p^w (1 - p)^l) < 1/(1 - confidence).

    (Robbins 1970, mixture over a uniform p.) Raises BadValueError for negative counts.
    """
    check_confidence(confidence)
    _counts(wins, losses)
    threshold = float(betaln(wins + 1, losses + 1)) + log(1 - confidence)

    def excess(p: float) -> float:
        return (wins * log(p) if wins else 0.0) + (losses * log1p(-p) if losses else 0.0) - threshold

    best = wins / (wins + losses) if wins + losses else 0.5
    tiny, almost = 1e-300, 1 - 2**-53
    lower = 0.0 if not wins else float(brentq(excess, tiny, min(best, almost), xtol=1e-14, rtol=1e-13))
    upper = 1.0 if not losses else float(brentq(excess, max(best, tiny), almost, xtol=1e-14, rtol=1e-13))
    return ConfidenceSequence(lower, upper, wins, losses, confidence)


def e_benjamini_hochberg(
    e: ArrayLike, *, planned: int | None = None, false_discovery: float = 0.05
) -> NDArray[np.bool_]:
    """(P,) bool, the claims: the k* largest, k* = max{k: e_(k) >= m/(false_discovery k)} (Wang & Ramdas
    2022).

    Holds under any dependence between pairs. m = `planned`, by default P; it must be fixed before the first
    vote, since pairs that drop out unlooked-at would make claims too easy.
    Raises BadOptionError when m < P or false_discovery isn't between 0 and 1, BadValueError for negative or
    NaN e.
    """
    values = np.asarray(e, dtype=np.float64)
    m = len(values) if planned is None else planned
    if m < len(values) or not 0 < false_discovery < 1:
        raise BadOptionError(
            f"{len(values)} pairs of {m} planned at a false discovery rate of {false_discovery}",
            todo="plan at least as many pairs as are looked at, and a rate between 0 and 1",
        )
    if np.any(np.isnan(values) | (values < 0)):
        raise BadValueError("e-values must be at least 0", row=int(np.argmax(~(values >= 0))))
    order = np.argsort(-values, kind="stable")
    enough = values[order] * np.arange(1, len(values) + 1) * false_discovery >= m
    claimed = np.zeros(len(values), dtype=bool)
    if enough.any():
        claimed[order[: int(np.flatnonzero(enough)[-1]) + 1]] = True
    return claimed


def fair_bets(comparisons: Comparisons) -> Integers:
    """Rows (in order) that count as bets: each decisive vote whose rater, and whose prompt if prompts are
    known, has no bet on that unordered pair before it.

    Never revised by later votes: betting on the sign of a rater's net vote isn't a fair bet. Rows must be in
    the order in which they were cast. Raises BadOptionError when the raters are unknown.
    """
    if comparisons.rater is None:
        raise BadOptionError("bets need to know who voted", todo="pass rater ids with the comparisons")
    decisive = np.flatnonzero((comparisons.outcome == MODEL_A) | (comparisons.outcome == MODEL_B))
    pair = pair_codes(comparisons)[decisive]
    known = [ids[decisive] for ids in (comparisons.rater, comparisons.prompt) if ids is not None]
    keys = [_numbered(pair, ids) for ids in known]
    bets, waiting = [], np.arange(len(decisive))
    while len(waiting):
        # The first of all that share its rater, and of all that share its prompt, bets; those are out then.
        first = np.logical_and.reduce([_is_first(key[waiting]) for key in keys])
        bets.append(waiting[first])
        out = np.logical_or.reduce([np.isin(key[waiting], key[bets[-1]]) for key in keys])
        waiting = waiting[~out]
    return decisive[np.sort(np.concatenate(bets))] if bets else decisive


def _numbered(pair: Integers, ids: NDArray[np.int32]) -> Integers:
    """0 … for each rater (prompt) on each pair."""
    width = int(ids.max(initial=0)) + 1
    numbers: Integers = np.unique(pair * width + ids, return_inverse=True)[1]
    return numbers


def _is_first(key: Integers) -> NDArray[np.bool_]:
    """Is the row the first with its key?"""
    rows = np.arange(len(key))
    first = np.empty(int(key.max()) + 1, dtype=np.int64)
    first[key[::-1]] = rows[::-1]  # of several the last one written stays
    is_first: NDArray[np.bool_] = first[key] == rows
    return is_first


def watch_pairs(
    comparisons: Comparisons, *, planned: int | None = None, false_discovery: float = 0.05
) -> Watch:
    """Where the votes so far allow a claim "these two differ", at this look and at every other.

    One bet per rater, and per prompt, on a pair (`fair_bets`); weights play no part. `planned` defaults to
    all K(K - 1)/2 pairs. Raises as `fair_bets` and `e_benjamini_hochberg`.
    """
    k = comparisons.n_competitors
    rows = fair_bets(comparisons)
    codes, pair = np.unique(pair_codes(comparisons)[rows], return_inverse=True)
    won_by_low = (comparisons.outcome[rows] == MODEL_A) == (comparisons.a[rows] < comparisons.b[rows])
    bets = np.bincount(pair, minlength=len(codes))
    wins = np.bincount(pair[won_by_low], minlength=len(codes))
    e = e_value(wins, bets - wins)
    m = k * (k - 1) // 2 if planned is None else planned
    claimed = e_benjamini_hochberg(e, planned=m, false_discovery=false_discovery)
    return Watch(codes // k, codes % k, wins, bets - wins, e, claimed, m, false_discovery)


def _counts(wins: ArrayLike, losses: ArrayLike) -> tuple[Floats, Floats]:
    w, lost = np.asarray(wins, dtype=np.float64), np.asarray(losses, dtype=np.float64)
    if np.any(w < 0) or np.any(lost < 0):
        raise BadValueError("wins and losses must not be negative")
    return w, lost
