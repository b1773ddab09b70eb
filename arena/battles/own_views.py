"""What raters see of themselves. Before the reveal nothing here may say which model wrote what."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from arena.battles import own_page
from arena.battles.models import Vote
from arena.battles.views import NoPlaceError, for_raters, own_place
from arena.campaigns.models import Campaign
from arena.raters.models import Rater

VOTES_PER_PAGE = 50


@require_safe
@never_cache
@for_raters
def my_votes(request: HttpRequest, slug: str) -> HttpResponseBase:
    campaign, rater = own_place(request, slug)
    if rater is None:
        return redirect("begin", slug)
    return show(request, campaign, rater)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@for_raters
def my_link(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Shown in this answer and nowhere else: the database keeps the token's hash only."""
    campaign, rater = own_place(request, slug)
    if request.method != "POST":  # the address of that answer, opened anew
        return redirect("my-votes", slug)
    if rater is None or not own_page.may_make_link(campaign, rater):
        raise NoPlaceError
    try:
        made = own_page.make_link(campaign, rater)
    except own_page.LinkEndedError:
        raise NoPlaceError from None
    link = request.build_absolute_uri(reverse("join", args=[made.token]))
    return show(request, campaign, rater, link, ended_another=made.ended_another)


def show(
    request: HttpRequest, campaign: Campaign, rater: Rater, link: str = "", *, ended_another: bool = False
) -> HttpResponse:
    votes = Vote.objects.of(rater, campaign).standing().with_battles().order_by("-pk")
    page = Paginator(votes, VOTES_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "campaign": campaign,
        "page": page,
        "votes": own_page.say_why(page),
        "so_far": own_page.so_far(campaign, rater),
        "link": link,
        "ended_another": ended_another,
        "may_make_link": own_page.may_make_link(campaign, rater),
        "names_are_out": campaign.names_are_out,
    }
    return render(request, "battles/my_votes.html", context)
