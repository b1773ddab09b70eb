"""A stored pair seen from either side, and how its numbers are written. Reads rows; computes nothing new."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from arena.leaderboards.intervals import Estimate
from arena.leaderboards.models import PairResult, Snapshot
from arena.leaderboards.plans.asked_tests import AskedTest
from arena.leaderboards.sentences import mark, say_few, signed, too_few
from arena.percent import PERCENT, percent
from ratings.scale import expected_score

Verdict = PairResult.Verdict
NONE = "–"


@dataclass(frozen=True)
class Duel:
    """a less b. The stored row has the smaller id first; `turned` when a is the second one there.

    asked: of a pair that the registered plan names, its test among those pairs alone, which then counts.
    """

    pair: PairResult
    turned: bool
    asked: AskedTest | None = None

    @property
    def verdict(self) -> str:
        return self.asked.verdict if self.asked else self.pair.verdict

    @property
    def p_adjusted(self) -> float | None:
        return self.asked.p_adjusted if self.asked else self.pair.p_adjusted

    @property
    def equivalence_adjusted(self) -> float | None:
        return self.asked.equivalence_adjusted if self.asked else self.pair.equivalence_adjusted

    @property
    def estimate(self) -> Estimate | None:
        if self.pair.difference is None:
            return None
        ends = (self.pair.lower, self.pair.upper)
        lower, upper = (_minus(ends[1]), _minus(ends[0])) if self.turned else ends
        return Estimate(-self.pair.difference if self.turned else self.pair.difference, lower, upper)

    @property
    def wins(self) -> int:
        return self.pair.losses if self.turned else self.pair.wins

    @property
    def losses(self) -> int:
        return self.pair.wins if self.turned else self.pair.losses

    @property
    def ties(self) -> int:
        return self.pair.ties

    @property
    def battles(self) -> int:
        return self.wins + self.losses + self.ties

    @property
    def details(self) -> dict[str, Any]:
        return self.pair.details or {}

    @property
    def direct(self) -> dict[str, Any] | None:
        return self.details.get("direct")

    @property
    def worse_p(self) -> float | None:
        """One-sided p of "a is worse than b by the margin or more"; small: it isn't."""
        return self.details.get("better_p" if self.turned else "worse_p")

    def effect(self, name: str) -> tuple[float, float, float] | None:
        """Estimate, lower and upper end: expected_score (about ½) or net_rate, twice that less 1."""
        effect = self.details.get("effect")
        if not effect:
            return None
        # Snapshots of before name the score win_probability; their net rate took ties off twice.
        three = effect.get("expected_score") or effect["win_probability"]
        estimate, lower, upper = three if not self.turned else [1 - score for score in three]
        if self.turned:
            lower, upper = upper, lower
        if name == "net_rate":
            return 2 * estimate - 1, 2 * lower - 1, 2 * upper - 1
        return estimate, lower, upper

    @property
    def observed_score(self) -> float | None:
        """Of a in their own battles, a tie counting half; None if they never met."""
        return (self.wins + self.ties / 2) / self.battles if self.battles else None

    def predicted_score(self, tie_odds: float) -> float | None:
        """Of a, by the ratings: on the scale of `observed_score`."""
        return None if self.estimate is None else expected_score(self.estimate.rating, tie_odds=tie_odds)

    def net(self, net: dict[str, Any]) -> tuple[float, float | None, float | None]:
        """A stored net rate from a's side."""
        if not self.turned:
            return net["estimate"], net["lower"], net["upper"]
        return -net["estimate"], _minus(net["upper"]), _minus(net["lower"])

    def sided(self, stored: dict[str, Any], first: str, second: str) -> tuple[int, int]:
        """Two stored counts, a's first."""
        return (stored[second], stored[first]) if self.turned else (stored[first], stored[second])


def tie_odds_of(snapshot: Snapshot) -> float:
    """Davidson's ν, 0 on a board without ties as an outcome of their own."""
    return snapshot.counts.get("tie_odds") or 0.0


