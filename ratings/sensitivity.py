"""What a board would be under the other policies for draws: a rank that moves is none to rely on."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ratings.bradley_terry import PairLikelihood, fit_likelihood
from ratings.comparisons import (
    BOTH_BAD,
    TIE,
    TIE_UNSTABLE,
    UNSTABLE_A,
    UNSTABLE_B,
    Comparisons,
    HalfOrDrop,
    Policies,
    Ties,
    Unstable,
    tally,
)
from ratings.davidson import fit_davidson
from ratings.errors import BadOptionError, IncomparableError, NotConvergedError, NoVotesError
from ratings.newton import Vector
from ratings.scale import to_points


@dataclass(frozen=True, eq=False)
class PolicyBoard:
    """The plain board under one set of policies, against the board asked about.

    strengths (K,), ranks (K,) by point estimate within the board's competitors · largest_rank_move,
    largest_rating_move (points): over all of them · failed: why this policy gives no board, else None.
    """

    policies: Policies
    n_votes: int
    strengths: Vector | None
    ranks: NDArray[np.int64] | None
    largest_rank_move: int | None
    largest_rating_move: float | None
    failed: str | None


def policy_sensitivity(
    comparisons: Comparisons, policies: Policies | None = None, *, davidson: bool = True
) -> tuple[PolicyBoard, ...]:
    """The board under every combination of policies for the draws that occur, the one asked about first.

    davidson: include that model, whose fit takes a pass over the votes per step. Ratings are compared with
    both boards' means over competitors at 0; only finite boards of one piece compare.
    """
    base = policies or Policies()
    reference = _strengths(comparisons, base)
    boards = [_compared(comparisons, base, reference)]
    for other in _alternatives(comparisons, base):
        if other.ties == "davidson" and not davidson:
            continue
        try:
            boards.append(_compared(comparisons, other, reference))
        except (NoVotesError, IncomparableError, BadOptionError) as error:
            boards.append(PolicyBoard(other, 0, None, None, None, None, error.what))
        except NotConvergedError:
            boards.append(PolicyBoard(other, 0, None, None, None, None, "too few votes to settle a fit"))
    return tuple(boards)


def _alternatives(comparisons: Comparisons, base: Policies) -> list[Policies]:
    occurs = set(np.unique(comparisons.outcome).tolist())
    ties: tuple[Ties, ...] = ("half", "drop", "davidson") if TIE in occurs else (base.ties,)
    both: tuple[HalfOrDrop, ...] = ("half", "drop") if BOTH_BAD in occurs else (base.both_bad,)
    policies = (each for each in product(ties, both, _unstable(occurs, base)) if _fit_together(*each))
    return [p for p in (Policies(*each) for each in policies) if p != base]


def _unstable(occurs: set[int], base: Policies) -> tuple[Unstable, ...]:
    if occurs & {UNSTABLE_A, UNSTABLE_B}:
        return ("half", "drop", "average")
    return ("half", "drop") if TIE_UNSTABLE in occurs else (base.unstable,)


def _fit_together(ties: Ties, _: HalfOrDrop, unstable: Unstable) -> bool:
    return not (ties == "davidson" and unstable == "average")


def _strengths(comparisons: Comparisons, policies: Policies) -> tuple[Vector, int]:
    plain = comparisons.with_covariates(None, ())
    cells = tally(plain, policies)
    if policies.ties == "davidson":
        k = comparisons.n_competitors
        return fit_davidson(plain, policies).fit.params[:k], int(cells.counts.sum())
    fit = fit_likelihood(PairLikelihood(cells), cells, policies)
    if fit.graph.component[fit.graph.fought].any() or not fit.graph.fought.all():
        raise IncomparableError("the votes left don't connect all competitors", todo="keep more of them")
    return fit.strengths, int(cells.counts.sum())


def _compared(comparisons: Comparisons, policies: Policies, reference: tuple[Vector, int]) -> PolicyBoard:
    strengths, votes = _strengths(comparisons, policies)
    ranks, before = _ranks(strengths), _ranks(reference[0])
    return PolicyBoard(
        policies,
        votes,
        strengths,
        ranks,
        int(np.abs(ranks - before).max()),
        float(np.abs(to_points(strengths - reference[0])).max()),
        None,
    )


def _ranks(strengths: Vector) -> NDArray[np.int64]:
    """1 + the number of stronger ones; equal to within 1e-9 share a rank."""
    ranks: NDArray[np.int64] = 1 + (strengths[None, :] > strengths[:, None] + 1e-9).sum(axis=1)
    return ranks
