"""One entry from votes to a leaderboard, used by the command line and by the arena alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ratings.board import FittedBoard, check_board, fit_board
from ratings.board_intervals import Ends, interval_ends
from ratings.board_options import LeaderboardOptions
from ratings.bootstrap import Progress
from ratings.comparisons import Comparisons
from ratings.errors import IncomparableError, UnknownCompetitorError
from ratings.newton import Matrix
from ratings.ranks import arena_rank, critical_values_of_ranks, pair_critical_values, rank_sets
from ratings.reference import effective_votes
from ratings.scale import POINTS_PER_LOG_ODDS
from ratings.sensitivity import policy_sensitivity
from ratings.standing_rows import Ranks, standings_of
from ratings.standings import Check, Coefficient, LeaderboardFit, PolicyMove, rounded
from ratings.style import TWICE_AS_LONG
from ratings.uncertainty import critical_values
from ratings.warnings_in_words import warnings_of

DAVIDSON_UP_TO = 50_000
"""Up to so many votes the sensitivity to policies includes Davidson's model, which is fitted vote by vote."""


def fit_leaderboard(
    comparisons: Comparisons, options: LeaderboardOptions | None = None, *, progress: Progress | None = None
) -> LeaderboardFit:
    """Votes as a leaderboard with intervals, rank sets, coefficients and warnings.

    Deterministic for options.seed; neither row order, sides nor names change a number. With `style` the
    comparisons' covariates are signed differences as `style.relative_differences` makes them; they are scaled
    here. Raises a RatingsError with the reason where there is nothing to fit.
    """
    options = options or LeaderboardOptions()
    if options.anchor is not None and not 0 <= options.anchor < comparisons.n_competitors:
        raise UnknownCompetitorError(
            f"the anchor {options.anchor} isn't on the board", todo="take one that is"
        )
    board = fit_board(comparisons, options)
    return assemble(board, comparisons, check_board(board), progress)


def assemble(
    board: FittedBoard, comparisons: Comparisons, check: Check | None, progress: Progress | None
) -> LeaderboardFit:
    """The frozen result of a fitted board."""
    options, covariance = board.options, board.covariance
    ends = interval_ends(board, progress)
    ranked = _ranked(board)
    ranks, critical = _ranks(board, ranked)
    standings = standings_of(board, ends, ranked, ranks)
    tie_odds = board.tie_odds
    effective = covariance.effective
    return LeaderboardFit(
        options=options,
        standings=standings,
        coefficients=_coefficients(board, ends),
        n_votes=int(board.cells.counts.sum()),
        n_dropped=board.n_dropped,
        n_raters=_count(comparisons.rater),
        n_prompts=_count(comparisons.prompt),
        n_components=len({s.component for s in standings if s.battles}),
        method=covariance.method,
        effective_clusters=rounded(effective),
        design_effect=round(covariance.design_effect, 6),
        critical=rounded(critical),
        log_likelihood=round(board.fit.log_likelihood, 6),
        tie_odds=rounded(tie_odds),
        estimand=_estimand(comparisons),
        warnings=(*board.notes, *warnings_of(board, standings, ends.without_maximum)),
        check=check,
        policy_moves=_policy_moves(comparisons, options),
    )


def _policy_moves(comparisons: Comparisons, options: LeaderboardOptions) -> tuple[PolicyMove, ...]:
    """How far the plain board moves under the other policies; none where it isn't one finite board."""
    plain = comparisons.with_covariates(None, ())
    try:
        boards = policy_sensitivity(plain, options.policies, davidson=len(comparisons) <= DAVIDSON_UP_TO)
    except IncomparableError:
        return ()
    return tuple(
        PolicyMove(
            b.policies.ties,
            b.policies.both_bad,
            b.policies.unstable,
            b.n_votes,
            b.largest_rank_move,
            rounded(b.largest_rating_move),
            b.failed,
        )
        for b in boards[1:]
    )


def _count(ids: NDArray[np.int32] | None) -> int | None:
    return None if ids is None else len(np.unique(ids))


