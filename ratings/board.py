"""Fit a leaderboard: policies, covariates and clusters of the options, up to the covariance."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ratings.board_options import LeaderboardOptions
from ratings.bradley_terry import Fit, PairLikelihood, RowLikelihood, fit_likelihood
from ratings.clusters import Dimension, VoteScores, effective_clusters, effective_per_parameter
from ratings.comparisons import Comparisons, Tally, tally
from ratings.davidson import DavidsonFit, TieLikelihood, fit_davidson
from ratings.engine_check import check_plain, check_rows
from ratings.errors import BadOptionError, NoVotesError
from ratings.newton import Vector
from ratings.rows import Rows, sort_rows
from ratings.standings import Check
from ratings.style import MAX_VIF, NO_VARIATION, Scaled, inflation_factors, scale_covariates
from ratings.uncertainty import Covariance, robust_covariance, tally_sandwich, vote_scores

POSITION = "position"
"""The covariate that is +1 for side a: its coefficient is the advantage of being shown first."""


@dataclass(frozen=True, eq=False)
class FittedBoard:
    """Everything fitted, in the board's own order of competitors (`order[i]`: id in the comparisons)."""

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


def fit_board(comparisons: Comparisons, options: LeaderboardOptions) -> FittedBoard:
    """Fit and covariance, before bootstrap and ranks."""
    dimensions = _dimensions(comparisons, options)
    order = canonical_order(comparisons, options)
    board = _relabelled(comparisons, order)
    cells = tally(board, options.policies)
    plain = fit_likelihood(PairLikelihood(cells), cells, options.policies)
    board, scaled, inflation, notes = _with_covariates(board, options, plain)
    n_dropped = len(board) - int(cells.counts.sum())
    rows = scores = None
    if options.ties == "davidson":
        fit, covariance, rows = _davidson(board, options, dimensions)
    elif board.covariates is None and not dimensions:
        fit, covariance = plain, tally_sandwich(cells, plain)
    else:
        rows = sort_rows(board, options.policies)
        fit = plain if board.covariates is None else _fit_rows(rows, cells, plain, board, options)
        covariance, scores = robust_covariance(board, rows, fit, dimensions)
    return FittedBoard(
        order, options, cells, plain, fit, covariance, rows, scores, scaled, inflation, n_dropped, notes
    )


def _dimensions(comparisons: Comparisons, options: LeaderboardOptions) -> tuple[str, ...]:
    if options.interval == "iid":
        return ()
    if options.cluster is None:
        return tuple(name for name in ("rater", "prompt") if getattr(comparisons, name) is not None)
    for name in options.cluster:
        if getattr(comparisons, name) is None:
            raise BadOptionError(f"cluster by {name}, but the votes have no {name}", todo="leave it out")
    return options.cluster


def canonical_order(comparisons: Comparisons, options: LeaderboardOptions) -> NDArray[np.int64]:
    """Competitors (K,) by strength, then votes: draws that follow this order don't depend on ids."""
    cells = tally(comparisons, options.policies)
    if not len(cells.low):
        raise NoVotesError("no vote to fit", todo="pass votes, or a policy that keeps some")
    plain = fit_likelihood(PairLikelihood(cells), cells, options.policies)
    k = cells.n_competitors
    votes = np.bincount(cells.low, cells.total, k) + np.bincount(cells.high, cells.total, k)
    ties = np.bincount(cells.low, cells.weight[:, 1], k) + np.bincount(cells.high, cells.weight[:, 1], k)
    order: NDArray[np.int64] = np.lexsort((ties.round(6), votes.round(6), -plain.strengths.round(7)))
    return order


def _relabelled(comparisons: Comparisons, order: NDArray[np.int64]) -> Comparisons:
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return replace(comparisons, a=place[comparisons.a], b=place[comparisons.b])


def _with_covariates(
    board: Comparisons, options: LeaderboardOptions, plain: Fit
) -> tuple[Comparisons, Scaled | None, Vector | None, tuple[str, ...]]:
    """The board with scaled covariates that can be told apart, or none; and what was dropped, in words."""
    if not options.style and not options.position:
        return replace(board, covariates=None, covariate_names=()), None, None, ()
    if options.style and board.covariates is None:
        raise BadOptionError(
            "style control without covariates", todo="pass signed differences of style counts"
        )
    board, scaled, notes = _style(board, options) if options.style else (_bare(board), None, [])
    if options.position:
        z = np.ones((len(board), 1)) if board.covariates is None else board.covariates
        ones = np.ones((len(board), 1), dtype=z.dtype)
        z = ones if board.covariates is None else np.hstack([z, ones])
        board = replace(board, covariates=z, covariate_names=(*board.covariate_names, POSITION))
    return _told_apart(board, options, plain, scaled, notes)


