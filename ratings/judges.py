"""What an LLM judge is worth: swap check, position bias, self-preference, verbosity. Agreement: agreement.py.

A judge sees each battle in both orders, ab (a shown first) and ba. Its verdicts are codes of VERDICTS in the
positions it saw; a call that failed, was refused or can't be read is FAILED. Outcomes are codes of
comparisons.OUTCOMES; NO_VERDICT marks a battle in which either call failed. It is never a tie.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ratings.comparisons import MODEL_A, MODEL_B, OUTCOMES, TIE, TIE_UNSTABLE, UNSTABLE_A, UNSTABLE_B
from ratings.errors import BadValueError, NoVotesError, ShapeError, UnknownOutcomeError
from ratings.proportions import Mean, Share, clustered_mean, share

Codes = NDArray[np.int8]
Floats = NDArray[np.float64]

VERDICTS = ("first", "second", "tie")
"""The closed set of verdicts; a verdict's code is its place here."""

FIRST, SECOND, VERDICT_TIE = range(3)
FAILED = -1

NO_VERDICT = -1
"""Outcome of a battle without a verdict in both orders."""

STEADY, SOFT, HARD = range(3)
"""How the two orders differ: not at all; one says tie; they name opposite winners."""

# Rows: verdict in order ab; columns: verdict in order ba, where "first" is b.
_OUTCOME = np.array(
    [
        [TIE_UNSTABLE, MODEL_A, TIE_UNSTABLE],
        [MODEL_B, TIE_UNSTABLE, TIE_UNSTABLE],
        [TIE_UNSTABLE, TIE_UNSTABLE, TIE],
    ],
    dtype=np.int8,
)
# The same, told apart by what the two orders give on average: a win and a tie lean to the winner.
_LEANING = np.array(
    [
        [TIE_UNSTABLE, MODEL_A, UNSTABLE_A],
        [MODEL_B, TIE_UNSTABLE, UNSTABLE_B],
        [UNSTABLE_B, UNSTABLE_A, TIE],
    ],
    dtype=np.int8,
)
_FLIP = np.array([[HARD, STEADY, SOFT], [STEADY, HARD, SOFT], [SOFT, SOFT, STEADY]], dtype=np.int8)


@dataclass(frozen=True, eq=False)
class SwapCheck:
    """n battles judged in both orders.

    outcome      (n,) model_a, model_b, tie, tie_unstable, or NO_VERDICT
    leaning      (n,) the same with soft flips as unstable_a or unstable_b: what Policies(unstable="average")
                 scores ¾ and ¼; the other policies treat them as tie_unstable
    flip         (n,) STEADY, SOFT or HARD; NO_VERDICT where there is no verdict
    consistency  share of STEADY among battles with both verdicts; None when there are none
    unreadable   share of battles without a verdict
    """

    outcome: Codes
    leaning: Codes
    flip: Codes
    consistency: Share | None
    unreadable: Share

    def count(self, flip: int) -> int:
        """How many battles have this flip (STEADY, SOFT, HARD or NO_VERDICT)."""
        return int(np.count_nonzero(self.flip == flip))


@dataclass(frozen=True)
class PositionBias:
    """P(the response shown first wins) - P(the one shown second wins), over battles judged in both orders.

    Fair judges have 0 whatever the responses are worth, since each response is shown first once.
    first, second, ties   calls by verdict
    left_out              battles with a failed call; half a swap says nothing about position
    """

    difference: Mean
    first: int
    second: int
    ties: int
    left_out: int


@dataclass(frozen=True)
class SideGap:
    """How much more a judge gives to one kind of response than somebody else does on the same battles.

    judge, reference   mean score of that kind of response (win 1, any tie 1/2, loss 0)
    difference         judge - reference, paired by battle
    left_out           rows without a verdict, or whose sides don't differ in kind
    """

    difference: Mean
    judge: float
    reference: float
    left_out: int


