"""Which votes speak about the same thing: ratings of one prompt and one unordered pair of competitors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ratings.comparisons import SWAPPED, Comparisons, pair_codes
from ratings.errors import BadOptionError, NoVotesError

MOST_CELLS = 50_000_000


@dataclass(frozen=True, eq=False)
class Overlap:
    """Votes of different raters on the same units, outcomes read from the side of the lower competitor.

    first, second (m,): outcome codes of every two ratings of one unit · first_rater, second_rater, cluster
    (m,) · unit_cluster (units,): the cluster of each column of `ratings` · repeated: votes by which a rater
    rated a unit again (left out).
    """

    first: NDArray[np.int8]
    second: NDArray[np.int8]
    first_rater: NDArray[np.int32]
    second_rater: NDArray[np.int32]
    cluster: NDArray[np.int32]
    ratings: NDArray[np.float64]
    unit_cluster: NDArray[np.int32]
    repeated: int


def overlap(comparisons: Comparisons, text: NDArray[np.int32] | None = None) -> Overlap:
    """All pairs of ratings, and `ratings` (raters, units) of outcome codes with NaN for Krippendorff's alpha.

    Clusters are prompts, or texts where `text` (n,) says which prompts are of one: they stay units apart.
    Raises BadOptionError where rater or prompt is unknown, NoVotesError where no two raters share a unit.
    """
    if comparisons.rater is None or comparisons.prompt is None:
        raise BadOptionError("agreement needs to know raters and prompts", todo="give both columns")
    unit = np.unique(
        np.stack([comparisons.prompt.astype(np.int64), pair_codes(comparisons)]), axis=1, return_inverse=True
    )[1].ravel()
    rater = np.unique(comparisons.rater, return_inverse=True)[1]
    _, once = np.unique(np.stack([unit, rater]), axis=1, return_index=True)
    shared = once[np.bincount(unit[once])[unit[once]] > 1]
    if not len(shared):
        raise NoVotesError("no two raters voted on the same prompt and pair", todo="let raters overlap")
    codes = _from_low(comparisons)
    cluster = comparisons.prompt if text is None else text
    i, j = _pairs(unit[shared])
    return Overlap(
        first=codes[shared[i]],
        second=codes[shared[j]],
        first_rater=comparisons.rater[shared[i]],
        second_rater=comparisons.rater[shared[j]],
        cluster=cluster[shared[i]],
        # columns are in the order of the units' numbers
        unit_cluster=cluster[shared[np.unique(unit[shared], return_index=True)[1]]],
        ratings=_table(unit[shared], rater[shared], codes[shared]),
        repeated=len(unit) - len(once),
    )


def _from_low(comparisons: Comparisons) -> NDArray[np.int8]:
    outcome = comparisons.outcome
    codes: NDArray[np.int8] = np.where(comparisons.a > comparisons.b, SWAPPED[outcome], outcome)
    return codes


def _pairs(unit: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places i, j of every two rows with the same unit, those of a unit side by side."""
    order = np.argsort(unit, kind="stable")
    firsts, seconds = [], []
    for rows in np.split(order, np.flatnonzero(np.diff(unit[order])) + 1):
        a, b = np.triu_indices(len(rows), 1)
        firsts.append(rows[a])
        seconds.append(rows[b])
    return np.concatenate(firsts), np.concatenate(seconds)


def _table(unit: NDArray[np.int64], rater: NDArray[np.int64], codes: NDArray[np.int8]) -> NDArray[np.float64]:
    units, raters = np.unique(unit, return_inverse=True)[1], np.unique(rater, return_inverse=True)[1]
    shape = (int(raters.max()) + 1, int(units.max()) + 1)
    if shape[0] * shape[1] > MOST_CELLS:
        raise BadOptionError(f"{shape[0]} raters by {shape[1]} units", todo="take a sample of the prompts")
    table = np.full(shape, np.nan)
    table[raters, units] = codes
    return table