def _minus(value: float | None) -> float | None:
    return None if value is None else 0.0 - value


def three(estimate: Estimate | None) -> tuple[float | None, float | None, float | None]:
    """The number and the ends of its interval, for a file."""
    return (None, None, None) if estimate is None else (estimate.rating, estimate.lower, estimate.upper)


def say_points(estimate: Estimate | None) -> str:
    return NONE if estimate is None else signed(estimate.rating)


def say_interval(lower: float | None, upper: float | None) -> str:
    return "" if lower is None or upper is None else f"{signed(lower)} … {signed(upper)}"


def say_share(share: float) -> str:
    return percent(share)


def say_shares(lower: float, upper: float) -> str:
    return f"{100 * lower:.0f} … {percent(upper)}"


def say_rate(rate: float) -> str:
    return f"{signed(100 * rate)}{PERCENT}"


def say_rates(lower: float | None, upper: float | None) -> str:
    if lower is None or upper is None:
        return ""
    return f"{signed(100 * lower)} … {signed(100 * upper)}{PERCENT}"


def say_p(p: float | None) -> str:
    if p is None:
        return NONE
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


FINDINGS = (Verdict.DIFFERENT, Verdict.NEGLIGIBLE, Verdict.EQUIVALENT)


def say_verdict(duel: Duel, name_a: str, name_b: str, margin: float) -> str:
    """As it stands in a table, where no sentence says how far it can be relied on."""
    return mark_verdict(_say_verdict(duel, name_a, name_b, margin), duel.verdict, duel.pair.snapshot)


def mark_verdict(words: str, verdict: str, snapshot: Snapshot) -> str:
    return mark(words, snapshot) if verdict in FINDINGS else words


def _say_verdict(duel: Duel, name_a: str, name_b: str, margin: float) -> str:
    verdict, estimate = duel.verdict, duel.estimate
    if verdict in (Verdict.DIFFERENT, Verdict.NEGLIGIBLE) and estimate is not None:
        ahead = _("%(name)s ahead") % {"name": name_a if estimate.rating > 0 else name_b}
        return ahead if verdict == Verdict.DIFFERENT else _("%(ahead)s, negligibly") % {"ahead": ahead}
    if verdict == Verdict.UNBOUNDED and (told := say_won_all(duel, name_a, name_b)):
        return _("%(told)s: no finite difference") % {"told": told}
    if verdict == Verdict.EQUIVALENT:
        return _("equivalent within %(margin)s points") % {"margin": f"±{margin:g}"}
    return str(Verdict(duel.verdict).label)


def say_won_all(duel: Duel, name_a: str, name_b: str) -> str:
    """Why a pair has no finite difference, as a clause: in their own battles first, else in those with all
    others; empty where neither says it, as in a group that never lost to the rest.
    """
    battles, ahead = duel.battles, {duel.wins: name_a, duel.losses: name_b}
    if battles and battles in ahead:
        words = ngettext("%(name)s won their only battle", "%(name)s won all %(n)s of their battles", battles)
        return words % {"name": ahead[battles], "n": f"{battles:,}"}
    endless, pair = duel.pair.snapshot.endless, duel.pair
    ways = [endless.get(pk, 0) for pk in (pair.first_id, pair.second_id)]
    names = (name_b, name_a) if duel.turned else (name_a, name_b)
    if len({*ways}) < 2:
        return ""
    won = _("%(name)s won every battle against the rest")
    lost = _("%(name)s lost every battle against the rest")
    told = [(won if way > 0 else lost) % {"name": name} for way, name in zip(ways, names, strict=True) if way]
    return _(", and ").join(told)


