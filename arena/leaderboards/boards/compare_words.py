"""What the page on two models says of a pair: its sentence, its answer, and its figures as written."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from arena.leaderboards import sentences
from arena.leaderboards.boards.board_sources import Source, opening_of
from arena.leaderboards.boards.duels import (
    NONE,
    Duel,
    say_headline,
    say_p,
    say_rate,
    say_rates,
    say_replacement,
    say_share,
    say_shares,
    tie_odds_of,
)
from arena.leaderboards.models import PairResult, Snapshot
from arena.leaderboards.plans.looks import other_look, say_look
from arena.leaderboards.plans.registration_words import chosen_margin
from arena.percent import percent
from ratings.scale import expected_score


@dataclass(frozen=True)
class Figure:
    """A number with its interval, as written."""

    text: str
    interval: str = ""


def headline(duel: Duel, name_a: str, name_b: str, source: Source, beside_others: bool = False) -> str:
    """beside_others: figures of further sources stand on the page."""
    margin, level = options_of(duel)
    snapshot = duel.pair.snapshot
    opening = opening_of(source, snapshot, bool(snapshot.counts["simulated"]), beside_others)
    if few := sentences.say_few(snapshot):
        told = _("%(few)s to tell %(a)s and %(b)s apart by")
        return sentences.compose(opening, [told % {"few": few, "a": name_a, "b": name_b}])
    pairs = duel.asked.together if duel.asked else snapshot.pairs.filter(p__isnull=False).count()
    clauses = [say_headline(duel, name_a, name_b, margin, pairs)]
    if duel.verdict == PairResult.Verdict.UNDECIDED and pairs > 1 and duel.pair.p is not None:
        words = _("this pair alone, as if it had been named beforehand, gives %(p)s")
        clauses.append(words % {"p": say_p(duel.pair.p)})
    p = duel.equivalence_adjusted
    if duel.verdict == PairResult.Verdict.EQUIVALENT and p is not None:
        words = _(
            "the test of equivalence, at the level of %(level)s with all pairs of the board, gives %(p)s"
        )
        if duel.asked:
            words = _(
                "the test of equivalence, at the level of %(level)s with all pairs that the plan names, gives"
                " %(p)s"
            )
        clauses.append(words % {"level": percent(level, None), "p": say_p(p)})
    return sentences.compose(opening, clauses)


def replacement(duel: Duel, name_a: str, name_b: str, margin: float, level: float) -> str:
    """The answer, or why a large board has none for this pair."""
    if duel.pair.details is None and duel.estimate is not None:
        words = _(
            "%(a)s in place of %(b)s? Not tested: on a board this large that is kept for pairs of the best"
            " models, and for those that met most often."
        )
        return words % {"a": name_a, "b": name_b}
    if duel.verdict == PairResult.Verdict.UNBOUNDED:
        words = _("%(a)s in place of %(b)s? Not tested: the test at the margin needs a finite difference.")
        return words % {"a": name_a, "b": name_b}
    snapshot = duel.pair.snapshot
    chosen = chosen_margin(snapshot)
    answer = say_replacement(duel, name_a, name_b, margin, level, chosen.is_late)
    if not answer:
        return ""
    return " ".join(filter(None, [answer, chosen.words, _say_when(snapshot)]))


def _say_when(snapshot: Snapshot) -> str:
    """That the answer was read before the look that the plan speaks of, or after it; of that one nothing."""
    look = other_look(snapshot)
    if look is None:
        return ""
    words = _("Read early: %(look)s.") if look.is_interim else _("Read late: %(look)s.")
    return words % {"look": say_look(look, snapshot)}


def options_of(duel: Duel | None) -> tuple[float, float]:
    """The margin in points and the level of the tests, of the snapshot the page is about."""
    if duel is None:
        return 10.0, 0.05
    options = duel.pair.snapshot.options
    return float(options["margin"]), 1 - float(options["confidence"])


Three = tuple[float | None, float | None, float | None]


def numbers_of(duel: Duel) -> tuple[float | None, ...]:
    """The expected score and the net rate, each with the ends of its interval, as stored; of a pair whose
    details aren't kept, what follows from its difference.
    """
    return (*_three(duel, "expected_score"), *_three(duel, "net_rate"))


def _three(duel: Duel, name: str) -> Three:
    if stored := duel.effect(name):
        return stored
    scores = _scores(duel)
    if scores is None:
        return None, None, None
    if name == "expected_score":
        return scores
    estimate, lower, upper = (None if score is None else 2 * score - 1 for score in scores)
    return estimate, lower, upper


def score_of(duel: Duel) -> Figure:
    estimate, lower, upper = _three(duel, "expected_score")
    if estimate is None:
        return Figure(NONE)
    return Figure(say_share(estimate), "" if lower is None or upper is None else say_shares(lower, upper))


def net_of(duel: Duel) -> Figure:
    estimate, lower, upper = _three(duel, "net_rate")
    return Figure(NONE) if estimate is None else Figure(say_rate(estimate), say_rates(lower, upper))


def _scores(duel: Duel) -> Three | None:
    estimate = duel.estimate
    if estimate is None or duel.pair.details is not None:
        return None
    odds = tie_odds_of(duel.pair.snapshot)
    lower, upper = (
        None if end is None else expected_score(end, tie_odds=odds)
        for end in (estimate.lower, estimate.upper)
    )
    return expected_score(estimate.rating, tie_odds=odds), lower, upper
