"""Does one strength per competitor describe the votes? Deviance over pairs, cycles, the cyclic share.

All of it is about the plain half-win board: covariates are left aside, weights are refused, since
deviances and intervals need whole votes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, expit, ndtri, xlogy

from ratings.bradley_terry import PairLikelihood, fit_likelihood, laplacian, spread
from ratings.comparisons import Comparisons, Policies, Tally, tally
from ratings.connectivity import connectivity
from ratings.errors import BadOptionError, NoVotesError
from ratings.newton import Matrix, Vector, gauge, generalised_inverse
from ratings.proportions import check_confidence

Pairs = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class PairDeviance:
    """Observed against fitted scores of P pairs of K competitors in C components.

    low, high, votes, score, expected   (P,) pair, number of votes, summed score of low, and its fitted value
    residual      (P,) signed square roots of the pairs' deviances over the dispersion, roughly N(0, 1)
    deviance      G^2 = 2 sum [s log(s/np) + (n - s) log((n - s)/nq)]
    degrees       P - (K - C)
    dispersion    per-vote Pearson sum (y - p)^2/(pq) over N - (K - C); below 1 with ties, which vary less
    p             chance of a deviance/dispersion as large under the model; None without degrees of freedom
    p_unscaled    the same of the bare deviance; for votes without ties
    """

    low: Pairs
    high: Pairs
    votes: Vector
    score: Vector
    expected: Vector
    residual: Vector
    deviance: float
    degrees: int
    dispersion: float
    p: float | None
    p_unscaled: float | None
    policies: Policies


@dataclass(frozen=True, eq=False)
class Cycles:
    """Triples in which i beats j, j beats k and k beats i, each beyond doubt.

    cycles      (M, 3), i the smallest id of each
    edges       (E, 2) winner and loser of every pair beyond doubt
    pairs       pairs compared, over which the confidence holds at once (Bonferroni)
    """

    cycles: Pairs
    edges: Pairs
    pairs: int
    confidence: float
    design_effect: float
    policies: Policies


@dataclass(frozen=True)
class CyclicShare:
    """How much of the preferences runs in circles: weighted residual over weighted total (HodgeRank).

    share            residual/total sum of squares of the pairs' log-odds, 0 to 1
    expected         the share that chance alone would leave a true Bradley-Terry board with
    residual, total  the sums of squares; degrees: P - (K - C)
    """

    share: float
    expected: float
    residual: float
    total: float
    degrees: int
    policies: Policies


def pair_deviance(comparisons: Comparisons, policies: Policies | None = None) -> PairDeviance:
    """Goodness of fit over pairs (Agresti 2002, ch. 10.6), corrected for how much single votes vary.

    A small p says that win rates of pairs don't follow from one strength each; it doesn't say by how
    much, and with raters of different taste it gets small as well. With a separated component, strengths
    are Firth's. Raises BadOptionError for weighted votes, NoVotesError when no vote counts.
    """
    policies = policies or Policies()
    cells = _unweighted(comparisons, policies)
    strengths, spent = _fitted(cells, policies)
    p = expit(strengths[cells.low] - strengths[cells.high])
    n, s = cells.total, cells.score
    per_pair = 2 * (xlogy(s, s / (n * p)) + xlogy(n - s, (n - s) / (n * (1 - p))))
    per_pair = np.maximum(per_pair, 0.0)
    deviance, degrees = float(per_pair.sum()), len(n) - spent
    pearson = np.sum(cells.counts * (cells.scores - p[:, None]) ** 2, axis=1) / (p * (1 - p))
    dispersion = float(pearson.sum() / max(n.sum() - spent, 1))
    return PairDeviance(
        low=cells.low,
        high=cells.high,
        votes=n,
        score=s,
        expected=n * p,
        residual=np.sign(s - n * p) * np.sqrt(per_pair / (dispersion or 1.0)),
        deviance=deviance,
        degrees=degrees,
        dispersion=dispersion,
        p=_chance(deviance / (dispersion or 1.0), degrees),
        p_unscaled=_chance(deviance, degrees),
        policies=policies,
    )


def supported_cycles(
    comparisons: Comparisons,
    policies: Policies | None = None,
    *,
    confidence: float = 0.95,
    design_effect: float = 1.0,
) -> Cycles:
    """Cycles whose three raw win rates all clear 1/2, with intervals that hold for all pairs at once.

    Wilson intervals of the half-win score at Bonferroni's level over the P pairs, on n/design_effect
    votes; ties make them wider than needed, never narrower. Cycles of point estimates alone are noise on
    any board. Raises as `pair_deviance`, and BadOptionError for a design effect below 1.
    """
    policies = policies or Policies()
    check_confidence(confidence)
    if not 1 <= design_effect < np.inf:
        raise BadOptionError(f"design effect {design_effect}", todo="use 1 for independent votes, or more")
    cells = _unweighted(comparisons, policies)
    n, share = cells.total / design_effect, cells.score / cells.total
    z = -float(ndtri((1 - confidence) / 2 / len(n)))
    # Wilson's interval excludes 1/2 exactly where the score test with variance 1/4n rejects it.
    beyond = np.abs(share - 0.5) * 2 * np.sqrt(n) > z
    low_wins = share > 0.5
    winner, loser = np.where(low_wins, cells.low, cells.high), np.where(low_wins, cells.high, cells.low)
    edges = np.column_stack([winner, loser])[beyond]
    cycles = _triangles(edges, cells.n_competitors)
    return Cycles(cycles, edges, len(n), confidence, design_effect, policies)


def cyclic_share(comparisons: Comparisons, policies: Policies | None = None) -> CyclicShare:
    """Split the pairs' log-odds into differences of ratings and a rest that only cycles explain.

    f = log((s + 1/2)/(n - s + 1/2)), weights w = 1/(1/(s + 1/2) + 1/(n - s + 1/2)); the ratings r minimise
    sum w (f_ij - r_i + r_j)^2 (Jiang, Lim, Yao & Ye 2011), and share = that minimum/sum w f^2. Chance leaves
    about dispersion * degrees in the minimum. Raises as `pair_deviance`.
    """
    policies = policies or Policies()
    cells = _unweighted(comparisons, policies)
    wins, losses = cells.score + 0.5, cells.total - cells.score + 0.5
    flow, weight = np.log(wins / losses), 1 / (1 / wins + 1 / losses)
    component = connectivity(cells).component
    k = cells.n_competitors
    inverse = generalised_inverse(laplacian(cells.low, cells.high, weight, k), gauge(component, 0))
    ratings = inverse @ spread(cells.low, cells.high, weight * flow, k)
    rest = flow - (ratings[cells.low] - ratings[cells.high])
    residual, total = float(weight @ rest**2), float(weight @ flow**2)
    fit = pair_deviance(comparisons, policies)
    chance = fit.dispersion * fit.degrees
    return CyclicShare(
        share=residual / total if total > 0 else 0.0,
        expected=min(1.0, chance / total) if total > 0 else 0.0,
        residual=residual,
        total=total,
        degrees=fit.degrees,
        policies=policies,
    )


def _unweighted(comparisons: Comparisons, policies: Policies) -> Tally:
    if comparisons.weight is not None:
        raise BadOptionError("lack of fit needs whole votes, not weighted ones", todo="leave the weights out")
    cells = tally(comparisons, policies)
    if not len(cells.low):
        raise NoVotesError(
            "no vote counts under these policies", todo="pass votes, or policies that keep some"
        )
    return cells


def _fitted(cells: Tally, policies: Policies) -> tuple[Vector, int]:
    """Strengths (K,), and the degrees of freedom that they take: competitors that fought less components."""
    fit = fit_likelihood(PairLikelihood(cells), cells, policies)
    fought = fit.graph.fought
    return fit.strengths, int(fought.sum()) - len(np.unique(fit.graph.component[fought]))


def _chance(statistic: float, degrees: int) -> float | None:
    return float(chdtrc(degrees, statistic)) if degrees > 0 else None


def _triangles(edges: Pairs, n_competitors: int) -> Pairs:
    """(M, 3) cycles i -> j -> k -> i of the directed edges (E, 2), i < j and i < k, in rising order."""
    beats: NDArray[np.bool_] = np.zeros((n_competitors, n_competitors), dtype=bool)
    beats[edges[:, 0], edges[:, 1]] = True
    found: list[Matrix] = []
    for i in range(n_competitors):
        beaten, beating = (ids[ids > i] for ids in (np.flatnonzero(beats[i]), np.flatnonzero(beats[:, i])))
        j, k = np.nonzero(beats[np.ix_(beaten, beating)])
        found.append(np.column_stack([np.full(len(j), i), beaten[j], beating[k]]))
    return np.concatenate(found).astype(np.int32)
