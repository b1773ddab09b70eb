"""How few votes the first place of a fitted board hangs on, in the model that was fitted: style control too.

As in influence.py the votes that help the leader most are dropped greedily, and what is told is verified by
refits. With covariates a refit goes through all votes, so it starts a Newton step away, from the votes that
are dropped alone, and there are few: the run of votes is cut to size by interpolation, not by bisection.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ratings.board import FittedBoard
from ratings.bradley_terry import RowLikelihood
from ratings.clusters import VoteScores
from ratings.comparisons import Tally
from ratings.connectivity import Connectivity, connectivity
from ratings.errors import BadOptionError, NotConvergedError
from ratings.influence import LEVEL, Flip, Labels, leader_of, nearest
from ratings.newton import MAX_STEP, Matrix, Vector, gauge, newton_step

ROWS_TO_PASS = 16_000_000
"""So many rows may be gone through for one board, and any board at least `LEAST_PASSES` times."""

LEAST_PASSES, MOST_PASSES = 4, 60
STEPS = 8
"""A refit that hasn't settled after so many Newton steps from so near isn't waited for."""

LEVEL_SINGLE = 2e-5
"""As LEVEL, where sums in single precision settle no nearer: 0.003 points."""


@dataclass(eq=False)
class _Refits:
    """The board without some of its rows, as often as passes over all rows are left."""

    board: FittedBoard
    scores: VoteScores
    passes: int

    @cached_property
    def flat(self) -> Matrix:
        """See `newton.gauge`."""
        return gauge(self.board.fit.graph.component, len(self.scores.rows.z))

    @cached_property
    def pseudo(self) -> Vector | None:
        """The fit's frozen pseudo-battles, by row (n,); a plain fit has them by pair."""
        pseudo, rows = self.board.fit.pseudo, self.scores.rows
        if pseudo is None or len(rows.z):
            return pseudo
        spread: Vector = (pseudo / np.bincount(rows.pair))[rows.pair]
        return spread

    @property
    def single(self) -> bool:
        """Are the rows in single precision?"""
        return self.scores.rows.score.dtype == np.float32

    def without(self, dropped: Labels) -> Vector | None:
        """Parameters (p,) without these rows; None where components fall apart, or no pass is left.

        What has no finite maximum any more is held by the whole fit's pseudo-battles, as a resample is.
        """
        fit, rows, pseudo = self.board.fit, self.scores.rows, self.pseudo
        graph = self._graph_without(dropped)
        if not np.array_equal(graph.component, fit.graph.component):
            return None
        if pseudo is None and graph.separated.any():
            pseudo = self.scores.pseudo
        whole, gone = RowLikelihood(rows), RowLikelihood(rows.part(np.sort(dropped)))
        _, slope, curvature = gone.evaluate(fit.params, None)
        small = 3e-4 if self.single else 1e-5  # what is left is about its square
        try:
            at = fit.params + newton_step(-slope, fit.hessian - curvature, self.flat)
            for _ in range(min(STEPS, self.passes)):
                self.passes -= 1
                _, every, information = whole.evaluate(at, pseudo)
                _, slope, curvature = gone.evaluate(at, None)
                step = newton_step(every - slope, information - curvature, self.flat)
                at = at + step * min(1.0, MAX_STEP / np.abs(step).max(initial=MAX_STEP))
                if np.abs(step).max() < small:
                    return np.asarray(at)
        except NotConvergedError:
            pass
        return None

    def _graph_without(self, dropped: Labels) -> Connectivity:
        cells, rows = self.board.cells, self.scores.rows
        last = cells.counts.shape[1] - 1
        place = rows.pair[dropped] * np.int64(last + 1) + np.rint(rows.score[dropped] * last).astype(np.int64)
        counts = cells.counts - np.bincount(place, minlength=cells.counts.size).reshape(cells.counts.shape)
        met = counts.any(axis=1)
        rest = Tally(cells.n_competitors, cells.low[met], cells.high[met], *[counts[met]] * 3)
        return connectivity(rest)


