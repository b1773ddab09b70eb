"""How a browser becomes a rater of a campaign, and stays one: the session maps campaign to rater."""

import secrets
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.cache import caches
from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce, Now
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac

from arena.broken_off import done_again
from arena.campaigns.models import Campaign, Invite
from arena.raters.addresses import client_address
from arena.raters.models import Rater

SESSION_KEY = "raters"
GENERATIONS = "generations"  # of those raters when they began, by their number
# "Begin" pressed again within this time in one browser is the same beginning, though its session got lost.
SAME_BEGIN = timedelta(minutes=10)


def current_rater(request: HttpRequest, campaign: Campaign) -> Rater | None:
    """The rater this browser is in this campaign, if it has begun and isn't suspended."""
    pk = request.session.get(SESSION_KEY, {}).get(str(campaign.pk))
    rater = Rater.objects.filter(pk=pk, is_active=True).first() if pk else None
    return know(request, rater) if rater and is_still(request, rater) else None


def is_still(request: HttpRequest, rater: Rater) -> bool:
    """Whether this browser began with a link that still leads to the rater."""
    generation = request.session.get(GENERATIONS, {}).get(str(rater.pk), 0)
    return bool(generation == rater.generation)


def know(request: HttpRequest, rater: Rater) -> Rater:
    """The rater, with who else this browser has been."""
    everywhere = set(request.session.get(SESSION_KEY, {}).values())
    rater.same_person = tuple(sorted(everywhere - {rater.pk}))
    return rater


def returning(request: HttpRequest, campaign: Campaign, invite: Invite | None = None) -> Rater | None:
    """Who has voted in the campaign before: by this personal link, in this browser, or as this user."""
    rater = invite.rater if invite else None
    rater = rater or current_rater(request, campaign)
    if rater is None and campaign.admission == Campaign.Admission.LOGIN and request.user.is_authenticated:
        rater = _signed_in(request, campaign).filter(is_active=True).first()
    if rater and campaign.battles.filter(rater=rater, vote__isnull=False).exists():
        return rater
    return None


def _signed_in(request: HttpRequest, campaign: Campaign) -> QuerySet[Rater]:
    return Rater.objects.filter(team=campaign.team_id, user=request.user.pk, admission=Rater.Admission.LOGIN)


def joined_campaigns(request: HttpRequest) -> QuerySet[Campaign]:
    raters: dict[str, int] = request.session.get(SESSION_KEY, {})
    found = Rater.objects.filter(pk__in=raters.values())
    still = {rater.pk for rater in found if is_still(request, rater)}
    begun = [campaign for campaign, rater in raters.items() if rater in still]
    return Campaign.objects.filter(pk__in=begun).order_by("-pk")


def new_pseudonym() -> str:
    return f"rater-{secrets.token_hex(4)}"


def _beginning(request: HttpRequest, campaign: Campaign) -> str:
    """The same for every “Begin” that this browser presses in the campaign, by whichever link.

    A page's form needs the cookie against forged posts, so each browser has one before it has a session. It
    is no secret of the rater's: only for a while, from the same address and until somebody signs out does it
    say who began.
    """
    browser = request.COOKIES.get(settings.CSRF_COOKIE_NAME) or request.COOKIES.get(
        settings.SESSION_COOKIE_NAME
    )
    if not browser:
        return secrets.token_hex(32)
    said = f"campaign {campaign.pk} {browser} {client_address(request)}"
    return salted_hmac("arena.begin", said, algorithm="sha256").hexdigest()


def _just_begun(beginning: str) -> Rater | None:
    return Rater.objects.filter(_is_recent(), begun_with=beginning).first()


def _is_recent() -> Q:
    """Not once the rater's links were made anew."""
    return Q(created_at__gt=timezone.now() - SAME_BEGIN, generation=0, user=None)