def _estimand(comparisons: Comparisons) -> str:
    weighted = "weighted " if comparisons.weight is not None else ""
    return f"Bradley-Terry projection under this board's {weighted}mix of pairs, prompts and raters"


def _ranked(board: FittedBoard) -> NDArray[np.bool_]:
    k = board.fit.n_competitors if board.options.ties != "davidson" else board.plain.n_competitors
    enough = effective_votes(board.cells) >= max(board.options.min_votes, 1e-9)
    ranked: NDArray[np.bool_] = enough & (board.covariance.degrees[:k] > 0) & board.fit.graph.fought
    return ranked


def _ranks(board: FittedBoard, ranked: NDArray[np.bool_]) -> tuple[Ranks, float | None]:
    """Rank sets within each component, over its ranked competitors; the largest critical value used."""
    covariance, options, k = board.covariance, board.options, len(ranked)
    ranks = Ranks(*(np.zeros(k, dtype=np.int64) for _ in range(5)))
    deviations = _rank_deviations(board)
    theta, draws = board.fit.params[:k], covariance.of_draws[:k, :k]
    reach = critical_values(covariance.degrees[:k], options.confidence) * covariance.deviations[:k]
    largest = None
    for label in np.unique(board.fit.graph.component[ranked]):
        at = np.flatnonzero(ranked & (board.fit.graph.component == label))
        grid = np.ix_(at, at)
        joint, marginal = critical_values_of_ranks(
            draws[grid], covariance.effective, options.confidence, seed=options.seed
        )
        degrees = covariance.degrees[at]
        sets = rank_sets(
            theta[at], deviations[grid], pair_critical_values(joint, covariance.effective, degrees)
        )
        own = rank_sets(
            theta[at], deviations[grid], pair_critical_values(marginal, covariance.effective, degrees)
        )
        ranks.lower[at], ranks.upper[at] = sets.lower, sets.upper
        ranks.marginal_lower[at], ranks.marginal_upper[at] = own.lower, own.upper
        ranks.arena[at] = arena_rank(theta[at] - reach[at], theta[at] + reach[at])
        largest = max(joint, largest or 0.0)
    return ranks, largest


def _rank_deviations(board: FittedBoard) -> Matrix:
    """Standard errors of differences (K, K); with an unbounded strength never below the model's own."""
    graph = board.fit.graph
    k = len(graph.component)
    deviations = board.covariance.difference_deviations[:k, :k].copy()
    unbounded = graph.unbounded_above | graph.unbounded_below
    if unbounded.any():
        b = board.fit.bread[:k, :k]
        model = np.sqrt(np.maximum(np.diag(b)[:, None] + np.diag(b)[None, :] - 2 * b, 0))
        touched = unbounded[:, None] | unbounded[None, :]
        deviations[touched] = np.maximum(deviations, model)[touched]
    return deviations


def _coefficients(board: FittedBoard, ends: Ends) -> tuple[Coefficient, ...]:
    fit, k = board.fit, len(board.fit.graph.component)
    relative = board.options.style_transform == "relative"

    def coefficient(j: int, name: str) -> Coefficient:
        estimate, scale = float(fit.params[k + j]), None
        if board.scaled is not None and j < len(board.scaled.scale):
            scale = float(board.scaled.scale[j])
        doubled = estimate * TWICE_AS_LONG / scale if relative and scale is not None else None
        inflation = None if board.inflation is None or j >= len(board.inflation) else board.inflation[j]
        return Coefficient(
            name=name,
            estimate=round(estimate, 9),
            lower=_log_odds(ends.lower[k + j]),
            upper=_log_odds(ends.upper[k + j]),
            standard_error=round(float(board.covariance.deviations[k + j]), 9),
            points=round(POINTS_PER_LOG_ODDS * estimate, 6),
            per_doubling=None if doubled is None else rounded(POINTS_PER_LOG_ODDS * doubled),
            scale=None if scale is None else round(scale, 9),
            inflation=rounded(None if inflation is None else float(inflation)),
        )

    return tuple(coefficient(j, name) for j, name in enumerate(fit.covariate_names))


def _log_odds(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 9)
