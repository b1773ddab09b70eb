"""The page on agreement: stored figures in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from arena.battles.models import Vote
from arena.campaigns.models import Campaign
from arena.leaderboards.agreement.agreement_models import CampaignAgreement
from arena.leaderboards.agreement.judge_figures import (
    LOW,
    has_interval,
    is_a_point,
    level_of,
    say_few_prompts,
)
from arena.leaderboards.boards.board_cautions import about_texts
from arena.leaderboards.sentences import written
from arena.leaderboards.understood import understands
from arena.percent import percent
from arena.raters import access
from arena.raters.models import Rater, Role

NONE = "–"
OPEN_CATEGORIES = 6
"""More than these are folded, each under its name and first line."""
COLUMNS = {
    "one": "text",
    "other": "text",
    "kappa": "number",
    "kappa_lower": "number",
    "kappa_upper": "number",
    "alpha": "number",
    "alpha_lower": "number",
    "alpha_upper": "number",
    "agree": "number",
    "agree_lower": "number",
    "agree_upper": "number",
    "decisive_agree": "number",
    "decisive_lower": "number",
    "decisive_upper": "number",
    "pairs": "count",
    "decisive_pairs": "count",
    "level": "text",
    "prompts": "count",
}
"""Of the tables' files: name to kind; a line's `values` stand in their order."""
PEOPLE = "people"


@dataclass(frozen=True)
class Line:
    """A row of a table: who with whom, on how many, and four figures with their intervals."""

    label: str
    n: str
    every: str
    decisive: str
    kappa: str
    alpha: str
    level: str
    few: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Tables:
    """The lines of all pairs of verdicts, and those of each category."""

    lines: list[Line]
    categories: list[tuple[str, list[Line]]]


def tables_of(figures: dict[str, Any]) -> Tables:
    below = figures["ambiguous_below"]
    by_category = [(one["category"], list(lines(one, below))) for one in figures["categories"]]
    return Tables(list(lines(figures, below)), by_category)


def find_agreement(request: HttpRequest, slug: str) -> tuple[Campaign, CampaignAgreement | None]:
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.RESEARCHER, slug=slug)
    return campaign, CampaignAgreement.objects.filter(campaign=campaign).first()


@require_safe
@never_cache
@access.researcher_required
@understands()
def board_agreement(request: HttpRequest, campaign: str) -> HttpResponse:
    shown, known = find_agreement(request, campaign)
    context: dict[str, Any] = {"campaign": shown, "known": known, "section": "boards"}
    if known:
        figures = known.figures
        below, simulated = figures["ambiguous_below"], say_simulated(shown)
        tables = tables_of(figures)
        context |= {
            "lines": tables.lines,
            "categories": [(name or _("no category"), told[0], told) for name, told in tables.categories],
            "folds": len(tables.categories) > OPEN_CATEGORIES,
            "simulated": simulated,
            "texts": say_texts(figures),
            "is_low": level_of(people_agree(figures["people"]), below) == LOW,
            "people": say_people(figures["people"], below, is_simulated=bool(simulated)),
            "left_out": figures["pairs"] - figures["looked_at"],
            "is_behind": known.is_behind,
            "minutes": settings.SNAPSHOT_MINUTES,
        }
    return render(request, "leaderboards/agreement.html", context)


def say_simulated(campaign: Campaign) -> str:
    """Loud where some of the votes compared are made up."""
    votes = Vote.objects.filter(battle__campaign=campaign, rater__admission=Rater.Admission.SIMULATED)
    return (
        _("Votes in these figures are simulated. They say nothing about any rater.") if votes.exists() else ""
    )


def say_texts(figures: dict[str, Any]) -> str:
    """Where prompts say the same; figures from before they were one cluster don't know it."""
    return " ".join(text for _code, text in about_texts(figures)) if "prompts" in figures else ""


def people_agree(people: dict[str, Any]) -> dict[str, Any] | None:
    """Their kappa, or alpha where there is no kappa."""
    return (people["two"] or {}).get("kappa") or people["alpha"]


def measure_of(people: dict[str, Any]) -> str:
    return "κ" if (people["two"] or {}).get("kappa") else "α"


