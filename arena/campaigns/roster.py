"""Who rates in a campaign and how far they are. For its admins alone: no rater sees another's name."""

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Min, Q

from arena.campaigns.invites import NewLink
from arena.campaigns.models import Campaign, Invite
from arena.raters.models import Rater
from arena.spreadsheet_text import escape

# These came with a file and never opened a link.
FROM_FILES = (Rater.Admission.RECORDED, Rater.Admission.SIMULATED)
COLUMNS = (
    "name",
    "pseudonym",
    "came_by",
    "state",
    "opened",
    "started",
    "last_seen",
    "votes",
    "asked",
    "done",
)


@dataclass(frozen=True)
class Entry:
    """`invite` is the personal link; whoever came by another way has none, and no name but a made-up one.

    Where the team sent none it is the one that the rater made: it can be revoked like any other.
    """

    rater: Rater
    invite: Invite | None
    opened_at: datetime | None
    started_at: datetime | None
    seen_at: datetime | None
    votes: int
    quota: int | None
    has_other_device: bool = False
    """Whether a link that the rater made stands beside it."""

    @property
    def was_sent(self) -> bool:
        return self.invite is not None and self.invite.label != Invite.OTHER_DEVICE

    @property
    def name(self) -> str:
        return self.invite.label if self.invite and self.was_sent else ""

    @property
    def called(self) -> str:
        return self.name or self.rater.pseudonym

    @property
    def state(self) -> str:
        if self.invite and self.invite.state != "valid":
            return self.invite.state
        if not self.rater.is_active:
            return "suspended"
        if self.is_done:
            return "done"
        return "started" if self.started_at else "opened" if self.opened_at else "invited"

    @property
    def is_done(self) -> bool:
        return self.quota is not None and self.votes >= self.quota


@dataclass(frozen=True)
class Work:
    rater: int
    opened_at: datetime | None
    started_at: datetime | None
    seen_at: datetime | None
    votes: int


def roster(campaign: Campaign) -> list[Entry]:
    """Those to whom a personal link was sent by name, then the others, latest first."""
    work = _work_of(campaign)
    personal = campaign.invites.filter(rater__isnull=False).select_related("rater").order_by("label", "pk")
    sent = {one.rater_id: one for one in personal if one.label != Invite.OTHER_DEVICE}
    made = {one.rater_id: one for one in personal if one.label == Invite.OTHER_DEVICE and not one.revoked_at}
    others = Rater.objects.filter(pk__in=(work.keys() | made.keys()) - sent.keys())
    named = [
        _entry(campaign, one.rater, one, work, has_other_device=one.rater_id in made)
        for one in sent.values()
        if one.rater
    ]
    rest = [
        _entry(campaign, rater, made.get(rater.pk), work)
        for rater in others.exclude(admission__in=FROM_FILES)
    ]
    return named + sorted(rest, key=_latest, reverse=True)


def _latest(entry: Entry) -> float:
    return entry.seen_at.timestamp() if entry.seen_at else 0.0


def _entry(
    campaign: Campaign,
    rater: Rater,
    invite: Invite | None,
    work: dict[int, Work],
    *,
    has_other_device: bool = False,
) -> Entry:
    done = work.get(rater.pk, Work(rater.pk, None, None, None, 0))
    return Entry(
        rater=rater,
        invite=invite,
        opened_at=(invite.opened_at if invite else None) or done.opened_at,
        started_at=done.started_at,
        seen_at=done.seen_at or (invite.opened_at if invite else None),
        votes=done.votes,
        quota=campaign.quota,
        has_other_device=has_other_device,
    )


def _work_of(campaign: Campaign) -> dict[int, Work]:
    battles = campaign.battles.filter(rater__isnull=False).exclude(rater__admission__in=FROM_FILES)
    voted = Q(vote__isnull=False, vote__retraction=None)
    rows = (
        battles.order_by()
        .values_list("rater")
        .annotate(
            first_drawn=Min("drawn_at"),
            last_drawn=Max("drawn_at"),
            first_vote=Min("vote__voted_at"),
            last_vote=Max("vote__voted_at"),
            votes=Count("pk", filter=voted),
        )
    )
    return {
        rater: Work(rater, opened, started, max(drawn, voted_at or drawn), votes)
        for rater, opened, drawn, started, voted_at, votes in rows
    }


def from_files(campaign: Campaign) -> int:
    """How many raters came with a file of votes."""
    recorded = campaign.battles.filter(rater__admission__in=FROM_FILES)
    return recorded.order_by().values("rater").distinct().count()


def as_csv(entries: Iterable[Entry]) -> str:
    return _csv(COLUMNS, map(_row, entries))


def _row(entry: Entry) -> tuple:
    times = (entry.opened_at, entry.started_at, entry.seen_at)
    asked = "" if entry.quota is None else entry.quota
    done = "" if entry.quota is None else int(entry.is_done)
    came_by = "personal link" if entry.was_sent else entry.rater.admission
    who = (entry.name, entry.rater.pseudonym, came_by, entry.state)
    when = (moment.isoformat(timespec="seconds") if moment else "" for moment in times)
    return *who, *when, entry.votes, asked, done


def links_as_csv(links: Iterable[NewLink], address: str) -> str:
    """`address` is a link's beginning, up to its token."""
    rows = (
        (link.name, f"{address}{link.token}/", link.expires_at.isoformat() if link.expires_at else "")
        for link in links
    )
    return _csv(("name", "link", "valid_until"), rows)


def _csv(head: tuple[str, ...], rows: Iterable[tuple]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(head)
    writer.writerows(_plain(row) for row in rows)
    return text.getvalue()


def _plain(row: tuple) -> Iterator:
    for cell in row:
        yield escape(cell) if isinstance(cell, str) else cell
