"""Fit a leaderboard: policies, covariates and clusters of the options, up to the covariance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ratings.board_options import LeaderboardOptions
from ratings.bradley_terry import SAMPLE_STEP, Fit, PairLikelihood, RowLikelihood, fit_likelihood
from ratings.cluster_runs import Labels, consecutive
from ratings.clusters import Dimension, VoteScores, effective_clusters, effective_per_parameter
from ratings.comparisons import Comparisons, Tally, relabelled_tally, tally
from ratings.davidson import DavidsonFit, TieLikelihood, fit_davidson
from ratings.engine_check import check_plain, check_rows
from ratings.errors import BadOptionError
from ratings.newton import Matrix, Vector, gauge, generalised_inverse
from ratings.pair_clusters import PairClusters, clusters_of_pairs
from ratings.reference import Reference, effective_votes, own_clusters, reference_of
from ratings.rows import LARGE, Rows, sort_rows
from ratings.separation import fit_bounded
from ratings.standings import Check
from ratings.style import MAX_VIF, NO_VARIATION, Scaled, inflation_factors, scale_covariates
from ratings.style_left_out import LeftOut, Why
from ratings.thin_votes import guarded
from ratings.uncertainty import Covariance, robust_covariance, tally_sandwich, vote_scores

PLAIN_AFTER_ALL = "No feature of style is left to control for: this board is the plain one."

POSITION = "position"
"""The covariate that is +1 for side a: its coefficient is the advantage of being shown first."""


@dataclass(frozen=True, eq=False)
class FittedBoard:
    """Everything fitted, in the board's own order of competitors (`order[i]`: id in the comparisons).

    Strengths, H⁻ and covariance are less the mean of the `reference` set.
    """

    order: NDArray[np.int64]
    options: LeaderboardOptions
    cells: Tally
    plain: Fit
    fit: Fit
    covariance: Covariance
    rows: Rows | None
    scores: VoteScores | None
    scaled: Scaled | None
    inflation: Vector | None
    n_dropped: int
    notes: tuple[str, ...]
    reference: Reference
    left_out: tuple[LeftOut, ...] = ()

    @cached_property
    def pair_clusters(self) -> dict[str, PairClusters]:
        """Effective clusters of every difference by dimension; none without rows (Davidson) or clusters."""
        if self.scores is None:
            return {}
        return {
            d.name: clusters_of_pairs(self.scores, self.fit.bread, d.labels, d.count)
            for d in self.covariance.dimensions
        }

    @property
    def tie_odds(self) -> float | None:
        """Davidson's ν, None on a board without ties as an outcome of their own."""
        return float(np.exp(self.fit.params[-1])) if self.options.ties == "davidson" else None


def fit_board(comparisons: Comparisons, options: LeaderboardOptions) -> FittedBoard:
    """Fit and covariance, before bootstrap and ranks."""
    dimensions = wanted_dimensions(comparisons, options)
    order, cells, plain = plain_board(comparisons, options)
    board = relabelled(comparisons, order)
    board, scaled, left_out = _with_covariates(board, options)
    rows = scores = inflation = None
    if options.ties == "davidson":
        fit, covariance, rows, reference = _davidson(board, options, dimensions, cells)
    elif board.covariates is None and not dimensions:
        fit = plain
        reference = reference_of(plain.graph, effective_votes(cells), np.full(cells.n_competitors, np.inf))
        covariance = tally_sandwich(cells, plain).less_mean(reference)
    else:
        rows, fit, inflation, dropped = _fit_rows(board, options, cells, plain)
        left_out = [*left_out, *dropped]
        scaled = _part_of(scaled, board.covariate_names, fit.covariate_names)
        covariance, scores, reference = robust_covariance(board, rows, fit, dimensions, cells)
    fit, plain = _less_mean(reference, fit, plain)
    covariance = guarded(covariance, fit, plain, cells, scores)
    dropped_votes = len(board) - int(cells.counts.sum())
    return FittedBoard(
        order,
        options,
        cells,
        plain,
        fit,
        covariance,
        rows,
        scores,
        scaled,
        inflation,
        dropped_votes,
        _notes(left_out, options, fit),
        reference,
        tuple(left_out),
    )


