"""People and a judge on one board: prediction-powered inference, PPI++ (Angelopoulos, Duchi & Zrnic 2023).

People voted on n battles L, the judge on those and on N more, U. The judge's votes on U are used, and what it
gets wrong on average, seen on L, is taken off again, so that the board estimates what people would say:

    g(theta) = 1/n sum_L x(p - y) + lam [1/N sum_U x(p - f) - 1/n sum_L x(p - f)] = 0

with people's scores y, the judge's f, p = expit(x'theta) and 0 <= lam <= 1, so that the problem stays convex.
lam = 0 is people alone; it is chosen to make the summed variance of the ratings least. Pooling both kinds of
votes as if they were one, in contrast, has intervals that cover one fifth to four fifths of the time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ratings.bradley_terry import Fit, fit_bradley_terry
from ratings.cluster_runs import consecutive
from ratings.clusters import effective_clusters, effective_per_parameter, labels_of
from ratings.comparisons import Comparisons, Policies, pair_codes, scores_of_low, tally
from ratings.errors import BadOptionError, NotConvergedError, RatingsError, ShapeError
from ratings.judge_correction import (
    BothVotes,
    SharedClusters,
    best_lam,
    combined_covariance,
    combined_strengths,
    helps,
)
from ratings.newton import Vector
from ratings.proportions import check_confidence
from ratings.reference import Reference, effective_votes, own_clusters, reference_of
from ratings.rows import sort_rows
from ratings.uncertainty import Covariance, critical_values, vote_scores

LEAST_VOTES = 100
LEAST_CLUSTERS = 10.0
HELPS = 0.05
"""A judge is used where its help would be found by chance less often than this (p_help)."""

MIX_P = 0.001
MIX_DISTANCE = 0.05
"""Pair mixes differ when chance explains it with p < 0.001 and 5 % of the votes would have to move."""


class RefusedError(RatingsError):
    """People's and the judge's votes can't be combined; `reasons` holds every reason, as sentences."""

    def __init__(self, reasons: tuple[str, ...]) -> None:
        self.reasons = reasons
        super().__init__("no combined board: " + "; ".join(reasons), todo="show separate boards")


@dataclass(frozen=True, eq=False)
class PredictionPowered:
    """A combined board of K competitors; log-odds less the mean of the
    `reference` set.

    strengths (K,), covariance: of people's opinion, with the judge's help; people, people_covariance: from
    people's votes alone, by the same estimator of variance.
    lam                how far the judge is used; `tuned` tells whether it was chosen here
    p_help             one-sided p of "the judge's help narrows nothing", see judge_correction.helps
    effective_votes    n sum Var(people alone)/sum Var(combined): people's votes that would do as well alone
    votes, judged      n and N after the policies
    left_out           votes of either kind left out: by the policies, or since the judge alone saw the
    competitor
    """

    strengths: Vector
    covariance: Covariance
    reference: Reference
    people: Vector
    people_covariance: Covariance
    lam: float
    p_help: float
    tuned: bool
    effective_votes: float
    votes: int
    judged: int
    left_out: int
    matched_pairs: bool
    confidence: float
    policies: Policies

    @property
    def gain(self) -> float:
        """What the judge adds: effective_votes/votes - 1."""
        return self.effective_votes / self.votes - 1

    @property
    def weight(self) -> float:
        """What one of the N further judgments weighs against one vote in the estimating equation: lam n/N."""
        return self.lam * self.votes / self.judged

    @property
    def helps(self) -> bool:
        """Is the gain more than what chance makes of a judge who knows nothing?"""
        return self.gain > 0 and self.p_help < HELPS

    @property
    def half_width(self) -> Vector:
        """(K,) half-widths of the intervals of strengths; NaN below two effective clusters."""
        return self._half_width(self.covariance)

    @property
    def narrower(self) -> float:
        """By what share the mean interval is narrower than people's alone, by the same estimator."""
        with_judge, alone = (
            np.nanmean(self._half_width(c)) for c in (self.covariance, self.people_covariance)
        )
        return float(1 - with_judge / alone)

    def _half_width(self, covariance: Covariance) -> Vector:
        half: Vector = critical_values(covariance.degrees, self.confidence) * covariance.deviations
        return half


