"""Arrays as their columns must be, or an error that names the first bad row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ratings.errors import BadValueError, SelfBattleError, ShapeError, UnknownCompetitorError


def first(bad: NDArray[np.bool_]) -> int:
    """The first row of a mask (n,) that is true."""
    return int(np.argmax(bad))


def ids(values: ArrayLike, name: str) -> NDArray[np.int32]:
    """Integer ids (n,) below 2³¹."""
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
            f"{name} holds ids above 2³¹", row=first(array == array.max()), todo="number from 0"
        )
    return array.astype(np.int32, copy=False)


def same_length(n: int, **arrays: NDArray[Any]) -> None:
    """Every array has n rows, or ShapeError."""
    for name, array in arrays.items():
        if len(array) != n:
            raise ShapeError(f"{name} has {len(array)} rows, a has {n}", todo="pass one value per vote")


def check_sides(a: NDArray[np.int32], b: NDArray[np.int32], n_competitors: int) -> None:
    """Sides (n,) are competitors 0 … K − 1 and differ."""
    for name, side in (("a", a), ("b", b)):
        bad = (side < 0) | (side >= n_competitors)
        if bad.any():
            row = first(bad)
            raise UnknownCompetitorError(
                f"competitor {side[row]} on side {name} of a board of {n_competitors}",
                row=row,
                todo=f"ids run from 0 to {n_competitors - 1}",
            )
    same = a == b
    if same.any():
        row = first(same)
        raise SelfBattleError(f"competitor {a[row]} fights itself", row=row, todo="leave such votes out")


def weights(values: ArrayLike, n: int) -> NDArray[np.float64]:
    """Finite weights (n,) above 0."""
    array = np.asarray(values, dtype=np.float64)
    same_length(n, weight=array)
    bad = ~(np.isfinite(array) & (array > 0))
    if bad.any():
        row = first(bad)
        raise BadValueError(
            f"weight {array[row]}", row=row, todo="weights are finite and > 0; leave the vote out instead"
        )
    return array


def covariates(values: ArrayLike, n: int, names: Sequence[str]) -> NDArray[np.floating[Any]]:
    """Finite covariates (n, k), one name per column."""
    array = np.asarray(values)
    if array.dtype.kind != "f":
        array = array.astype(np.float64)
    same_length(n, covariates=array)
    if array.ndim != 2 or array.shape[1] != len(names):
        raise ShapeError(
            f"covariates have shape {array.shape} and {len(names)} names", todo="pass (n, k) and k names"
        )
    # A sum is NaN or infinite if any entry is; only then look for it (isfinite costs 10 times as much).
    if n and not np.isfinite(array.sum(dtype=np.float64)):
        bad = ~np.isfinite(array)
        if bad.any():
            row = first(bad.any(axis=1))
            name = names[first(bad[row])]
            raise BadValueError(
                f"covariate {name} is {array[row][bad[row]][0]}", row=row, todo="it must be finite"
            )
    return array


def clusters(values: ArrayLike, n: int, name: str) -> NDArray[np.int32]:
    """Cluster ids (n,) of at least 0."""
    array = ids(values, name)
    same_length(n, **{name: array})
    if n and array.min() < 0:
        raise BadValueError(
            f"{name} {array.min()}",
            row=first(array < 0),
            todo="ids are ≥ 0; give an unknown one an id of its own",
        )
    return array