def _notes(left_out: list[LeftOut], options: LeaderboardOptions, fit: Fit) -> tuple[str, ...]:
    plain = options.style and not fit.covariate_names
    return (*(one.sentence() for one in left_out), *((PLAIN_AFTER_ALL,) if plain else ()))


def _less_mean(reference: Reference, fit: Fit, plain: Fit) -> tuple[Fit, Fit]:
    """Both fits less the reference mean; they stay the same object where they are."""
    moved = reference.of_fit(plain)
    return (moved if fit is plain else reference.of_fit(fit)), moved


def _fit_rows(
    board: Comparisons, options: LeaderboardOptions, cells: Tally, plain: Fit
) -> tuple[Rows, Fit, Vector | None, list[LeftOut]]:
    """Rows, fit, VIF of the covariates that could be kept, and what was dropped."""
    rows = sort_rows(board, options.policies, exact=plain.pseudo is not None)
    if board.covariates is None:
        return rows, plain, None, []
    rows, board, scarce = _affordable(rows, board)
    kept, inflation, dropped = _told_apart(rows, board.covariate_names, plain)
    dropped = [*scarce, *dropped]
    if len(kept) < len(rows.z):
        rows = replace(rows, z=rows.z[kept])
    if not len(kept):
        return rows, plain, None, dropped
    names = tuple(board.covariate_names[j] for j in kept)
    bounded, rows, fit, unbounded = fit_bounded(rows, names, cells, plain)
    if not len(bounded):
        return rows, plain, None, [*dropped, *unbounded]
    fit = replace(fit, covariate_names=tuple(names[j] for j in bounded))
    if unbounded:
        inflation = inflation_factors(fit.hessian, _bread_of_votes(fit.hessian, plain))
    return rows, fit, inflation, [*dropped, *unbounded]


VOTES_PER_COVARIATE = 10
"""Fewer votes than this for each covariate settle none: it would fit their accidents."""


