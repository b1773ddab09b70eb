"""Weights for votes: inverse propensities of adaptive pairing, equal pairs, caps for busy raters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ratings.comparisons import Comparisons, pair_codes
from ratings.errors import BadOptionError, BadValueError, NoVotesError


@dataclass(frozen=True, eq=False)
class VoteWeights:
    """weight (n,) with mean 1 over the kept votes · effective: Kish's (Σw)²/Σw² · truncated: how many the
    cap held.

    kept (n,): votes that can be weighted at all; weight is NaN elsewhere.
    """

    weight: NDArray[np.float64]
    kept: NDArray[np.bool_]
    effective: float
    truncated: int
    cap: float | None

    def applied_to(self, comparisons: Comparisons) -> Comparisons:
        """The kept votes with these weights (times those they had)."""
        kept = comparisons.select(self.kept)
        return Comparisons.of(
            kept.n_competitors,
            kept.a,
            kept.b,
            kept.outcome,
            weight=kept.weights() * self.weight[self.kept],
            covariates=kept.covariates,
            covariate_names=kept.covariate_names,
            rater=kept.rater,
            prompt=kept.prompt,
        )


def effective_sample_size(weight: NDArray[np.float64]) -> float:
    """Kish (1965): (Σw)²/Σw², the number of equally weighted votes that vary as much."""
    return float(weight.sum() ** 2 / (weight**2).sum())


def inverse_propensity_weights(
    propensity: ArrayLike, *, chances: ArrayLike | None = None, cap: float | None = 20.0
) -> VoteWeights:
    """w ∝ 1/(π · chances), held at `cap` times the mean weight, with mean 1.

    propensity (n,): the probability with which the drawn pair was chosen, as logged · chances (n,): draws
    made while the pair was eligible, so that the pairs of a late competitor keep their full weight. A vote
    with π = 0 could not have been drawn and is left out. Raises BadValueError outside [0, 1].
    """
    pi = np.asarray(propensity, dtype=np.float64)
    bad = ~((pi >= 0) & (pi <= 1))
    if bad.any():
        row = int(np.argmax(bad))
        raise BadValueError(
            f"propensity {pi[row]}", row=row, todo="it is a probability; leave unlogged votes out"
        )
    if cap is not None and cap < 1:
        raise BadOptionError(f"cap {cap}", todo="a cap is at least 1, the mean weight")
    eligible = np.ones(len(pi)) if chances is None else np.asarray(chances, dtype=np.float64)
    if (eligible <= 0).any():
        raise BadValueError("a pair without a chance to be drawn", row=int(np.argmax(eligible <= 0)))
    kept = pi > 0
    if not kept.any():
        raise NoVotesError(
            "no vote has a propensity above 0", todo="log propensities, or fit without weights"
        )
    raw = np.full(len(pi), np.nan)
    raw[kept] = 1 / (pi[kept] * eligible[kept])
    return _normalised(raw, kept, cap)


def pair_weights(comparisons: Comparisons, *, floor: int = 1) -> VoteWeights:
    """w ∝ 1/max(n_pair, floor): every pair that met counts the same, however often it met."""
    pairs = pair_codes(comparisons)
    if not len(pairs):
        raise NoVotesError("no vote to weight")
    counts = np.bincount(pairs)[pairs]
    return _normalised(1 / np.maximum(counts, floor), np.ones(len(pairs), dtype=bool), None)


def rater_cap_weights(rater: ArrayLike, cap: int) -> VoteWeights:
    """w ∝ min(1, cap/n_r): a rater with more than `cap` votes counts as one with `cap`."""
    labels = np.unique(np.asarray(rater), return_inverse=True)[1]
    if cap < 1:
        raise BadOptionError(f"cap {cap} votes", todo="at least one")
    if not len(labels):
        raise NoVotesError("no vote to weight")
    counts = np.bincount(labels)[labels]
    weights = _normalised(np.minimum(1, cap / counts), np.ones(len(labels), dtype=bool), None)
    return VoteWeights(weights.weight, weights.kept, weights.effective, int((counts > cap).sum()), float(cap))


def _normalised(raw: NDArray[np.float64], kept: NDArray[np.bool_], cap: float | None) -> VoteWeights:
    weight = raw / raw[kept].mean()
    truncated = 0
    if cap is not None:
        truncated = int((weight[kept] > cap).sum())
        weight = np.minimum(weight, cap)
        weight /= weight[kept].mean()
    return VoteWeights(weight, kept, effective_sample_size(weight[kept]), truncated, cap)
