"""One entry from votes to a leaderboard, used by the command line and by the arena alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ratings.board import FittedBoard, check_board, fit_board, plain_scores
from ratings.board_intervals import Ends, interval_ends
from ratings.board_options import LeaderboardOptions
from ratings.bootstrap import Progress
from ratings.comparisons import Comparisons
from ratings.firth import one_sided_bound
from ratings.newton import Matrix, Vector
from ratings.ranks import arena_rank, joint_critical_value, pair_critical_values, rank_sets
from ratings.rows import sum_by
from ratings.scale import POINTS_PER_LOG_ODDS
from ratings.standings import Check, Coefficient, LeaderboardFit, Standing, rounded
from ratings.style import TWICE_AS_LONG
from ratings.style_shift import shift_deviations, style_contribution
from ratings.uncertainty import FEW_CLUSTERS, critical_values
from ratings.warnings_in_words import warnings_of


def fit_leaderboard(
    comparisons: Comparisons, options: LeaderboardOptions | None = None, *, progress: Progress | None = None
) -> LeaderboardFit:
    """Votes as a leaderboard with intervals, rank sets, coefficients and warnings.

    Deterministic for options.seed; neither row order, sides nor names change a number. With `style` the
    comparisons' covariates are signed differences as `style.relative_differences` makes them; they are scaled
    here. Raises a RatingsError with the reason where there is nothing to fit.
    """
    board = fit_board(comparisons, options or LeaderboardOptions())
    return assemble(board, comparisons, check_board(board), progress)


def assemble(
    board: FittedBoard, comparisons: Comparisons, check: Check | None, progress: Progress | None
) -> LeaderboardFit:
    """The frozen result of a fitted board."""
    options, covariance = board.options, board.covariance
    ends = interval_ends(board, progress)
    ranked = _ranked(board)
    ranks, critical = _ranks(board, ranked)
    standings = _standings(board, ends, ranked, ranks)
    tie_odds = float(np.exp(board.fit.params[-1])) if options.ties == "davidson" else None
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
    )


def _count(ids: NDArray[np.int32] | None) -> int | None:
    return None if ids is None else len(np.unique(ids))


def _estimand(comparisons: Comparisons) -> str:
    weighted = "weighted " if comparisons.weight is not None else ""
    return f"Bradley-Terry projection under this board's {weighted}mix of pairs, prompts and raters"


def _effective_votes(board: FittedBoard) -> Vector:
    c, k = board.cells, board.cells.n_competitors
    weight = np.bincount(c.low, c.total, k) + np.bincount(c.high, c.total, k)
    squares = c.weight_sq.sum(axis=1)
    square = np.bincount(c.low, squares, k) + np.bincount(c.high, squares, k)
    effective: Vector = np.divide(weight**2, square, out=np.zeros(k), where=square > 0)
    return effective


def _ranked(board: FittedBoard) -> NDArray[np.bool_]:
    k = board.fit.n_competitors if board.options.ties != "davidson" else board.plain.n_competitors
    enough = _effective_votes(board) >= max(board.options.min_votes, 1e-9)
    ranked: NDArray[np.bool_] = enough & (board.covariance.degrees[:k] > 0) & board.fit.graph.fought
    return ranked


@dataclass(frozen=True, eq=False)
class Ranks:
    """Ends of the rank sets and LMArena's rank (K,); 0 where unranked."""

    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    arena: NDArray[np.int64]


def _ranks(board: FittedBoard, ranked: NDArray[np.bool_]) -> tuple[Ranks, float | None]:
    """Rank sets within each component, over its ranked competitors; the largest critical value used."""
    covariance, options, k = board.covariance, board.options, len(ranked)
    lower, upper, arena = (np.zeros(k, dtype=np.int64) for _ in range(3))
    deviations = _rank_deviations(board)
    theta, draws = board.fit.params[:k], covariance.of_draws[:k, :k]
    reach = critical_values(covariance.degrees[:k], options.confidence) * covariance.deviations[:k]
    largest = None
    for label in np.unique(board.fit.graph.component[ranked]):
        at = np.flatnonzero(ranked & (board.fit.graph.component == label))
        grid = np.ix_(at, at)
        critical = joint_critical_value(
            draws[grid], covariance.effective, options.confidence, seed=options.seed
        )
        per_pair = pair_critical_values(critical, covariance.effective, covariance.degrees[at])
        sets = rank_sets(theta[at], deviations[grid], per_pair)
        lower[at], upper[at] = sets.lower, sets.upper
        arena[at] = arena_rank(theta[at] - reach[at], theta[at] + reach[at])
        largest = max(critical, largest or 0.0)
    return Ranks(lower, upper, arena), largest


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


def _bounded_ends(board: FittedBoard, ends: Ends) -> tuple[Vector, Vector]:
    """The ends, with one-sided bounds for unbounded strengths (moved along under style control)."""
    graph = board.fit.graph
    k = len(graph.component)
    lower, upper = ends.lower[:k].copy(), ends.upper[:k].copy()
    for i in np.flatnonzero(graph.unbounded_above | graph.unbounded_below):
        lower[i] = upper[i] = np.nan
        if graph.unbounded_above[i] and graph.unbounded_below[i]:
            continue
        bound = one_sided_bound(board.cells, board.plain, int(i), board.options.confidence)
        bound += board.fit.params[i] - board.plain.params[i]
        (lower if graph.unbounded_above[i] else upper)[i] = bound
    return lower, upper