def _affordable(rows: Rows, board: Comparisons) -> tuple[Rows, Comparisons, list[LeftOut]]:
    """As many covariates, the first ones first, as the votes can tell of; what was left out.

    The position is asked for by name and stays.
    """
    names = board.covariate_names
    style = [j for j, name in enumerate(names) if name != POSITION]
    spared = style[len(rows) // VOTES_PER_COVARIATE :]
    if not spared:
        return rows, board, []
    kept = [j for j in range(len(names)) if j not in spared]
    needed = VOTES_PER_COVARIATE * len(style)
    left_out = LeftOut(Why.FEW_VOTES, tuple(names[j] for j in spared), len(rows), needed=needed)
    z = board.covariates
    fewer = replace(
        board,
        covariates=None if z is None else z[:, kept],
        covariate_names=tuple(names[j] for j in kept),
    )
    return replace(rows, z=rows.z[kept]), fewer, [left_out]


def _part_of(scaled: Scaled | None, before: tuple[str, ...], after: tuple[str, ...]) -> Scaled | None:
    """The scales of the covariates that were kept; the position has none."""
    if scaled is None:
        return None
    return _part(
        scaled, np.array([j for j, name in enumerate(before[: len(scaled.scale)]) if name in after], int)
    )


def plain_board(
    comparisons: Comparisons, options: LeaderboardOptions
) -> tuple[NDArray[np.int64], Tally, Fit]:
    """Competitors in an order made of their results alone (new place -> id), so that draws which follow it
    don't depend on ids; and the plain fit in that order."""
    cells = tally(comparisons, options.policies)
    plain = fit_likelihood(PairLikelihood(cells), cells, options.policies)
    k = cells.n_competitors
    votes = np.bincount(cells.low, cells.total, k) + np.bincount(cells.high, cells.total, k)
    draws = cells.weight[:, 1:-1].sum(axis=1)
    ties = np.bincount(cells.low, draws, k) + np.bincount(cells.high, draws, k)
    order: NDArray[np.int64] = np.lexsort((ties.round(6), votes.round(6), -plain.strengths.round(7)))
    cells = relabelled_tally(cells, order)
    start = plain.params[order]
    return order, cells, fit_likelihood(PairLikelihood(cells), cells, options.policies, start=start)


def wanted_dimensions(comparisons: Comparisons, options: LeaderboardOptions) -> tuple[str, ...]:
    """Of "rater" and "prompt" those by which the options cluster."""
    if options.interval == "iid":
        return ()
    if options.cluster is None:
        return tuple(name for name in ("rater", "prompt") if getattr(comparisons, name) is not None)
    for name in options.cluster:
        if getattr(comparisons, name) is None:
            raise BadOptionError(f"cluster by {name}, but the votes have no {name}", todo="leave it out")
    return options.cluster


def relabelled(comparisons: Comparisons, order: NDArray[np.int64]) -> Comparisons:
    """The same votes with competitor order[i] called i."""
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return replace(comparisons, a=place[comparisons.a], b=place[comparisons.b])


def _with_covariates(
    board: Comparisons, options: LeaderboardOptions
) -> tuple[Comparisons, Scaled | None, list[LeftOut]]:
    """The board with scaled covariates, or none; and what was dropped."""
    left_out: list[LeftOut] = []
    if not options.style:
        board, scaled = replace(board, covariates=None, covariate_names=()), None
    else:
        board, scaled, left_out = _style(board, options)
    if options.position:
        ones = np.ones((len(board), 1))
        z = (
            ones
            if board.covariates is None
            else np.hstack([board.covariates, ones.astype(board.covariates.dtype)])
        )
        board = replace(board, covariates=z, covariate_names=(*board.covariate_names, POSITION))
    return board, scaled, left_out


def _style(board: Comparisons, options: LeaderboardOptions) -> tuple[Comparisons, Scaled, list[LeftOut]]:
    if board.covariates is None:
        raise BadOptionError(
            "style control without covariates", todo="pass signed differences of style counts"
        )
    scaled = scale_covariates(board.covariates, options.style_transform)
    flat = scaled.scale < NO_VARIATION
    names = np.array(board.covariate_names, dtype=object)
    same = [LeftOut(Why.SAME, (name,), len(board)) for name in names[flat]]
    kept = _part(scaled, np.flatnonzero(~flat))
    return replace(board, covariates=kept.z, covariate_names=tuple(names[~flat])), kept, same


def _part(scaled: Scaled, kept: NDArray[np.int64]) -> Scaled:
    if len(kept) == len(scaled.scale):
        return scaled
    return Scaled(scaled.z[:, kept], scaled.centre[kept], scaled.scale[kept])


def _told_apart(
    rows: Rows, names: tuple[str, ...], plain: Fit
) -> tuple[NDArray[np.int64], Vector, list[LeftOut]]:
    """Which covariates to keep: the one with the largest VIF is dropped while that is too large."""
    step = SAMPLE_STEP if len(rows) >= LARGE else 1
    sample = rows.every(step)
    at = np.concatenate([plain.params, np.zeros(len(rows.z))])
    hessian = step * RowLikelihood(sample).evaluate(at, None)[2]
    kept, k = np.arange(len(names)), plain.n_competitors
    bread, dropped = _bread_of_votes(hessian, plain), {}
    while len(kept):
        own = np.concatenate([np.arange(k), k + kept])
        inflation = inflation_factors(hessian[np.ix_(own, own)], bread)
        worst = int((inflation / [_limit(names[j]) for j in kept]).argmax())
        if inflation[worst] <= _limit(names[kept[worst]]):
            break
        dropped[int(kept[worst])] = float(inflation[worst])
        kept = np.delete(kept, worst)
    else:
        inflation = np.zeros(0)
    alone = _beside_models(hessian, bread, list(dropped))
    beside = tuple(names[j] for j in kept if names[j] != POSITION)
    left_out = [
        LeftOut(Why.MODELS, (names[j],), len(rows), inflation=own)
        if own > _limit(names[j])
        else LeftOut(Why.FEATURES, (names[j],), len(rows), inflation=dropped[j], beside=beside)
        for j, own in zip(dropped, alone, strict=True)
    ]
    return kept, inflation, left_out


def _beside_models(hessian: Matrix, bread: Matrix, covariates: list[int]) -> list[float]:
    """The VIF that each has beside the strengths alone."""
    k = len(bread)
    own = [np.append(np.arange(k), k + j) for j in covariates]
    return [float(inflation_factors(hessian[np.ix_(one, one)], bread)[0]) for one in own]


def _bread_of_votes(hessian: Matrix, plain: Fit) -> Matrix:
    """The strengths' inverse Hessian (K, K) of the votes alone: pseudo-battles tell nothing of covariates."""
    if plain.pseudo is None:
        return plain.bread
    k = plain.n_competitors
    return generalised_inverse(hessian[:k, :k], gauge(plain.graph.component, 0))


def _limit(name: str) -> float:
    """The largest VIF a covariate may have; the position is asked for by name and must only be estimable."""
    return 1e6 if name == POSITION else MAX_VIF


def _davidson(
    board: Comparisons, options: LeaderboardOptions, names: tuple[str, ...], cells: Tally
) -> tuple[Fit, Covariance, Rows, Reference]:
    found = fit_davidson(board, options.policies)
    hc0, scores = found.sandwich(), _information_of(found)
    labelled = {name: consecutive(getattr(board, name)[found.rows.source]) for name in names}
    single = tuple(name for name, (_, count) in labelled.items() if count == 1)
    groups = {name: labels for name, (labels, count) in labelled.items() if count > 1}
    reference = reference_of(
        found.fit.graph, effective_votes(cells), own_clusters(scores, list(groups.values()))
    )
    bread = reference.both(found.fit.bread[:-1, :-1])
    several = tuple(_tie_dimension(name, labels, found, scores, bread) for name, labels in groups.items())
    floors = tuple(d.covariance for d in several)
    if not several:
        covariance = Covariance(hc0, (), hc0, (), single)
    elif len(several) == 1:
        covariance = Covariance(floors[0], (), hc0, several, single)
    else:
        cell = consecutive(several[0].labels * several[1].count + several[1].labels)[0]
        both = floors[0] + floors[1] - found.sandwich(cell)
        covariance = Covariance(both, floors, hc0, several, single)
    return found.fit, replace(covariance, correction="CR1").less_mean(reference), found.rows, reference


def _information_of(found: DavidsonFit) -> VoteScores:
    """What each vote tells of the strengths, as if ν were known."""
    chance = TieLikelihood(found.rows).chances(found.fit.params)
    information = found.rows.weight * (chance[0] + chance[1] - (chance[0] - chance[1]) ** 2) / 4
    return VoteScores(found.rows, found.residual, information, found.fit)


def _tie_dimension(
    name: str, labels: Labels, found: DavidsonFit, scores: VoteScores, bread: Matrix
) -> Dimension:
    """CR1 by cluster; effective clusters as if ν were known."""
    p, count = len(found.fit.params), int(labels.max()) + 1
    effective = effective_clusters(labels)
    per = np.append(effective_per_parameter(scores, bread, labels, count), effective)
    nobody = np.zeros(p, dtype=bool)
    return Dimension(name, labels, count, effective, per, found.sandwich(labels), nobody)


def plain_scores(board: FittedBoard, rows: Rows) -> VoteScores:
    """The votes' scores at the plain fit, for the paired style shift."""
    return vote_scores(replace(rows, z=np.zeros((0, len(rows)))), board.plain)


def check_board(board: FittedBoard) -> Check | None:
    """The board refitted by an engine of others, if asked for and if there is one that can."""
    if not board.options.check or board.options.ties == "davidson":
        return None
    if board.fit is board.plain:
        return check_plain(board.cells, board.plain)
    return None if board.rows is None else check_rows(board.rows, board.fit)
