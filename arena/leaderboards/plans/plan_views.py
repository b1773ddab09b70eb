from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from arena.campaigns.models import Campaign
from arena.leaderboards.plans import plan
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.reckoning import assumptions_of, reckon_with
from arena.leaderboards.understood import understands
from arena.raters import access
from arena.raters.models import Role

VOTES_EACH = 50  # where the campaign asks for no number


class PlanForm(forms.Form):
    raters = forms.IntegerField(min_value=1, max_value=plan.MOST_RATERS, label=_("Raters"))
    votes = forms.IntegerField(min_value=1, max_value=100_000, label=_("Votes each"))
    margin = forms.FloatField(min_value=0.1, max_value=1000, label=_("Margin, in points"))
    pairs = forms.IntegerField(min_value=1, required=False, label=_("Pairs the question is about"))
    tastes = forms.ChoiceField(
        choices=[("alike", _("hardly")), ("usual", _("as is usual")), ("apart", _("a lot"))],
        label=_("Tastes differ"),
    )


@require_safe
@never_cache
@vary_on_headers("HX-Request")
@access.researcher_required
@understands("raters", "votes", "margin", "pairs", "tastes")
def campaign_plan(request: HttpRequest, slug: str) -> HttpResponse:
    campaign, form = asked_of(request, slug)
    context = {"campaign": campaign, "form": form, "section": "campaigns"}
    if form.is_valid():
        context |= answer(campaign, form.cleaned_data)
    part = "#plan" if request.headers.get("HX-Request") else ""
    status = 200 if form.is_valid() else 422
    return render(request, f"leaderboards/plan.html{part}", context, status=status)


def asked_of(request: HttpRequest, slug: str) -> tuple[Campaign, PlanForm]:
    """What isn't asked for is the campaign's, or usual."""
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.RESEARCHER, slug=slug)
    written = campaign.analysis_plans.first() or AnalysisPlan()
    given = {
        "raters": 20,
        "votes": campaign.quota or VOTES_EACH,
        "margin": f"{written.margin:g}",
        "pairs": len(written.pairs) or None,
        "tastes": "usual",
    } | request.GET.dict()
    return campaign, PlanForm(given, auto_id="plan-%s")


def answer(campaign: Campaign, asked: dict) -> dict:
    ties = plan.ties_of(campaign)
    wanted = plan.plan_of(
        campaign,
        raters=asked["raters"],
        votes_each=asked["votes"],
        taste=plan.TASTES[asked["tastes"]],
        ties=ties,
        asked=asked["pairs"],
    )
    if wanted is None:
        return {"is_too_early": True}
    return {
        "plan": wanted,
        "found": plan.detectable(wanted),
        "rows": plan.rows(wanted),
        "needed": plan.raters_needed(wanted, asked["margin"]),
        "margin": asked["margin"],
        "tied_votes": ties.votes,
        "assumptions": assumptions_of(reckon_with(wanted, asked["margin"], ties.votes)),
    }