def one_answer(people: dict[str, Any]) -> str:
    """Where κ and α aren't defined because all said the same, which is no sign that nobody was compared."""
    if people_agree(people) is not None or people["two"] is None:
        return ""
    n = int(people["two"]["every"]["n"])
    words = ngettext(
        "In the one pair of verdicts about the same responses both are the same: one answer alone leaves κ"
        " undefined, and how far people agree beyond chance isn’t known.",
        "All %(n)s pairs of verdicts about the same responses are of one and the same answer: that leaves κ"
        " undefined, and how far people agree beyond chance isn’t known.",
        n,
    )
    return words % {"n": f"{n:,}"}


def say_people(people: dict[str, Any], below: float, *, is_simulated: bool) -> str:
    """That they agree little, or may, and what that may come from; empty where they agree well."""
    found = people_agree(people)
    if found is None:
        return one_answer(people)
    level = level_of(found, below)
    words = {
        "which": measure_of(people),
        "found": _number(found),
        "below": f"{below:g}",
    }
    if level == LOW:
        told = _(
            "People agree little with each other: %(which)s is %(found)s, all of its interval below"
            " %(below)s."
        )
        return f"{told % words} {_say_why_little(is_simulated)}"
    if not level:
        return ""
    told = _(
        "Whether people agree well with each other isn’t settled: %(which)s is %(found)s, and could be above"
        " %(below)s or below."
    )
    if not has_interval(found) or is_a_point(found):
        told = _(
            "Whether people agree well with each other isn’t settled: %(which)s is %(found)s, of too little"
            " for an interval."
        )
    return told % words


def _say_why_little(is_simulated: bool) -> str:
    if is_simulated:
        return _("In simulated votes that says nothing about the guide.")
    return _(
        "Perhaps the guide can be read in more than one way, perhaps tastes differ: read battles on which"
        " people differ before you trust small differences."
    )


def lines(figures: dict[str, Any], below: float) -> Iterator[Line]:
    people = figures["people"]
    both = (PEOPLE, PEOPLE)
    yield _line(_("people with people"), both, people["two"], below, people["alpha"])
    for one in figures["judges"]:
        label = _("%(judge)s with people") % {"judge": one["judge"]}
        yield _line(label, (one["judge"], PEOPLE), one["with_people"], below)
    for one in figures.get("between", ()):
        names = {"one": one["judges"][0], "other": one["judges"][1]}
        yield _line(_("%(one)s with %(other)s") % names, tuple(one["judges"]), one["figures"], below)


def _line(
    label: str,
    who: tuple[str, ...],
    found: dict[str, Any] | None,
    below: float,
    alpha: dict[str, Any] | None = None,
) -> Line:
    if found is None:
        nothing = (None,) * (len(COLUMNS) - len(who) - 4)
        return Line(label, "0", NONE, NONE, NONE, NONE, "", "", (*who, *nothing, 0, 0, "", 0))
    kappa, every, decisive = found["kappa"], found["every"], found["decisive"]
    level = level_of(kappa, below)
    numbers = (number for one in (kappa, alpha, every, decisive) for number in three(one))
    return Line(
        label=label,
        n=f"{every['n']:,.0f}",
        every=_percent(every),
        decisive=_percent(decisive),
        kappa=_number(kappa),
        alpha=_number(alpha),
        level=level,
        few=say_few_prompts(found),
        values=(
            *(*who, *numbers, int(every["n"]), int(decisive["n"]) if decisive else 0),
            *(level, every.get("clusters")),
        ),
    )


def three(found: dict[str, Any] | None) -> tuple[float | None, float | None, float | None]:
    """A stored figure and the ends of its interval, which it may lack, for a file."""
    if found is None:
        return None, None, None
    ends = (found["lower"], found["upper"]) if has_interval(found) else (None, None)
    return found["estimate"], *ends


def _percent(share: dict[str, Any] | None) -> str:
    if share is None:
        return NONE
    told = percent(share["estimate"])
    return _with_ends(told, share, lambda end: f"{100 * end:.0f}")


def _number(found: dict[str, Any] | None) -> str:
    if found is None:
        return NONE
    return _with_ends(_decimals(found["estimate"]), found, _decimals)


def _with_ends(told: str, found: dict[str, Any], say: Callable[[float], str]) -> str:
    """The figure alone where there is no interval, or where both ends stored are the figure itself."""
    if not has_interval(found) or is_a_point(found):
        return told
    # A narrow table breaks the line before the interval, never in it.
    return f"{told} ({say(found['lower'])}\u00a0…\u00a0{say(found['upper'])})"


def _decimals(value: float) -> str:
    return written(value, 2)