def fit_prediction_powered(
    people: Comparisons,
    judge_outcome: ArrayLike,
    judged: Comparisons,
    policies: Policies | None = None,
    *,
    lam: float | None = None,
    match_pairs: bool = False,
    confidence: float = 0.95,
    least_votes: int = LEAST_VOTES,
    least_clusters: float = LEAST_CLUSTERS,
) -> PredictionPowered:
    """Combine people's votes with a judge's, both about the same kind of battles.

    people: n votes, with rater and prompt if known; judge_outcome (n,): the judge's outcome codes on the same
    rows; judged: N battles that only the judge saw, with prompt if known, prompt ids shared with `people`.
    `lam` None chooses it; `match_pairs` weights U so that its pairs meet as often as people's did.
    Variance: psi_g = sum_(L in g)(s_y - lam s_f - mean)/n + lam sum_(U in g)(s_f - mean)/N over L and U
    together; CR3 by rater, by prompt and two-way with cells by CR0, as people's own board has it and equal to
    it at lam = 0 (judge_deletions.py); HC0 with H over L and U where neither is known. In the rater dimension
    a judged battle stands alone, since the judge is given.
    Raises RefusedError with all reasons: n < 100; G* of people's raters or prompts < 10; other pairs than
    people's; people's votes alone leave strengths unbounded. Raises BadOptionError for covariates, Davidson
    ties or lam outside 0 to 1; ShapeError for a wrong number of judge outcomes.
    """
    policies = policies or Policies()
    _check_options(people, judged, policies, lam)
    check_confidence(confidence)
    both, judge_score = _with_judge(people, judge_outcome, policies)
    rest = _within_reach(judged, both, policies, match_pairs)
    _refuse(_too_little(both, rest, least_votes, least_clusters))
    _refuse(_other_pairs(both, rest, match_pairs))
    fit = _people_alone(both, policies)
    votes = _stack(both, judge_score, rest, fit, match_pairs)
    clusters, reference = _clusters(both, rest, fit, policies)
    chosen = best_lam(votes, clusters, fit) if lam is None else lam
    strengths = _together(votes, fit, chosen)
    covariance = combined_covariance(votes, clusters, strengths, chosen)
    alone = combined_covariance(votes, clusters, fit.strengths, 0.0)
    ratio = float(np.sum(alone.deviations**2) / np.sum(covariance.deviations**2))
    return PredictionPowered(
        strengths=reference.less_mean(strengths),
        covariance=covariance.less_mean(reference),
        reference=reference,
        people=reference.less_mean(fit.strengths),
        people_covariance=alone.less_mean(reference),
        lam=chosen,
        p_help=helps(votes, clusters, fit),
        tuned=lam is None,
        effective_votes=votes.n * ratio,
        votes=votes.n,
        judged=len(rest),
        left_out=len(people) - len(both) + len(judged) - len(rest),
        matched_pairs=match_pairs,
        confidence=confidence,
        policies=policies,
    )


def _refuse(reasons: tuple[str, ...]) -> None:
    if reasons:
        raise RefusedError(reasons)


def _check_options(people: Comparisons, judged: Comparisons, policies: Policies, lam: float | None) -> None:
    if people.n_competitors != judged.n_competitors:
        raise ShapeError(
            f"{people.n_competitors} competitors for people, {judged.n_competitors} for the judge"
        )
    if people.covariates is not None or judged.covariates is not None:
        raise BadOptionError("a combined board has no covariates", todo="leave them out of both")
    if policies.ties == "davidson":
        raise BadOptionError(
            "a combined board can't fit ties by Davidson", todo="count them half or drop them"
        )
    if lam is not None and not 0 <= lam <= 1:
        raise BadOptionError(f"lam {lam}", todo="use 0 to 1, or None to choose it")


def _with_judge(
    people: Comparisons, judge_outcome: ArrayLike, policies: Policies
) -> tuple[Comparisons, Vector]:
    """People's rows that count under the policies for both, and the judge's score of the lower id there."""
    judge = Comparisons.of(people.n_competitors, people.a, people.b, judge_outcome)
    kept = (policies.quarter_wins()[people.outcome] >= 0) & (policies.quarter_wins()[judge.outcome] >= 0)
    return people.select(kept), scores_of_low(judge.select(kept), policies) / 4


def _within_reach(
    judged: Comparisons, both: Comparisons, policies: Policies, match_pairs: bool
) -> Comparisons:
    """The judge's further votes that count, about competitors (pairs, to be matched) that people voted on."""
    seen = np.zeros(both.n_competitors, dtype=bool)
    seen[both.a] = seen[both.b] = True
    kept = (policies.quarter_wins()[judged.outcome] >= 0) & seen[judged.a] & seen[judged.b]
    if match_pairs:
        kept &= np.isin(pair_codes(judged), pair_codes(both))
    return judged.select(kept)


def _too_little(
    both: Comparisons, rest: Comparisons, least_votes: int, least_clusters: float
) -> tuple[str, ...]:
    reasons = []
    if len(both) < max(least_votes, 1):
        reasons.append(f"{len(both)} votes by people, fewer than {least_votes}")
    if not len(rest):
        reasons.append("the judge judged nothing beyond what people voted on, and so adds nothing")
    for name, ids in (("raters", both.rater), ("prompts", both.prompt)):
        if ids is not None and len(ids):
            effective = effective_clusters(consecutive(ids)[0])
            if effective < least_clusters:
                reasons.append(
                    f"people's votes tell as much as those of {effective:.1f} equally busy {name} would, and"
                    f" it takes {least_clusters:g}"
                )
    return tuple(reasons)


