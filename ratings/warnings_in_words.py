"""What a reader of a board must know before believing it, one sentence each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ratings.standings import Standing
from ratings.uncertainty import FEW_CLUSTERS
from ratings.wording import counted

if TYPE_CHECKING:
    from ratings.board import FittedBoard


# Phrases of warnings that count some of the models: a page about others has no use for them.
STAND_IN = "Some models hang on a single rater or prompt"
NO_RATING = "no vote and no rating"
PROVISIONAL = "such a rating is provisional (Firth’s method)"
UNTESTED = "for an interval that has been tested"
NO_INTERVAL = "no interval yet: too few votes, raters or prompts, or nearly all of them ties"
THE_MEAN = "1000 is the mean of the models with enough votes and raters"
UNRANKED = "listed unranked"
ABOUT_SOME = (STAND_IN, NO_RATING, PROVISIONAL, UNTESTED, NO_INTERVAL, THE_MEAN, UNRANKED)
GROUPS = "groups without any battle between them"


def warnings_of(board: FittedBoard, standings: Sequence[Standing], without_maximum: int) -> Iterator[str]:
    """The board's warnings in a fixed order."""
    yield from _about_intervals(board)
    yield from _about_graph(standings)
    yield from _about_competitors(board, standings)
    if board.options.style and board.options.style_transform == "fastchat":
        yield (
            "The fastchat transform centres the covariates: ratings depend on which side responses were"
            " listed. Use it for comparison with other boards only."
        )
    if without_maximum:
        yield (
            f"{without_maximum:,} of {board.options.bootstrap:,} resamples left a model nothing but wins, or"
            " nothing but losses; a few invented half-won battles kept its rating finite (Firth’s method)."
        )
    if board.n_dropped:
        left = counted(board.n_dropped, "vote was", "votes were")
        yield f"{left} left out by the policies for ties, both bad and unstable ties."


def _about_intervals(board: FittedBoard) -> Iterator[str]:
    covariance = board.covariance
    if not covariance.dimensions:
        yield "The intervals assume independent votes; they're too narrow if raters or prompts repeat."
    for name in covariance.conditional_on:
        yield f"All votes come from one {name}: the intervals are conditional on this {name}."
    for d in covariance.dimensions:
        if d.effective < FEW_CLUSTERS:
            worth = "equally active" if d.name == "rater" else "equally often used"
            yield (
                f"Too few {d.name}s: {d.count}, worth {d.effective:.1f} {worth} ones; at fewer than"
                f" {FEW_CLUSTERS:g} the intervals aren't tested."
            )
    if covariance.fallen_back.any():
        yield (
            f"{STAND_IN}: without its votes they couldn't be placed, and"
            " invented half-won battles stand in for them (Firth’s method)."
        )


def _about_graph(standings: Sequence[Standing]) -> Iterator[str]:
    components = {s.component for s in standings if s.battles}
    if len(components) > 1:
        yield (
            f"The votes fall into {len(components)} {GROUPS}: each is a board"
            " of its own around the same mean, and ratings of different groups can't be compared."
        )
    silent = sum(not s.battles for s in standings)
    if silent:
        yield f"{counted(silent, 'model has', 'models have')} {NO_RATING}."
    unbounded = sum(s.unbounded_above or s.unbounded_below for s in standings)
    if unbounded:
        yield (
            f"{counted(unbounded, 'model has', 'models have')} won every battle, or lost every one, against"
            f" the rest: {PROVISIONAL}, with a one-sided bound that takes"
            " votes as independent."
        )


def _about_competitors(board: FittedBoard, standings: Sequence[Standing]) -> Iterator[str]:
    for d in board.covariance.dimensions:
        by = "by too few raters" if d.name == "rater" else "on too few prompts"
        few = sum(getattr(s, f"too_few_{d.name}s") for s in standings if s.battles)
        if few and d.effective >= FEW_CLUSTERS:
            models = counted(few, "model was", "models were")
            yield f"{models} judged {by} {UNTESTED}."
    none = sum(s.no_interval for s in standings)
    if none:
        yield (f"{counted(none, 'model has', 'models have')} {NO_INTERVAL}.")
    apart = [s for s in standings if s.battles and not s.in_mean]
    if apart:
        yield (
            f"{THE_MEAN}; it leaves out"
            f" {counted(len(apart), 'model', 'models')} with fewer, or without a finite rating."
        )
    below = sum(0 < s.effective_votes < board.options.min_votes for s in standings)
    if below:
        yield (
            f"{counted(below, 'model', 'models')} with fewer than {board.options.min_votes} votes"
            f" {'is' if below == 1 else 'are'} {UNRANKED}."
        )
