"""Every board is fitted a second time by an engine of others, from zero; it prints the largest difference."""

from __future__ import annotations

from typing import Any

import choix
import numpy as np
from scipy.optimize import minimize

from ratings.bradley_terry import Fit
from ratings.comparisons import Tally
from ratings.newton import Vector
from ratings.rows import Rows
from ratings.scale import POINTS_PER_LOG_ODDS
from ratings.standings import Check


def check_plain(cells: Tally, fit: Fit) -> Check | None:
    """Against choix (I-LSR), which needs one strongly connected component; None on other boards."""
    if fit.pseudo is not None or fit.graph.component.any():
        return None
    wins = np.zeros((cells.n_competitors, cells.n_competitors))
    wins[cells.low, cells.high] = cells.score
    wins[cells.high, cells.low] = cells.total - cells.score
    other = choix.ilsr_pairwise_dense(wins, max_iter=1000, tol=1e-9)
    return _check("choix", np.asarray(other), fit.strengths)


def check_rows(rows: Rows, fit: Fit) -> Check | None:
    """Against scipy's L-BFGS on the likelihood written out over all votes; None where pseudo-battles help."""
    if fit.pseudo is not None or fit.graph.component.any():
        return None
    k = rows.n_competitors
    scale = float(rows.weight.sum(dtype=np.float64))

    def loss(params: Vector) -> tuple[float, Vector]:
        gap, lost = params[rows.low] - params[rows.high], 0.0
        by_pair, slopes = np.zeros(len(gap)), np.zeros(len(rows.z))
        for pairs, mine in rows.blocks():
            z, weight, score = rows.z[:, mine], rows.weight[mine], rows.score[mine]
            eta = gap[rows.pair[mine]] + params[k:] @ z
            small = np.exp(-np.abs(eta))
            lost += float(weight @ (np.log1p(small) + np.maximum(eta, 0) - score * eta))
            residual = weight * (np.where(eta < 0, small, 1.0) / (1 + small) - score)
            by_pair[pairs] = np.add.reduceat(residual, rows.first[pairs] - mine.start)
            slopes += z @ residual
        strengths = np.bincount(rows.low, by_pair, k) - np.bincount(rows.high, by_pair, k)
        return lost / scale, np.concatenate([strengths, slopes]) / scale

    options: Any = {"maxiter": 2000, "ftol": 1e-15, "gtol": 1e-9}
    found = minimize(loss, np.zeros(len(fit.params)), jac=True, method="L-BFGS-B", options=options)
    return _check("scipy L-BFGS", found.x[:k], fit.strengths)


def _check(engine: str, strengths: Vector, ours: Vector) -> Check:
    difference = float(np.abs(strengths - strengths.mean() - (ours - ours.mean())).max())
    return Check(engine, round(difference * POINTS_PER_LOG_ODDS, 6))
