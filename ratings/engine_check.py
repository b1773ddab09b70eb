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
    x_low, x_high = rows.low[rows.pair], rows.high[rows.pair]
    k = rows.n_competitors
    scale = rows.weight.sum()

    def loss(params: Vector) -> tuple[float, Vector]:
        eta = params[x_low] - params[x_high] + params[k:] @ rows.z
        lost = rows.weight @ (np.logaddexp(0, eta) - rows.score * eta)
        residual = rows.weight * (1 / (1 + np.exp(-eta)) - rows.score)
        strengths = np.bincount(x_low, residual, k) - np.bincount(x_high, residual, k)
        return lost / scale, np.concatenate([strengths, rows.z @ residual]) / scale

    options: Any = {"maxiter": 2000, "ftol": 1e-15, "gtol": 1e-9}
    found = minimize(loss, np.zeros(len(fit.params)), jac=True, method="L-BFGS-B", options=options)
    return _check("scipy L-BFGS", found.x[:k], fit.strengths)


def _check(engine: str, strengths: Vector, ours: Vector) -> Check:
    difference = float(np.abs(strengths - strengths.mean() - (ours - ours.mean())).max())
    return Check(engine, round(difference * POINTS_PER_LOG_ODDS, 6))
