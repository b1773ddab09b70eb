"""A part of the rater's own page that knows boards: battles, a lower room, doesn't."""

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from arena.battles.views import HtmxRequest, NoPlaceError, for_raters, own_place
from arena.campaigns.models import Campaign
from arena.leaderboards import my_votes
from arena.leaderboards.downloads import Table, attached
from arena.raters.models import Rater


@require_safe
@never_cache
@vary_on_headers("HX-Request")
@for_raters
def my_votes_board(request: HtmxRequest, slug: str) -> HttpResponseBase:
    campaign, rater = own_place(request, slug)
    if rater is None:
        return redirect("begin", slug)
    context = {"campaign": campaign, "compared": compared_of(request, campaign, rater)}
    template = "leaderboards/my_votes.html#compared" if request.htmx else "leaderboards/my_votes.html"
    return render(request, template, context)


@require_safe
@never_cache
def my_votes_file(request: HtmxRequest, slug: str, kind: str) -> HttpResponse:
    """The page's table, for the same browser; whoever is shown none gets none."""
    try:
        campaign, rater = own_place(request, slug)
    except NoPlaceError:
        raise Http404 from None
    compared = compared_of(request, campaign, rater) if rater else None
    if compared is None or not compared.rows:
        raise Http404
    return attached(Table(my_votes.COLUMNS, compared.values), f"{slug}-my-votes", kind)


def compared_of(request: HtmxRequest, campaign: Campaign, rater: Rater) -> my_votes.Compared | None:
    """404 until closing has revealed the names: before, a board would tell what a vote did to it."""
    if not campaign.revealed_by_closing:
        raise Http404
    return my_votes.compare(campaign, rater, request.user)
