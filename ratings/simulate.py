"""Votes from known strengths, for tests, for the coverage study and for the demo.

A vote on the ordered pair (a, b), a shown first, by rater r on prompt p has the log-odds

    eta = theta_a - theta_b + delta + gamma'z + (u_ra - u_rb) + (v_pa - v_pb) + m_ab

with u ~ N(0, rater_sd^2) and v ~ N(0, prompt_sd^2) drawn once per rater (prompt) and competitor, z the signed
relative differences of style, and m an optional antisymmetric matrix of pair effects (cyclic preferences).
Outcomes follow Davidson (1970): P(a) = e^(eta/2)/D, P(b) = e^(-eta/2)/D, P(tie) = nu/D with
D = e^(eta/2) + e^(-eta/2) + nu. A share of the ties is recorded as both_bad.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from ratings.bradley_terry import PairLikelihood, fit_likelihood
from ratings.comparisons import BOTH_BAD, MODEL_A, MODEL_B, TIE, Comparisons, Policies, Tally
from ratings.errors import BadOptionError, IncomparableError
from ratings.style import relative_differences, scale_covariates

Floats = NDArray[np.float64]
Integers = NDArray[np.int32]
Codes = NDArray[np.int8]

GAUSS_HERMITE_NODES = 40


@dataclass(frozen=True)
class StyleFeature:
    """How a countable feature of the responses (words, headings, ...) varies and what it does to votes.

    A response of competitor c has a count ~ Poisson(typical * exp(lean[c] + spread * N(0, 1))).
    `coefficient` is gamma in log-odds per root mean square of the signed relative difference.
    `lean` has one log-multiplier per competitor; empty means none leans.
    """

    name: str
    coefficient: float
    typical: float = 200.0
    spread: float = 0.5
    lean: tuple[float, ...] = ()


@dataclass(frozen=True)
class VoteModel:
    """The truth that votes are drawn from. Strengths and sds are in log-odds; counts are whole numbers.

    strengths        theta, one per competitor (K >= 2)
    tie              Davidson's nu >= 0; 0 means no ties
    both_bad_share   share of the ties recorded as both_bad, for a pair of average strength
    both_bad_slope   fall of the log-odds of that share per unit of the pair's mean strength
    position         delta, the log-odds that being shown first (side a) adds
    raters, prompts  how many there are; 0 means the votes don't know theirs
    rater_sd, prompt_sd   standard deviations of the taste effects per competitor
    rater_zipf       rater number k casts votes in proportion to (k+1)^-rater_zipf; 0 means evenly
    panels           competitor -> the only raters who judge its battles
    style            features with their coefficients
    pairs            the unordered pairs (i, j) that may meet; empty means all
    propensities     one probability per pair, summing to 1; empty means evenly
    pair_effects     K rows of K, antisymmetric, added to the log-odds; empty means none
    """

    strengths: tuple[float, ...]
    tie: float = 0.0
    both_bad_share: float = 0.0
    both_bad_slope: float = 0.0
    position: float = 0.0
    raters: int = 0
    rater_sd: float = 0.0
    rater_zipf: float = 0.0
    prompts: int = 0
    prompt_sd: float = 0.0
    panels: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    style: tuple[StyleFeature, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()
    propensities: tuple[float, ...] = ()
    pair_effects: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True)
class SimulatedVotes:
    """n votes in the order they were cast, as read-only arrays.

    a, b         (n,) competitor shown first and second
    outcome      (n,) codes of ratings.comparisons.OUTCOMES, tie_unstable never among them
    rater        (n,) or None; prompt (n,) or None
    propensity   (n,) probability with which the unordered pair was drawn
    covariates   (n, F) signed relative differences over their root mean square (F = number of features)
    counts_a, counts_b   (n, F) what the features counted in the two responses
    model, seed  the truth and the seed that gave them
    """

    a: Integers
    b: Integers
    outcome: Codes
    rater: Integers | None
    prompt: Integers | None
    propensity: Floats
    covariates: Floats
    counts_a: Integers
    counts_b: Integers
    model: VoteModel
    seed: int

    def __len__(self) -> int:
        return len(self.a)

    def as_comparisons(self) -> Comparisons:
        """The votes as Comparisons: unweighted, covariates by the names of the style features."""
        return Comparisons.of(
            len(self.model.strengths),
            self.a,
            self.b,
            self.outcome,
            covariates=self.covariates if self.model.style else None,
            covariate_names=[feature.name for feature in self.model.style],
            rater=self.rater,
            prompt=self.prompt,
        )


def simulate_votes(
    model: VoteModel, votes: int, *, seed: int, taste_seed: int | None = None
) -> SimulatedVotes:
    """Draw `votes` votes from the model. The same model, number and seed give the same bytes.

    Pairs, sides, raters, prompts, tastes, style and outcomes have a random stream each, so that changing
    one part of the model leaves the draws of the others alone. With `taste_seed`, raters and prompts keep
    their tastes from one call to the next while `seed` changes: for votes that are drawn round by round.
    Raises BadOptionError when the model contradicts itself (see `check_model`) or votes < 1.
    """
    check_model(model)
    if votes < 1:
        raise BadOptionError(f"votes must be at least 1, not {votes}")
    streams = _streams(seed)
    tastes = streams if taste_seed is None else _streams(taste_seed)
    a, b, propensity = _draw_pairs(model, votes, streams[0], streams[1])
    rater = _draw_raters(model, a, b, streams[2])
    prompt = streams[3].integers(model.prompts, size=votes).astype(np.int32) if model.prompts else None
    counts_a, counts_b = _draw_counts(model, a, streams[5]), _draw_counts(model, b, streams[5])
    differences = relative_differences(counts_a, counts_b)
    covariates = scale_covariates(differences, "relative").z.astype(np.float64)
    eta = _log_odds(model, a, b) + model.position
    if model.style:
        eta += covariates @ np.array([feature.coefficient for feature in model.style])
    eta += _taste(rater, model.raters, model.rater_sd, model, a, b, tastes[4])
    eta += _taste(prompt, model.prompts, model.prompt_sd, model, a, b, tastes[6])
    outcome = _draw_outcomes(model, a, b, eta, streams[7])
    drawn = (a, b, outcome, rater, prompt, propensity, covariates, counts_a, counts_b)
    for array in drawn:
        if array is not None:
            array.setflags(write=False)
    return SimulatedVotes(*drawn, model=model, seed=seed)


def pseudo_true_strengths(model: VoteModel) -> Floats:
    """(K,) mean-zero log-odds that a half-win Bradley-Terry fit tends to as the votes grow without end.

    Each pair's expected score E[y] (a tie counts half) is averaged over raters, prompts and sides, the
    tastes being N(0, 2 rater_sd^2 + 2 prompt_sd^2) in the difference, by Gauss-Hermite quadrature; the
    strengths solve sum_j w_ij (E[y_ij] - expit(theta_i - theta_j)) = 0 with the pair propensities as w
    (White 1982, the projection under a wrong model).
    Raises BadOptionError for a model with style effects, whose projection depends on the draw of the counts;
    IncomparableError when the pairs don't connect the competitors; NotConvergedError when strengths are too
    far apart for numbers.
    """
    return pseudo_true_mixture((model,), (1.0,))


def pseudo_true_mixture(models: Sequence[VoteModel], shares: Sequence[float]) -> Floats:
    """The same (K,) for votes of which each model gives a share; shares sum to 1.

    The models have the same pairs with the same propensities. Raises BadOptionError where they haven't, and
    otherwise as `pseudo_true_strengths` does.
    """
    pairs, propensities = _pairs_of(models[0])
    score = np.zeros(len(pairs))
    for model, share in zip(models, shares, strict=True):
        check_model(model)
        own, chances = _pairs_of(model)
        if not np.array_equal(own, pairs) or not np.array_equal(chances, propensities):
            raise BadOptionError("the models draw different pairs", todo="give them the same ones")
        score += share * _mean_scores(model, pairs)
    return _project(len(models[0].strengths), pairs[:, 0], pairs[:, 1], propensities, score)


def _mean_scores(model: VoteModel, pairs: Integers) -> Floats:
    """Expected score of the first of each pair (P,), tastes and sides averaged out."""
    if any(feature.coefficient != 0.0 for feature in model.style):
        raise BadOptionError(
            "pseudo_true_strengths needs a model without style effects; fit a large simulation"
        )
    spread = np.sqrt(2.0 * (model.rater_sd**2 + model.prompt_sd**2))
    nodes, weights = np.polynomial.hermite_e.hermegauss(GAUSS_HERMITE_NODES)
    weights = weights / weights.sum()
    eta = _log_odds(model, pairs[:, 0], pairs[:, 1])[:, None] + spread * nodes
    scores: Floats = (
        sum(0.5 * _expected_score(eta + sign * model.position, model.tie) for sign in (1, -1)) @ weights
    )
    return scores


def check_model(model: VoteModel) -> None:
    """Raise BadOptionError naming the first field that contradicts itself, and how to mend it."""
    k = len(model.strengths)
    if k < 2 or not np.all(np.isfinite(model.strengths)):
        raise BadOptionError(f"strengths needs at least two finite numbers, not {model.strengths}")
    for name in ("tie", "rater_sd", "prompt_sd", "rater_zipf", "raters", "prompts"):
        if not 0 <= getattr(model, name) < np.inf:
            raise BadOptionError(f"{name} must be finite and at least 0, not {getattr(model, name)}")
    if not 0 <= model.both_bad_share < 1:
        raise BadOptionError(f"both_bad_share must be in [0, 1), not {model.both_bad_share}")
    for effect, count in (("rater_sd", model.raters), ("prompt_sd", model.prompts)):
        if getattr(model, effect) > 0 and not count:
            raise BadOptionError(f"{effect} > 0 needs a number of {effect.removesuffix('_sd')}s")
    for feature in model.style:
        if feature.lean and len(feature.lean) != k:
            raise BadOptionError(f"{feature.name!r} has {len(feature.lean)} leanings for {k} competitors")
    _check_panels(model)
    _check_pairs(model, k)


def _check_panels(model: VoteModel) -> None:
    for competitor, panel in model.panels.items():
        if not panel or min(panel) < 0 or max(panel) >= model.raters:
            raise BadOptionError(
                f"the panel of competitor {competitor} must name raters 0..{model.raters - 1}"
            )


def _check_pairs(model: VoteModel, k: int) -> None:
    for i, j in model.pairs:
        if i == j or not (0 <= i < k and 0 <= j < k):
            raise BadOptionError(f"pair ({i}, {j}) must name two different competitors of 0..{k - 1}")
    if len({frozenset(pair) for pair in model.pairs}) < len(model.pairs):
        raise BadOptionError("a pair is named twice", todo="give each unordered pair once")
    count = len(model.pairs) or k * (k - 1) // 2
    if model.propensities and len(model.propensities) != count:
        raise BadOptionError(f"{len(model.propensities)} propensities for {count} pairs")
    if model.propensities and (min(model.propensities) < 0 or abs(sum(model.propensities) - 1) > 1e-9):
        raise BadOptionError("propensities must be at least 0 and sum to 1")
    if model.pair_effects:
        effects = np.asarray(model.pair_effects)
        if effects.shape != (k, k) or not np.allclose(effects, -effects.T):
            raise BadOptionError(f"pair_effects must be an antisymmetric {k} x {k} matrix")


def _streams(seed: int) -> list[np.random.Generator]:
    return [np.random.default_rng(sequence) for sequence in np.random.SeedSequence(seed).spawn(8)]


def _pairs_of(model: VoteModel) -> tuple[Integers, Floats]:
    k = len(model.strengths)
    given = model.pairs or np.column_stack(np.triu_indices(k, 1))
    pairs = np.array(given, dtype=np.int32)
    if model.propensities:
        return pairs, np.array(model.propensities)
    return pairs, np.full(len(pairs), 1.0 / len(pairs))


def _draw_pairs(
    model: VoteModel, votes: int, draw: np.random.Generator, coin: np.random.Generator
) -> tuple[Integers, Integers, Floats]:
    pairs, propensities = _pairs_of(model)
    chosen = (
        draw.choice(len(pairs), size=votes, p=propensities)
        if model.propensities
        else draw.integers(len(pairs), size=votes)
    )
    flip = coin.integers(2, size=votes)
    return pairs[chosen, flip], pairs[chosen, 1 - flip], propensities[chosen]


def _draw_raters(model: VoteModel, a: Integers, b: Integers, draw: np.random.Generator) -> Integers | None:
    if not model.raters:
        return None
    weights = (np.arange(model.raters) + 1.0) ** -model.rater_zipf
    rater = draw.choice(model.raters, size=len(a), p=weights / weights.sum()).astype(np.int32)
    for competitor, panel in model.panels.items():
        rows = np.flatnonzero((a == competitor) | (b == competitor))
        rater[rows] = draw.choice(np.asarray(panel), size=len(rows))
    return rater


def _draw_counts(model: VoteModel, competitor: Integers, draw: np.random.Generator) -> Integers:
    columns = []
    for feature in model.style:
        lean = np.array(feature.lean)[competitor] if feature.lean else 0.0
        noise = feature.spread * draw.standard_normal(len(competitor))
        columns.append(draw.poisson(feature.typical * np.exp(lean + noise)).astype(np.int32))
    return np.column_stack(columns) if columns else np.zeros((len(competitor), 0), dtype=np.int32)


def _log_odds(model: VoteModel, a: Integers, b: Integers) -> Floats:
    theta = np.array(model.strengths, dtype=np.float64)
    eta: Floats = theta[a] - theta[b]
    if model.pair_effects:
        eta = eta + np.asarray(model.pair_effects, dtype=np.float64)[a, b]
    return eta


def _taste(
    cluster: Integers | None,
    clusters: int,
    sd: float,
    model: VoteModel,
    a: Integers,
    b: Integers,
    draw: np.random.Generator,
) -> Floats | float:
    if cluster is None or sd == 0.0:
        return 0.0
    effect = sd * draw.standard_normal((clusters, len(model.strengths)))
    difference: Floats = effect[cluster, a] - effect[cluster, b]
    return difference


def _draw_outcomes(
    model: VoteModel, a: Integers, b: Integers, eta: Floats, draw: np.random.Generator
) -> Codes:
    win_a, win_b = _win_probabilities(eta, model.tie)
    uniform = draw.random(len(eta))
    outcome = np.where(uniform < win_a, MODEL_A, np.where(uniform < win_a + win_b, MODEL_B, TIE))
    if model.tie == 0.0:
        outcome = np.where(uniform < win_a, MODEL_A, MODEL_B)
    if model.both_bad_share > 0.0:
        theta = np.array(model.strengths)
        level = (theta[a] + theta[b]) / 2 - theta.mean()
        bad = draw.random(len(eta)) < expit(logit(model.both_bad_share) - model.both_bad_slope * level)
        outcome = np.where((outcome == TIE) & bad, BOTH_BAD, outcome)
    return outcome.astype(np.int8)


def _win_probabilities(eta: Floats, tie: float) -> tuple[Floats, Floats]:
    # Dividing through by e^(|eta|/2) keeps the exponentials below 1.
    favourite, other = np.ones_like(eta), np.exp(-np.abs(eta))
    total = favourite + other + tie * np.exp(-np.abs(eta) / 2)
    ahead = eta >= 0
    win_a: Floats = np.where(ahead, favourite, other) / total
    win_b: Floats = np.where(ahead, other, favourite) / total
    return win_a, win_b


def _expected_score(eta: Floats, tie: float) -> Floats:
    win_a, win_b = _win_probabilities(eta, tie)
    score: Floats = 0.5 * (1.0 + win_a - win_b)
    return score


def _project(k: int, first: Integers, second: Integers, weight: Floats, score: Floats) -> Floats:
    drawn = weight > 0
    # Each pair once, as votes for either side in the proportion of the expected score.
    sides = np.column_stack([weight * (1 - score), np.zeros_like(score), weight * score])[drawn]
    low, high = first[drawn], second[drawn]
    cells = Tally(k, low, high, sides, sides, sides)
    fit = fit_likelihood(PairLikelihood(cells), cells, Policies())
    if fit.graph.component.max() > 0:
        raise IncomparableError(
            "the pairs of the model don't connect its competitors, so no projection exists"
        )
    return fit.strengths
