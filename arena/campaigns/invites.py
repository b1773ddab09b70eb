"""Personal links: names in, links out. A token is shown once; the database keeps its hash."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from arena.broken_off import done_again
from arena.campaigns.admission import new_pseudonym
from arena.campaigns.models import Campaign, Invite
from arena.campaigns.names_file import NamesRefusedError, read_name
from arena.raters.models import Rater


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
        campaign.hold()  # two lists at once could share a name
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


class RemovedError(Exception):
    """Somebody has just taken it off the roster, link and all."""


@done_again
def reissue(invite: Invite) -> NewLink:
    """A new link to the same place: votes and progress stay. Whoever came by the old one is out.

    So are the links to other devices that were made in its place. Raises RemovedError.
    """
    with transaction.atomic():
        held = _held(invite)  # waits for who is just coming in or making a link: both then are out
        if held.rater:
            Rater.objects.filter(pk=held.rater_id).update(is_active=True, generation=F("generation") + 1)
            others = held.rater.invites.filter(revoked_at=None).exclude(pk=held.pk)
            others.update(revoked_at=timezone.now())
        fresh, token = Invite.new(campaign=held.campaign)
        held.token_hash, held.revoked_at = fresh.token_hash, None
        if held.expires_at and held.expires_at <= timezone.now():
            held.expires_at = None
        held.save(update_fields=["token_hash", "revoked_at", "expires_at"])
    return NewLink(held.label, token, held.expires_at)


@done_again
def revoke(invites: QuerySet[Invite]) -> int:
    """No link of these opens any more, nor another that leads to the same person.

    Who came by a personal one can't go on either; their votes stay.
    """
    with transaction.atomic():
        standing = list(invites.filter(revoked_at=None).values_list("pk", "rater"))
        raters = sorted({rater for _pk, rater in standing if rater})
        list(Rater.objects.select_for_update().filter(pk__in=raters).order_by("pk").values_list("pk"))
        Rater.objects.filter(pk__in=raters).update(is_active=False, generation=F("generation") + 1)
        same = Q(pk__in=[pk for pk, _rater in standing]) | Q(rater__in=raters)
        return Invite.objects.filter(same, revoked_at=None).update(revoked_at=timezone.now())


@done_again
def rename(invite: Invite, name: str) -> None:
    """Raises NamesRefusedError if it is no name or another's, RemovedError."""
    name = read_name(name)
    if invite.rater_id is None:
        raise NamesRefusedError([_("A group link has no name on the roster.")])
    with transaction.atomic():
        campaign = invite.campaign.hold()
        held = _held(invite)
        if campaign.invites.filter(rater__isnull=False, label=name).exclude(pk=held.pk).exists():
            raise NamesRefusedError([_("“%(name)s” stands on the roster already.") % {"name": name}])
        held.label = name
        held.save(update_fields=["label"])


@done_again
def remove(invite: Invite) -> bool:
    """Takes whoever never came off the roster, link and all; False if they have begun, for votes stay.

    Raises RemovedError.
    """
    with transaction.atomic():
        held = _held(invite)
        if held.rater is None or held.opened_at or held.rater.battles.exists():
            return False
        held.rater.delete()  # the link goes with it
    return True


def _held(invite: Invite) -> Invite:
    held = invite.hold()
    if held is None:
        raise RemovedError
    return held
