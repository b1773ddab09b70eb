"""A combined board with one cluster left out: CR3 in one step, as people's own board has it.

Without cluster g the means of prediction_powered.py's equation are over L without g and U without g; at theta
it is psi_Lg/(1 - n_g/n) + psi_Ug/(1 - N_g/N), each psi less its mean, and its derivative is J_(-g). The move
D_g = J_(-g)^- of that is the jackknife's. At lam = 0 it is (H - H_g)^- U_g: both boards have intervals of one
kind. Clusters in which nobody voted are the judge's alone: they count as they are (CR0).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ratings.bradley_terry import laplacian
from ratings.clusters import CHORD_ROUNDS, CHORD_TOLERANCE
from ratings.errors import NotConvergedError
from ratings.newton import Matrix, Vector, gauge, generalised_inverse
from ratings.rows import sum_by

Labels = NDArray[np.int64]
CLUSTERS_AT_ONCE = 1_024


@dataclass(frozen=True, eq=False)
class Terms:
    """Rows of L, then U (n + N), of K competitors.

    low, high: competitors · value: what x is multiplied by in g(theta) · slope: in its derivative · share: of
    the row in the weight of its part, which is 1 · judged: is it of U? · component (K,).
    """

    low: NDArray[np.int32]
    high: NDArray[np.int32]
    value: Vector
    slope: Vector
    share: Vector
    judged: NDArray[np.bool_]
    component: NDArray[np.int32]

    @property
    def competitors(self) -> int:
        """K."""
        return len(self.component)

    def jacobian(self, chosen: NDArray[np.bool_] | None = None) -> Matrix:
        """Sum of slope x x' (K, K), of the chosen rows."""
        k = self.competitors
        slope = self.slope if chosen is None else self.slope * chosen
        codes, pair = np.unique(self.low.astype(np.int64) * k + self.high, return_inverse=True)
        sums = np.bincount(pair, slope).astype(np.float64)
        return laplacian((codes // k).astype(np.int32), (codes % k).astype(np.int32), sums, k)

    def spread(self, chosen: NDArray[np.bool_]) -> Vector:
        """Sum of value x (K,) over the chosen rows."""
        k, value = self.competitors, self.value[chosen]
        return sum_by(self.low[chosen], value, k) - sum_by(self.high[chosen], value, k)


def inverse(terms: Terms) -> Matrix:
    """J^- (K, K)."""
    return generalised_inverse(terms.jacobian(), gauge(terms.component, 0))


def delete_one(terms: Terms, labels: Labels, people: int) -> Matrix:
    """CR3 covariance (K, K) by clusters labelled (n + N,), of which `people` have votes of people."""
    bread = inverse(terms)
    voted = np.zeros(int(labels.max()) + 1, dtype=bool)
    voted[labels[~terms.judged]] = True
    parts = [~terms.judged, terms.judged]
    means, jacobians = [terms.spread(p) for p in parts], [terms.jacobian(p) for p in parts]
    k, covariance = terms.competitors, np.zeros((terms.competitors, terms.competitors))
    order = np.argsort(labels, kind="stable")
    ends = np.searchsorted(labels[order], np.arange(len(voted) + 1))
    for start in range(0, len(voted), CLUSTERS_AT_ONCE):
        stop = min(start + CLUSTERS_AT_ONCE, len(voted))
        rows = order[ends[start] : ends[stop]]
        group = _Group(terms, rows, labels[rows] - start, stop - start, bread, means, jacobians)
        mine = voted[start:stop]
        moves = np.where(mine[:, None], group.moves(mine), group.scores(corrected=False) @ bread)
        weight = np.where(mine, (people - 1) / people, 1.0)
        covariance += (moves * weight[:, None]).T @ moves
    return covariance.reshape(k, k)


@dataclass(frozen=True, eq=False)
class _Group:
    """Some clusters: rows (m,), their clusters at (m,) in 0 … count − 1."""

    terms: Terms
    rows: NDArray[np.int64]
    at: Labels
    count: int
    bread: Matrix
    means: list[Vector]
    jacobians: list[Matrix]

    @property
    def shares(self) -> list[Vector]:
        """Of L and of U (G,) each."""
        judged, share = self.terms.judged[self.rows], self.terms.share[self.rows]
        return [sum_by(self.at, share * part, self.count) for part in (~judged, judged)]

    def scores(self, *, corrected: bool) -> Matrix:
        """psi_g (G, K), each part over 1 - its share if `corrected`."""
        judged, value = self.terms.judged[self.rows], self.terms.value[self.rows]
        psi = np.zeros((self.count, self.terms.competitors))
        for part, share, mean in zip((~judged, judged), self.shares, self.means, strict=True):
            own = self._sums(value * part) - share[:, None] * mean
            psi += own / (1 - share)[:, None] if corrected else own
        return psi

    def _sums(self, values: Vector) -> Matrix:
        """Sum of values x (G, K) by cluster."""
        k = self.terms.competitors
        low, high = self.terms.low[self.rows], self.terms.high[self.rows]
        cells = self.count * k
        sums = sum_by(self.at * k + low, values, cells) - sum_by(self.at * k + high, values, cells)
        return sums.reshape(self.count, k)

    def moves(self, wanted: NDArray[np.bool_]) -> Matrix:
        """D_g (G, K) by the chord D <- J^-(psi_g + (J - J_(-g)) D); solved where that is too slow."""
        psi = self.scores(corrected=True)
        moves: Matrix = psi @ self.bread
        slow = wanted.copy()
        for _ in range(CHORD_ROUNDS):
            again = (psi + self._lost(moves)) @ self.bread
            slow = wanted & (np.abs(again - moves).max(axis=1) > CHORD_TOLERANCE * np.abs(again).max())
            moves = again
            if not slow.any():
                break
        for g in np.flatnonzero(slow):
            moves[g] = self._solved(int(g), psi[g])
        return moves

    def _lost(self, moves: Matrix) -> Matrix:
        """(J - J_(-g)) D_g (G, K)."""
        low, high = self.terms.low[self.rows], self.terms.high[self.rows]
        along = moves[self.at, low] - moves[self.at, high]
        judged, slope, lost = self.terms.judged[self.rows], self.terms.slope[self.rows], np.zeros_like(moves)
        for part, share, jacobian in zip((~judged, judged), self.shares, self.jacobians, strict=True):
            rest = (1 - share)[:, None]
            lost += self._sums(slope * along * part) / rest - share[:, None] / rest * (moves @ jacobian)
        return lost

    def _solved(self, g: int, psi: Vector) -> Vector:
        """D_g directly; as if J stayed where nothing else determines a strength."""
        mine = np.zeros(len(self.terms.low), dtype=bool)
        mine[self.rows[self.at == g]] = True
        parts = ~self.terms.judged, self.terms.judged
        rest = np.zeros_like(self.bread)
        for part, share, whole in zip(parts, self.shares, self.jacobians, strict=True):
            rest += (whole - self.terms.jacobian(part & mine)) / (1 - share[g])
        try:
            move: Vector = generalised_inverse(rest, gauge(self.terms.component, 0)) @ psi
        except NotConvergedError:
            move = self.bread @ psi
        return move