def say_headline(duel: Duel, name_a: str, name_b: str, margin: float, pairs: int) -> str:
    """The clause on top: who is ahead and by how much, that they are equivalent, or that it isn't known.

    pairs: how many the verdict looked at together.
    """
    estimate, verdict = duel.estimate, duel.verdict
    words = {"a": name_a, "b": name_b, "margin": f"{margin:g}"}
    if verdict == Verdict.APART:
        return _("no path of battles leads from %(a)s to %(b)s: they can't be compared") % words
    if estimate is None:
        told = say_won_all(duel, name_a, name_b) or _("one of them won or lost every battle")
        return _("the difference of %(a)s and %(b)s isn't finite: %(told)s") % (words | {"told": told})
    if verdict == Verdict.EQUIVALENT:
        return _("%(a)s and %(b)s are equivalent: they differ by less than %(margin)s points") % words
    if verdict == Verdict.UNDECIDED and duel.pair.p is None:
        if duel.battles and not duel.wins and not duel.losses:
            return _("nothing tells %(a)s and %(b)s apart: all votes between them are ties") % words
        return (
            _("nothing tells %(a)s and %(b)s apart yet: the votes leave open how sure a difference is")
            % words
        )
    if verdict == Verdict.UNDECIDED:
        told = ngettext(
            "nothing tells %(a)s and %(b)s apart yet, nor shows them equivalent",
            "among %(pairs)s pairs looked at together nothing tells %(a)s and %(b)s apart yet, nor shows them"
            " equivalent",
            pairs,
        )
        return told % (words | {"pairs": f"{pairs:,}"})
    ahead, behind = (name_a, name_b) if estimate.rating > 0 else (name_b, name_a)
    words |= {"ahead": ahead, "behind": behind, "points": f"{abs(estimate.rating):.0f}"}
    if verdict == Verdict.NEGLIGIBLE:
        return _("%(ahead)s is ahead of %(behind)s, but by less than %(margin)s points") % words
    return _("%(ahead)s is ahead of %(behind)s by %(points)s points") % words


class Answer(StrEnum):
    """Whether a may stand in place of b, as far as the test at the margin says."""

    REPLACE = "replace"
    KEEP = "keep"
    NOT_YET = "not yet"
    UNTESTED = "untested"


def answer_of(duel: Duel, level: float) -> Answer:
    """One-sided, for this pair alone; KEEP only where the verdict over all pairs is that a is worse.

    By too few raters or prompts neither: a test of theirs can't carry a decision.
    """
    estimate, p = duel.estimate, duel.worse_p
    if p is None or estimate is None:
        return Answer.UNTESTED
    if too_few(duel.pair.snapshot):
        return Answer.NOT_YET
    if p < level:
        return Answer.REPLACE
    is_worse = duel.verdict == Verdict.DIFFERENT and estimate.rating < 0
    return Answer.KEEP if is_worse else Answer.NOT_YET


def say_replacement(
    duel: Duel, name_a: str, name_b: str, margin: float, level: float, is_late: bool = False
) -> str:
    """Non-inferiority of a at the margin, as an answer; "worse" only where the verdict over all pairs is.

    is_late: the margin was chosen after votes were in, as far as is known.
    """
    estimate, p = duel.estimate, duel.worse_p
    words = {"a": name_a, "b": name_b, "margin": f"{margin:g}", "p": say_p(p)}
    if p is None or estimate is None:
        return ""
    found = answer_of(duel, level)
    if few := say_few(duel.pair.snapshot):
        answers = [_("Not yet: %(few)s to answer that.") % {"few": few}]
    elif found is Answer.KEEP:
        answers = [_("Don't replace: %(a)s is worse.") % words]
    else:
        answer = (
            _("Replace: %(a)s isn't worse by %(margin)s points or more (%(p)s).")
            if found is Answer.REPLACE
            else _("Not yet: %(a)s may be worse by %(margin)s points or more (%(p)s).")
        )
        share = {"share": percent(level, None)}
        alone = _("One-sided at %(share)s, for this pair alone, as if it had been named beforehand.")
        if is_late:
            alone = _(
                "One-sided at %(share)s, for this pair alone; that pair and margin were named beforehand"
                " isn’t known."
            )
        elif duel.asked:
            alone = _("One-sided at %(share)s, for this pair alone, which the plan named beforehand.")
        answers = [answer % words, alone % share]
    return " ".join([_("%(a)s in place of %(b)s?") % words, *answers])
