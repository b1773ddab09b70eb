"""`Comparisons`: the votes as frozen arrays, checked once; and `Tally`, their counts by pair and score.

A row is one battle with its outcome. Sides are a and b; everything signed (covariates) is oriented a − b.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ratings import checks
from ratings.errors import BadOptionError, NoVotesError, ShapeError, UnknownOutcomeError

OUTCOMES = ("model_a", "model_b", "tie", "both_bad", "tie_unstable", "unstable_a", "unstable_b")
"""The closed set of outcomes; an outcome's code is its place here.

The last three are of judges whose two orders disagree: opposite winners, or how they differ isn't known
(`tie_unstable`); a win for one side in one order and a tie in the other (`unstable_a`, `unstable_b`).
"""

MODEL_A, MODEL_B, TIE, BOTH_BAD, TIE_UNSTABLE, UNSTABLE_A, UNSTABLE_B = range(7)

SWAPPED = np.array([MODEL_B, MODEL_A, TIE, BOTH_BAD, TIE_UNSTABLE, UNSTABLE_B, UNSTABLE_A], dtype=np.int8)
"""An outcome's code (7,) with the sides of its battle exchanged."""

Ties = Literal["half", "drop", "davidson"]
HalfOrDrop = Literal["half", "drop"]
Unstable = Literal["half", "drop", "average"]


def encode_outcomes(names: Sequence[str]) -> NDArray[np.int8]:
    """Outcome names (n,) as codes; raises UnknownOutcomeError with the row of the first unknown one."""
    codes = {name: code for code, name in enumerate(OUTCOMES)}
    try:
        return np.fromiter((codes[name] for name in names), dtype=np.int8, count=len(names))
    except (KeyError, TypeError):
        row, name = next((i, n) for i, n in enumerate(names) if n not in OUTCOMES)
        raise UnknownOutcomeError(
            f"unknown outcome {name!r}", row=row, todo=f"use one of {', '.join(OUTCOMES)}"
        ) from None


@dataclass(frozen=True)
class Policies:
    """How outcomes count in a fit. `half`: half a win for each side; `drop`: the vote is left out.

    `unstable="average"` scores a judge's two orders by their mean, (y_ab + y_ba)/2: ¾ of a win where one
    order found for a side and the other a tie, half a win where they found for opposite sides.
    `ties="davidson"` fits ties as an outcome of their own (ratings/davidson.py); both-bad and unstable ties
    that count `half` then count as ties. Such a model has no place for ¾ of a win.
    """

    ties: Ties = "half"
    both_bad: HalfOrDrop = "half"
    unstable: Unstable = "half"

    def __post_init__(self) -> None:
        for name, kinds in (("ties", Ties), ("both_bad", HalfOrDrop), ("unstable", Unstable)):
            value, allowed = getattr(self, name), get_args(kinds)
            if value not in allowed:
                raise BadOptionError(f"{name} policy {value!r}", todo=f"use one of {', '.join(allowed)}")
        if self.ties == "davidson" and self.unstable == "average":
            raise BadOptionError(
                "Davidson's model knows no quarter wins", todo="take half or drop for unstable ties"
            )

    def quarter_wins(self) -> NDArray[np.int8]:
        """Quarter wins of side a (0 … 4) for each outcome code (7,); −1: the outcome is dropped."""
        tie, both_bad, unstable = (
            -1 if p == "drop" else 2 for p in (self.ties, self.both_bad, self.unstable)
        )
        leaning = (3, 1) if self.unstable == "average" else (unstable, unstable)
        return np.array([4, 0, tie, both_bad, unstable, *leaning], dtype=np.int8)

    def half_wins(self) -> NDArray[np.int8]:
        """Half wins of side a (0, 1, 2) for each outcome code (7,); −1: dropped. Raises under `average`."""
        if self.unstable == "average":
            raise BadOptionError("quarter wins can't be counted in halves", todo="use quarter_wins")
        return self.quarter_wins() // np.int8(2)

    @property
    def n_scores(self) -> int:
        """How many scores there are: 3 (0, ½, 1), or 5 (0, ¼, ½, ¾, 1)."""
        return 5 if self.unstable == "average" else 3


