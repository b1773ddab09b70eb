"""Personal links: names in, links out. A token is shown once; the database keeps its hash."""

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from arena.campaigns.admission import new_pseudonym
from arena.campaigns.models import Campaign, Invite
from arena.raters.models import Rater

MOST_NAMES = 5_000
LONGEST_NAME = 120
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


class NamesRefusedError(ValueError):
    """No link was made; args[0] lists what is wrong, with line numbers."""


@dataclass(frozen=True)
class NewLink:
    name: str
    token: str
    expires_at: datetime | None


def read_names(text: str) -> list[str]:
    """One name a line, or the first column of a CSV file. Raises NamesRefusedError."""
    problems: list[str] = []
    names: dict[str, int] = {}
    for number, name in _first_cells(text.removeprefix("\ufeff")):
        if not name or (number == 1 and name.casefold() == "name"):
            continue
        if not name.isprintable():
            problems.append(_("line %(line)s: the name holds control characters") % {"line": number})
        elif len(name) > LONGEST_NAME:
            words = _("line %(line)s: a name may have at most %(most)s characters")
            problems.append(words % {"line": number, "most": LONGEST_NAME})
        elif name in names:
            words = _("line %(line)s: “%(name)s” stands in line %(first)s already")
            problems.append(words % {"line": number, "name": name, "first": names[name]})
        names.setdefault(name, number)
    if len(names) > MOST_NAMES:
        words = _("%(count)s names: at most %(most)s at a time")
        problems.append(words % {"count": len(names), "most": MOST_NAMES})
    if not names:
        problems.append(_("There is no name: write one on each line."))
    if problems:
        raise NamesRefusedError(problems)
    return list(names)


def _first_cells(text: str) -> Iterator[tuple[int, str]]:
    lines = csv.reader(io.StringIO(text, newline=""))
    try:
        for number, line in enumerate(lines, start=1):
            yield number, line[0].strip() if line else ""
    except csv.Error as error:
        words = _("line %(line)s: it can't be read as CSV (%(why)s)")
        raise NamesRefusedError([words % {"line": lines.line_num, "why": error}]) from error


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
    """A new link to the same place: votes and progress stay, the old link dies."""
    with transaction.atomic():
        if invite.revoked_at and invite.rater_id:
            Rater.objects.filter(pk=invite.rater_id).update(is_active=True)
        fresh, token = Invite.new(campaign=invite.campaign)
        invite.token_hash, invite.revoked_at = fresh.token_hash, None
        if invite.expires_at and invite.expires_at <= timezone.now():
            invite.expires_at = None
        invite.save(update_fields=["token_hash", "revoked_at", "expires_at"])
    return NewLink(invite.label, token, invite.expires_at)


def revoke(invites: QuerySet[Invite]) -> int:
    """No link of these opens any more. Who came by a personal one can't go on either; their votes stay."""
    with transaction.atomic():
        standing = list(invites.filter(revoked_at=None).values_list("pk", "rater"))
        Rater.objects.filter(pk__in=[rater for _pk, rater in standing if rater]).update(is_active=False)
        return Invite.objects.filter(pk__in=[pk for pk, _rater in standing]).update(revoked_at=timezone.now())