def _other_pairs(both: Comparisons, rest: Comparisons, match_pairs: bool) -> tuple[str, ...]:
    codes, pair = np.unique(np.r_[pair_codes(both), pair_codes(rest)], return_inverse=True)
    parts = [
        (pair[: len(both)], both.weights()),
        (pair[len(both) :], rest.weights()),
    ]
    mixes = [np.bincount(at, w, len(codes)) / w.sum() for at, w in parts]
    if match_pairs:
        unseen = int(np.count_nonzero((mixes[0] > 0) & (mixes[1] == 0)))
        return (_no_further(unseen),) if unseen else ()
    distance = float(np.abs(mixes[0] - mixes[1]).sum() / 2)
    if len(codes) == 1 or distance <= MIX_DISTANCE:
        return ()
    from scipy.stats import chi2_contingency  # 30 MB, which no other fit needs

    sizes = [w.sum() ** 2 / (w**2).sum() for _, w in parts]
    table = np.array([mix * size for mix, size in zip(mixes, sizes, strict=True)])
    if chi2_contingency(table).pvalue >= MIX_P:
        return ()
    return (
        f"the judge's pairs differ from people's ({distance:.0%} of the votes); match_pairs weights them",
    )


def _no_further(pairs: int) -> str:
    """All of people's battles are judged: what is missing are battles that the judge alone judged."""
    of = f"{pairs} of the pairs of models" if pairs > 1 else "one of the pairs of models"
    return f"on {of} that people compared, the judge judged no battle beyond people's own"


def _people_alone(both: Comparisons, policies: Policies) -> Fit:
    fit = fit_bradley_terry(both, policies)
    if fit.pseudo is not None or len(np.unique(fit.graph.component[fit.graph.fought])) > 1:
        raise RefusedError(("people's votes alone leave strengths unbounded or unconnected",))
    return fit


def _stack(
    both: Comparisons, judge_score: Vector, rest: Comparisons, fit: Fit, match_pairs: bool
) -> BothVotes:
    weights = [c.weights() / c.weights().mean() for c in (both, rest)]
    if match_pairs:
        codes, pair = np.unique(np.r_[pair_codes(both), pair_codes(rest)], return_inverse=True)
        wanted = np.bincount(pair[: len(both)], weights[0], len(codes)) / len(both)
        seen = np.bincount(pair[len(both) :], weights[1], len(codes)) / len(rest)
        weights[1] = weights[1] * (wanted / seen)[pair[len(both) :]]
    sides = np.r_[both.a, rest.a], np.r_[both.b, rest.b]
    return BothVotes(
        component=fit.graph.component,
        n=len(both),
        low=np.minimum(*sides),
        high=np.maximum(*sides),
        person=scores_of_low(both, fit.policies) / 4,
        judge=np.r_[judge_score, scores_of_low(rest, fit.policies) / 4],
        weight=np.concatenate(weights),
    )


def _together(votes: BothVotes, fit: Fit, lam: float) -> Vector:
    try:
        return combined_strengths(votes, fit, lam)
    except NotConvergedError as error:
        raise RefusedError((f"no finite strengths at lam = {lam:.3g} ({error.what})",)) from None


def _clusters(
    both: Comparisons, rest: Comparisons, fit: Fit, policies: Policies
) -> tuple[list[SharedClusters], Reference]:
    """Labels over L and U by each known dimension, with people's effective clusters; whose mean is 0."""
    scores = vote_scores(sort_rows(both, policies), fit)
    known = {name: ids for name, ids in (("rater", both.rater), ("prompt", both.prompt)) if ids is not None}
    labelled = {name: labels_of(ids, scores) for name, ids in known.items()}
    several = {name: own for name, own in labelled.items() if own[1] > 1}
    own_of_each = own_clusters(scores, [labels for labels, _ in several.values()])
    reference = reference_of(fit.graph, effective_votes(tally(both, policies)), own_of_each)
    bread, found = reference.both(fit.bread), []
    for name, (own, count) in several.items():
        mine, others = known[name].astype(np.int64), rest.prompt if name == "prompt" else None
        alone = int(mine.max()) + 1 + np.arange(len(rest), dtype=np.int64)
        labels, _ = consecutive(np.r_[mine, alone if others is None else others])
        effective, per = effective_clusters(own), effective_per_parameter(scores, bread, own, count)
        found.append(SharedClusters(name, labels, count, effective, per))
    return found, reference
