"""A part of the rater's own page that knows boards: battles, a lower room, doesn't."""

from django.http import Http404, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from arena.battles.views import HtmxRequest, for_raters, own_place
from arena.leaderboards import my_votes


@require_safe
@never_cache
@vary_on_headers("HX-Request")
@for_raters
def my_votes_board(request: HtmxRequest, slug: str) -> HttpResponseBase:
    """404 until closing has revealed the names: before, a board would tell what a vote did to it."""
    campaign, rater = own_place(request, slug)
    if rater is None:
        return redirect("begin", slug)
    if not campaign.revealed_by_closing:
        raise Http404
    context = {"campaign": campaign, "compared": my_votes.compare(campaign, rater, request.user)}
    template = "leaderboards/my_votes.html#compared" if request.htmx else "leaderboards/my_votes.html"
    return render(request, template, context)
