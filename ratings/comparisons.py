"""`Comparisons`: the votes as frozen arrays, checked once; and `Tally`, their counts by pair and score.

A row is one battle with its outcome. Sides are a and b; everything signed (covariates) is oriented a − b.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ratings.errors import (
    BadOptionError,
    BadValueError,
    NoVotesError,
    SelfBattleError,
    ShapeError,
    UnknownCompetitorError,
    UnknownOutcomeError,
)

OUTCOMES = ("model_a", "model_b", "tie", "both_bad", "tie_unstable")
"""The closed set of outcomes; an outcome's code is its place here."""

MODEL_A, MODEL_B, TIE, BOTH_BAD, TIE_UNSTABLE = range(5)

# Swapping the sides of a battle swaps the first two outcomes and leaves the rest.
_SWAPPED = np.array([MODEL_B, MODEL_A, TIE, BOTH_BAD, TIE_UNSTABLE], dtype=np.int8)

Ties = Literal["half", "drop", "davidson"]
HalfOrDrop = Literal["half", "drop"]


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

    `ties="davidson"` fits ties as an outcome of their own (ratings/davidson.py); both-bad and unstable ties
    that count `half` then count as ties.
    """

    ties: Ties = "half"
    both_bad: HalfOrDrop = "half"
    unstable: HalfOrDrop = "half"

    def __post_init__(self) -> None:
        for name, value in (("ties", self.ties), ("both_bad", self.both_bad), ("unstable", self.unstable)):
            allowed = ("half", "drop", "davidson") if name == "ties" else ("half", "drop")
            if value not in allowed:
                raise BadOptionError(f"{name} policy {value!r}", todo=f"use one of {', '.join(allowed)}")

    def half_wins(self) -> NDArray[np.int8]:
        """Half wins of side a (0, 1, 2) for each outcome code (5,); −1: the outcome is dropped."""
        drawn = [-1 if policy == "drop" else 1 for policy in (self.ties, self.both_bad, self.unstable)]
        return np.array([2, 0, *drawn], dtype=np.int8)


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
        side_a, side_b = _ids(a, "a"), _ids(b, "b")
        n = len(side_a)
        _same_length(n, b=side_b)
        _check_sides(side_a, side_b, n_competitors)
        return cls(
            n_competitors=n_competitors,
            a=side_a,
            b=side_b,
            outcome=_outcomes(outcome, n),
            weight=None if weight is None else _weights(weight, n),
            covariates=None if covariates is None else _covariates(covariates, n, covariate_names),
            covariate_names=tuple(covariate_names),
            rater=None if rater is None else _clusters(rater, n, "rater"),
            prompt=None if prompt is None else _clusters(prompt, n, "prompt"),
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
            outcome=np.where(rows, _SWAPPED[self.outcome], self.outcome),
            covariates=None if z is None else np.where(rows[:, None], -z, z),
        )

    def with_covariates(
        self, covariates: NDArray[np.floating[Any]] | None, names: Sequence[str]
    ) -> Comparisons:
        """The same votes with other covariates (n, k), checked."""
        z = None if covariates is None else _covariates(covariates, len(self), names)
        return replace(self, covariates=z, covariate_names=tuple(names))

    def weights(self) -> NDArray[np.float64]:
        """The weights (n,), ones where none were given."""
        return np.ones(len(self)) if self.weight is None else self.weight


@dataclass(frozen=True, eq=False)
class Tally:
    """Votes folded to unordered pairs: low < high (P,), in rising order of (low, high).

    weight, weight_sq (P, 3): Σw and Σw² of the votes in which `low` scored 0, ½, 1. `counts` (P, 3) are plain
    numbers of votes. This is all a plain board needs: refits no longer depend on the number of votes.
    """

    n_competitors: int
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    counts: NDArray[np.float64]
    weight: NDArray[np.float64]
    weight_sq: NDArray[np.float64]

    @property
    def total(self) -> NDArray[np.float64]:
        """Σw per pair (P,)."""
        total: NDArray[np.float64] = self.weight.sum(axis=1)
        return total

    @property
    def score(self) -> NDArray[np.float64]:
        """Σw·y per pair (P,), y = 0, ½, 1 from the side of `low`."""
        score: NDArray[np.float64] = self.weight @ np.array([0.0, 0.5, 1.0])
        return score


def tally(comparisons: Comparisons, policies: Policies) -> Tally:
    """Count votes into cells (pair × score of the lower id) by one bincount per column."""
    k, n = comparisons.n_competitors, len(comparisons)
    if len(OUTCOMES) * k * k > 4 * n + MOST_EMPTY_CELLS:
        return _sparse_tally(comparisons, policies)
    # int32 while it fits: the index is most of the work
    width = np.int32 if len(OUTCOMES) * k * k < 2**31 else np.int64
    cell = comparisons.outcome * width(k * k)
    cell += comparisons.a * width(k)
    cell += comparisons.b
    shape, w = (len(OUTCOMES), k, k), comparisons.weight
    weights = [None] if w is None else [None, w, w * w]
    columns = [_folded(np.bincount(cell, c, minlength=5 * k * k).reshape(shape), policies) for c in weights]
    low, high = np.nonzero(np.triu(columns[0].any(axis=0)))
    kept = [np.ascontiguousarray(column[:, low, high].T, dtype=np.float64) for column in columns]
    return Tally(
        k, low.astype(np.int32), high.astype(np.int32), kept[0], kept[-1 if w is None else 1], kept[-1]
    )


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
    """Sums by outcome and sides (5, K, K) as sums by the row competitor's score (3, K, K), in both orders."""
    folded = np.zeros((3, *planes.shape[1:]), dtype=planes.dtype)
    for plane, half_wins in zip(planes, policies.half_wins().tolist(), strict=True):
        if half_wins >= 0:
            folded[half_wins] += plane
            folded[2 - half_wins] += plane.T
    return folded


