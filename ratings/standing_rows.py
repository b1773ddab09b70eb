"""The columns of a leaderboard, one value per competitor, and the rows made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratings.board import FittedBoard, plain_scores
from ratings.board_intervals import Ends
from ratings.errors import NotConvergedError
from ratings.firth import one_sided_bound
from ratings.newton import Vector
from ratings.pairwise import adjusted, upper_tail
from ratings.reference import effective_votes
from ratings.rows import sum_by
from ratings.scale import MEAN_RATING, POINTS_PER_LOG_ODDS
from ratings.standings import Standing, rounded
from ratings.style_shift import shift_deviations, style_contribution
from ratings.uncertainty import critical_values

Column = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Ranks:
    """Ends of the joint and of the marginal rank sets, and LMArena's rank (K,); 0 where unranked."""

    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    marginal_lower: NDArray[np.int64]
    marginal_upper: NDArray[np.int64]
    arena: NDArray[np.int64]


def standings_of(
    board: FittedBoard, ends: Ends, ranked: NDArray[np.bool_], ranks: Ranks
) -> tuple[Standing, ...]:
    """Rows by component, then falling strength."""
    component = component_numbers(board)
    columns: dict[str, Column] = {
        "competitor": board.order,
        "component": component,
        **_rating_columns(board, ends),
        **_rank_columns(ranks),
        **_count_columns(board),
        **_flag_columns(board, ranked),
        **_style_columns(board),
    }
    order = np.lexsort((board.order, -board.fit.params[: len(component)], component))
    return tuple(Standing(**{name: _plain(column[i]) for name, column in columns.items()}) for i in order)


def _plain(value: Any) -> Any:
    """A NumPy value as Python's own; NaN and infinities as None, floats rounded."""
    if value is None or isinstance(value, np.bool_ | np.integer):
        return None if value is None else value.item()
    return rounded(float(value))


def _unbounded(board: FittedBoard) -> NDArray[np.bool_]:
    return board.fit.graph.unbounded_above | board.fit.graph.unbounded_below


def _rating_columns(board: FittedBoard, ends: Ends) -> dict[str, Column]:
    """Ratings, errors and ends in points (K,); NaN where the votes support no number."""
    k, origin = len(board.order), _origin(board)
    fought, unbounded = board.fit.graph.fought, _unbounded(board)
    lower, upper = _bounded_ends(board, ends)
    error = POINTS_PER_LOG_ODDS * board.covariance.deviations[:k]

    def points(strengths: Vector, shown: NDArray[np.bool_]) -> Vector:
        return np.where(shown, origin + POINTS_PER_LOG_ODDS * strengths, np.nan)

    return {
        "rating": points(board.fit.params[:k], fought),
        "standard_error": np.where(unbounded | np.isnan(lower) | ~fought, np.nan, error),
        "lower": points(lower, fought),
        "upper": points(upper, fought),
        "no_interval": fought & np.isnan(lower) & np.isnan(upper),
        "bootstrap_lower": points(ends.boot_lower[:k], fought & ~unbounded),
        "bootstrap_upper": points(ends.boot_upper[:k], fought & ~unbounded),
    }


def _rank_columns(ranks: Ranks) -> dict[str, Column]:
    def places(values: NDArray[np.int64]) -> Column:
        return np.array([value if value > 0 else None for value in values], dtype=object)

    return {
        "rank_lower": places(ranks.lower),
        "rank_upper": places(ranks.upper),
        "rank_marginal_lower": places(ranks.marginal_lower),
        "rank_marginal_upper": places(ranks.marginal_upper),
        "arena_rank": places(ranks.arena),
        "tied_first": ranks.lower == 1,
    }


def _count_columns(board: FittedBoard) -> dict[str, Column]:
    wins, losses, ties = (column.astype(np.int64) for column in _scores(board))
    return {
        "wins": wins,
        "losses": losses,
        "ties": ties,
        "battles": wins + losses + ties,
        "effective_votes": effective_votes(board.cells),
        "effective_clusters": board.covariance.effective_per_parameter[: len(wins)],
    }


def _flag_columns(board: FittedBoard, ranked: NDArray[np.bool_]) -> dict[str, Column]:
    k = len(ranked)
    raters, prompts = (board.covariance.few_clusters(name)[:k] for name in ("rater", "prompt"))
    return {
        "unbounded_above": board.fit.graph.unbounded_above,
        "unbounded_below": board.fit.graph.unbounded_below,
        "too_few_raters": raters,
        "too_few_prompts": prompts,
        "provisional": raters | prompts | _unbounded(board) | ~ranked,
        "ranked": ranked,
        "in_mean": board.reference.members,
    }


def _style_columns(board: FittedBoard) -> dict[str, Column]:
    """How far style control moves each rating in points (K,), with interval and style's share; else none."""
    k = len(board.order)
    if not board.options.style or board.fit is board.plain or board.scores is None or board.rows is None:
        return {}
    shift = POINTS_PER_LOG_ODDS * (board.plain.params[:k] - board.fit.params[:k])
    paired = (board.plain, plain_scores(board, board.rows), board.fit, board.scores)
    deviations = POINTS_PER_LOG_ODDS * shift_deviations(*paired, board.covariance)
    reach = critical_values(board.covariance.degrees[:k], board.options.confidence) * deviations
    if board.covariance.few is not None:
        # the model says nothing of a move: no floor to lean on
        reach = np.where(board.covariance.few[:k], np.nan, reach)
    return {
        "style_shift": shift,
        "style_shift_lower": shift - reach,
        "style_shift_upper": shift + reach,
        "style_shift_adjusted": _adjusted(shift, deviations, board.covariance.degrees[:k], ~np.isnan(reach)),
        "style_contribution": POINTS_PER_LOG_ODDS * style_contribution(board.fit),
    }


def _adjusted(shift: Vector, deviations: Vector, degrees: Vector, told: NDArray[np.bool_]) -> Vector:
    """Two-sided p (K,) of no shift, by Holm over all competitors whose shift has an interval."""
    found = np.full(len(shift), np.nan)
    moved = told & (deviations > 0)
    t = np.abs(shift[moved]) / deviations[moved]
    found[moved] = adjusted(np.minimum(2 * upper_tail(t, degrees[moved]), 1.0))
    return found


def _bounded_ends(board: FittedBoard, ends: Ends) -> tuple[Vector, Vector]:
    """The ends, with one-sided bounds for unbounded strengths (moved along under style control)."""
    graph = board.fit.graph
    k, mean = len(graph.component), board.reference.weights
    lower, upper = ends.lower[:k].copy(), ends.upper[:k].copy()
    for i in np.flatnonzero(graph.unbounded_above | graph.unbounded_below):
        lower[i] = upper[i] = np.nan
        if graph.unbounded_above[i] and graph.unbounded_below[i]:
            continue
        try:
            bound = one_sided_bound(board.cells, board.plain, int(i), board.options.confidence, mean)
        except NotConvergedError:
            # a handful of votes may set no bound at all
            continue
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
        origin[~mine] = MEAN_RATING
    return origin


def component_numbers(board: FittedBoard) -> NDArray[np.int64]:
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
    lost, won = c.counts[:, 0], c.counts[:, -1]
    drawn = c.counts[:, 1:-1].sum(axis=1)

    def both(of_low: Vector, of_high: Vector) -> Vector:
        return sum_by(c.low, of_low, k) + sum_by(c.high, of_high, k)

    return both(won, lost), both(lost, won), both(drawn, drawn)
