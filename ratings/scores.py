"""Scores of single responses: success in k tries, effect sizes, and the percentile bootstrap of a mean."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ratings.errors import BadValueError, NoVotesError, ShapeError
from ratings.proportions import check_confidence

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BootstrapInterval:
    """A mean with the percentile interval of its resamples."""

    estimate: float
    lower: float
    upper: float
    n: int
    resamples: int
    seed: int
    confidence: float


def pass_at_k(samples: int, correct: int, k: int) -> float:
    """Chance that at least one of k tries is right: 1 - C(n - c, k)/C(n, k) (Chen et al. 2021).

    n = `samples` tries of one prompt were made, c = `correct` were right. Raises BadValueError unless
    0 <= c <= n and 1 <= k <= n.
    """
    _check_tries(samples, correct, k)
    return 1 - comb(samples - correct, k) / comb(samples, k)


def pass_hat_k(samples: int, correct: int, k: int) -> float:
    """Chance that all of k tries are right: C(c, k)/C(n, k) (Yao et al. 2024). Errors as `pass_at_k`."""
    _check_tries(samples, correct, k)
    return comb(correct, k) / comb(samples, k)


def cohens_d(first: ArrayLike, second: ArrayLike) -> float:
    """Difference of two means over their pooled standard deviation (Cohen 1988); unpaired scores.

    Raises NoVotesError with fewer than two scores in either, BadValueError when no score differs.
    """
    x, y = _scores(first), _scores(second)
    freedom = len(x) + len(y) - 2
    pooled = sqrt((np.var(x) * len(x) + np.var(y) * len(y)) / freedom)
    if pooled == 0:
        raise BadValueError("all scores are the same within each group, so d isn't defined")
    return float((x.mean() - y.mean()) / pooled)


def hedges_g(first: ArrayLike, second: ArrayLike) -> float:
    """Cohen's d times 1 - 3/(4 df - 1), which removes its bias in small samples (Hedges 1981)."""
    freedom = np.size(first) + np.size(second) - 2
    return cohens_d(first, second) * (1 - 3 / (4 * freedom - 1))


def paired_d(first: ArrayLike, second: ArrayLike) -> float:
    """Mean difference of paired scores over the standard deviation of the differences (d_z).

    Raises ShapeError when the lengths differ, BadValueError when all differences are the same.
    """
    x, y = _scores(first), _scores(second)
    if len(x) != len(y):
        raise ShapeError(f"{len(x)} scores against {len(y)}", todo="pass pairs")
    deviation = float(np.std(x - y, ddof=1))
    if deviation == 0:
        raise BadValueError("all differences are the same, so d isn't defined")
    return float(np.mean(x - y)) / deviation


def bootstrap_ci(
    scores: ArrayLike, *, resamples: int = 10_000, seed: int = 0, confidence: float = 0.95
) -> BootstrapInterval:
    """Percentile interval (Efron 1979) for the mean of independent scores (n,).

    For rows that don't cluster only; boards use ratings.uncertainty. Raises NoVotesError without scores.
    """
    check_confidence(confidence)
    x = np.asarray(scores, dtype=np.float64)
    if x.ndim != 1 or x.size == 0 or resamples < 1:
        raise NoVotesError("a bootstrap needs a one-dimensional array of scores and at least one resample")
    rng = np.random.default_rng(seed)
    # Blocks keep the memory flat; one stream of integers gives the same draws as one large block would.
    per_block = max(1, 4_000_000 // len(x))
    means = [
        x[rng.integers(0, len(x), size=(min(per_block, resamples - start), len(x)))].mean(axis=1)
        for start in range(0, resamples, per_block)
    ]
    lower, upper = np.quantile(np.concatenate(means), [(1 - confidence) / 2, (1 + confidence) / 2])
    return BootstrapInterval(float(x.mean()), float(lower), float(upper), len(x), resamples, seed, confidence)


def _check_tries(samples: int, correct: int, k: int) -> None:
    if not (0 <= correct <= samples and 1 <= k <= samples):
        raise BadValueError(
            f"{correct} right of {samples} tries, k = {k}", todo="need 0 <= c <= n, 1 <= k <= n"
        )


def _scores(values: ArrayLike) -> Floats:
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or x.size < 2:
        raise NoVotesError("an effect size needs at least two scores in each group")
    return x