def _origin(board: FittedBoard) -> Vector:
    """What to add to ratings in points (K,): the anchor, for the anchor's component, else the mean."""
    k = len(board.fit.graph.component)
    origin = np.full(k, float(board.options.anchor_rating))
    if board.options.anchor is not None:
        at = int(np.flatnonzero(board.order == board.options.anchor)[0])
        mine = board.fit.graph.component == board.fit.graph.component[at]
        origin[mine] -= POINTS_PER_LOG_ODDS * board.fit.params[at]
        origin[~mine] = 1000.0
    return origin


def _standings(
    board: FittedBoard, ends: Ends, ranked: NDArray[np.bool_], ranks: Ranks
) -> tuple[Standing, ...]:
    graph, k = board.fit.graph, len(ranked)
    origin = _origin(board)
    lower, upper = _bounded_ends(board, ends)
    shift, shift_reach, contribution = _shift(board)
    counts, votes, component = _scores(board), _effective_votes(board), _component_numbers(board)
    clusters = board.covariance.effective_per_parameter[:k]
    unbounded = graph.unbounded_above | graph.unbounded_below
    few = clusters < FEW_CLUSTERS
    deviations = board.covariance.deviations

    def points(value: float, i: int) -> float | None:
        return rounded(origin[i] + POINTS_PER_LOG_ODDS * value) if graph.fought[i] else None

    def standing(i: int) -> Standing:
        wins, losses, ties = (int(c[i]) for c in counts)
        return Standing(
            competitor=int(board.order[i]),
            rating=points(board.fit.params[i], i),
            standard_error=None
            if unbounded[i] or np.isnan(lower[i])
            else rounded(POINTS_PER_LOG_ODDS * deviations[i]),
            lower=points(lower[i], i),
            upper=points(upper[i], i),
            bootstrap_lower=None if unbounded[i] else points(ends.boot_lower[i], i),
            bootstrap_upper=None if unbounded[i] else points(ends.boot_upper[i], i),
            rank_lower=int(ranks.lower[i]) or None,
            rank_upper=int(ranks.upper[i]) or None,
            arena_rank=int(ranks.arena[i]) or None,
            tied_first=bool(ranks.lower[i] == 1),
            wins=wins,
            losses=losses,
            ties=ties,
            battles=wins + losses + ties,
            effective_votes=round(float(votes[i]), 6),
            effective_clusters=rounded(clusters[i]),
            component=int(component[i]),
            unbounded_above=bool(graph.unbounded_above[i]),
            unbounded_below=bool(graph.unbounded_below[i]),
            too_few_raters=bool(few[i]),
            provisional=bool(few[i] or unbounded[i] or not ranked[i]),
            ranked=bool(ranked[i]),
            style_shift=None if shift is None else rounded(shift[i]),
            style_shift_lower=None if shift is None else rounded(shift[i] - shift_reach[i]),
            style_shift_upper=None if shift is None else rounded(shift[i] + shift_reach[i]),
            style_contribution=None if shift is None else rounded(contribution[i]),
        )

    order = np.lexsort((board.order, -board.fit.params[:k], component))
    return tuple(standing(int(i)) for i in order)


def _component_numbers(board: FittedBoard) -> NDArray[np.int64]:
    """Components (K,) numbered by falling size, then votes."""
    component = board.fit.graph.component
    votes = sum(_scores(board), np.zeros(len(component)))
    order = np.lexsort((-sum_by(component, votes, component.max() + 1), -np.bincount(component)))
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    return number[component]


def _scores(board: FittedBoard) -> tuple[Vector, Vector, Vector]:
    """Wins, losses and draws per competitor (K,), unweighted."""
    c, k = board.cells, board.cells.n_competitors
    lost, tied, won = c.counts.T

    def both(of_low: Vector, of_high: Vector) -> Vector:
        return sum_by(c.low, of_low, k) + sum_by(c.high, of_high, k)

    return both(won, lost), both(lost, won), both(tied, tied)


def _shift(board: FittedBoard) -> tuple[Vector | None, Vector, Vector]:
    """Plain less style-controlled rating in points (K,), its interval's reach, and style's contribution."""
    k = len(board.fit.graph.component)
    if not board.options.style or board.fit is board.plain or board.scores is None or board.rows is None:
        return None, np.zeros(k), np.zeros(k)
    shift = POINTS_PER_LOG_ODDS * (board.plain.params[:k] - board.fit.params[:k])
    paired = (board.plain, plain_scores(board, board.rows), board.fit, board.scores)
    deviations = shift_deviations(*paired, board.covariance)
    critical = critical_values(board.covariance.degrees[:k], board.options.confidence)
    contribution = POINTS_PER_LOG_ODDS * style_contribution(board.fit)
    return shift, critical * POINTS_PER_LOG_ODDS * deviations, contribution


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
