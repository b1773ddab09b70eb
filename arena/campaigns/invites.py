"""Personal links: names in, links out. A token is shown once; the database keeps its hash."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from arena.campaigns.admission import new_pseudonym
from arena.campaigns.models import Campaign, Invite
from arena.campaigns.names_file import NamesRefusedError, read_name
from arena.raters.models import Rater

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class NewLink:
    name: str
    token: str
    expires_at: datetime | None


def issue_personal(
    campaign: Campaign, names: Iterable[str], expires_at: datetime | None = None
) -> list[NewLink]:
    """A link and a rater for each name, or none at all. Everywhere else raters have made-up names."""
    names = list(names)
    with transaction.atomic():
        Campaign.objects.select_for_update().get(pk=campaign.pk)  # two lists at once could share a name
        _refuse_known(campaign, names)
        raters = Rater.objects.bulk_create(
            Rater(team_id=campaign.team_id, pseudonym=new_pseudonym(), admission=Rater.Admission.LINK)
            for _name in names
        )
        issued = [
            Invite.new(campaign=campaign, label=name, rater=rater, expires_at=expires_at)
            for name, rater in zip(names, raters, strict=True)
        ]
        Invite.objects.bulk_create(invite for invite, _token in issued)
    return [NewLink(invite.label, token, expires_at) for invite, token in issued]


def _refuse_known(campaign: Campaign, names: list[str]) -> None:
    personal = campaign.invites.filter(rater__isnull=False)
    known = set(personal.values_list("label", flat=True)) & set(names)
    words = _("“%(name)s” has a link already; make it anew in the roster.")
    if known:
        raise NamesRefusedError([words % {"name": name} for name in names if name in known])


def reissue(invite: Invite) -> NewLink:
    """A new link to the same place: votes and progress stay. Whoever came by the old one is out.

    So are the links to other devices that were made in its place.
    """
    with transaction.atomic():
        if invite.rater:
            # First, for it waits for who is just coming in or making a link: both then are out.
            Rater.objects.filter(pk=invite.rater_id).update(is_active=True, generation=F("generation") + 1)
            others = invite.rater.invites.filter(revoked_at=None).exclude(pk=invite.pk)
            others.update(revoked_at=timezone.now())
        fresh, token = Invite.new(campaign=invite.campaign)
        invite.token_hash, invite.revoked_at = fresh.token_hash, None
        if invite.expires_at and invite.expires_at <= timezone.now():
            invite.expires_at = None
        invite.save(update_fields=["token_hash", "revoked_at", "expires_at"])
    return NewLink(invite.label, token, invite.expires_at)


def revoke(invites: QuerySet[Invite]) -> int:
    """No link of these opens any more, nor another that leads to the same person.

    Who came by a personal one can't go on either; their votes stay.
    """
    with transaction.atomic():
        standing = list(invites.filter(revoked_at=None).values_list("pk", "rater"))
        raters = [rater for _pk, rater in standing if rater]
        Rater.objects.filter(pk__in=raters).update(is_active=False, generation=F("generation") + 1)
        same = Q(pk__in=[pk for pk, _rater in standing]) | Q(rater__in=raters)
        return Invite.objects.filter(same, revoked_at=None).update(revoked_at=timezone.now())


def rename(invite: Invite, name: str) -> None:
    """Raises NamesRefusedError if it is no name or another's."""
    name = read_name(name)
    if invite.rater_id is None:
        raise NamesRefusedError([_("A group link has no name on the roster.")])
    with transaction.atomic():
        campaign = Campaign.objects.select_for_update().get(pk=invite.campaign_id)
        if campaign.invites.filter(rater__isnull=False, label=name).exclude(pk=invite.pk).exists():
            raise NamesRefusedError([_("“%(name)s” stands on the roster already.") % {"name": name}])
        invite.label = name
        invite.save(update_fields=["label"])


def remove(invite: Invite) -> bool:
    """Takes whoever never came off the roster, link and all; False if they have begun, for votes stay."""
    with transaction.atomic():
        fresh = Invite.objects.select_for_update().get(pk=invite.pk)
        if fresh.rater is None or fresh.opened_at or fresh.rater.battles.exists():
            return False
        fresh.rater.delete()  # the link goes with it
    return True
