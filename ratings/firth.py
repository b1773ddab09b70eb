"""One-sided bounds for strengths without a finite maximum-likelihood estimate: penalised profile likelihood.

ℓ*(θ) = ℓ(θ) + ½ log det I(θ) (Firth 1993; intervals: Heinze & Schemper 2002). The bound b of a rating
(less its component's mean) is where the profile of ℓ* has fallen by half the χ²₁ quantile. It knows no
clusters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2

from ratings.bradley_terry import FIRTH_ROUNDS, Fit, PairLikelihood
from ratings.comparisons import Tally
from ratings.errors import NotConvergedError
from ratings.newton import Matrix, Vector, gauge, generalised_inverse, maximise

PROFILE_TOLERANCE = 1e-7


@dataclass(frozen=True, eq=False)
class _Profile:
    """The penalised likelihood of one component, pulled along one contrast."""

    likelihood: PairLikelihood
    flat: Matrix
    contrast: Vector

    def at(self, pull: float, start: Vector) -> tuple[Vector, float]:
        """Where ℓ* + pull·cᵀθ is largest, and ℓ* there: a point of the profile of ℓ* along c."""
        params, pseudo = start, self._pseudo(start)
        for _ in range(FIRTH_ROUNDS):
            new = maximise(
                lambda p, h=pseudo: self._pulled(p, h, pull), params, self.flat, tolerance=1e-8
            ).params
            moved = float(np.abs(new - params).max())
            params, pseudo = new, self._pseudo(new)
            if moved < PROFILE_TOLERANCE:
                return params, self._penalised(params)
        raise NotConvergedError("the penalised profile likelihood doesn't settle")

    def _pulled(self, params: Vector, pseudo: Vector, pull: float) -> tuple[float, Vector, Matrix]:
        value, gradient, hessian = self.likelihood.evaluate(params, pseudo)
        return value + pull * float(self.contrast @ params), gradient + pull * self.contrast, hessian

    def _pseudo(self, params: Vector) -> Vector:
        information = self.likelihood.evaluate(params, None)[2]
        return self.likelihood.leverage(params, generalised_inverse(information, self.flat))

    def _penalised(self, params: Vector) -> float:
        value, _, information = self.likelihood.evaluate(params, None)
        return value + 0.5 * float(np.linalg.slogdet(information + self.flat @ self.flat.T)[1])


def one_sided_bound(cells: Tally, fit: Fit, competitor: int, confidence: float) -> float:
    """The lower bound of θ_i (unbounded above) or the upper (unbounded below), in the fit's plain gauge.

    With two competitors it is the exact binomial one.
    """
    members = np.flatnonzero(fit.graph.component == fit.graph.component[competitor])
    part = _component(cells, members)
    i = int(np.searchsorted(members, competitor))
    above = bool(fit.graph.unbounded_above[competitor])
    if len(members) == 2:
        return _exact(part, i, confidence)
    contrast = np.full(len(members), -1 / len(members))
    contrast[i] += 1
    profile = _Profile(PairLikelihood(part), gauge(np.zeros(len(members), dtype=np.int32), 0), contrast)
    best, height = profile.at(0.0, fit.strengths[members])
    allowed = float(chi2.ppf(2 * confidence - 1, 1)) / 2
    sign = -1.0 if above else 1.0

    def excess(pull: float) -> float:
        return height - profile.at(sign * pull, best)[1] - allowed

    reach = 1.0
    while excess(reach) < 0:
        reach *= 2
    pull = sign * float(brentq(excess, 0.0, reach, xtol=1e-6))
    return float(contrast @ profile.at(pull, best)[0])


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
