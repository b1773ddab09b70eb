"""The tables of the pages that reckon what votes will be able to show."""

from __future__ import annotations

from django.http import Http404, HttpRequest
from rest_framework.exceptions import ValidationError

from arena.campaigns.models import Campaign
from arena.leaderboards.agreement.agreement_words import say_simulated
from arena.leaderboards.plans import plan, plan_views, reckoning
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.tables.board_tables import values
from arena.leaderboards.tables.page_tables import About, Page, Read
from arena.leaderboards.visible import get_visible_campaign
from arena.raters import access
from arena.raters.models import Role
from arena.row_numbers import as_id


def _planning(request: HttpRequest, campaign: str) -> Read:
    found, form = plan_views.asked_of(request, campaign)
    if not form.is_valid():
        raise ValidationError({name: [str(one) for one in words] for name, words in form.errors.items()})
    asked = form.cleaned_data
    page = plan_views.answer(found, asked)
    if "rows" not in page:
        raise Http404
    rows = {"plan-raters": values(page["rows"]), "plan-assumptions": values(page["assumptions"])}
    about = {f"asked_{name}": asked[name] for name in ("raters", "votes", "margin", "pairs", "tastes")}
    return Read(rows, about, _rests_on_simulated(found, page["tied_votes"]))


def _frozen(request: HttpRequest, campaign: str) -> Read:
    shown = get_visible_campaign(request, campaign)
    found = _plan_of(request, shown)
    reckoned = reckoning.reckon(found) if found else None
    if found is None or reckoned is None:
        raise Http404
    rows = {"analysis-plan-assumptions": values(reckoning.assumptions_of(reckoned))}
    frozen_at = found.frozen_at.isoformat() if found.frozen_at else None
    about: About = {"plan": found.version, "plan_frozen_at": frozen_at}
    return Read(rows, about, _rests_on_simulated(shown, reckoned.tied_votes))


def _plan_of(request: HttpRequest, campaign: Campaign) -> AnalysisPlan | None:
    """A draft is for those who may write it."""
    plans = campaign.analysis_plans.all()
    if not access.has_role(request.user, campaign.team_id, Role.ADMIN):
        plans = plans.frozen()
    if version := request.GET.get("version", ""):
        return plans.filter(version=as_id(version)).first()
    return plans.frozen().first()


def _rests_on_simulated(campaign: Campaign, tied_votes: int) -> bool:
    """Of a reckoning only the share of ties may be measured."""
    return bool(tied_votes and say_simulated(campaign))


PAGES = (
    Page(
        {
            "raters": "how many; without it as the page",
            "votes": "of each rater",
            "margin": "in points",
            "pairs": "that the question is about; without it as the plan, or all",
            "tastes": ", ".join(plan.TASTES),
        },
        {"plan-raters": plan.ROW, "plan-assumptions": reckoning.ASSUMPTION},
        _planning,
        {
            "asked_raters": "count",
            "asked_votes": "count",
            "asked_margin": "number",
            "asked_pairs": "count",
            "asked_tastes": "text",
        },
    ),
    Page(
        {"version": "an analysis plan’s; without it the newest frozen one"},
        {"analysis-plan-assumptions": reckoning.ASSUMPTION},
        _frozen,
        {"plan": "count", "plan_frozen_at": "text"},
    ),
)
