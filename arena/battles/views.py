"""The rater's pages. Before a campaign's reveal nothing here may say which model wrote what."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import SESSION_KEY as USER_KEY
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers
from django_htmx.middleware import HtmxDetails

from arena.battles import ballots, preview, reasons, screen
from arena.battles.forms import PLAIN, Ballot, BallotError, FlagForm, ReasonsForm
from arena.battles.models import Battle
from arena.campaigns.admission import SESSION_KEY, current_rater, is_still, know
from arena.campaigns.models import Campaign
from arena.raters import access
from arena.raters.models import Rater, Role

BEYOND_QUOTA = "beyond_quota"
# A cookie that panes.js writes too; it says how responses are shown in this browser.
TEXT_COOKIE = "tiltyard_text"
YEAR = 365 * 24 * 60 * 60  # seconds

P = ParamSpec("P")
R = TypeVar("R", bound=HttpRequest)


class HtmxRequest(HttpRequest):
    htmx: HtmxDetails


class SeeOther(HttpResponseRedirect):
    """After a form post: the browser comes back with a GET."""

    status_code = 303


class NoPlaceError(Exception):
    """This browser is no rater of the campaign; `campaign` is None when it can't or mustn't be said which."""

    def __init__(self, campaign: Campaign | None = None) -> None:
        self.campaign = campaign


def for_raters(
    view: Callable[Concatenate[R, P], HttpResponseBase],
) -> Callable[Concatenate[R, P], HttpResponseBase]:
    """Tells whoever has no place how to get one."""

    @wraps(view)
    def guarded(request: R, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except NoPlaceError as refusal:
            return no_place(request, refusal.campaign)

    return guarded


@require_safe
@never_cache
@vary_on_headers("HX-Request")
@for_raters
def battle(request: HtmxRequest, slug: str) -> HttpResponseBase:
    campaign, rater = own_place(request, slug)
    if rater is None:
        return redirect("begin", slug)
    if request.method == "HEAD":
        return HttpResponse()  # nobody reads a battle then, and none is drawn
    ran_out = Battle.objects.left_too_long(rater, campaign).exists()
    seen = screen.look(campaign, rater, beyond_quota=goes_beyond(request, campaign))
    notice = _("The battle that you left had been open for too long. Here is a new one.") if ran_out else ""
    return show(request, seen, notice if seen.current else "")


@require_POST
@never_cache
@for_raters
def battle_vote(request: HtmxRequest, public_id: UUID) -> HttpResponseBase:
    battle, rater = own_battle(request, public_id)
    try:
        ballot = Ballot.read(request.POST)
    except BallotError:
        words = _("That vote was cut short on its way. Please vote again.")
        return answer(request, battle, rater, words, 422)
    is_new = not hasattr(battle, "vote")
    try:
        vote = ballots.cast(battle, rater, ballot.outcome, ballot.key, ballot.dwell_ms, ballot.layout)
    except ballots.RefusedError as refusal:
        return answer(request, battle, rater, str(refusal.words), refusal.status)
    if not request.htmx:
        return SeeOther(reverse("battle", args=[battle.campaign.slug]))
    if not is_new:
        return answer(request, battle, rater)
    return answer(request, battle, rater, done=(battle.votes_standing or 0) + 1, vote=vote)


@require_POST
@never_cache
@for_raters
def battle_undo(request: HtmxRequest, public_id: UUID) -> HttpResponseBase:
    battle, rater = own_battle(request, public_id)
    try:
        ballots.undo(battle, rater)
    except ballots.RefusedError as refusal:
        return answer(request, battle, rater, str(refusal.words), refusal.status)
    words = _("Your vote is undone. Here is the battle again; the sides may have changed.")
    return answer(request, battle, rater, words)


@require_POST
@never_cache
@for_raters
def battle_skip(request: HtmxRequest, public_id: UUID) -> HttpResponseBase:
    battle, rater = own_battle(request, public_id)
    try:
        ballots.skip(battle, rater)
    except ballots.RefusedError as refusal:
        return answer(request, battle, rater, str(refusal.words), refusal.status)
    return answer(request, battle, rater, _("Skipped. You won't see that battle again."))


@require_POST
@never_cache
@for_raters
def battle_flag(request: HtmxRequest, public_id: UUID) -> HttpResponseBase:
    battle, rater = own_battle(request, public_id)
    form = FlagForm(request.POST)
    if not form.is_valid():
        return answer(request, battle, rater, _("Please use at most 2,000 characters."), 422)
    try:
        ballots.flag(battle, rater, form.cleaned_data["text"])
    except ballots.RefusedError as refusal:
        return answer(request, battle, rater, str(refusal.words), refusal.status)
    return answer(request, battle, rater, _("Flagged, thank you. You can still vote on it, or skip it."))


@require_POST
@never_cache
@for_raters
def battle_reasons(request: HtmxRequest, public_id: UUID) -> HttpResponseBase:
    battle, rater = own_battle(request, public_id)
    form = ReasonsForm(request.POST)
    if not form.is_valid():
        words = _("That wasn't recorded: choose from the list, and use at most 2,000 characters.")
        return answer(request, battle, rater, words, 422)
    try:
        reasons.explain(battle, rater, **form.cleaned_data)
    except ballots.RefusedError as refusal:
        return answer(request, battle, rater, str(refusal.words), refusal.status)
    return answer(request, battle, rater, _("Your reasons are kept with your last vote."))


@require_POST
@never_cache
@for_raters
def battle_more(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Goes on beyond the number of votes that was asked for."""
    campaign, rater = own_place(request, slug)
    if rater is None:
        raise NoPlaceError
    if not goes_beyond(request, campaign):
        request.session[BEYOND_QUOTA] = [*request.session.get(BEYOND_QUOTA, []), campaign.pk]
    return SeeOther(reverse("battle", args=[slug]))


