"""Covariates whose coefficients the votes leave infinite or open, and the fit without them.

A strict order of strengths explains every vote between two strong parts of the graph, whatever the
covariates. So a coefficient is finite only if the votes within strong parts contradict every move of it: if
no δ with δ_γj = ±1 has xᵀδ ≥ 0 for each vote won, ≤ 0 for each lost and = 0 for each draw (Albert &
Anderson 1984).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array

from ratings.bradley_terry import Fit, RowLikelihood, fit_rows
from ratings.comparisons import Tally
from ratings.errors import NotConvergedError
from ratings.newton import Vector, gauge, maximise
from ratings.rows import Rows
from ratings.style_left_out import LeftOut, Why

WILD = 12.0
"""Log-odds from which a finite estimate is doubted: one vote in 160,000 would go the other way."""


def fit_bounded(
    rows: Rows, names: tuple[str, ...], cells: Tally, plain: Fit
) -> tuple[NDArray[np.int64], Rows, Fit, list[LeftOut]]:
    """Which covariates stay, the rows and the fit with them (the plain one if none), and why the others go.

    The rows' covariates aren't collinear. Of a plain board held by Firth's pseudo-battles the fit is Firth's.
    """
    everything = np.arange(len(names))
    fit, doubted = _attempt(rows, cells, plain)
    if fit is not None and not doubted:
        return everything, rows, fit, []
    gone = unbounded_covariates(_within_strong_parts(rows, plain))
    if fit is not None and not gone.any():
        return everything, rows, fit, []
    kept = np.flatnonzero(~gone) if gone.any() else everything[:0]
    fewer = replace(rows, z=rows.z[kept])
    again = _attempt(fewer, cells, plain)[0] if len(kept) else None
    if again is None:
        kept, fewer, again = everything[:0], replace(rows, z=rows.z[:0]), plain
    lost = np.setdiff1d(everything, kept)
    differing = int(np.count_nonzero(rows.z[lost].any(axis=0)))
    left_out = LeftOut(Why.NO_LIMIT, tuple(names[j] for j in lost), len(rows), differing=differing)
    return kept, fewer, again, [left_out]


def _attempt(rows: Rows, cells: Tally, plain: Fit) -> tuple[Fit | None, bool]:
    """The fit if it settles, and whether its coefficients might be infinite all the same."""
    try:
        fit = fit_rows(rows, cells, plain)
    except NotConvergedError:
        return None, True
    proof = fit.params if plain.pseudo is None else _maximum(_within_strong_parts(rows, plain), plain)
    return fit, proof is None or bool(np.abs(proof).max() > WILD)


def _maximum(rows: Rows, plain: Fit) -> Vector | None:
    """Where the likelihood of the votes within strong parts is largest, if it settles anywhere."""
    flat, likelihood = gauge(plain.graph.strong, len(rows.z)), RowLikelihood(rows)
    start = np.concatenate([plain.params, np.zeros(len(rows.z))])
    try:
        return maximise(lambda at: likelihood.evaluate(at, None), start, flat, tolerance=1e-6).params
    except NotConvergedError:
        return None


def _within_strong_parts(rows: Rows, plain: Fit) -> Rows:
    inside = plain.graph.strong[rows.low] == plain.graph.strong[rows.high]
    if inside.all():
        return rows
    mine, sizes = inside[rows.pair], np.diff(np.append(rows.first, len(rows)))[inside]
    return replace(
        rows,
        low=rows.low[inside],
        high=rows.high[inside],
        first=np.cumsum(sizes) - sizes,
        pair=np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
        score=rows.score[mine],
        weight=rows.weight[mine],
        z=np.ascontiguousarray(rows.z[:, mine]),
        source=rows.source[mine],
    )


def unbounded_covariates(rows: Rows) -> NDArray[np.bool_]:
    """Covariates (k,) that some never contradicted direction moves, from rows within strong parts."""
    k, count = rows.n_competitors, len(rows.z)
    sign = np.where(rows.score == 1, 1.0, -1.0)
    drawn = (rows.score > 0) & (rows.score < 1)
    design = _design(rows)
    sides: dict[str, Any] = {
        "A_ub": -(design * sign[:, None]).tocsr()[~drawn],
        "b_ub": np.zeros(int((~drawn).sum())),
        "A_eq": design[drawn],
        "b_eq": np.zeros(int(drawn.sum())),
    }
    unbounded = np.zeros(count, dtype=bool)
    for j in range(count):
        for way in (1.0, -1.0):
            bounds: list[Any] = [(None, None)] * (k + count)
            bounds[k + j] = (way, way)
            # HiGHS: 0 found one, 2 there is none
            unbounded[j] |= linprog(np.zeros(k + count), **sides, bounds=bounds, method="highs").status != 2
    return unbounded


def _design(rows: Rows) -> csr_array:
    """x = (e_low − e_high, z) of each row (n, K + k)."""
    n, k, count = len(rows), rows.n_competitors, len(rows.z)
    ones, each = np.ones(n), np.arange(n)
    row = np.concatenate([each, each, np.tile(each, count)])
    column = np.concatenate([rows.row_low, rows.row_high, np.repeat(k + np.arange(count), n)])
    values = np.concatenate([ones, -ones, rows.z.ravel().astype(np.float64)])
    return csr_array((values, (row, column)), shape=(n, k + count))
