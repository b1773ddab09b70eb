"""A rater's own page: how many votes, how steady, what was said, and a link for another device."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from arena.battles.ballots import can_undo
from arena.battles.models import BattleNote, Outcome, Vote
from arena.battles.pair_models import PairCount
from arena.battles.reasons import KINDS, Why, why_of
from arena.campaigns.models import Campaign, Invite
from arena.raters.models import Rater

OTHER_SIDE = {Outcome.MODEL_A: Outcome.MODEL_B, Outcome.MODEL_B: Outcome.MODEL_A}
LABEL = Invite.OTHER_DEVICE


@dataclass(frozen=True)
class Steadiness:
    """Of the battles that came back, how many got the same vote."""

    came_back: int
    same: int


@dataclass(frozen=True)
class SoFar:
    votes: int
    steadiness: Steadiness
    given_to_all: int
    """In whole hundreds: a count that went up with each battle but a gold would tell golds."""


def so_far(campaign: Campaign, rater: Rater) -> SoFar:
    given = PairCount.objects.filter(campaign=campaign).aggregate(all=Sum("battles"))["all"] or 0
    votes = Vote.objects.of(rater, campaign).standing().count()
    return SoFar(votes, steadiness(campaign, rater), given - given % 100)


def steadiness(campaign: Campaign, rater: Rater) -> Steadiness:
    """Without a vote that may still be undone: a figure that moved with it would tell a repeat."""
    again = Vote.objects.of(rater, campaign).standing().repeats()
    if can_undo(campaign):
        newest = Vote.objects.of(rater, campaign).order_by("-pk").values("pk")[:1]
        again = again.exclude(pk__in=list(newest.values_list("pk", flat=True)))
    rows = again.filter(
        battle__repeat_of__vote__isnull=False, battle__repeat_of__vote__retraction=None
    ).values_list(
        "outcome",
        "battle__competitor_a",
        "battle__repeat_of__vote__outcome",
        "battle__repeat_of__competitor_a",
    )
    same = [is_same(outcome, first, swapped=a != first_a) for outcome, a, first, first_a in rows]
    return Steadiness(len(same), sum(same))


def is_same(outcome: str, first: str, *, swapped: bool) -> bool:
    """Whether both votes went to the same model; the sides of the two battles may differ."""
    return outcome == (OTHER_SIDE.get(Outcome(first), first) if swapped else first)


def say_why(votes: Iterable[Vote]) -> list[tuple[Vote, Why]]:
    """Each vote with what its rater said about it, in one query."""
    votes = list(votes)
    notes = BattleNote.objects.filter(battle__in=[vote.battle_id for vote in votes], kind__in=KINDS)
    said: dict[int, list[tuple[str, str]]] = {}
    for battle, kind, text in notes.order_by("pk").values_list("battle_id", "kind", "text"):
        said.setdefault(battle, []).append((kind, text))
    return [(vote, why_of(said.get(vote.battle_id, []))) for vote in votes]


class LinkEndedError(Exception):
    """The link that the team sent has run out or was made anew; a new one isn't the rater's to make."""


def may_make_link(campaign: Campaign, rater: Rater) -> bool:
    """After the close a link leads to votes; whoever has none would stand before a closed door."""
    is_closed = campaign.status == Campaign.Status.CLOSED
    return not is_closed or Vote.objects.of(rater, campaign).exists()


@dataclass(frozen=True)
class OwnLink:
    token: str
    ended_another: bool
    """Whether one that the rater had made before worked until now."""


def make_link(campaign: Campaign, rater: Rater) -> OwnLink:
    """A new personal link; the one the rater made before no longer works.

    It holds no longer than the link that the team sent.
    """
    with transaction.atomic():
        now = Rater.objects.select_for_update().get(pk=rater.pk)
        if not now.is_active or now.generation != rater.generation:
            raise LinkEndedError
        sent = (
            Invite.objects.filter(campaign=campaign, rater=rater).exclude(label=LABEL).order_by("-pk").first()
        )
        own = Invite.objects.filter(campaign=campaign, rater=rater, label=LABEL, revoked_at=None)
        ended = own.update(revoked_at=timezone.now())
        until = sent.expires_at if sent else None
        if until and until <= timezone.now():
            raise LinkEndedError
        _invite, token = Invite.issue(campaign, rater=rater, label=LABEL, expires_at=until)
    return OwnLink(token, ended_another=bool(ended))
