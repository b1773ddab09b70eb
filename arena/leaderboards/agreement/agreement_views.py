"""The page on agreement: stored figures in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from arena.campaigns.models import Campaign
from arena.leaderboards.agreement.agreement_models import CampaignAgreement
from arena.leaderboards.agreement.agreement_words import (
    number,
    pair_label,
    say_agreement,
    simulated_votes,
    with_ends,
)
from arena.leaderboards.agreement.judge_figures import has_interval, level_of, say_few_prompts
from arena.leaderboards.boards.board_cautions import about_texts
from arena.leaderboards.understood import understands
from arena.percent import percent
from arena.raters import access
from arena.raters.models import Role

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
        tables, simulated = tables_of(figures), simulated_votes(shown)
        context |= {
            "lines": tables.lines,
            "categories": [(name or _("no category"), told[0], told) for name, told in tables.categories],
            "folds": len(tables.categories) > OPEN_CATEGORIES,
            "simulated": simulated.say(_("any rater")),
            "texts": say_texts(figures),
            "said": say_agreement(figures, simulated),
            "left_out": figures["pairs"] - figures["looked_at"],
            "is_behind": known.is_behind,
            "minutes": settings.SNAPSHOT_MINUTES,
        }
    return render(request, "leaderboards/agreement.html", context)


def say_texts(figures: dict[str, Any]) -> str:
    """Where prompts say the same; figures from before they were one cluster don't know it."""
    return " ".join(text for _code, text in about_texts(figures)) if "prompts" in figures else ""


def lines(figures: dict[str, Any], below: float) -> Iterator[Line]:
    people = figures["people"]
    both = (PEOPLE, PEOPLE)
    yield _line(_("people with people"), both, people["two"], below, people["alpha"])
    for one in figures["judges"]:
        label = _("%(judge)s with people") % {"judge": one["judge"]}
        yield _line(label, (one["judge"], PEOPLE), one["with_people"], below)
    for one in figures.get("between", ()):
        yield _line(pair_label(one["judges"]), tuple(one["judges"]), one["figures"], below)


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
    return with_ends(told, share, lambda end: f"{100 * end:.0f}")


def _number(found: dict[str, Any] | None) -> str:
    return NONE if found is None else number(found)
