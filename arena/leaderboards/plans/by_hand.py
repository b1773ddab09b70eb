"""Votes that the team left out by hand, or took in again, after the first vote: numbers could be seen then.

What the program leaves out by rules of its own was fixed beforehand, and is none of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from arena.battles.exclusions import BY_HAND
from arena.battles.models import Exclusion, Vote, left_out_by
from arena.leaderboards.models import Leaderboard, Snapshot
from arena.leaderboards.plans.registration import from_the_first, votes_before


@dataclass(frozen=True)
class ByHand:
    """votes: those left out · raters: whose every vote is · taken_in: exclusions taken back."""

    votes: int
    raters: int
    taken_in: int
    first: datetime


def by_hand_since_votes(snapshot: Snapshot) -> ByHand | None:
    """As of the snapshot, of a board that counts people's votes; None: nothing was chosen so."""
    board = snapshot.leaderboard
    if board.source not in (Leaderboard.Source.RATERS, Leaderboard.Source.COMBINED):
        return None
    early, late = _exclusions_of(board)
    made = [one for one in late if one.since <= snapshot.cutoff]
    revoked = [one for one in (*early, *late) if _revoked_by(one, snapshot.cutoff)]
    back = from_the_first(revoked, lambda one: one.revoked_at or one.since, _votes_came(board))
    standing = [one for one in made if not _revoked_by(one, snapshot.cutoff)]
    votes = _votes_of(standing, snapshot, is_all=not early) if standing else 0
    if not votes and not back:
        return None
    moments = [one.since for one in standing] if votes else [one.revoked_at or one.since for one in back]
    raters = len({one.rater_id for one in standing} - {None})
    return ByHand(votes, raters, len(back), min(moments))


def _exclusions_of(board: Leaderboard) -> tuple[list[Exclusion], list[Exclusion]]:
    """Made before the first vote, and after it; asked once of boards that share a campaign."""
    known = vars(board.campaign)
    if "_by_hand" not in known:
        made = Exclusion.objects.filter(campaign=board.campaign_id, rule=BY_HAND)
        late = from_the_first(made, lambda one: one.since, _votes_came(board))
        known["_by_hand"] = [one for one in made if one not in late], late
    early_ones, late_ones = known["_by_hand"]
    return early_ones, late_ones


def _votes_came(board: Leaderboard) -> Callable[[datetime], bool]:
    return lambda at: votes_before(board, at).exists()


def _revoked_by(one: Exclusion, at: datetime) -> bool:
    return one.revoked_at is not None and one.revoked_at <= at


def _votes_of(exclusions: list[Exclusion], snapshot: Snapshot, *, is_all: bool) -> int:
    """is_all: of those by hand, whose votes the snapshot has counted."""
    if is_all:
        return int(snapshot.counts["left_out"].get("excluded_by_hand", 0))
    votes = Vote.objects.filter(
        Q(retraction=None) | Q(retraction__at__gt=snapshot.cutoff),
        left_out_by(Exclusion.objects.filter(pk__in=[one.pk for one in exclusions])),
        battle__campaign=snapshot.leaderboard.campaign_id,
        pk__lte=snapshot.counts["last_id"],
        voted_at__lte=snapshot.cutoff,
    )
    return votes.rated().count()


def clause_by_hand(found: ByHand) -> str:
    """Beside how many votes were cast."""
    if not found.votes:
        return _("with votes left out and taken in again by hand after the first vote")
    words = ngettext(
        "%(n)s of all votes left out by hand after the first vote",
        "%(n)s of all votes left out by hand after the first vote",
        found.votes,
    )
    return words % {"n": f"{found.votes:,}"}


def say_by_hand(found: ByHand) -> str:
    """As sentences, of a registered board."""
    told = []
    if found.votes:
        words = ngettext(
            "%(n)s vote was left out by hand after the first vote, from %(day)s on",
            "%(n)s votes were left out by hand after the first vote, from %(day)s on",
            found.votes,
        )
        told.append(words % {"n": f"{found.votes:,}", "day": _day(found)})
        if found.raters:
            words = ngettext(
                "all those of %(n)s rater among them", "all those of %(n)s raters among them", found.raters
            )
            told.append(words % {"n": f"{found.raters:,}"})
    if found.taken_in:
        words = ngettext(
            "%(n)s exclusion by hand was taken back",
            "%(n)s exclusions by hand were taken back",
            found.taken_in,
        )
        told.append(words % {"n": f"{found.taken_in:,}"})
    return _("%(what)s: which votes count was decided when numbers could be seen.") % {
        "what": _(", ").join(told)
    }


def _day(found: ByHand) -> str:
    return f"{found.first.astimezone(UTC):%Y-%m-%d}"
