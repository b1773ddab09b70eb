"""The campaign's golds: the two texts of each, what is expected, how raters did."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from arena.battles import golds
from arena.battles.gold_forms import GoldFileForm, GoldForm
from arena.battles.gold_models import Gold
from arena.campaigns.models import Campaign
from arena.raters import access
from arena.raters.models import Role

GOLDS_PER_PAGE = 50


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@access.admin_required
def battle_golds(request: HttpRequest, slug: str) -> HttpResponseBase:
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.ADMIN, slug=slug)
    form = GoldForm(request.POST if request.method == "POST" else None, campaign=campaign)
    if form.is_valid() and form.store(request.user):
        messages.success(request, _("The gold is added."))
        return redirect("battle-golds", slug)
    return show(request, campaign, form=form, file_form=GoldFileForm(), status=422 if form.is_bound else 200)


@require_POST
@access.admin_required
def battle_gold_retire(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    gold = access.get_for(
        Gold.objects.filter(campaign__slug=slug), request.user, Role.ADMIN, "campaign__team", pk=pk
    )
    if golds.retire(gold):
        messages.success(request, _("It is drawn no more; its votes stay."))
    else:
        messages.error(request, _("It is out of use already."))
    return redirect("battle-golds", slug)


def show(
    request: HttpRequest, campaign: Campaign, *, form: Any, file_form: Any, status: int = 200
) -> HttpResponse:
    context = {
        "campaign": campaign,
        "form": form,
        "file_form": file_form,
        "golds": Paginator(golds.of_campaign(campaign), GOLDS_PER_PAGE).get_page(request.GET.get("page")),
        "columns": ", ".join(golds.COLUMNS),
        "expected": ", ".join(Gold.Expected.values),
        "kinds": ", ".join(Gold.Kind.values),
        "share": f"{100 * campaign.gold_share:.4g}",
        "section": "campaigns",
    }
    return render(request, "battles/golds.html", context, status=status)
