"""How far each rating moves from one plain board to another that shares votes with it, with intervals.

A board of hard prompts holds a part of the votes of the board of all. Both fits rest on those, so that their
two intervals say little about the move between them: whether they meet is no test of it. Here the influence
of each vote on both strengths is subtracted first (paired_influence.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array

from ratings.board import plain_board, relabelled, wanted_dimensions
from ratings.board_options import LeaderboardOptions
from ratings.bradley_terry import Fit, PairLikelihood, fit_likelihood
from ratings.cluster_runs import Labels, consecutive
from ratings.clusters import CARRIED_PAIRS, VoteScores, effective_clusters, ratio_of_sums
from ratings.comparisons import Comparisons, Tally, tally
from ratings.errors import BadOptionError, NoVotesError, ShapeError
from ratings.newton import Matrix, Vector
from ratings.paired_influence import Influence, SharedDimension, Strata, paired_variances
from ratings.reference import Reference, effective_votes, own_clusters, reference_of
from ratings.rows import Floats, Rows, sort_rows, sum_by
from ratings.scale import POINTS_PER_LOG_ODDS
from ratings.standings import DECIMALS
from ratings.thin_votes import thin
from ratings.uncertainty import (
    FEW_CLUSTERS,
    LEAST_DESIGN_EFFECT,
    NO_INTERVAL,
    critical_values,
    vote_scores,
)

STILL = 1e-6
"""A variance of the difference below this share of a rating's own is what rounding leaves of nothing."""


@dataclass(frozen=True, eq=False)
class RatingMoves:
    """θ_after − θ_before of K competitors in points, by their ids; NaN where the votes support no number.

    move, lower, upper, standard_error (K,) · degrees (K,): of freedom of t, infinite if votes are taken as
    independent, 0 without interval · members (K,): whose mean is zero on both boards · offset: by how
    much more the boards' own ratings differ than by the move, for other competitors may be in their means.
    """

    move: Vector
    lower: Vector
    upper: Vector
    standard_error: Vector
    degrees: Vector
    members: NDArray[np.bool_]
    offset: float


@dataclass(frozen=True, eq=False)
class _Side:
    """One of the two boards on the rows of both: who counts (n,), its cells and fit, its votes' scores."""

    counted: NDArray[np.bool_]
    cells: Tally
    fit: Fit
    scores: VoteScores
    reference: Reference


def fit_moves(
    votes: Comparisons, before: ArrayLike, after: ArrayLike, options: LeaderboardOptions | None = None
) -> RatingMoves:
    """The move of each rating from the plain board of the votes `before` to that of the votes `after`.

    before, after (n,): masks over the rows of `votes`; they may overlap, be the same, or share nothing. Both
    fits follow the options' policies, clusters and confidence. Strengths are less the mean, on both boards,
    of the same competitors: the well-measured ones of both (reference.py) in the largest group that either
    board connects. Variance: CR1 of H₂⁻U₂ − H₁⁻U₁ by rater, by prompt and two-way (after Cameron, Gelbach &
    Miller 2011), never below a one-way term, nor, below ten effective clusters, the model's own, and HC0's
    where below a quarter of that. Scores are less their mean among the votes of both boards and of one
    alone, so that a move that is real doesn't widen its own interval. t has min(G*, G_c) − 1 degrees of
    freedom: G* of the votes of either, G_c = (Σℓ_g)²/Σℓ_g², ℓ_g cluster g's part of the model's variance.
    No move (NaN): of a competitor without votes on either board, unbounded on one, or outside that group. No
    interval: with too few votes on either (thin_votes.py), or below two effective clusters.
    Raises ShapeError for masks of another length, BadOptionError for style, position or Davidson ties, and
    NoVotesError where a board has no vote that counts.
    """
    options = options or LeaderboardOptions()
    votes, masks = _counted(votes, before, after, options)
    dimensions = wanted_dimensions(votes, options)
    order, _, plain = plain_board(votes, options)
    board = relabelled(votes.with_covariates(None, ()), order)
    cells = [tally(board.select(mask), options.policies) for mask in masks]
    fits = [_fit(each, plain, options) for each in cells]
    rows = sort_rows(board, options.policies, exact=any(fit.pseudo is not None for fit in fits))
    labels = {name: consecutive(getattr(board, name)[rows.source]) for name in dimensions}
    first, second = (
        _side(mask[rows.source], each, fit, rows, list(labels.values()))
        for mask, each, fit in zip(masks, cells, fits, strict=True)
    )
    members, shown = _common(first, second)
    if members.sum() < 2:
        return _by_id(order, np.full((3, len(order)), np.nan), members, options.confidence, 0.0)
    reference = Reference(members, np.zeros(len(members), dtype=np.int32))
    found = _moves(rows, first, second, labels, reference)
    found[0, ~shown] = np.nan
    return _by_id(order, found, members, options.confidence, _offset(first, second, members))


