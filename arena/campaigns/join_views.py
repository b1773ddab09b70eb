"""How raters come in."""

from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from arena.campaigns.admission import (
    TooManyError,
    begin_again,
    begin_with_invite,
    begin_without_invite,
    current_rater,
    returning,
)
from arena.campaigns.models import Campaign, Invite
from arena.raters import access
from arena.raters.models import Rater, Role


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def join(request: HttpRequest, token: str) -> HttpResponseBase:
    invite = Invite.objects.for_token(token)
    if invite is None:
        begun = begin_again(request, token) if request.method == "POST" else None
        return lead_on(begun) if begun else render(request, "campaigns/no_invite.html", status=410)
    rater = returning(request, invite.campaign, invite)
    if request.method != "POST" or not may_enter(invite.campaign, rater):
        return welcome(request, invite.campaign, rater, invite)
    if begin_with_invite(request, invite) is None:
        return render(request, "campaigns/no_invite.html", status=410)
    return lead_on(invite.campaign)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def begin(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The door of campaigns that need no invite."""
    doors = Campaign.objects.exclude(admission=Campaign.Admission.INVITE)
    campaign = get_object_or_404(doors.exclude(status=Campaign.Status.DRAFT), slug=slug)
    if campaign.admission == Campaign.Admission.LOGIN and not request.user.is_authenticated:
        return redirect_to_login(request.get_full_path())
    rater = returning(request, campaign)
    if request.method != "POST" or not may_enter(campaign, rater):
        return welcome(request, campaign, rater)
    try:
        if begin_without_invite(request, campaign) is None:
            raise Http404
    except TooManyError:
        return render(request, "campaigns/too_many.html", {"campaign": campaign}, status=429)
    return lead_on(campaign)


def may_enter(campaign: Campaign, rater: Rater | None) -> bool:
    """Whoever has voted may always come back to their votes; others begin while votes are taken."""
    return rater is not None or campaign.takes_votes(timezone.now())


def lead_on(campaign: Campaign) -> HttpResponseBase:
    return redirect("battle" if campaign.takes_votes(timezone.now()) else "my-votes", campaign.slug)


def welcome(
    request: HttpRequest, campaign: Campaign, rater: Rater | None = None, invite: Invite | None = None
) -> HttpResponse:
    """`rater` has voted here before: the way to their votes, and to the names once these are out, is shown.

    What was sent and couldn't be done is answered 409.
    """
    here = current_rater(request, campaign)
    takes_votes = campaign.takes_votes(timezone.now())
    context = {
        "campaign": campaign,
        "guide": campaign.current_guide,
        "takes_votes": takes_votes,
        "tells_way_to_votes": not takes_votes
        and campaign.status != Campaign.Status.DRAFT
        and campaign.admission != Campaign.Admission.LOGIN,
        "has_voted": rater is not None,
        "is_here": rater is not None and rater == here,
        "known_by": known_by(campaign, here, invite),
        # Their votes are marked as unblinded and left out of every board.
        "may_see_names": access.has_role(request.user, campaign.team_id, Role.RESEARCHER),
    }
    return render(request, "campaigns/join.html", context, status=409 if request.method == "POST" else 200)


def known_by(campaign: Campaign, here: Rater | None, invite: Invite | None) -> str:
    """How the team could tell whose votes "Begin" leads to: by "name", "account" or "nobody"."""
    rater = (invite.rater if invite else None) or here
    if rater and campaign.invites.sent_by_name(rater).exists():
        return "name"
    signs_in = campaign.admission == Campaign.Admission.LOGIN and invite is None
    return "account" if (rater.user_id if rater else signs_in) else "nobody"


@require_safe
@never_cache
def guide(request: HttpRequest, slug: str) -> HttpResponse:
    """Whoever has no place is told how to get one; a campaign that isn't there looks the same."""
    campaign = Campaign.objects.filter(slug=slug).first()
    if campaign is None:
        return render(request, "battles/no_place.html", status=404)
    is_staff = access.has_role(request.user, campaign.team_id, Role.RESEARCHER)
    if not is_staff and current_rater(request, campaign) is None:
        return render(request, "battles/no_place.html", status=404)
    return render(request, "campaigns/guide.html", {"campaign": campaign, "guide": campaign.current_guide})
