"""The frozen results a leaderboard hands out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ratings.board_options import LeaderboardOptions

DECIMALS = 6
"""Results are rounded to a millionth of a point, far below any meaning, so that they're the same bytes again
whatever the order in which a machine adds."""


@dataclass(frozen=True)
class Standing:
    """One competitor's row. Ratings, errors and ends are in points; None where the data supports no number.

    An `unbounded_above` competitor has no upper end, its lower one is one-sided. `rank_lower` is the best
    place; the rank_marginal ends hold for one competitor chosen beforehand, the others for all at once.
    too_few_raters, too_few_prompts: below ten effective ones intervals aren't tested, and which it is.
    no_interval: the votes are too few, too alike (nearly all ties) or by too few for an interval or a rank ·
    in_mean: its strength is in the mean that stands at 1000.
    battles = wins + losses + ties, ties being draws of all kinds that the policies keep. style_shift: plain
    less style-controlled rating, of which style_contribution is what the models' own style explains;
    style_shift_adjusted: p of no shift, by Holm over all competitors whose shift has an interval.
    """

    competitor: int
    rating: float | None
    standard_error: float | None
    lower: float | None
    upper: float | None
    bootstrap_lower: float | None
    bootstrap_upper: float | None
    rank_lower: int | None
    rank_upper: int | None
    rank_marginal_lower: int | None
    rank_marginal_upper: int | None
    arena_rank: int | None
    tied_first: bool
    wins: int
    losses: int
    ties: int
    battles: int
    effective_votes: float
    effective_clusters: float | None
    component: int
    unbounded_above: bool
    unbounded_below: bool
    too_few_raters: bool
    provisional: bool
    ranked: bool
    too_few_prompts: bool = False
    no_interval: bool = False
    in_mean: bool = True
    style_shift: float | None = None
    style_shift_lower: float | None = None
    style_shift_upper: float | None = None
    style_shift_adjusted: float | None = None
    style_contribution: float | None = None


@dataclass(frozen=True)
class Coefficient:
    """A covariate's coefficient in log-odds per unit (one root mean square), with its interval.

    points: the same in rating points · per_doubling: points for twice as much of it as the other side, where
    the transform is relative · scale: the root mean square of the signed difference · inflation: VIF.
    """

    name: str
    estimate: float
    lower: float | None
    upper: float | None
    standard_error: float
    points: float
    per_doubling: float | None
    scale: float | None
    inflation: float | None


@dataclass(frozen=True)
class PolicyMove:
    """The plain board under other policies: largest moves of a rank and a rating (points); or why none."""

    ties: str
    both_bad: str
    unstable: str
    n_votes: int
    largest_rank_move: int | None
    largest_rating_move: float | None
    failed: str | None


@dataclass(frozen=True)
class Check:
    """Agreement with an engine of others: the largest difference in points."""

    engine: str
    largest_difference: float


@dataclass(frozen=True)
class LeaderboardFit:
    """A fitted leaderboard with all that's needed to read it, and the options that made it.

    standings: by component, then falling rating · n_votes: used in the fit; n_dropped: left out by a policy ·
    effective_clusters: G*, None if votes are taken as independent · design_effect: mean variance of the
    ratings over what independent votes would give · critical: the simultaneous critical value of the rank
    sets · policy_moves: the plain board under every other policy for draws.
    """

    options: LeaderboardOptions
    standings: tuple[Standing, ...]
    coefficients: tuple[Coefficient, ...]
    n_votes: int
    n_dropped: int
    n_raters: int | None
    n_prompts: int | None
    n_components: int
    method: str
    effective_clusters: float | None
    design_effect: float
    critical: float | None
    log_likelihood: float
    tie_odds: float | None
    estimand: str
    warnings: tuple[str, ...]
    check: Check | None
    policy_moves: tuple[PolicyMove, ...] = ()

    def as_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Plain data with competitors by name, ready for JSON."""
        options = asdict(self.options)
        if options["anchor"] is not None:
            options["anchor"] = names[options["anchor"]]
        options["cluster"] = None if options["cluster"] is None else list(options["cluster"])
        rows = [{**asdict(s), "competitor": names[s.competitor]} for s in self.standings]
        rest = {
            k: v
            for k, v in vars(self).items()
            if k not in ("options", "standings", "coefficients", "check", "policy_moves")
        }
        return {
            "options": options,
            "n": self.n_votes,
            "coefficients": [asdict(c) for c in self.coefficients],
            "standings": rows,
            "policy_moves": [asdict(m) for m in self.policy_moves],
            "check": None if self.check is None else asdict(self.check),
            **{k: list(v) if isinstance(v, tuple) else v for k, v in rest.items()},
        }


def rounded(value: float | None) -> float | None:
    """A reported number to DECIMALS; None stays, and NaN and infinities become it."""
    if value is None or value != value or value in (float("inf"), float("-inf")):
        return None
    return round(float(value), DECIMALS) + 0.0