def _counted(
    votes: Comparisons, before: ArrayLike, after: ArrayLike, options: LeaderboardOptions
) -> tuple[Comparisons, list[NDArray[np.bool_]]]:
    """The votes of either board, and which of them each counts."""
    if options.style or options.position or options.ties == "davidson":
        raise BadOptionError(
            "moves with style control, position effect or Davidson ties", todo="take plain boards"
        )
    masks = [np.asarray(before, dtype=bool), np.asarray(after, dtype=bool)]
    kept = options.policies.quarter_wins()[votes.outcome] >= 0
    for name, mask in zip(("before", "after"), masks, strict=True):
        if mask.shape != (len(votes),):
            raise ShapeError(f"the mask `{name}` has shape {mask.shape}, there are {len(votes)} votes")
        if not (mask & kept).any():
            raise NoVotesError(f"no vote that counts {name}", todo="take a part with votes")
    either = masks[0] | masks[1]
    if either.all():
        return votes, masks
    return votes.select(either), [mask[either] for mask in masks]


def _fit(cells: Tally, plain: Fit, options: LeaderboardOptions) -> Fit:
    return fit_likelihood(PairLikelihood(cells), cells, options.policies, start=plain.params)


def _side(
    counted: NDArray[np.bool_], cells: Tally, fit: Fit, rows: Rows, labels: list[tuple[Labels, int]]
) -> _Side:
    every = vote_scores(rows, fit)
    scores = replace(every, residual=every.residual * counted, information=every.information * counted)
    # As on a board of its own: a dimension with one cluster counts nothing there.
    several = [each for each, _ in labels if _clusters(each[counted]) > 1]
    reference = reference_of(fit.graph, effective_votes(cells), own_clusters(scores, several))
    # without the table that only clusters need
    return _Side(counted, cells, fit, replace(scores), reference)


def _clusters(labels: Labels) -> int:
    return int(np.count_nonzero(np.bincount(labels)))


