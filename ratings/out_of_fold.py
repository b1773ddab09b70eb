"""Do strengths predict votes of raters they haven't seen, and better than trivial guesses do?

Votes are split into folds by rater; each fold is predicted from the others. The loss of a vote with the score
y (1, 1/2, 0) is -[y log p + (1 - y) log(1 - p)], so that ties cost log 2 at least.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from ratings.bradley_terry import Fit, RowLikelihood, fit_bradley_terry
from ratings.comparisons import Comparisons, Policies
from ratings.errors import BadOptionError, NoVotesError
from ratings.newton import Vector, maximise
from ratings.proportions import Mean, check_confidence, clustered_mean
from ratings.rows import sort_rows

BINS = 10


@dataclass(frozen=True)
class Predictor:
    """A way to guess votes, with its out-of-fold loss.

    name       "strengths"; "coin", always 1/2; "longer", the longer response wins, as often as it did in the
               other folds; "style", all covariates without strengths; "strengths and style"
    log_loss   mean loss per vote
    gain       mean fall of the loss against the coin, clustered by rater
    """

    name: str
    log_loss: float
    gain: Mean


@dataclass(frozen=True, eq=False)
class Calibration:
    """Votes by the win probability predicted for the favourite, in ten bins from 1/2 to 1.

    votes, predicted, observed   (B,) of the bins that hold votes: number, mean prediction, mean score
    """

    votes: NDArray[np.int64]
    predicted: Vector
    observed: Vector


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Predictors, best first, and the calibration of the strengths."""

    predictors: tuple[Predictor, ...]
    calibration: Calibration
    votes: int
    folds: int
    by_rater: bool
    seed: int
    policies: Policies

    def __getitem__(self, name: str) -> Predictor:
        """The predictor of that name; KeyError if it wasn't tried."""
        return {p.name: p for p in self.predictors}[name]


def out_of_fold(
    comparisons: Comparisons,
    policies: Policies | None = None,
    *,
    length: str | None = None,
    folds: int = 5,
    seed: int = 0,
    confidence: float = 0.95,
) -> OutOfFold:
    """Predict each fold from the others, by strengths and by the trivial guesses that the votes allow.

    `length` names the covariate that says which response is longer. Folds hold whole raters where raters are
    known, else single votes. Competitors without votes in the other folds are guessed as a coin.
    Raises BadOptionError for fewer than two folds, for fewer raters than folds, or for an unknown covariate;
    NoVotesError when fewer votes than folds count.
    """
    policies = policies or Policies()
    check_confidence(confidence)
    votes = comparisons.select(policies.quarter_wins()[comparisons.outcome] >= 0)
    _check(votes, folds, length)
    eta = _guesses_from_others(votes, _folds(votes, folds, seed), policies, length)
    score = policies.quarter_wins()[votes.outcome] / 4
    loss = {name: -(score * log_expit(e) + (1 - score) * log_expit(-e)) for name, e in eta.items()}
    predictors = [
        Predictor(
            name,
            float(loss[name].mean()),
            clustered_mean(loss["coin"] - loss[name], votes.rater, confidence=confidence),
        )
        for name in loss
    ]
    return OutOfFold(
        predictors=tuple(sorted(predictors, key=lambda p: p.log_loss)),
        calibration=_calibration(eta["strengths"], score),
        votes=len(votes),
        folds=folds,
        by_rater=votes.rater is not None,
        seed=seed,
        policies=policies,
    )


def _check(votes: Comparisons, folds: int, length: str | None) -> None:
    if folds < 2:
        raise BadOptionError(f"{folds} folds", todo="use at least 2")
    if len(votes) < folds:
        raise NoVotesError(f"{len(votes)} votes for {folds} folds", todo="pass more votes")
    if votes.rater is not None and len(np.unique(votes.rater)) < folds:
        raise BadOptionError(
            f"{len(np.unique(votes.rater))} raters for {folds} folds", todo="use fewer folds, at least 2"
        )
    if length is not None and length not in votes.covariate_names:
        raise BadOptionError(
            f"no covariate {length!r}", todo=f"there are: {', '.join(votes.covariate_names) or 'none'}"
        )


def _folds(votes: Comparisons, folds: int, seed: int) -> NDArray[np.int64]:
    rng = np.random.default_rng(seed)
    if votes.rater is None:
        return rng.permutation(len(votes)) % folds
    raters, index = np.unique(votes.rater, return_inverse=True)
    of_rater: NDArray[np.int64] = rng.permutation(len(raters)) % folds
    return of_rater[index]


def _guesses_from_others(
    votes: Comparisons, fold: NDArray[np.int64], policies: Policies, length: str | None
) -> dict[str, Vector]:
    """Log-odds (n,) that side a wins by each predictor, each vote's from the votes of the other folds."""
    eta: dict[str, Vector] = {}
    for i in range(int(fold.max()) + 1):
        test = fold == i
        for name, guess in _guesses(votes.select(~test), votes.select(test), policies, length).items():
            eta.setdefault(name, np.zeros(len(votes)))[test] = guess
    return eta


def _guesses(
    known: Comparisons, unknown: Comparisons, policies: Policies, length: str | None
) -> dict[str, Vector]:
    """Log-odds (n,) that side a wins, by each predictor."""
    plain = fit_bradley_terry(known.with_covariates(None, ()), policies)
    guesses = {"strengths": _by_strengths(plain, unknown), "coin": np.zeros(len(unknown))}
    if known.covariates is None or unknown.covariates is None:
        return guesses
    z = np.asarray(unknown.covariates, dtype=np.float64)
    guesses["style"] = z @ _style_alone(known, policies)
    styled = fit_bradley_terry(known, policies)
    guesses["strengths and style"] = _by_strengths(styled, unknown) + z @ styled.coefficients
    if length is not None:
        column = known.covariate_names.index(length)
        longer = known.with_covariates(np.sign(known.covariates[:, [column]]), [length])
        guesses["longer"] = np.sign(z[:, column]) * _style_alone(longer, policies)[0]
    return guesses


def _by_strengths(fit: Fit, unknown: Comparisons) -> Vector:
    component, fought = fit.graph.component, fit.graph.fought
    a, b = unknown.a, unknown.b
    comparable = (component[a] == component[b]) & fought[a] & fought[b]
    return np.where(comparable, fit.strengths[a] - fit.strengths[b], 0.0)


def _style_alone(known: Comparisons, policies: Policies) -> Vector:
    """Coefficients (k,) of a fit in which all competitors are equally strong."""
    rows = sort_rows(known, policies)
    likelihood, k = RowLikelihood(rows), known.n_competitors

    def objective(coefficients: Vector) -> tuple[float, Vector, NDArray[np.float64]]:
        value, gradient, hessian = likelihood.evaluate(np.concatenate([np.zeros(k), coefficients]), None)
        return value, gradient[k:], hessian[k:, k:]

    nothing_flat = np.zeros((len(rows.z), 0))
    return maximise(objective, np.zeros(len(rows.z)), nothing_flat).params


def _calibration(eta: Vector, score: Vector) -> Calibration:
    p = expit(np.abs(eta))
    favourite = 0.5 + np.sign(eta) * (score - 0.5)
    bin_ = np.minimum(((p - 0.5) * 2 * BINS).astype(np.int64), BINS - 1)
    votes = np.bincount(bin_, minlength=BINS)
    held = votes > 0
    means = [np.bincount(bin_, values, BINS)[held] / votes[held] for values in (p, favourite)]
    return Calibration(votes[held], means[0], means[1])