@dataclass(frozen=True, eq=False)
class Comparisons:
    """n votes between `n_competitors` competitors (ids 0 … K−1).

    a, b (n,) int32: who fought, a ≠ b · outcome (n,) int8: codes of OUTCOMES · weight (n,) float64 > 0,
    None: all one · covariates (n, k) float, signed a − b, or None · rater, prompt (n,) int32 ids ≥ 0 or None
    where unknown.
    `Comparisons.of` checks and converts; the bare constructor trusts its caller.
    """

    n_competitors: int
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    outcome: NDArray[np.int8]
    weight: NDArray[np.float64] | None = None
    covariates: NDArray[np.floating[Any]] | None = None
    covariate_names: tuple[str, ...] = ()
    rater: NDArray[np.int32] | None = None
    prompt: NDArray[np.int32] | None = None

    @classmethod
    def of(
        cls,
        n_competitors: int,
        a: ArrayLike,
        b: ArrayLike,
        outcome: ArrayLike,
        *,
        weight: ArrayLike | None = None,
        covariates: ArrayLike | None = None,
        covariate_names: Sequence[str] = (),
        rater: ArrayLike | None = None,
        prompt: ArrayLike | None = None,
    ) -> Comparisons:
        """Arrays of n rows as checked Comparisons; raises a RatingsError naming the first bad row."""
        side_a, side_b = checks.ids(a, "a"), checks.ids(b, "b")
        n = len(side_a)
        checks.same_length(n, b=side_b)
        checks.check_sides(side_a, side_b, n_competitors)
        return cls(
            n_competitors=n_competitors,
            a=side_a,
            b=side_b,
            outcome=_outcomes(outcome, n),
            weight=None if weight is None else checks.weights(weight, n),
            covariates=None if covariates is None else checks.covariates(covariates, n, covariate_names),
            covariate_names=tuple(covariate_names),
            rater=None if rater is None else checks.clusters(rater, n, "rater"),
            prompt=None if prompt is None else checks.clusters(prompt, n, "prompt"),
        )

    @classmethod
    def from_chunks(
        cls,
        n_competitors: int,
        chunks: Iterable[Mapping[str, ArrayLike]],
        *,
        covariate_names: Sequence[str] = (),
    ) -> Comparisons:
        """Chunks, each a mapping of the arguments of `of` to arrays, put together in their order and checked.

        A row in an error counts from the first chunk's first row. All chunks must have the same keys.
        """
        parts: dict[str, list[NDArray[Any]]] = {}
        for number, chunk in enumerate(chunks):
            if number and chunk.keys() != parts.keys():
                raise ShapeError(f"chunk {number} has the columns {sorted(chunk)}, the first {sorted(parts)}")
            for key, values in chunk.items():
                parts.setdefault(key, []).append(np.asarray(values))
        if not parts:
            raise NoVotesError("no chunk arrived", todo="pass at least one, it may be empty")
        whole: dict[str, Any] = {key: np.concatenate(arrays) for key, arrays in parts.items()}
        return cls.of(n_competitors, covariate_names=covariate_names, **whole)

    def __len__(self) -> int:
        return len(self.a)

    def select(self, rows: NDArray[Any]) -> Comparisons:
        """Only the given rows: a boolean mask (n,) or indices (m,), which may repeat."""
        arrays = {f.name: getattr(self, f.name) for f in fields(self)}
        return replace(self, **{k: v[rows] for k, v in arrays.items() if isinstance(v, np.ndarray)})

    def swap_sides(self, rows: NDArray[np.bool_]) -> Comparisons:
        """The same votes with a and b exchanged where `rows` (n,) is true; no fit may notice."""
        z = self.covariates
        return replace(
            self,
            a=np.where(rows, self.b, self.a),
            b=np.where(rows, self.a, self.b),
            outcome=np.where(rows, SWAPPED[self.outcome], self.outcome),
            covariates=None if z is None else np.where(rows[:, None], -z, z),
        )

    def with_covariates(
        self, covariates: NDArray[np.floating[Any]] | None, names: Sequence[str]
    ) -> Comparisons:
        """The same votes with other covariates (n, k), checked."""
        z = None if covariates is None else checks.covariates(covariates, len(self), names)
        return replace(self, covariates=z, covariate_names=tuple(names))

    def weights(self) -> NDArray[np.float64]:
        """The weights (n,), ones where none were given."""
        return np.ones(len(self)) if self.weight is None else self.weight