def _common(first: _Side, second: _Side) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whose mean is zero on both boards, and who moves (K,): of the largest group that either connects."""
    graphs = first.fit.graph, second.fit.graph
    fought = graphs[0].fought & graphs[1].fought
    bounded = fought.copy()
    for graph in graphs:
        bounded &= ~(graph.unbounded_above | graph.unbounded_below)
    nobody = np.zeros(len(fought), dtype=bool)
    if not bounded.any():
        return nobody, nobody
    group = graphs[0].component * (int(graphs[1].component.max()) + 1) + graphs[1].component
    size = np.bincount(group[bounded])
    votes = sum_by(group[bounded], effective_votes(second.cells)[bounded], len(size))
    shown = bounded & (group == np.lexsort((-votes, -size))[0])
    return shown & first.reference.members & second.reference.members, shown


def _moves(
    rows: Rows, first: _Side, second: _Side, labels: dict[str, tuple[Labels, int]], reference: Reference
) -> Matrix:
    """Moves, standard errors and degrees of freedom (3, K), in log-odds."""
    sides = first, second
    # H⁻ is symmetric: less the mean over the competitors whose strengths are its rows
    first_of, second_of = (Influence(s.scores.residual, reference.less_mean(s.fit.bread).T) for s in sides)
    roots = [np.sqrt(side.scores.information) for side in sides]
    pair = _Pair(rows, first_of, second_of, *roots)
    still = pair.still
    several = [found for found in labels.values() if found[1] > 1]
    effective = np.full(rows.n_competitors, np.inf)
    for each, count in several:
        own = np.where(still, np.inf, pair.effective(each, count))
        effective = np.minimum(effective, np.minimum(effective_clusters(each), own))
    dimensions = [SharedDimension(*found) for found in several]
    variances = _guarded(
        paired_variances(rows, pair.first, pair.second, dimensions, _strata(rows, first, second)),
        pair.independent,
        np.where((effective < FEW_CLUSTERS) | (len(several) < len(labels)), pair.model, 0.0),
    )
    thinly = thin(first.fit, first.cells) | thin(second.fit, second.cells)
    degrees = np.where(thinly | (effective < NO_INTERVAL), 0.0, effective - 1)
    strengths = [reference.less_mean(side.fit.params) for side in sides]
    variances = np.where(still, 0.0, variances)
    return np.array([strengths[1] - strengths[0], np.sqrt(variances), degrees])


def _strata(rows: Rows, first: _Side, second: _Side) -> Strata:
    """Votes that only the first board counts, only the second, both."""
    return Strata(*consecutive(first.counted + 2 * second.counted), rows.weight)


def _guarded(variances: Vector, independent: Vector, model: Vector) -> Vector:
    """HC0's where far below it, never below the model's."""
    kept = np.where(variances < LEAST_DESIGN_EFFECT * independent, independent, variances)
    guarded: Vector = np.maximum(np.maximum(kept, model), 0)
    return guarded


@dataclass(frozen=True, eq=False)
class _Pair:
    """Both influences of the votes; root_first, root_second (n,): √(w p(1 − p)) on each board."""

    rows: Rows
    first: Influence
    second: Influence
    root_first: Floats
    root_second: Floats

    @property
    def independent(self) -> Vector:
        """HC0 of the difference (K,)."""
        return self._by_pairs(self.first.residual, self.second.residual)

    @cached_property
    def model(self) -> Vector:
        """The model's own variance of the difference (K,)."""
        return self._by_pairs(self.root_first, self.root_second)

    @property
    def still(self) -> NDArray[np.bool_]:
        """Whose differences (K,) no vote moves, for both boards count the same ones."""
        own = self._by_pairs(self.root_first, 0 * self.root_second)
        still: NDArray[np.bool_] = self.model <= STILL * own
        return still

    def _by_pairs(self, u: Floats, v: Floats) -> Vector:
        """Σ_t (u_t (c₁)_t − v_t (c₂)_t)² (K,), c the contrasts' directions along each vote's pair."""
        pair = replace(self.first, residual=u), replace(self.second, residual=v)
        return np.maximum(paired_variances(self.rows, *pair, ()), 0)

    def effective(self, labels: Labels, count: int) -> Vector:
        """G_c (K,) of the clusters that speak about each difference.

        Up to LARGE votes exactly; beyond, of a competitor's own votes, the rest spread by information.
        """
        if self.root_first.dtype == np.float64:
            carried = self._carried(labels, count)
            return ratio_of_sums(carried.sum(axis=0), (carried**2).sum(axis=0))
        return self._nearly_effective(labels, count)

    def _carried(self, labels: Labels, count: int) -> Matrix:
        """ℓ_g (G, K), some hundreds of pairs at a time."""
        r, u, v = self.rows, self.root_first, self.root_second
        carried, ends = np.zeros((count, r.n_competitors)), np.append(r.first, len(r))
        for start in range(0, len(r.low), CARRIED_PAIRS):
            pairs = slice(start, start + CARRIED_PAIRS)
            bounds = ends[start : start + CARRIED_PAIRS + 1]
            mine = slice(int(bounds[0]), int(bounds[-1]))
            a, b = (_along(each.towards, r.low[pairs], r.high[pairs]) for each in (self.first, self.second))
            terms = ((u * u, a * a), (u * v, -2 * a * b), (v * v, b * b))
            for values, along in terms:
                where = (values[mine], labels[mine], bounds - bounds[0])
                carried += csr_array(where, shape=(len(a), count)).T @ along
        positive: Matrix = np.maximum(carried, 0)
        return positive

    def _nearly_effective(self, labels: Labels, count: int) -> Vector:
        r, k = self.rows, self.rows.n_competitors
        ends = (r.low, r.row_low), (r.high, r.row_high)
        values = []
        for mine, _ in ends:
            a, b = (
                (each.towards[mine, r.low] - each.towards[mine, r.high]).astype(r.score.dtype)[r.pair]
                for each in (self.first, self.second)
            )
            values.append((self.root_first * a - self.root_second * b) ** 2)
        places = np.tile(labels, 2), np.concatenate([row for _, row in ends])
        own = coo_array((np.concatenate(values).astype(np.float64), places), shape=(count, k)).tocsr()
        share = sum_by(labels, self.root_first**2 + self.root_second**2, count)
        total, squares = own.sum(axis=0), own.multiply(own).sum(axis=0)
        rest = np.maximum(self.model - total, 0) / share.sum()
        squares = squares + 2 * rest * (own.T @ share) + rest**2 * (share @ share)
        return ratio_of_sums(total + rest * share.sum(), squares)


def _along(towards: Matrix, low: NDArray[np.int32], high: NDArray[np.int32]) -> Matrix:
    """(pairs, K): each contrast along each pair."""
    along: Matrix = towards.T[low] - towards.T[high]
    return along


def _offset(first: _Side, second: _Side, members: NDArray[np.bool_]) -> float:
    """(after less before, each in its board's own reference) − move, in points."""
    means = [side.reference.less_mean(side.fit.params)[members].mean() for side in (first, second)]
    return float(POINTS_PER_LOG_ODDS * (means[1] - means[0]))


def _by_id(
    order: NDArray[np.int64], found: Matrix, members: NDArray[np.bool_], confidence: float, offset: float
) -> RatingMoves:
    """In points, by the competitors' ids; the columns of `found` (3, K) are in the board's order."""
    move, error, degrees = found
    degrees = np.where(np.isnan(move), 0.0, degrees)
    reach = critical_values(degrees, confidence) * error
    place = np.argsort(order)

    def points(column: Vector) -> Vector:
        rounded: Vector = np.round(POINTS_PER_LOG_ODDS * column[place], DECIMALS) + 0.0
        return rounded

    return RatingMoves(
        move=points(move),
        lower=points(move - reach),
        upper=points(move + reach),
        standard_error=points(np.where(np.isnan(reach), np.nan, error)),
        degrees=degrees[place],
        members=members[place],
        offset=round(offset, DECIMALS) + 0.0,
    )