def _bare(board: Comparisons) -> Comparisons:
    return replace(board, covariates=None, covariate_names=())


def _style(board: Comparisons, options: LeaderboardOptions) -> tuple[Comparisons, Scaled, list[str]]:
    if board.covariates is None:
        raise BadOptionError(
            "style control without covariates", todo="pass signed differences of style counts"
        )
    scaled = scale_covariates(board.covariates, options.style_transform)
    flat = scaled.scale < NO_VARIATION
    names = np.array(board.covariate_names, dtype=object)
    notes = [
        f"Style covariate {name} never differs between the sides and was left out." for name in names[flat]
    ]
    kept = Scaled(scaled.z[:, ~flat], scaled.centre[~flat], scaled.scale[~flat])
    return replace(board, covariates=kept.z, covariate_names=tuple(names[~flat])), kept, notes


def _told_apart(
    board: Comparisons, options: LeaderboardOptions, plain: Fit, scaled: Scaled | None, notes: list[str]
) -> tuple[Comparisons, Scaled | None, Vector | None, tuple[str, ...]]:
    """Drop the covariate with the largest VIF while that is above MAX_VIF."""
    while board.covariates is not None and board.covariates.shape[1]:
        rows = sort_rows(board, options.policies)
        at = np.concatenate([plain.params, np.zeros(len(rows.z))])
        hessian = RowLikelihood(rows).evaluate(at, None)[2]
        inflation = inflation_factors(hessian, plain.bread)
        worst = int((inflation / [_limit(name) for name in board.covariate_names]).argmax())
        if inflation[worst] <= _limit(board.covariate_names[worst]):
            return board, scaled, inflation, tuple(notes)
        name = board.covariate_names[worst]
        notes.append(
            f"Covariate {name} was left out: it repeats the models or other covariates"
            f" (variance inflation {inflation[worst]:.3g})."
        )
        kept = np.arange(board.covariates.shape[1]) != worst
        if scaled is not None and worst < len(scaled.scale):
            own = kept[: len(scaled.scale)]
            scaled = Scaled(scaled.z[:, own], scaled.centre[own], scaled.scale[own])
        names = tuple(n for n, k in zip(board.covariate_names, kept, strict=True) if k)
        board = replace(board, covariates=board.covariates[:, kept], covariate_names=names)
    return _bare(board), None, None, (*notes, "No covariate is left: this board is the plain one.")


def _limit(name: str) -> float:
    """The largest VIF a covariate may have; the position is asked for by name and must only be estimable."""
    return 1e6 if name == POSITION else MAX_VIF


def _fit_rows(rows: Rows, cells: Tally, plain: Fit, board: Comparisons, options: LeaderboardOptions) -> Fit:
    start = np.concatenate([plain.params, np.zeros(len(rows.z))])
    fit = fit_likelihood(RowLikelihood(rows), cells, options.policies, start=start)
    return replace(fit, covariate_names=board.covariate_names)


def _davidson(
    board: Comparisons, options: LeaderboardOptions, names: tuple[str, ...]
) -> tuple[Fit, Covariance, Rows]:
    found = fit_davidson(board, options.policies)
    hc0 = found.sandwich()
    dimensions = tuple(_tie_dimension(name, getattr(board, name), found) for name in names)
    several = tuple(d for d in dimensions if d.count > 1)
    single = tuple(d.name for d in dimensions if d.count == 1)
    if not several:
        return found.fit, Covariance(hc0, (), hc0, (), single), found.rows
    matrices = tuple(d.covariance for d in several)
    if len(several) == 1:
        return found.fit, Covariance(matrices[0], (), hc0, several, single), found.rows
    cell = np.unique(several[0].labels * several[1].count + several[1].labels, return_inverse=True)[1]
    both = matrices[0] + matrices[1] - found.sandwich(cell)
    return found.fit, Covariance(both, matrices, hc0, several, single), found.rows


def _tie_dimension(name: str, ids: NDArray[np.int32], found: DavidsonFit) -> Dimension:
    """CR1 by cluster; effective clusters as if ν were known."""
    unique, labels = np.unique(ids[found.rows.source], return_inverse=True)
    p, count = len(found.fit.params), len(unique)
    chance = TieLikelihood(found.rows).chances(found.fit.params)
    information = found.rows.weight * (chance[0] + chance[1] - (chance[0] - chance[1]) ** 2) / 4
    scores = VoteScores(found.rows, found.residual, information, np.zeros(len(labels)))
    effective = effective_clusters(labels)
    per = effective_per_parameter(scores, found.fit.bread[:-1, :-1], labels, count)
    covariance = found.sandwich(labels) if count > 1 else np.zeros((p, p))
    return Dimension(
        name, labels, count, effective, np.append(per, effective), covariance, np.zeros(p, dtype=bool)
    )


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
