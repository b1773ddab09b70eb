"""Why a feature of style isn't controlled for, as data and in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from ratings.wording import counted, in_words, listed

STYLE_WARNING = "Style control leaves out"
"""How every sentence about a covariate that was dropped begins."""


class Why(StrEnum):
    """What keeps a covariate out."""

    SAME = "same"
    FEW_VOTES = "few_votes"
    MODELS = "models"
    FEATURES = "features"
    NO_LIMIT = "no_limit"


@dataclass(frozen=True)
class LeftOut:
    """Covariates left out for one reason.

    SAME        no two responses of a vote differ in it
    FEW_VOTES   there are `votes`, and `needed` for all covariates
    MODELS      which models fought tells it already, as where each writes with one constant style
    FEATURES    the others (`beside`, those that stay) tell it already, with the models or without
    NO_LIMIT    no vote contradicts that style decides; `differing` of `votes` differ in it

    inflation: of MODELS and FEATURES the variance inflation factor, infinite where they tell it wholly.
    """

    why: Why
    features: tuple[str, ...]
    votes: int
    needed: int | None = None
    inflation: float | None = None
    beside: tuple[str, ...] = ()
    differing: int | None = None

    def sentence(self) -> str:
        """In English, features by the names that covariates have."""
        return f"{STYLE_WARNING} {listed([in_words(name) for name in self.features])}: {self._because()}."

    def _because(self) -> str:
        it, votes = "it" if len(self.features) == 1 else "them", counted(self.votes, "vote", "votes")
        if self.why is Why.SAME:
            return f"no two responses differ in {it}"
        if self.why is Why.FEW_VOTES:
            return f"not enough data, {votes}, {self.needed} needed"
        if self.why is Why.MODELS:
            return (
                f"which models fought tells {it} already, as where each model writes with one constant style"
                f" ({self._how_far()})"
            )
        if self.why is Why.FEATURES:
            names = [in_words(name) for name in self.beside]
            others = listed(names) if names else "the other features"
            return f"here {it} can't be told apart from {others} and which models fought ({self._how_far()})"
        return (
            f"responses differ in {it} in {self.differing:,} of {votes}, and these set no limit to what style"
            " is worth, for none contradicts it"
        )

    def _how_far(self) -> str:
        inflation = np.inf if self.inflation is None else self.inflation
        return "wholly" if np.isinf(inflation) else f"nearly; variance inflation {inflation:.3g}"


def together(left_out: Iterable[LeftOut]) -> list[LeftOut]:
    """Those left out for one reason as one, in the order in which the reasons come."""
    found: dict[tuple[Why, tuple[str, ...]], LeftOut] = {}
    for one in left_out:
        known = found.get((one.why, one.beside))
        found[one.why, one.beside] = one if known is None else _both(known, one)
    return list(found.values())


def _both(one: LeftOut, other: LeftOut) -> LeftOut:
    """The milder inflation: what holds of both."""
    inflations = [known.inflation for known in (one, other) if known.inflation is not None]
    return replace(
        one,
        features=(*one.features, *other.features),
        inflation=min(inflations) if inflations else None,
        differing=None if one.differing is None else max(one.differing, other.differing or 0),
    )