def swap_check(
    ab: ArrayLike, ba: ArrayLike, cluster: ArrayLike | None = None, *, confidence: float = 0.95
) -> SwapCheck:
    """Merge the verdicts of both orders, (n,) each: the same winner twice is a win, a tie twice is a tie.

    Opposite winners (a hard flip) and a winner against a tie (a soft flip) are tie_unstable; a failed call
    makes the battle NO_VERDICT. `cluster` (n,), the prompt, widens the Wilson intervals.
    Raises UnknownOutcomeError for a code outside VERDICTS and FAILED, ShapeError, NoVotesError.
    """
    in_ab, in_ba = _verdicts(ab, ba)
    heard = (in_ab != FAILED) & (in_ba != FAILED)
    outcome = np.where(heard, _OUTCOME[in_ab, in_ba], np.int8(NO_VERDICT)).astype(np.int8)
    leaning = np.where(heard, _LEANING[in_ab, in_ba], np.int8(NO_VERDICT)).astype(np.int8)
    flip = np.where(heard, _FLIP[in_ab, in_ba], np.int8(NO_VERDICT)).astype(np.int8)
    ids = None if cluster is None else _same_length(cluster, in_ab, "cluster")
    consistency = None
    if heard.any():
        among = None if ids is None else ids[heard]
        consistency = share(flip[heard] == STEADY, among, confidence=confidence)
    for array in (outcome, leaning, flip):
        array.setflags(write=False)
    return SwapCheck(outcome, leaning, flip, consistency, share(~heard, ids, confidence=confidence))


def position_bias(
    ab: ArrayLike, ba: ArrayLike, cluster: ArrayLike | None = None, *, confidence: float = 0.95
) -> PositionBias:
    """Mean over battles of the calls' (+1 first, -1 second, 0 tie), with a t interval.

    ab, ba (n,) verdicts; the two calls of a battle are one row. `cluster` (n,) is the prompt; without it
    every battle is its own cluster. Raises as `swap_check`, and NoVotesError when no battle has both
    verdicts.
    """
    in_ab, in_ba = _verdicts(ab, ba)
    heard = (in_ab != FAILED) & (in_ba != FAILED)
    if not heard.any():
        raise NoVotesError("no battle has a verdict in both orders", todo="run the judge again")
    calls = np.stack([in_ab[heard], in_ba[heard]])
    lean = np.array([1.0, -1.0, 0.0])[calls].mean(axis=0)
    among = None if cluster is None else _same_length(cluster, in_ab, "cluster")[heard]
    first, second, ties = (int(np.count_nonzero(calls == code)) for code in (FIRST, SECOND, VERDICT_TIE))
    difference = clustered_mean(lean, among, confidence=confidence)
    return PositionBias(difference, first, second, ties, int(np.count_nonzero(~heard)))


def self_preference(
    judge: ArrayLike,
    others: ArrayLike,
    own: ArrayLike,
    cluster: ArrayLike | None = None,
    *,
    confidence: float = 0.95,
) -> SideGap:
    """What a judge gives to responses of its own family, minus what others give them on the same battles.

    A judge's own family may simply be better; the difference between judges takes that out.
    judge, others (n,) outcomes, one row per battle and other judge; own (n,) +1 where side a is of the
    judge's family, -1 where side b is, 0 where both or neither are (left out). cluster (n,) the prompt.
    Raises as `side_gap`.
    """
    return side_gap(judge, others, own, cluster, confidence=confidence)


def verbosity_gap(
    judge: ArrayLike,
    people: ArrayLike,
    length_a: ArrayLike,
    length_b: ArrayLike,
    cluster: ArrayLike | None = None,
    *,
    confidence: float = 0.95,
) -> SideGap:
    """The judge's score for the longer response minus people's, on the same battles.

    People may like long responses too; only the difference is the judge's bias. judge, people (n,) outcomes,
    one row per battle and vote; lengths (n,) in any one unit; equally long responses are left out.
    Raises as `side_gap`.
    """
    longer = np.sign(np.asarray(length_a, dtype=np.float64) - np.asarray(length_b, dtype=np.float64))
    return side_gap(judge, people, longer, cluster, confidence=confidence)