@dataclass(frozen=True, eq=False)
class Tally:
    """Votes folded to unordered pairs: low < high (P,), in rising order of (low, high).

    weight, weight_sq (P, S): Σw and Σw² of the votes in which `low` scored 0, ½, 1 (S = 3) or 0, ¼, ½, ¾, 1
    (S = 5, under `unstable="average"`). `counts` (P, S) are plain numbers of votes. This is all a plain board
    needs: refits no longer depend on the number of votes.
    """

    n_competitors: int
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    counts: NDArray[np.float64]
    weight: NDArray[np.float64]
    weight_sq: NDArray[np.float64]

    @property
    def scores(self) -> NDArray[np.float64]:
        """What `low` scores in each column (S,)."""
        return np.linspace(0, 1, self.counts.shape[1])

    @cached_property
    def total(self) -> NDArray[np.float64]:
        """Σw per pair (P,)."""
        total: NDArray[np.float64] = self.weight.sum(axis=1)
        return total

    @cached_property
    def score(self) -> NDArray[np.float64]:
        """Σw·y per pair (P,), y from the side of `low`."""
        score: NDArray[np.float64] = self.weight @ self.scores
        return score


def tally(comparisons: Comparisons, policies: Policies) -> Tally:
    """Count votes into cells (pair × score of the lower id) by one bincount per column."""
    k, n = comparisons.n_competitors, len(comparisons)
    if len(OUTCOMES) * k * k > 4 * n + MOST_EMPTY_CELLS:
        return _sparse_tally(comparisons, policies)
    w = comparisons.weight
    columns = [
        _folded(sums, policies).reshape(policies.n_scores, k * k)
        for sums in _sums_by_cell(comparisons, [None] if w is None else [None, w, w * w])
    ]
    met = np.flatnonzero(np.triu(columns[0].any(axis=0).reshape(k, k)))
    kept = [column.take(met, axis=1).astype(np.float64).T for column in columns]
    low, high = np.divmod(met.astype(np.int32), np.int32(k))
    return Tally(k, low, high, kept[0], kept[-1 if w is None else 1], kept[-1])


COUNTED_AT_A_TIME = 262_144
"""Votes whose cells are numbered before they are counted, so that the numbers needn't leave the cache."""


def _sums_by_cell(comparisons: Comparisons, columns: list[NDArray[np.float64] | None]) -> list[NDArray[Any]]:
    """Sums of each column (n,), None for plain counts, by outcome, a and b: (O, K, K)."""
    k, n, planes = comparisons.n_competitors, len(comparisons), int(comparisons.outcome.max(initial=0)) + 1
    size = planes * k * k
    sums = [np.zeros(size, dtype=np.int64 if c is None else np.float64) for c in columns]
    step = max(COUNTED_AT_A_TIME, size)
    for part in (slice(start, start + step) for start in range(0, n, step)):
        cell = np.multiply(comparisons.outcome[part], k, dtype=np.intp)
        cell += comparisons.a[part]
        cell *= k
        cell += comparisons.b[part]
        for total, column in zip(sums, columns, strict=True):
            total += np.bincount(cell, None if column is None else column[part], minlength=size)
    return [total.reshape(planes, k, k) for total in sums]


