"""One-sided bounds for strengths without a finite maximum-likelihood estimate: penalised profile likelihood.

ℓ*(θ) = ℓ(θ) + ½ log det I(θ) (Firth 1993; intervals: Heinze & Schemper 2002). The bound b of a rating
(less its component's mean) is where the profile of ℓ* has fallen by half the χ²₁ quantile. It knows no
clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaincinv

from ratings.bradley_terry import FIRTH_ROUNDS, Fit, PairLikelihood
from ratings.comparisons import Tally
from ratings.errors import NotConvergedError
from ratings.newton import Matrix, Vector, gauge, generalised_inverse, maximise

PROFILE_TOLERANCE = 1e-7


@dataclass(frozen=True, eq=False)
class _Profile:
    """The penalised likelihood of one component as a function of one contrast cᵀθ."""

    likelihood: PairLikelihood
    flat: Matrix
    contrast: Vector

    def at(self, value: float, start: Vector) -> tuple[Vector, float]:
        """Where ℓ* is largest among the θ with cᵀθ = value, and ℓ* there.

        That is finite for every value, while ℓ* less a pull on cᵀθ has no maximum once the pull outweighs the
        votes.
        """
        square = float(self.contrast @ self.contrast)
        held = np.column_stack([self.flat, self.contrast / np.sqrt(square)])
        base = value / square * self.contrast
        free, pseudo = start - held @ (held.T @ start), self._pseudo(start)
        for _ in range(FIRTH_ROUNDS):
            objective = partial(self._along, base, held, pseudo)
            new = maximise(objective, free, held, tolerance=1e-8).params
            moved = float(np.abs(new - free).max())
            free, pseudo = new, self._pseudo(base + new)
            if moved < PROFILE_TOLERANCE:
                return base + free, self.height(base + free)
        raise NotConvergedError("the penalised profile likelihood doesn't settle")

    def _along(
        self, base: Vector, held: Matrix, pseudo: Vector, free: Vector
    ) -> tuple[float, Vector, Matrix]:
        """The likelihood with `pseudo` and its derivatives at right angles to `held`."""
        value, gradient, hessian = self.likelihood.evaluate(base + free, pseudo)
        across = np.eye(len(held)) - held @ held.T
        return value, across @ gradient, across @ hessian @ across

    def _pseudo(self, params: Vector) -> Vector:
        information = self.likelihood.evaluate(params, None)[2]
        return self.likelihood.leverage(params, generalised_inverse(information, self.flat))

    def height(self, params: Vector) -> float:
        """ℓ* at params."""
        value, _, information = self.likelihood.evaluate(params, None)
        return value + 0.5 * float(np.linalg.slogdet(information + self.flat @ self.flat.T)[1])


def one_sided_bound(
    cells: Tally, fit: Fit, competitor: int, confidence: float, mean: Vector | None = None
) -> float:
    """The lower bound of θ_i (unbounded above) or the upper (unbounded below), less the mean of its component
    or, with weights `mean` (K,), of a part of it.

    With two competitors it is the exact binomial one.
    """
    members = np.flatnonzero(fit.graph.component == fit.graph.component[competitor])
    part = _component(cells, members)
    i = int(np.searchsorted(members, competitor))
    above = bool(fit.graph.unbounded_above[competitor])
    if len(members) == 2:
        return _exact(part, i, confidence)
    contrast = np.full(len(members), -1 / len(members)) if mean is None else -mean[members]
    contrast[i] += 1
    profile = _Profile(PairLikelihood(part), gauge(np.zeros(len(members), dtype=np.int32), 0), contrast)
    best = fit.strengths[members]
    top, height = float(contrast @ best), profile.height(best)
    allowed = float(gammaincinv(0.5, 2 * confidence - 1))

    def excess(distance: float) -> float:
        bound = top - distance if above else top + distance
        return height - profile.at(bound, best)[1] - allowed

    reach = 1.0
    while excess(reach) < 0:
        reach *= 2
    distance = float(brentq(excess, 0.0, reach, xtol=1e-9))
    return top - distance if above else top + distance


def _component(cells: Tally, members: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Tally:
    place = np.full(cells.n_competitors, -1, dtype=np.int32)
    place[members] = np.arange(len(members), dtype=np.int32)
    kept = place[cells.low] >= 0
    columns = (c[kept] for c in (cells.counts, cells.weight, cells.weight_sq))
    return Tally(len(members), place[cells.low[kept]], place[cells.high[kept]], *columns)


def _exact(part: Tally, i: int, confidence: float) -> float:
    """All of n votes for one side: p > (1 − confidence)^(1/n); half its log-odds is θ less the mean."""
    p = (1 - confidence) ** (1 / float(part.total.sum()))
    winner = 0 if part.score[0] > 0 else 1
    bound = float(np.log(p / (1 - p))) / 2
    return bound if i == winner else -bound