def side_gap(
    judge: ArrayLike,
    reference: ArrayLike,
    side: ArrayLike,
    cluster: ArrayLike | None = None,
    *,
    confidence: float = 0.95,
) -> SideGap:
    """Mean of s_judge - s_reference, s the score of the marked side, with a t interval over clusters.

    judge, reference (n,) outcomes or NO_VERDICT; side (n,) +1 marks a, -1 marks b, 0 neither.
    Raises UnknownOutcomeError for other codes, BadValueError for other marks, ShapeError for unequal lengths,
    NoVotesError when no row is left.
    """
    by_judge, by_reference = _outcomes(judge), _outcomes(reference)
    mark = _same_length(side, by_judge, "side")
    _same_length(by_reference, by_judge, "reference")
    unknown = ~np.isin(mark, (-1, 0, 1))
    if unknown.any():
        raise BadValueError(f"side {mark[unknown][0]}", row=int(np.argmax(unknown)), todo="use 1, -1 or 0")
    kept = (mark != 0) & (by_judge != NO_VERDICT) & (by_reference != NO_VERDICT)
    if not kept.any():
        raise NoVotesError("no battle with verdicts of both whose sides differ in kind")
    scores, reference_scores = (_score(codes[kept], mark[kept]) for codes in (by_judge, by_reference))
    among = None if cluster is None else _same_length(cluster, by_judge, "cluster")[kept]
    return SideGap(
        difference=clustered_mean(scores - reference_scores, among, confidence=confidence),
        judge=float(scores.mean()),
        reference=float(reference_scores.mean()),
        left_out=int(np.count_nonzero(~kept)),
    )


def _score(outcome: Codes, mark: NDArray[Any]) -> Floats:
    of_a = np.where(outcome == MODEL_A, 1.0, np.where(outcome == MODEL_B, 0.0, 0.5))
    return np.where(mark > 0, of_a, 1.0 - of_a)


def _verdicts(ab: ArrayLike, ba: ArrayLike) -> tuple[Codes, Codes]:
    arrays = []
    for order, values in (("ab", ab), ("ba", ba)):
        codes = np.asarray(values)
        _check_codes(
            codes, FAILED, len(VERDICTS), f"verdict in order {order}", "first, second, tie are 0, 1, 2"
        )
        arrays.append(codes.astype(np.int8))
    _same_length(arrays[1], arrays[0], "ba")
    if not len(arrays[0]):
        raise NoVotesError("no battle was judged")
    return arrays[0], arrays[1]


def _outcomes(values: ArrayLike) -> Codes:
    codes = np.asarray(values)
    _check_codes(
        codes, NO_VERDICT, len(OUTCOMES), "outcome", f"0 to {len(OUTCOMES) - 1} mean {', '.join(OUTCOMES)}"
    )
    return codes.astype(np.int8)


def _check_codes(codes: NDArray[Any], lowest: int, end: int, what: str, todo: str) -> None:
    if codes.ndim != 1:
        raise ShapeError(f"{what}: shape {codes.shape}", todo="pass one-dimensional arrays")
    if codes.size and codes.dtype.kind not in "iu":
        raise UnknownOutcomeError(f"{what}: {codes.dtype} instead of codes", todo=todo)
    bad = (codes < lowest) | (codes >= end)
    if bad.any():
        raise UnknownOutcomeError(f"{what}: unknown code {codes[bad][0]}", row=int(np.argmax(bad)), todo=todo)


def _same_length(values: ArrayLike, like: NDArray[Any], name: str) -> NDArray[Any]:
    array = np.asarray(values)
    if array.shape != like.shape:
        raise ShapeError(f"{name} has shape {array.shape}, not {like.shape}", todo="pass one value per row")
    return array
