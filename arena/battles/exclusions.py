"""Leaving votes out of the boards, and taking them in again. The rows stay, with who did it and why."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from arena.battles.models import Exclusion, Vote, left_out_by
from arena.campaigns.models import Campaign
from arena.raters.access import User
from arena.raters.models import Rater
from arena.settled import stamp

BY_HAND, UNBLINDED = "by_hand", "unblinded"
# A higher version marks a rule that decides differently from before.
UNBLINDED_VERSION = 1
KNEW_THE_NAMES = "cast by a member of the team who may see which model wrote what"


class AlreadyExcludedError(Exception):
    """An exclusion by the same rule is in force."""


class NoSuchVoteError(Exception):
    """The campaign has no vote on that battle."""


def exclude_rater(campaign: Campaign, rater: Rater, actor: User, reason: str) -> Exclusion:
    """All their votes in this campaign, those to come included."""
    return _store(campaign=campaign, rater=rater, rule=BY_HAND, actor=actor, reason=reason)


def exclude_vote(campaign: Campaign, battle: UUID, actor: User, reason: str) -> Exclusion:
    vote = Vote.objects.filter(battle__campaign=campaign, battle__public_id=battle).first()
    if vote is None:
        raise NoSuchVoteError
    return _store(campaign=campaign, vote=vote, rule=BY_HAND, actor=actor, reason=reason)


def exclude_unblinded(vote: Vote) -> Exclusion:
    """In the transaction that casts the vote, so that it never counts for a moment."""
    return Exclusion.objects.create(
        campaign_id=vote.battle.campaign_id,
        vote=vote,
        rule=UNBLINDED,
        rule_version=UNBLINDED_VERSION,
        reason=KNEW_THE_NAMES,
        since=vote.voted_at,
    )


def _store(**fields) -> Exclusion:
    try:
        with transaction.atomic():
            return Exclusion.objects.create(since=stamp(), **fields)
    except IntegrityError:
        raise AlreadyExcludedError from None


def revoke(exclusion: Exclusion, actor: User, reason: str) -> bool:
    """Its votes count again from now on; False when somebody has revoked it already."""
    still = Exclusion.objects.filter(pk=exclusion.pk, revoked_at=None)
    with transaction.atomic():
        return bool(still.update(revoked_at=stamp(), revoked_by=actor, revoked_because=reason))


def raters_of(campaign: Campaign) -> QuerySet[Rater]:
    """Whoever voted, with how often, and the exclusion in force that a person made."""
    in_force = Exclusion.objects.in_force().filter(
        campaign=campaign, rater=OuterRef("pk"), rule=BY_HAND, revoked_at=None
    )
    standing = Q(votes__battle__campaign=campaign, votes__retraction=None)
    return (
        Rater.objects.filter(team=campaign.team_id)
        .annotate(vote_count=Count("votes", filter=standing), exclusion=Subquery(in_force.values("pk")[:1]))
        .filter(vote_count__gt=0)
        .order_by("-vote_count", "pk")
    )


def in_force(campaign_id: int, at: datetime) -> Q | None:
    """The votes of a campaign that some exclusion leaves out at that time; None without any exclusion."""
    found = Exclusion.objects.in_force(at).filter(campaign=campaign_id)
    return left_out_by(found) if found.exists() else None


def counts_by_rule(votes: QuerySet[Vote], campaign_id: int, at: datetime | None = None) -> dict[str, int]:
    """How many of a campaign's votes each rule leaves out at that time; a vote counts under one rule only."""
    in_force = Exclusion.objects.in_force(at).filter(campaign=campaign_id)
    counts: dict[str, int] = {}
    before = Q(pk=None)
    for rule in in_force.order_by("rule").values_list("rule", flat=True).distinct():
        by_rule = left_out_by(in_force.filter(rule=rule))
        counts[rule] = votes.filter(by_rule).exclude(before).count()
        before |= by_rule
    return counts
