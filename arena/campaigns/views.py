from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from arena.campaigns import opening
from arena.campaigns.admission import begin_with_invite, begin_without_invite, current_rater
from arena.campaigns.forms import CampaignForm, InviteForm
from arena.campaigns.models import Campaign, Invite
from arena.raters import access
from arena.raters.models import Role


@require_GET
@access.researcher_required
def campaign_list(request: HttpRequest) -> HttpResponse:
    campaigns = access.objects_for(Campaign.objects.all(), request.user, Role.RESEARCHER)
    context = {"campaigns": campaigns.annotate(battle_count=Count("battles")).order_by("-pk")}
    return render(request, "campaigns/list.html", context | {"section": "campaigns"})


@require_http_methods(["GET", "POST"])
@access.admin_required
def campaign_new(request: HttpRequest) -> HttpResponseBase:
    team = access.acting_team(request.user)
    return edit(request, Campaign(team=team), _("New campaign"))


@require_http_methods(["GET", "POST"])
@access.admin_required
def campaign_edit(request: HttpRequest, slug: str) -> HttpResponseBase:
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.ADMIN, slug=slug)
    return edit(request, campaign, _("Change %(name)s") % {"name": campaign.name})


def edit(request: HttpRequest, campaign: Campaign, title: str) -> HttpResponseBase:
    posted = request.POST if request.method == "POST" else None
    form = CampaignForm(posted, team=campaign.team, instance=campaign)
    if request.method == "POST" and form.is_valid() and (stored := form.store()):
        return redirect("campaign", stored.slug)
    status = 422 if form.is_bound else 200
    return render(
        request, "campaigns/edit.html", {"form": form, "title": title, "section": "campaigns"}, status=status
    )


@require_GET
@never_cache
@access.researcher_required
def campaign_page(request: HttpRequest, slug: str) -> HttpResponse:
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.RESEARCHER, slug=slug)
    return show(request, campaign)


def show(request: HttpRequest, campaign: Campaign, invite_link: str = "") -> HttpResponse:
    context = {
        "campaign": campaign,
        "missing": opening.missing_before_open(campaign),
        "counts": opening.counts(campaign),
        "votes": campaign.battles.filter(vote__isnull=False, vote__retraction=None).count(),
        "raters": campaign.battles.filter(vote__isnull=False).values("rater").distinct().count(),
        "invites": campaign.invites.order_by("-pk"),
        "invite_form": InviteForm(),
        "may_administer": access.has_role(request.user, campaign.team_id, Role.ADMIN),
        "invite_link": invite_link,
        "section": "campaigns",
    }
    return render(request, "campaigns/page.html", context)


@require_POST
@access.admin_required
def campaign_open(request: HttpRequest, slug: str) -> HttpResponseBase:
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.ADMIN, slug=slug)
    try:
        opening.open_campaign(campaign)
        messages.success(request, _("%(name)s is open for votes.") % {"name": campaign.name})
    except opening.NotReadyError as refusal:
        for reason in refusal.args[0]:
            messages.error(request, reason)
    return redirect("campaign", slug)


@require_POST
@access.admin_required
def campaign_pause(request: HttpRequest, slug: str) -> HttpResponseBase:
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.ADMIN, slug=slug)
    opening.pause_campaign(campaign)
    return redirect("campaign", slug)


@require_POST
@access.admin_required
def campaign_close(request: HttpRequest, slug: str) -> HttpResponseBase:
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.ADMIN, slug=slug)
    opening.close_campaign(campaign)
    return redirect("campaign", slug)


@require_POST
@never_cache
@access.admin_required
def invite_new(request: HttpRequest, slug: str) -> HttpResponseBase:
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.ADMIN, slug=slug)
    form = InviteForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("The number of uses must be 1 or more."))
        return redirect("campaign", slug)
    _invite, token = Invite.issue(campaign, **form.cleaned_data)
    # Shown in this answer and nowhere else: the database keeps the token's hash only.
    return show(request, campaign, request.build_absolute_uri(reverse("join", args=[token])))


@require_POST
@access.admin_required
def invite_revoke(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    invite = access.get_for(
        Invite.objects.filter(campaign__slug=slug), request.user, Role.ADMIN, "campaign__team", pk=pk
    )
    Invite.objects.filter(pk=invite.pk, revoked_at=None).update(revoked_at=timezone.now())
    return redirect("campaign", slug)


@require_http_methods(["GET", "POST"])
@never_cache
def join(request: HttpRequest, token: str) -> HttpResponseBase:
    invite = Invite.objects.for_token(token)
    if invite is None:
        return render(request, "campaigns/no_invite.html", status=410)
    if request.method == "POST":
        if begin_with_invite(request, invite) is None:
            return render(request, "campaigns/no_invite.html", status=410)
        return redirect("battle", invite.campaign.slug)
    return render(
        request, "campaigns/join.html", {"campaign": invite.campaign, "guide": invite.campaign.current_guide}
    )


@require_http_methods(["GET", "POST"])
@never_cache
def begin(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The door of campaigns that need no invite."""
    campaign = get_object_or_404(Campaign.objects.exclude(admission=Campaign.Admission.INVITE), slug=slug)
    if campaign.admission == Campaign.Admission.LOGIN and not request.user.is_authenticated:
        return redirect_to_login(request.get_full_path())
    if request.method == "POST":
        if begin_without_invite(request, campaign) is None:
            raise Http404
        return redirect("battle", campaign.slug)
    return render(request, "campaigns/join.html", {"campaign": campaign, "guide": campaign.current_guide})


@require_GET
@never_cache
def guide(request: HttpRequest, slug: str) -> HttpResponse:
    campaign = get_object_or_404(Campaign, slug=slug)
    is_staff = access.has_role(request.user, campaign.team_id, Role.RESEARCHER)
    if not is_staff and current_rater(request, campaign) is None:
        raise Http404
    return render(request, "campaigns/guide.html", {"campaign": campaign, "guide": campaign.current_guide})
