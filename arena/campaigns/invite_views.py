"""Links and the roster. A link is shown in the answer that makes it and nowhere else."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from arena.campaigns import invites, roster
from arena.campaigns.forms import GroupLinkForm, PersonalLinksForm
from arena.campaigns.models import Campaign, Invite
from arena.raters import access
from arena.raters.models import Role
from arena.row_numbers import as_id

ROWS_A_PAGE = 100


@require_safe
@never_cache
@access.admin_required
def invite_list(request: HttpRequest, slug: str) -> HttpResponse:
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.ADMIN, slug=slug)
    return show(request, campaign)


def show(
    request: HttpRequest,
    campaign: Campaign,
    *,
    group_link: str = "",
    links: list[invites.NewLink] | None = None,
    group_form: GroupLinkForm | None = None,
    personal_form: PersonalLinksForm | None = None,
) -> HttpResponse:
    entries = roster.roster(campaign)
    refused = any(form and form.errors for form in (group_form, personal_form))
    context = {
        "campaign": campaign,
        "group_links": campaign.invites.filter(rater=None).order_by("-pk"),
        "group_link": group_link,
        "links_csv": roster.links_as_csv(links, join_address(request)) if links else "",
        "group_form": group_form or GroupLinkForm(auto_id="group-%s"),
        "personal_form": personal_form or PersonalLinksForm(auto_id="personal-%s"),
        "page": Paginator(entries, ROWS_A_PAGE).get_page(request.GET.get("page")),
        "open_links": sum(entry.invite is not None and entry.invite.state == "valid" for entry in entries),
        "from_files": roster.from_files(campaign),
        "section": "campaigns",
    }
    return render(request, "campaigns/links.html", context, status=422 if refused else 200)


def join_address(request: HttpRequest) -> str:
    return request.build_absolute_uri(reverse("join", args=["-"])).removesuffix("-/")


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@access.admin_required
def invite_new(request: HttpRequest, slug: str) -> HttpResponseBase:
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.ADMIN, slug=slug)
    if request.method != "POST":  # the address of an answer that showed links, opened anew
        return redirect("invite-list", slug)
    form = GroupLinkForm(request.POST, auto_id="group-%s")
    if not form.is_valid():
        return show(request, campaign, group_form=form)
    _invite, token = Invite.issue(campaign, **form.cleaned_data)
    return show(request, campaign, group_link=f"{join_address(request)}{token}/")


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@access.admin_required
def invite_personal(request: HttpRequest, slug: str) -> HttpResponseBase:
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.ADMIN, slug=slug)
    if request.method != "POST":
        return redirect("invite-list", slug)
    form = PersonalLinksForm(request.POST, request.FILES, auto_id="personal-%s")
    if not form.is_valid():
        return show(request, campaign, personal_form=form)
    try:
        links = invites.issue_personal(campaign, form.listed, form.cleaned_data["expires_at"])
    except invites.NamesRefusedError as refusal:
        form.add_error(None, refusal.args[0])
        return show(request, campaign, personal_form=form)
    return show(request, campaign, links=links)


def download(text: str, name: str) -> HttpResponse:
    # With a byte order mark, by which spreadsheets know UTF-8.
    answer = HttpResponse("\ufeff" + text, content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@access.admin_required
def invite_reissue(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    invite = own_invite(request, slug, pk)
    if request.method != "POST":
        return redirect("invite-list", slug)
    if invite.rater_id is None:
        messages.error(request, _("A group link is revoked, and another made."))
        return redirect("invite-list", slug)
    try:
        link = invites.reissue(invite)
    except invites.RemovedError:
        return removed(request, invite)
    return show(request, invite.campaign, links=[link])


def own_invite(request: HttpRequest, slug: str, pk: int) -> Invite:
    of_campaign = Invite.objects.filter(campaign__slug=slug).select_related("campaign", "rater")
    return access.get_for(of_campaign, request.user, Role.ADMIN, "campaign__team", pk=pk)


def removed(request: HttpRequest, invite: Invite) -> HttpResponseBase:
    """Somebody else's click was faster."""
    words = _("“%(name)s” has just been taken off the roster; nothing else was changed.")
    messages.error(request, words % {"name": invite.label})
    return redirect("invite-list", invite.campaign.slug)


@require_POST
@access.admin_required
def invite_rename(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    invite = own_invite(request, slug, pk)
    try:
        invites.rename(invite, request.POST.get("name", ""))
        messages.success(request, _("Renamed."))
    except invites.NamesRefusedError as refusal:
        messages.error(request, " ".join(refusal.args[0]))
    except invites.RemovedError:
        return removed(request, invite)
    return redirect("invite-list", slug)


@require_POST
@access.admin_required
def invite_remove(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    invite = own_invite(request, slug, pk)
    try:
        is_off = invites.remove(invite)
    except invites.RemovedError:
        return removed(request, invite)
    if is_off:
        words = _("“%(name)s” is off the roster; the link opens no more.")
        messages.success(request, words % {"name": invite.label})
    else:
        words = _("“%(name)s” has begun: revoke the link instead, the votes stay.")
        messages.error(request, words % {"name": invite.label})
    return redirect("invite-list", slug)


@require_POST
@access.admin_required
def invite_revoke(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    invite = own_invite(request, slug, pk)
    return revoke(request, slug, Invite.objects.filter(pk=invite.pk))


@require_POST
@access.admin_required
def invite_revoke_all(request: HttpRequest, slug: str) -> HttpResponseBase:
    """All personal links, or those that were ticked."""
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.ADMIN, slug=slug)
    personal = campaign.invites.filter(rater__isnull=False)
    if request.POST.get("which") != "all":
        personal = personal.filter(pk__in=[as_id(pk) for pk in request.POST.getlist("invite")])
    return revoke(request, slug, personal)


def revoke(request: HttpRequest, slug: str, which) -> HttpResponseBase:
    count = invites.revoke(which)
    words = ngettext("%(n)s link is revoked.", "%(n)s links are revoked.", count) % {"n": count}
    messages.success(request, words)
    return redirect("invite-list", slug)


@require_safe
@never_cache
@access.admin_required
def roster_csv(request: HttpRequest, slug: str) -> HttpResponse:
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.ADMIN, slug=slug)
    return download(roster.as_csv(roster.roster(campaign)), f"roster-{slug}.csv")