def flips_first_of(board: FittedBoard, *, challengers: int = 2, most: float = 0.02) -> Flip:
    """The fewest votes found whose removal dethrones the board's leader; else as `influence.flips_first`.

    `most`: give up beyond this share of the votes. Raises BadOptionError for a board whose votes aren't known
    one by one (no clusters, or Davidson's ties), IncomparableError where it has several components.
    """
    scores = board.scores
    if challengers < 1 or not 0 < most <= 1:
        raise BadOptionError(f"{challengers} challengers, most {most}")
    if scores is None:
        raise BadOptionError(
            "this fit keeps no votes: it counts pairs alone, or ties as an outcome of their own",
            todo="use flips_first",
        )
    fit, n = board.fit, len(scores.rows)
    leader = leader_of(fit)
    refits = _Refits(board, scores, min(max(LEAST_PASSES, ROWS_TO_PASS // n), MOST_PASSES))
    dropped, after = np.zeros(0, dtype=np.int64), fit.params
    runs = [_Run.of(refits, leader, rival, int(most * n)) for rival in nearest(fit, leader, challengers)]
    for run in sorted(runs, key=lambda one: one.promised):
        if (shorter := run.search(len(dropped) - 1 if len(dropped) else int(most * n))) is not None:
            dropped, after = shorter
    found = len(dropped) > 0
    return Flip(
        unit="vote",
        count=len(dropped) if found else None,
        total=n,
        units=scores.rows.source[dropped].astype(np.int64),
        votes=len(dropped),
        leader=int(board.order[leader]),
        successor=int(board.order[_best(board, after)]) if found else None,
        gap=_lead(board, fit.params, leader),
        gap_after=_lead(board, after, leader) if found else None,
        most=most,
        policies=fit.policies,
    )


@dataclass(eq=False)
class _Run:
    """Votes by how much they help the leader against a rival (m,), most helpful first, and what is known.

    gain (m + 1,): what dropping the first 0 … m takes of the leader's lead, one step of deletion · below,
    left: the longest run tried that doesn't flip, and the lead left · enough, over: the shortest that does ·
    after: the parameters without `enough`.
    """

    refits: _Refits
    leader: int
    order: Labels
    gain: Vector
    below: int
    left: float
    enough: int | None = None
    over: float = 0.0
    after: Vector | None = None

    @classmethod
    def of(cls, refits: _Refits, leader: int, rival: int, limit: int) -> _Run:
        """Nothing tried yet."""
        help_ = _help(refits.scores, leader, rival)
        # A step of deletion promises too much at times: some more than the limit are looked at.
        order = _largest(help_, int(1.2 * limit) + 5)
        gain = np.concatenate([[0.0], np.cumsum(help_[order], dtype=np.float64)])
        strengths = refits.board.fit.params
        return cls(refits, leader, order, gain, 0, float(strengths[leader] - strengths[rival]))

    @property
    def promised(self) -> int:
        """How many one step of deletion says it takes."""
        return self._reaching(self.left)

    def search(self, limit: int) -> tuple[Labels, Vector] | None:
        """The shortest run found that flips, within the limit, and the parameters without it."""
        if limit < 1 or self.promised > 1.2 * limit + 5:
            return None
        level = LEVEL_SINGLE if self.refits.single else LEVEL
        while self.refits.passes > 0 and (size := self._next()) is not None:
            after = self.refits.without(self.order[:size])
            if after is None:
                break
            lead = _lead(self.refits.board, after, self.leader)
            if lead < -level:
                self.enough, self.over, self.after = size, lead, after
            else:
                self.below, self.left = size, max(lead, 0.0)
        if self.enough is None or self.after is None or self.enough > limit:
            return None
        return self.order[: self.enough], self.after

    def _next(self) -> int | None:
        """How long a run to try; None where the shortest is known, or it takes more than may be dropped."""
        start = float(self.gain[self.below])
        if self.enough is None:
            size = max(self._reaching(start + self.left), self.below + 1)
            return size if size < len(self.gain) else None
        if self.enough - self.below < 2:
            return None
        share = self.left / (self.left - self.over)
        size = self._reaching(start + share * (float(self.gain[self.enough]) - start))
        return min(max(size, self.below + 1), self.enough - 1)

    def _reaching(self, gain: float) -> int:
        return int(np.searchsorted(self.gain, gain, side="right"))


def _help(scores: VoteScores, leader: int, rival: int) -> Vector:
    """By how much each row lifts theta_leader − theta_rival (n,), one step of deletion."""
    rows, width = scores.rows, scores.residual.dtype
    direction = (scores.fit.bread[leader] - scores.fit.bread[rival]).astype(width)
    along = np.take(direction[rows.low] - direction[rows.high], rows.pair, mode="clip")
    along += direction[rows.n_competitors :] @ rows.z
    along *= scores.residual
    return along


def _largest(values: Vector, size: int) -> Labels:
    """Places of the `size` largest that are above 0, largest first; of equal ones the first row first."""
    if size < len(values):
        least = max(np.partition(values, len(values) - size)[len(values) - size], 0)
        among = np.flatnonzero((values >= least) & (values > 0))
    else:
        among = np.flatnonzero(values > 0)
    return among[np.argsort(-values[among], kind="stable")][:size]


def _best(board: FittedBoard, params: Vector) -> int:
    k = board.fit.n_competitors
    return int(np.argmax(np.where(board.fit.graph.fought, params[:k], -np.inf)))


def _lead(board: FittedBoard, params: Vector, leader: int) -> float:
    """theta_leader less the best of the others that fought."""
    others = board.fit.graph.fought.copy()
    others[leader] = False
    return float(params[leader] - np.max(params[: board.fit.n_competitors][others]))