def _begin_once(campaign: Campaign, beginning: str, admission: str) -> tuple[Rater, bool]:
    """Of clicks at once the database lets one make the rater, and all get that one; whether this was it."""
    # Whoever begins now, in this browser without its session, may be somebody else than long ago.
    Rater.objects.filter(~_is_recent(), begun_with=beginning).update(begun_with=None)
    made = {"team_id": campaign.team_id, "admission": admission}
    with suppress(IntegrityError):  # another has the made-up name
        return _make_once(beginning, made)
    return _make_once(beginning, made)


def _make_once(beginning: str, made: dict[str, Any]) -> tuple[Rater, bool]:
    named = made | {"pseudonym": new_pseudonym()}
    return Rater.objects.get_or_create(begun_with=beginning, defaults=named)


def begin_with_invite(request: HttpRequest, invite: Invite) -> Rater | None:
    """Exchanges the invite for a place in the session; None when its uses have just run out."""
    known = current_rater(request, invite.campaign)
    if known and invite.rater_id in (None, known.pk):
        return known
    rater = _use(invite, _beginning(request, invite.campaign))
    if rater:
        remember(request, invite.campaign, rater)
    return rater


@done_again
def _use(invite: Invite, beginning: str) -> Rater | None:
    with transaction.atomic():
        held = invite.hold()
        if held is None or held.token_hash != invite.token_hash:
            return None
        again = None if held.rater else _just_begun(beginning)
        if again:
            return again
        # Asked once the row is held: a condition of the UPDATE wouldn't be looked at again after waiting.
        if not Invite.objects.usable().filter(pk=held.pk).exists():
            return None
        rater, is_new = held.rater, True
        if rater is None:
            rater, is_new = _begin_once(held.campaign, beginning, Rater.Admission.LINK)
        if is_new:
            used = Invite.objects.filter(pk=held.pk)
            used.update(uses=F("uses") + 1, opened_at=Coalesce("opened_at", Now()))
        return rater


def begin_again(request: HttpRequest, token: str) -> Campaign | None:
    """By a link that admits nobody any more, because this browser has just begun with it: where it leads."""
    invite = Invite.objects.with_token(token).filter(rater=None, revoked_at=None).first()
    if invite is None:
        return None
    rater = _just_begun(_beginning(request, invite.campaign))
    if rater is None or not rater.is_active:
        return None
    remember(request, invite.campaign, rater)
    return invite.campaign


def begin_without_invite(request: HttpRequest, campaign: Campaign) -> Rater | None:
    """For campaigns that admit whoever is signed in, or anyone."""
    if campaign.admission == Campaign.Admission.OPEN:
        rater = current_rater(request, campaign) or _new_visitor(request, campaign)
    elif campaign.admission == Campaign.Admission.LOGIN and request.user.is_authenticated:
        rater, _ = Rater.objects.get_or_create(
            team_id=campaign.team_id,
            user=request.user,
            admission=Rater.Admission.LOGIN,
            defaults={"pseudonym": new_pseudonym()},
        )
    else:
        return None
    if not rater.is_active:
        return None
    remember(request, campaign, rater)
    return rater


class TooManyError(Exception):
    """So many raters have begun at this address within the hour that this may be a program."""


def _new_visitor(request: HttpRequest, campaign: Campaign) -> Rater:
    beginning = _beginning(request, campaign)
    if again := _just_begun(beginning):
        return again
    hour = timezone.now().strftime("%Y-%m-%dT%H")
    counted, counts = f"new-raters:{client_address(request)}:{hour}", caches["throttles"]
    begun = counts.get(counted, 0)
    if begun >= settings.NEW_RATERS_PER_HOUR:
        raise TooManyError
    rater, is_new = _begin_once(campaign, beginning, Rater.Admission.OPEN)
    if is_new:
        counts.set(counted, begun + 1, timeout=3600)
    return rater


def remember(request: HttpRequest, campaign: Campaign, rater: Rater) -> None:
    # A new session id, so that a cookie planted before "Begin" is worth nothing after it.
    request.session.cycle_key()
    session = request.session
    session[SESSION_KEY] = {**session.get(SESSION_KEY, {}), str(campaign.pk): rater.pk}
    session[GENERATIONS] = {**session.get(GENERATIONS, {}), str(rater.pk): rater.generation}