@require_POST
@never_cache
@for_raters
def battle_text(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Shows responses as plain text in this browser, or formatted again: without a script."""
    _campaign, rater = own_place(request, slug)
    chosen = request.POST.get("text", "")
    if rater is None or chosen not in (PLAIN, "formatted"):
        raise NoPlaceError
    shown = SeeOther(reverse("battle", args=[slug]))
    if chosen == PLAIN:
        shown.set_cookie(TEXT_COOKIE, PLAIN, max_age=YEAR, secure=settings.HTTPS, samesite="Lax")
    else:
        shown.delete_cookie(TEXT_COOKIE, samesite="Lax")
    return shown


def reads_plain(request: HttpRequest, campaign: Campaign) -> bool:
    return campaign.plain_text or request.COOKIES.get(TEXT_COOKIE) == PLAIN


@require_safe
@never_cache
@access.researcher_required
def battle_preview(request: HttpRequest, slug: str) -> HttpResponse:
    """One battle as raters see it, for the team. Nothing is drawn, stored or counted."""
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.RESEARCHER, slug=slug)
    example = preview.example(campaign)
    context = {
        "campaign": campaign,
        "guide": campaign.current_guide,
        "shown": screen.Shown.of(example) if example else None,
        "is_plain": reads_plain(request, campaign),
    }
    return render(request, "battles/preview.html", context)


def own_place(request: HttpRequest, slug: str) -> tuple[Campaign, Rater | None]:
    """The campaign and who this browser is in it: None where anyone may begin."""
    campaign = Campaign.objects.filter(slug=slug).first()
    rater = current_rater(request, campaign) if campaign else None
    if campaign is None or (rater is None and campaign.admission == Campaign.Admission.INVITE):
        raise NoPlaceError(campaign)
    return campaign, rater


def no_place(request: HttpRequest, campaign: Campaign | None) -> HttpResponse:
    """Strangers can't tell a campaign that needs an invite from none; the team is led to its preview."""
    is_staff = campaign is not None and access.has_role(request.user, campaign.team_id, Role.RESEARCHER)
    leads_on = is_staff and request.method != "POST"
    context = {"campaign": campaign if leads_on else None}
    return render(request, "battles/no_place.html", context, status=200 if leads_on else 404)


def own_battle(request: HttpRequest, public_id: UUID) -> tuple[Battle, Rater]:
    """The battle, if it was handed to the rater in this browser. Someone else's and none look the same."""
    # The user's number is in the session; the user isn't looked up for a vote.
    battle = ballots.open_ballot(public_id, request.session.get(USER_KEY))
    raters = request.session.get(SESSION_KEY, {})
    if not (battle and battle.rater) or raters.get(str(battle.campaign_id)) != battle.rater_id:
        raise NoPlaceError
    if not is_still(request, battle.rater):
        raise NoPlaceError
    return battle, know(request, battle.rater)


def goes_beyond(request: HttpRequest, campaign: Campaign) -> bool:
    return campaign.pk in request.session.get(BEYOND_QUOTA, [])


def answer(
    request: HtmxRequest, battle: Battle, rater: Rater, notice: str = "", status: int = 200, **known
) -> HttpResponseBase:
    """A script gets the part that changed; a form is sent back to the page, or shown what went wrong."""
    campaign = battle.campaign
    if not request.htmx and status == 200:
        messages.info(request, notice)
        return SeeOther(reverse("battle", args=[campaign.slug]))
    seen = screen.look(campaign, rater, beyond_quota=goes_beyond(request, campaign), **known)
    return show(request, seen, notice, status)


def show(request: HtmxRequest, seen: screen.Screen, notice: str = "", status: int = 200) -> HttpResponse:
    # The texts that a script already holds aren't sent again.
    held = set(request.POST.get("held", "").split()) if request.htmx else set()
    context = {"screen": seen, "campaign": seen.campaign, "notice": notice, "held": held}
    context["is_plain"] = reads_plain(request, seen.campaign)
    if request.htmx:
        # Without the request: the part needs no menu, so nobody has to be looked up for it.
        return HttpResponse(render_to_string("battles/battle.html#battle", context), status=status)
    context["guide"] = seen.campaign.current_guide
    return render(request, "battles/battle.html", context, status=status)