def _sparse_tally(comparisons: Comparisons, policies: Policies) -> Tally:
    """The same where most pairs never met: cells numbered by the pairs that did."""
    codes = pair_codes(comparisons)
    pairs, place = np.unique(codes, return_inverse=True)
    cell = 4 * place + scores_of_low(comparisons, policies)
    w, size = comparisons.weight, 4 * len(pairs)

    def column(values: NDArray[np.float64] | None) -> NDArray[np.float64]:
        sums: NDArray[Any] = np.bincount(cell, values, minlength=size)
        return sums.reshape(-1, 4)[:, :DROPPED].astype(np.float64)

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


DROPPED = 3


def scores_of_low(comparisons: Comparisons, policies: Policies) -> NDArray[np.int8]:
    """Half wins of the lower id in each vote (n,): 0, 1, 2, or DROPPED."""
    of_a = policies.half_wins()
    of_b = np.where(of_a < 0, of_a, 2 - of_a)
    # One table for both orders: outcomes 0–4 as they are, 5–9 with the sides exchanged.
    table = np.concatenate([of_a, of_b]).astype(np.int8)
    table[table < 0] = DROPPED
    swapped = (comparisons.a > comparisons.b).view(np.int8)
    scores: NDArray[np.int8] = table[comparisons.outcome + np.int8(5) * swapped]
    return scores


def _first(bad: NDArray[np.bool_]) -> int:
    return int(np.argmax(bad))


def _ids(values: ArrayLike, name: str) -> NDArray[np.int32]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise ShapeError(f"{name} must be one-dimensional, it has shape {array.shape}")
    if array.size == 0:
        return np.zeros(0, dtype=np.int32)
    if array.dtype.kind not in "iu":
        raise BadValueError(
            f"{name} must hold integer ids, it holds {array.dtype}", todo="number the names first"
        )
    if array.max() > np.iinfo(np.int32).max:
        raise BadValueError(
            f"{name} holds ids above 2³¹", row=_first(array == array.max()), todo="number from 0"
        )
    return array.astype(np.int32, copy=False)


def _same_length(n: int, **arrays: NDArray[Any]) -> None:
    for name, array in arrays.items():
        if len(array) != n:
            raise ShapeError(f"{name} has {len(array)} rows, a has {n}", todo="pass one value per vote")


def _check_sides(a: NDArray[np.int32], b: NDArray[np.int32], n_competitors: int) -> None:
    for name, side in (("a", a), ("b", b)):
        bad = (side < 0) | (side >= n_competitors)
        if bad.any():
            row = _first(bad)
            raise UnknownCompetitorError(
                f"competitor {side[row]} on side {name} of a board of {n_competitors}",
                row=row,
                todo=f"ids run from 0 to {n_competitors - 1}",
            )
    same = a == b
    if same.any():
        row = _first(same)
        raise SelfBattleError(f"competitor {a[row]} fights itself", row=row, todo="leave such votes out")


def _outcomes(values: ArrayLike, n: int) -> NDArray[np.int8]:
    array = np.asarray(values)
    if array.dtype.kind in "UOT":
        array = encode_outcomes(array.tolist())
    _same_length(n, outcome=array)
    if n == 0:
        return np.zeros(0, dtype=np.int8)
    if array.dtype.kind not in "iu":
        raise UnknownOutcomeError(f"outcomes must be codes or names, not {array.dtype}", todo="see OUTCOMES")
    bad = (array < 0) | (array >= len(OUTCOMES))
    if bad.any():
        row = _first(bad)
        raise UnknownOutcomeError(
            f"unknown outcome code {array[row]}", row=row, todo=f"0 to 4 mean {', '.join(OUTCOMES)}"
        )
    return array.astype(np.int8, copy=False)


def _weights(values: ArrayLike, n: int) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    _same_length(n, weight=array)
    bad = ~(np.isfinite(array) & (array > 0))
    if bad.any():
        row = _first(bad)
        raise BadValueError(
            f"weight {array[row]}", row=row, todo="weights are finite and > 0; leave the vote out instead"
        )
    return array


def _covariates(values: ArrayLike, n: int, names: Sequence[str]) -> NDArray[np.floating[Any]]:
    array = np.asarray(values)
    if array.dtype.kind != "f":
        array = array.astype(np.float64)
    _same_length(n, covariates=array)
    if array.ndim != 2 or array.shape[1] != len(names):
        raise ShapeError(
            f"covariates have shape {array.shape} and {len(names)} names", todo="pass (n, k) and k names"
        )
    # A sum is NaN or infinite if any entry is; only then look for it (isfinite costs 10 times as much).
    if n and not np.isfinite(array.sum(dtype=np.float64)):
        bad = ~np.isfinite(array)
        if bad.any():
            row = _first(bad.any(axis=1))
            name = names[_first(bad[row])]
            raise BadValueError(
                f"covariate {name} is {array[row][bad[row]][0]}", row=row, todo="it must be finite"
            )
    return array


def _clusters(values: ArrayLike, n: int, name: str) -> NDArray[np.int32]:
    array = _ids(values, name)
    _same_length(n, **{name: array})
    if n and array.min() < 0:
        raise BadValueError(
            f"{name} {array.min()}",
            row=_first(array < 0),
            todo="ids are ≥ 0; give an unknown one an id of its own",
        )
    return array
