"""How a browser becomes a rater of a campaign, and stays one: the session maps campaign to rater."""

import secrets

from django.conf import settings
from django.core.cache import caches
from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce, Now
from django.http import HttpRequest
from django.utils import timezone

from arena.campaigns.models import Campaign, Invite
from arena.raters.addresses import client_address
from arena.raters.models import Rater

SESSION_KEY = "raters"
GENERATIONS = "generations"  # of those raters when they began, by their number


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


def begin_with_invite(request: HttpRequest, invite: Invite) -> Rater | None:
    """Exchanges the invite for a place in the session; None when its uses have just run out."""
    known = current_rater(request, invite.campaign)
    if known and invite.rater_id in (None, known.pk):
        return known
    with transaction.atomic():
        # Beside a new link: whoever comes first holds the rater, and the other finds what was made of it.
        rater = Rater.objects.select_for_update().filter(pk=invite.rater_id).first()
        used = {"uses": F("uses") + 1, "opened_at": Coalesce("opened_at", Now())}
        if not Invite.objects.usable().filter(pk=invite.pk, token_hash=invite.token_hash).update(**used):
            return None
        rater = rater or Rater.objects.create(
            team_id=invite.campaign.team_id, pseudonym=new_pseudonym(), admission=Rater.Admission.LINK
        )
    remember(request, invite.campaign, rater)
    return rater


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
    hour = timezone.now().strftime("%Y-%m-%dT%H")
    counted, counts = f"new-raters:{client_address(request)}:{hour}", caches["throttles"]
    begun = counts.get(counted, 0)
    if begun >= settings.NEW_RATERS_PER_HOUR:
        raise TooManyError
    counts.set(counted, begun + 1, timeout=3600)
    return Rater.objects.create(
        team_id=campaign.team_id, pseudonym=new_pseudonym(), admission=Rater.Admission.OPEN
    )


def remember(request: HttpRequest, campaign: Campaign, rater: Rater) -> None:
    # A new session id, so that a cookie planted before "Begin" is worth nothing after it.
    request.session.cycle_key()
    session = request.session
    session[SESSION_KEY] = {**session.get(SESSION_KEY, {}), str(campaign.pk): rater.pk}
    session[GENERATIONS] = {**session.get(GENERATIONS, {}), str(rater.pk): rater.generation}
