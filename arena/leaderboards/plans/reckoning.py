"""Whether an analysis plan can answer its own question, and what that was reckoned with.

Frozen with the plan as plain numbers, so that boards registered under it say the same ever after.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from arena.leaderboards.plans import plan as planner
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.percent import percent
from ratings.scale import POINTS_PER_LOG_ODDS

MAY_BE_ZERO = ("tied_votes", "tie_share", "taste", "degrees")


ASSUMPTION = {"what": "text", "value": "number", "unit": "text", "log_odds": "number", "source": "text"}


@dataclass(frozen=True)
class Assumption:
    """`source`: who says so. unit: of the figure, empty where it is counted."""

    what: str
    said: str
    source: str
    figure: float
    unit: str = ""
    log_odds: float | None = None

    @property
    def values(self) -> tuple[str, float, str, float | None, str]:
        return self.what, self.figure, self.unit, self.log_odds, self.source


def _count(what: str, number: float, source: str) -> Assumption:
    return Assumption(what, f"{number:,.0f}", source, number)


def _share(what: str, share: float, source: str) -> Assumption:
    return Assumption(what, percent(share), source, share, "share")


def _spread(what: str, log_odds: float, source: str) -> Assumption:
    points = log_odds * POINTS_PER_LOG_ODDS
    said = _("%(points)s points (%(sd)s in log-odds)") % {"sd": f"{log_odds:g}", "points": f"{points:.0f}"}
    return Assumption(what, said, source, points, "points", log_odds)


@dataclass(frozen=True)
class Reckoning:
    """`points`: the smallest difference found, None: none is.

    The three needs are totals; None: no number is enough, or none is needed.
    tied_votes: votes that the share of ties was measured on, 0: it is assumed.
    degrees: of freedom of the test, None: it was taken for one of many raters and prompts.
    asked: pairs that the question is about, None: all of the models.
    """

    margin: float
    points: float | None
    models: int
    prompts: int
    raters: int
    votes_each: int
    tie_share: float
    tied_votes: int
    taste: float
    counted: float
    votes_needed: int | None = None
    raters_needed: int | None = None
    prompts_needed: int | None = None
    degrees: int | None = None
    asked: int | None = None

    @property
    def answers(self) -> bool:
        return self.points is not None and self.points <= self.margin

    @property
    def plan(self) -> planner.Plan:
        return planner.Plan(
            self.models,
            self.prompts,
            self.raters,
            self.votes_each,
            self.tie_share,
            self.taste,
            self.counted,
            self.asked,
        )

    @classmethod
    def read(cls, told: dict[str, Any]) -> Reckoning:
        """Of what is stored, or of a file. Raises TypeError or ValueError where that was never reckoned."""
        found = cls(**told)
        for field in fields(cls):
            value = getattr(found, field.name)
            if value is None and "None" in str(field.type):
                continue
            whole = str(field.type).startswith("int")
            kinds = (int,) if whole else (int, float)
            least = 0 if field.name in MAY_BE_ZERO else 1 if whole else 1e-9
            if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value < math.inf:
                raise ValueError(f"reckoned: {field.name} is {value!r}, where a number belongs")
        return found


def reckon(plan: AnalysisPlan) -> Reckoning | None:
    """None: the plan names no raters or votes, or the campaign has no models and prompts yet."""
    if plan.frozen_at is not None:
        return Reckoning.read(plan.reckoned) if plan.reckoned else None
    if not plan.raters or not plan.votes or plan.raters > planner.MOST_RATERS:
        return None
    ties = planner.ties_of(plan.campaign)
    wanted = planner.plan_of(
        plan.campaign,
        raters=plan.raters,
        votes_each=max(1, round(plan.votes / plan.raters)),
        taste=planner.TASTES["usual"],
        ties=ties,
        asked=len(plan.pairs) or None,
    )
    return None if wanted is None else reckon_with(wanted, plan.margin, ties.votes)


def reckon_with(wanted: planner.Plan, margin: float, tied_votes: int) -> Reckoning:
    points = planner.detectable(wanted).points
    figures = asdict(wanted) | {"degrees": wanted.degrees}
    found = Reckoning(margin=margin, points=points, tied_votes=tied_votes, **figures)
    if found.answers:
        return found
    return replace(
        found,
        votes_needed=planner.votes_needed(wanted, margin),
        raters_needed=planner.raters_needed(wanted, margin),
        prompts_needed=planner.prompts_needed(wanted, margin),
    )


def say_answer(found: Reckoning) -> str:
    """Whether the plan answers its question, and if not what would."""
    words = {
        "margin": f"{found.margin:g}",
        "who": _who(found),
        "points": "" if found.points is None else f"{found.points:.0f}",
    }
    if found.answers:
        return (
            _(
                "This plan can answer its question: %(who)s find differences of about %(points)s points or"
                " more, and its margin is %(margin)s points."
            )
            % words
        )
    if found.points is None:
        first = _(
            "This plan can’t answer its own question: its margin is %(margin)s points, but %(who)s can’t tell"
            " any two models apart."
        )
    else:
        first = _(
            "This plan can’t answer its own question: its margin is %(margin)s points, but %(who)s find only"
            " differences of about %(points)s points or more."
        )
    return " ".join([first % words, *_needs(found)])


def say_power(found: Reckoning) -> str:
    """Beside an answer, which chance may have given all the same: what the plan was made to find."""
    words = {
        "margin": f"{found.margin:g}",
        "who": _who(found),
        "points": "" if found.points is None else f"{found.points:.0f}",
    }
    if found.points is None:
        told = _(
            "As planned, %(who)s would have found no difference with a power of 80 %%, however large; the"
            " margin is %(margin)s points."
        )
        return told % words
    told = _(
        "As planned, %(who)s would have found a difference of about %(points)s points or more with a power of"
        " 80 %%; the margin is %(margin)s points."
    )
    return told % words


def say_unanswered(found: Reckoning) -> str:
    """The same as a clause, for boards that are registered under a plan with less power than it asks."""
    words = {"margin": f"{found.margin:g}", "points": "" if found.points is None else f"{found.points:.0f}"}
    if found.points is None:
        return _("whose votes were too few to find any difference with a power of 80 %")
    told = _(
        "whose margin is %(margin)s points, and which would have found differences of about %(points)s or"
        " more with a power of 80 %%"
    )
    return told % words


def _who(found: Reckoning) -> str:
    raters = ngettext("%(n)s rater", "%(n)s raters", found.raters) % {"n": f"{found.raters:,}"}
    words = ngettext("%(raters)s with %(n)s vote each", "%(raters)s with %(n)s votes each", found.votes_each)
    return words % {"raters": raters, "n": f"{found.votes_each:,}"}


def _needs(found: Reckoning) -> Iterator[str]:
    """Each of the three ways by itself, the others left as they are."""
    ways = []
    for needed, now, more in (
        (found.votes_needed, found.votes_each, _say_votes),
        (found.raters_needed, found.raters, _say_raters),
        (found.prompts_needed, found.prompts, _say_prompts),
    ):
        if needed is not None:
            ways.append(more(needed - now))
    if ways:
        yield _("You need %(ways)s.") % {"ways": _(" or ").join(ways)}
    if found.votes_needed is None and found.raters_needed is None and found.prompts_needed is None:
        yield _("Neither votes, nor raters, nor prompts alone are enough: it takes more of two of them.")
    elif found.votes_needed is None and found.raters_needed is None:
        yield ngettext(
            "No number of votes or raters is enough: %(n)s prompt is too few.",
            "No number of votes or raters is enough: %(n)s prompts are too few.",
            found.prompts,
        ) % {"n": f"{found.prompts:,}"}
    elif found.votes_needed is None:
        yield _("No number of votes by so few raters is enough: their tastes stay.")


def _say_votes(n: int) -> str:
    return ngettext("%(n)s more vote a rater", "%(n)s more votes a rater", n) % {"n": f"{n:,}"}


def _say_raters(n: int) -> str:
    return ngettext("%(n)s more rater", "%(n)s more raters", n) % {"n": f"{n:,}"}


def _say_prompts(n: int) -> str:
    return ngettext("%(n)s more prompt", "%(n)s more prompts", n) % {"n": f"{n:,}"}


def assumptions_of(found: Reckoning) -> list[Assumption]:
    """What the number hangs on, each with who says so."""
    plan = found.plan
    campaign, assumed = _("this campaign"), _("assumed: nobody has voted enough to measure it")
    measured = ngettext("measured on %(n)s vote", "measured on %(n)s votes", found.tied_votes)
    measured %= {"n": f"{found.tied_votes:,}"}
    usual = _("assumed, not measured: a middling figure of simulations")
    told = [
        _count(_("models"), found.models, campaign),
        _count(_("prompts with responses, those of one text counted as one"), found.prompts, campaign),
        *_pairs_of(found),
        _count(
            _("votes that count on the board of all prompts"),
            plan.on_the_board,
            _("raters times votes, less this campaign’s repeats and gold battles"),
        ),
        _share(
            _("effective raters, and prompts, of all: each votes, or is voted on, equally often"),
            1.0,
            _("assumed: where a few do most, the plan counts for less than it promises"),
        ),
        _share(_("ties, both bad among them"), found.tie_share, measured if found.tied_votes else assumed),
        _spread(_("how far raters’ tastes for one model differ (standard deviation)"), found.taste, usual),
        _spread(
            _("how far prompts differ in which model they suit (standard deviation)"), found.taste, usual
        ),
        *_parts_of_uncertainty(plan),
        _share(
            _("a difference is found in so many tries of a hundred (power)"), planner.POWER, _("convention")
        ),
        _share(
            _("none is found where there is none (confidence)"),
            planner.CONFIDENCE,
            _("convention, as on the boards"),
        ),
    ]
    if found.degrees is not None:
        of = _("follows: one less than raters or prompts, whichever are fewer; few make a test strict")
        told.append(_count(_("degrees of freedom of the test (Student’s t)"), found.degrees, of))
    return told


def _pairs_of(found: Reckoning) -> Iterator[Assumption]:
    models = _("follows from the models; the error is shared among them (Bonferroni)")
    if found.asked is None:
        yield _count(_("pairs, all tested at once and drawn equally often"), found.plan.pairs, models)
        return
    yield _count(_("pairs, all drawn equally often"), found.plan.pairs, _("follows from the models"))
    named = _("named beforehand; the error is shared among these alone (Bonferroni)")
    yield _count(_("pairs that the question is about, all tested at once"), found.asked, named)


def _parts_of_uncertainty(plan: planner.Plan) -> Iterator[Assumption]:
    yield _share(
        _("of the uncertainty (variance), raters’ tastes make"),
        plan.raters_share,
        _("follows: more votes by the same raters leave it"),
    )
    yield _share(
        _("of the uncertainty (variance), the choice of prompts makes"),
        plan.prompts_share,
        _("follows: more votes on the same prompts leave it"),
    )


@dataclass(frozen=True)
class Told:
    """Whether a plan answers its question, in words, and what that hangs on."""

    answers: bool
    words: str
    assumptions: list[Assumption]


def told_of(plan: AnalysisPlan | None) -> Told | None:
    """None: the plan doesn't say how many votes, or the campaign isn't ready for it."""
    found = reckon(plan) if plan else None
    return None if found is None else Told(found.answers, say_answer(found), assumptions_of(found))
