"""How few votes, raters or prompts would have to go for another competitor to lead.

The influence of a vote on theta_1 - theta_j is that of a one-step deletion, c'H^-x_t w(y_t - p_t), with
c = e_1 - e_j (Broderick, Giordano & Meager 2020). The most helpful units are dropped greedily, the board is
fitted again without them, and the smallest run of them that really flips it is reported: an upper bound
on the fewest, always verified by a full fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ratings.bradley_terry import Fit, fit_bradley_terry
from ratings.comparisons import Comparisons, Policies
from ratings.errors import BadOptionError, IncomparableError
from ratings.newton import Vector
from ratings.rows import sort_rows, sum_by
from ratings.uncertainty import vote_scores

Unit = Literal["vote", "rater", "prompt"]
Labels = NDArray[np.int64]

MAX_ROUNDS = 30

LEVEL = 1e-9
"""Strengths closer than this are level: rounding must not dethrone anybody."""


@dataclass(frozen=True, eq=False)
class Flip:
    """The smallest set found whose removal makes `successor` lead instead of `leader`.

    count       how many units; None when none was found within `most` of all
    total       how many units there are
    units       their ids, most helpful first: rows of the comparisons for votes, else rater or prompt ids
    votes       how many votes they hold
    gap         theta_leader - theta of the runner-up before, in log-odds
    gap_after   theta_leader - theta_successor after, below 0; None when none was found
    """

    unit: Unit
    count: int | None
    total: int
    units: Labels
    votes: int
    leader: int
    successor: int | None
    gap: float
    gap_after: float | None
    most: float
    policies: Policies

    @property
    def share(self) -> float | None:
        """count/total."""
        return None if self.count is None else self.count / self.total


@dataclass(frozen=True, eq=False)
class _Board:
    """Votes that count, each with the number of its unit, and the fit of all of them."""

    votes: Comparisons
    unit: Labels
    total: int
    fit: Fit
    leader: int
    policies: Policies

    def without(self, dropped: Labels) -> tuple[Comparisons, Labels]:
        """What is left when the units go: the votes, and their unit."""
        gone = np.zeros(self.total, dtype=bool)
        gone[dropped] = True
        kept = ~gone[self.unit]
        return self.votes.select(kept), self.unit[kept]


def flips_first(
    comparisons: Comparisons,
    policies: Policies | None = None,
    *,
    unit: Unit = "vote",
    challengers: int = 3,
    most: float = 0.5,
) -> Flip:
    """The fewest units found whose removal dethrones the leader; with covariates if the votes have any.

    `challengers`: how many competitors, nearest in standard errors, are tried as successors. `most`: give up
    beyond this share of all units. Costs a few fits per challenger and a sort of the votes.
    Raises BadOptionError when the units are unknown or an option is out of range, IncomparableError when the
    competitors fall into several components, NoVotesError when nothing is left to fit.
    """
    policies = policies or Policies()
    if unit not in get_args(Unit) or challengers < 1 or not 0 < most <= 1:
        raise BadOptionError(
            f"unit {unit!r}, {challengers} challengers, most {most}", todo=f"{get_args(Unit)}"
        )
    board, ids = _board(comparisons, policies, unit)
    found = _fewest(board, challengers, most)
    dropped = np.zeros(0, dtype=np.int64) if found is None else found
    rest, _ = board.without(dropped)
    after = board.fit if found is None else fit_bradley_terry(rest, policies)
    return Flip(
        unit=unit,
        count=None if found is None else len(found),
        total=board.total,
        units=ids[dropped],
        votes=len(board.votes) - len(rest),
        leader=board.leader,
        successor=None if found is None else _highest(after),
        gap=_lead(board.fit, board.leader),
        gap_after=None if found is None else _lead(after, board.leader),
        most=most,
        policies=policies,
    )


def _fewest(board: _Board, challengers: int, most: float) -> Labels | None:
    """The shortest list of units found for any challenger."""
    found: Labels | None = None
    for rival in nearest(board.fit, board.leader, challengers):
        limit = int(most * board.total) if found is None else len(found) - 1
        shorter = _greedy(board, rival, limit)
        found = found if shorter is None else shorter
    return found


def _board(comparisons: Comparisons, policies: Policies, unit: Unit) -> tuple[_Board, Labels]:
    counted = np.flatnonzero(policies.quarter_wins()[comparisons.outcome] >= 0)
    votes = comparisons.select(counted)
    if unit == "vote":
        ids, number = counted.astype(np.int64), np.arange(len(counted), dtype=np.int64)
    else:
        known = getattr(votes, unit)
        if known is None:
            raise BadOptionError(f"the {unit}s of these votes are unknown", todo=f"pass {unit} ids")
        ids, number = np.unique(known.astype(np.int64), return_inverse=True)
    fit = fit_bradley_terry(votes, policies)
    leader = leader_of(fit)
    return _Board(votes, number, len(ids), fit, leader, policies), ids


def leader_of(fit: Fit) -> int:
    """Who has the highest strength; raises IncomparableError where the competitors are several components."""
    if len(np.unique(fit.graph.component[fit.graph.fought])) > 1:
        raise IncomparableError("the board has several components", todo="ask about one at a time")
    return _highest(fit)


def _highest(fit: Fit) -> int:
    return int(np.argmax(np.where(fit.graph.fought, fit.strengths, -np.inf)))


def _lead(fit: Fit, leader: int) -> float:
    """theta_leader less the best of the others that fought in its component."""
    component = fit.graph.component
    others = (component == component[leader]) & fit.graph.fought
    others[leader] = False
    return float(fit.strengths[leader] - np.max(fit.strengths[others]))


def nearest(fit: Fit, leader: int, challengers: int) -> list[int]:
    """Competitors by their distance from the leader in model-based standard errors, nearest first."""
    k = fit.n_competitors
    v = fit.bread[:k, :k]
    error = np.sqrt(np.maximum(v[leader, leader] + np.diag(v) - 2 * v[leader], 1e-300))
    distance = (fit.strengths[leader] - fit.strengths) / error
    distance[~fit.graph.fought] = np.inf
    distance[leader] = np.inf
    order = np.argsort(distance, kind="stable")
    return [int(i) for i in order[:challengers] if np.isfinite(distance[i])]


def _greedy(board: _Board, rival: int, limit: int) -> Labels | None:
    """Units to drop, most helpful first, cut to the shortest run that flips; None when over the limit."""
    dropped: Labels = np.zeros(0, dtype=np.int64)
    for _ in range(MAX_ROUNDS):
        votes, unit = board.without(dropped)
        fit = _fit_if_comparable(votes, board, rival)
        if fit is None:
            return None
        if _lead(fit, board.leader) < -LEVEL:
            shortest = _shortest(board, rival, dropped)
            return shortest if len(shortest) <= limit else None
        help_ = _help(votes, unit, fit, board, rival)
        order = np.argsort(-help_, kind="stable")
        order = order[help_[order] > 0]
        gap = float(fit.strengths[board.leader] - fit.strengths[rival])
        needed = int(np.searchsorted(np.cumsum(help_[order]), gap, side="right")) + 1
        dropped = np.concatenate([dropped, order[:needed]])
        # A step of deletion promises too much at times; what overshoots is cut back by `_shortest`.
        if not len(order) or len(dropped) > 1.2 * limit + 5:
            return None
    return None


def _fit_if_comparable(votes: Comparisons, board: _Board, rival: int) -> Fit | None:
    if not len(votes):
        return None
    fit = fit_bradley_terry(votes, board.policies)
    component, fought = fit.graph.component, fit.graph.fought
    together = component[board.leader] == component[rival] and fought[board.leader] and fought[rival]
    return fit if together else None


def _help(votes: Comparisons, unit: Labels, fit: Fit, board: _Board, rival: int) -> Vector:
    """By how much each unit's votes lift theta_leader - theta_rival (units,), one step of deletion."""
    rows = sort_rows(votes, board.policies)
    scores = vote_scores(rows, fit)
    direction = fit.bread[board.leader] - fit.bread[rival]
    along = (direction[rows.low] - direction[rows.high])[rows.pair]
    along += direction[rows.n_competitors :] @ rows.z
    return sum_by(unit[rows.source], along * scores.residual, board.total)


def _shortest(board: _Board, rival: int, dropped: Labels) -> Labels:
    """The shortest leading run of `dropped` that flips, by bisection; every step is a full fit."""
    below, enough = 0, len(dropped)
    while enough - below > 1:
        middle = (below + enough) // 2
        fit = _fit_if_comparable(board.without(dropped[:middle])[0], board, rival)
        if fit is not None and _lead(fit, board.leader) < -LEVEL:
            enough = middle
        else:
            below = middle
    return dropped[:enough]