def relabelled_tally(cells: Tally, order: NDArray[np.int64]) -> Tally:
    """The same tally with competitor order[i] called i."""
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    low, high = place[cells.low], place[cells.high]
    swapped = low > high
    low, high = np.minimum(low, high), np.maximum(low, high)
    by_pair = np.lexsort((high, low))

    def column(values: NDArray[np.float64]) -> NDArray[np.float64]:
        turned: NDArray[np.float64] = np.where(swapped[:, None], values[:, ::-1], values)[by_pair]
        return turned

    counts, weight, squares = column(cells.counts), column(cells.weight), column(cells.weight_sq)
    return Tally(cells.n_competitors, low[by_pair], high[by_pair], counts, weight, squares)


MOST_EMPTY_CELLS = 4_000_000


def _folded(planes: NDArray[Any], policies: Policies) -> NDArray[Any]:
    """Sums by outcome and sides (O, K, K) as sums by the row competitor's score (S, K, K), in both orders."""
    last = policies.n_scores - 1
    folded = np.zeros((last + 1, *planes.shape[1:]), dtype=planes.dtype)
    for plane, quarters in zip(planes, policies.quarter_wins().tolist(), strict=False):
        if quarters >= 0:
            folded[quarters * last // 4] += plane
            folded[last - quarters * last // 4] += plane.T
    return folded


def _sparse_tally(comparisons: Comparisons, policies: Policies) -> Tally:
    """The same where most pairs never met: cells numbered by the pairs that did."""
    codes, columns = pair_codes(comparisons), DROPPED + 1
    pairs, place = np.unique(codes, return_inverse=True)
    cell = columns * place + scores_of_low(comparisons, policies)
    w, size = comparisons.weight, columns * len(pairs)

    def column(values: NDArray[np.float64] | None) -> NDArray[np.float64]:
        sums: NDArray[Any] = np.bincount(cell, values, minlength=size)
        every = sums.reshape(-1, columns)[:, :DROPPED].astype(np.float64)
        return every[:, :: 4 // (policies.n_scores - 1)]

    counts = column(None)
    met = counts.any(axis=1)
    k = comparisons.n_competitors
    weight, squares = (counts, counts) if w is None else (column(w), column(w * w))
    low, high = (pairs[met] // k).astype(np.int32), (pairs[met] % k).astype(np.int32)
    return Tally(k, low, high, counts[met], weight[met], squares[met])


def pair_codes(comparisons: Comparisons) -> NDArray[np.int64]:
    """low·K + high of each vote (n,)."""
    a, b = comparisons.a, comparisons.b
    return np.minimum(a, b).astype(np.int64) * comparisons.n_competitors + np.maximum(a, b)


DROPPED = 5


def scores_of_low(comparisons: Comparisons, policies: Policies) -> NDArray[np.int8]:
    """Quarter wins of the lower id in each vote (n,): 0 … 4, or DROPPED."""
    of_a = policies.quarter_wins()
    of_b = np.where(of_a < 0, of_a, 4 - of_a)
    # One table for both orders: outcomes as they are, then with the sides exchanged.
    table = np.concatenate([of_a, of_b]).astype(np.int8)
    table[table < 0] = DROPPED
    exchanged = (comparisons.a > comparisons.b).view(np.int8)
    exchanged *= np.int8(len(OUTCOMES))
    exchanged += comparisons.outcome
    scores: NDArray[np.int8] = np.take(table, exchanged, mode="clip")
    return scores


def _outcomes(values: ArrayLike, n: int) -> NDArray[np.int8]:
    array = np.asarray(values)
    if array.dtype.kind in "UOT":
        array = encode_outcomes(array.tolist())
    checks.same_length(n, outcome=array)
    if n == 0:
        return np.zeros(0, dtype=np.int8)
    if array.dtype.kind not in "iu":
        raise UnknownOutcomeError(f"outcomes must be codes or names, not {array.dtype}", todo="see OUTCOMES")
    bad = (array < 0) | (array >= len(OUTCOMES))
    if bad.any():
        row = checks.first(bad)
        raise UnknownOutcomeError(
            f"unknown outcome code {array[row]}",
            row=row,
            todo=f"0 to {len(OUTCOMES) - 1} mean {', '.join(OUTCOMES)}",
        )
    return array.astype(np.int8, copy=False)
