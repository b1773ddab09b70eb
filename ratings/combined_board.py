"""The combined board of people and a judge as a leaderboard: standings, rank sets, warnings as any other."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ratings.board import FittedBoard
from ratings.board_options import LeaderboardOptions
from ratings.bradley_terry import PairLikelihood, fit_bradley_terry, fit_likelihood
from ratings.comparisons import Comparisons, tally
from ratings.errors import BadOptionError
from ratings.leaderboard import assemble
from ratings.prediction_powered import PredictionPowered, fit_prediction_powered
from ratings.standings import LeaderboardFit


@dataclass(frozen=True, eq=False)
class CombinedBoard:
    """A leaderboard of what people would say, with the judge's help, and how much that helps.

    leaderboard: wins, losses, ties and votes are people's · board: the fit behind it · lam, effective_votes,
    judged, p_help, helps, narrower: see PredictionPowered · gain: effective_votes/votes − 1, "the judge adds
    …".
    """

    leaderboard: LeaderboardFit
    board: FittedBoard
    lam: float
    effective_votes: float
    gain: float
    judged: int
    p_help: float
    helps: bool
    narrower: float


def fit_combined_leaderboard(
    people: Comparisons,
    judge_outcome: ArrayLike,
    judged: Comparisons,
    options: LeaderboardOptions | None = None,
    *,
    lam: float | None = None,
    match_pairs: bool = False,
) -> CombinedBoard:
    """People's n votes, the judge's outcomes (n,) on the same rows and its N further votes as a leaderboard.

    Not resampled and not checked by another engine: the result's options say so. Policies, clusters, anchor,
    confidence, seed and min_votes work as in `fit_leaderboard`; votes in an error are rows of `people`.
    Raises RefusedError with every reason where the two can't be combined (see `fit_prediction_powered`), and
    BadOptionError for style, position, Davidson ties and other intervals than the robust one.
    """
    options = replace(options or LeaderboardOptions(), bootstrap=0, check=False)
    _check(options)
    order = _order(people, options)
    place = np.argsort(order).astype(np.int32)
    mine, theirs = (_ready(votes, place, options) for votes in (people, judged))
    combined = fit_prediction_powered(
        mine,
        judge_outcome,
        theirs,
        options.policies,
        lam=lam,
        match_pairs=match_pairs,
        confidence=options.confidence,
    )
    counted = _counted(mine, judge_outcome, options)
    board = _board(combined, counted, order, options, mine, judged)
    leaderboard = assemble(board, counted, None, None)
    leaderboard = replace(
        leaderboard,
        method=f"prediction-powered (PPI++, lam = {combined.lam:.3f}), {_clusters(combined)}",
        estimand=f"{leaderboard.estimand}, as people would vote",
    )
    return CombinedBoard(
        leaderboard=leaderboard,
        board=board,
        lam=combined.lam,
        effective_votes=combined.effective_votes,
        gain=combined.gain,
        judged=combined.judged,
        p_help=combined.p_help,
        helps=combined.helps,
        narrower=combined.narrower,
    )


def _check(options: LeaderboardOptions) -> None:
    if options.style or options.position or options.interval != "robust":
        raise BadOptionError(
            "a combined board with style control, position effect or resampled intervals",
            todo="switch them off for combined boards",
        )


def _order(people: Comparisons, options: LeaderboardOptions) -> NDArray[np.int64]:
    """Competitors (K,) by people's strength, then votes: draws that follow this order don't depend on ids."""
    plain = fit_bradley_terry(replace(people, covariates=None, covariate_names=()), options.policies)
    votes = np.bincount(np.r_[people.a, people.b], minlength=people.n_competitors)
    order: NDArray[np.int64] = np.lexsort((votes, -plain.strengths.round(7)))
    return order


def _ready(votes: Comparisons, place: NDArray[np.int32], options: LeaderboardOptions) -> Comparisons:
    """Competitors in the board's order, no covariates, and only the ids that the options cluster by."""
    wanted = ("rater", "prompt") if options.cluster is None else options.cluster
    return replace(
        votes,
        a=place[votes.a],
        b=place[votes.b],
        covariates=None,
        covariate_names=(),
        rater=votes.rater if "rater" in wanted else None,
        prompt=votes.prompt if "prompt" in wanted else None,
    )


def _counted(mine: Comparisons, judge_outcome: ArrayLike, options: LeaderboardOptions) -> Comparisons:
    """People's votes that the policies keep for both."""
    quarter_wins = options.policies.quarter_wins()
    judge = Comparisons.of(mine.n_competitors, mine.a, mine.b, judge_outcome)
    return mine.select((quarter_wins[mine.outcome] >= 0) & (quarter_wins[judge.outcome] >= 0))


def _board(
    combined: PredictionPowered,
    counted: Comparisons,
    order: NDArray[np.int64],
    options: LeaderboardOptions,
    mine: Comparisons,
    judged: Comparisons,
) -> FittedBoard:
    cells = tally(counted, options.policies)
    plain = fit_likelihood(PairLikelihood(cells), cells, options.policies)
    plain = combined.reference.of_fit(plain)
    notes = [
        f"{combined.judged} further battles were judged by a model; they count as far as people agree with it"
        f" (λ = {combined.lam:.2f}: one of them weighs {combined.weight:.2f} of a vote) and are worth"
        f" {combined.effective_votes - combined.votes:+.0f} votes by people."
    ]
    unused = len(judged) - combined.judged
    if unused:
        notes.append(f"{unused} of the judge's votes were left out: by the policies, or nobody voted there.")
    return FittedBoard(
        order=order,
        options=options,
        cells=cells,
        plain=plain,
        fit=replace(plain, params=combined.strengths),
        covariance=combined.covariance,
        rows=None,
        scores=None,
        scaled=None,
        inflation=None,
        n_dropped=len(mine) - len(counted),
        notes=tuple(notes),
        reference=combined.reference,
    )


def _clusters(combined: PredictionPowered) -> str:
    names = " and ".join(d.name for d in combined.covariance.dimensions)
    return f"cluster-robust (CR3) by {names}" if names else "sandwich, assumes independent votes"
