"""The team leaves votes out, and takes them in again."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from arena.battles import exclusions
from arena.battles.exclusion_forms import ExclusionForm, RevocationForm
from arena.battles.models import Exclusion, Vote
from arena.campaigns.models import Campaign
from arena.raters import access
from arena.raters.models import Role

RATERS_PER_PAGE = 50


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@access.admin_required
def battle_exclusions(request: HttpRequest, slug: str) -> HttpResponseBase:
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.ADMIN, slug=slug)
    form = ExclusionForm(request.POST if request.method == "POST" else None, campaign=campaign)
    if form.is_valid() and form.store(request.user):
        messages.success(request, _("Left out. The next snapshot of each board goes without it."))
        return redirect("battle-exclusions", slug)
    return show(request, campaign, form, status=422 if form.is_bound else 200)


@require_POST
@access.admin_required
def battle_exclusion_revoke(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    exclusion = access.get_for(
        Exclusion.objects.filter(campaign__slug=slug), request.user, Role.ADMIN, "campaign__team", pk=pk
    )
    form = RevocationForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Say why it is taken back, in at most 2,000 characters."))
    elif exclusions.revoke(exclusion, request.user, form.cleaned_data["reason"]):
        messages.success(request, _("Taken back. The next snapshot of each board counts it again."))
    else:
        messages.error(request, _("Somebody has taken it back already."))
    return redirect("battle-exclusions", slug)


def show(request: HttpRequest, campaign: Campaign, form: ExclusionForm, **answer: Any) -> HttpResponse:
    listed = Exclusion.objects.filter(campaign=campaign).select_related(
        "vote__battle", "vote__rater", "rater", "actor", "revoked_by"
    )
    raters = exclusions.raters_of(campaign)
    votes = Vote.objects.filter(battle__campaign=campaign).standing()
    context = {
        "campaign": campaign,
        "form": form,
        "exclusions": Paginator(listed.order_by("-pk"), RATERS_PER_PAGE).get_page(request.GET.get("page")),
        "raters": Paginator(raters, RATERS_PER_PAGE).get_page(request.GET.get("raters")),
        "counts": exclusions.counts_by_rule(votes, campaign.pk),
        "section": "campaigns",
    }
    return render(request, "battles/exclusions.html", context, **answer)
