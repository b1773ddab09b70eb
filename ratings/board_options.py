"""What a leaderboard is asked to be: every choice that moves a number, with its default."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from ratings.comparisons import HalfOrDrop, Policies, Ties, Unstable
from ratings.errors import BadOptionError
from ratings.scale import MEAN_RATING
from ratings.style import TRANSFORMS, Transform

Interval = Literal["robust", "iid", "bootstrap", "percentile"]
Dimension = Literal["rater", "prompt"]


@dataclass(frozen=True)
class LeaderboardOptions:
    """Options of `fit_leaderboard`.

    ties, both_bad, unstable: see Policies · style: use the covariates · style_transform: see
    style.scale_covariates · position: fit the advantage of side a as a coefficient · interval: `robust`
    (cluster-robust if clusters are known, else the sandwich), `iid` (the sandwich, whatever is known),
    `bootstrap` (estimate ± t·sd of the resamples) or `percentile` · cluster: dimensions to cluster by; None:
    those the comparisons have · bootstrap: resamples, 0 for none · anchor: a competitor put at
    `anchor_rating`; None: the mean is · min_votes: fewer (Kish-effective) votes are listed unranked ·
    margin: points that matter · check: refit with an engine of others and report the largest difference.
    """

    ties: Ties = "half"
    both_bad: HalfOrDrop = "half"
    unstable: Unstable = "half"
    style: bool = False
    style_transform: Transform = "relative"
    position: bool = False
    interval: Interval = "robust"
    cluster: tuple[Dimension, ...] | None = None
    bootstrap: int = 1000
    seed: int = 0
    confidence: float = 0.95
    anchor: int | None = None
    anchor_rating: float = MEAN_RATING
    min_votes: int = 30
    margin: float = 10.0
    check: bool = True

    def __post_init__(self) -> None:
        _ = self.policies
        _one_of("interval", self.interval, get_args(Interval))
        _one_of("style transform", self.style_transform, TRANSFORMS)
        for dimension in self.cluster or ():
            _one_of("cluster dimension", dimension, get_args(Dimension))
        if not 0.5 <= self.confidence < 1:
            raise BadOptionError(
                f"confidence {self.confidence}", todo="take one from 0.5 to below 1, such as 0.95"
            )
        if self.bootstrap < 0 or self.bootstrap == 1:
            raise BadOptionError(f"{self.bootstrap} resamples", todo="take 0 for none, or at least 2")
        if self.interval in ("bootstrap", "percentile") and not self.bootstrap:
            raise BadOptionError(f"{self.interval} intervals without resamples", todo="set bootstrap to 1000")
        if self.seed < 0:
            raise BadOptionError(f"seed {self.seed}", todo="take one ≥ 0")
        if self.min_votes < 0 or not 0 <= self.margin < math.inf:
            raise BadOptionError(
                f"min_votes {self.min_votes}, margin {self.margin}", todo="both are finite and ≥ 0"
            )
        if not math.isfinite(self.anchor_rating):
            raise BadOptionError(f"an anchor at {self.anchor_rating}", todo="take a finite rating")
        if self.ties == "davidson" and self.interval in ("bootstrap", "percentile"):
            raise BadOptionError("Davidson's model with resampled intervals", todo="use the robust interval")

    @property
    def policies(self) -> Policies:
        """The scoring policies among the options."""
        return Policies(self.ties, self.both_bad, self.unstable)


def _one_of(what: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise BadOptionError(f"{what} {value!r}", todo=f"use one of {', '.join(allowed)}")
