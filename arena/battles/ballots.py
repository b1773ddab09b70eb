"""Casting, undoing, skipping and flagging. Votes are append-only: an undo is a row of its own."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from arena.battles.draw import count_again, draw_again, uncount
from arena.battles.exclusions import exclude_unblinded
from arena.battles.models import Battle, BattleNote, Retraction, Vote
from arena.campaigns.models import Campaign
from arena.compiled import Compiled, CompiledInsert
from arena.raters.models import Rater

NOBODY = 0  # no user has this number
MOST_FLAGS = 5


class RefusedError(Exception):
    """Nothing was recorded; `words` tell the rater why, `status` tells the browser."""

    status = 409
    words: str | Promise = ""


class AlreadyVotedError(RefusedError):
    words = _("That battle already has your vote. Here is the next one.")


class KeyUsedError(RefusedError):
    words = _("That vote was sent with the key of another one, so it wasn't recorded. Please vote again.")


class ExpiredError(RefusedError):
    status = 410
    words = _("That battle had been open for too long, so its vote wasn't recorded. Here is a new one.")


class GoneError(RefusedError):
    status = 410
    words = _(
        "That battle has been taken out since, so your vote on it wasn't recorded. Here is another one."
    )


class NotOpenError(RefusedError):
    words = _("The campaign isn't open at the moment, so nothing was recorded.")


class TooLateError(RefusedError):
    words = _("Only your last vote can be undone, and only until its models are revealed.")


class FlaggedOftenError(RefusedError):
    words = _("You have flagged that battle several times already; what you wrote is kept.")


# Whether the campaign is open and the battle was skipped, seen by the statement that stores the vote.
_OPEN = (
    "EXISTS(SELECT 1 FROM arena_battle AS battle JOIN arena_campaign AS campaign"
    " ON campaign.id = battle.campaign_id"
    " WHERE battle.id = arena_vote.battle_id AND campaign.status = 'open')"
)
_SKIPPED = (
    "EXISTS(SELECT 1 FROM arena_battlenote AS note"
    " WHERE note.battle_id = arena_vote.battle_id AND note.kind = 'skip')"
)
_store_votes = CompiledInsert(Vote, also=(_OPEN, _SKIPPED))
# The campaign first, as whoever opens it takes the two. Its lock is shared by all votes and draws, and is
# that of a row which points to it: only what opens, pauses or closes the campaign waits for it.
_HOLD = (
    "WITH campaign AS MATERIALIZED (SELECT id FROM arena_campaign WHERE id = %s FOR KEY SHARE)"
    " SELECT battle.id FROM arena_battle AS battle JOIN campaign ON campaign.id = battle.campaign_id"
    " WHERE battle.id = %s FOR NO KEY UPDATE OF battle"
)


@Compiled
def _open_ballot(battle: UUID, user: int) -> QuerySet[Battle]:
    return Battle.objects.with_ballot(user).filter(public_id=battle, rater__is_active=True)


def open_ballot(public_id: UUID, user_id: str | int | None) -> Battle | None:
    """The battle with all that a vote on it needs; `user_id`: whose session it is, if anybody's."""
    return next(iter(_open_ballot(battle=public_id, user=int(user_id or NOBODY))), None)


def cast(
    battle: Battle, rater: Rater, outcome: str, key: str, dwell_ms: int | None = None, layout: str = ""
) -> Vote:
    """Records the vote. The same key again gives the same vote; `battle` comes from `open_ballot()`."""
    if hasattr(battle, "vote"):
        return _replay(battle.vote, key)
    now = timezone.now()
    _refuse_late(battle, now)
    vote = Vote(
        battle=battle,
        rater=rater,
        outcome=outcome,
        idempotency_key=key,
        dwell_ms=dwell_ms,
        layout=layout,
        guide_id=battle.guide_id,
        voted_at=now,
    )
    vote.digest = digest(vote)
    try:
        _store(vote)
    except NotOpenError:
        battle.campaign.refresh_from_db()
        raise
    except IntegrityError:
        # Another request was faster, with this battle or with this key.
        first = Vote.objects.filter(battle_id=battle.pk).first()
        if first is None:
            raise KeyUsedError from None
        return _replay(first, key)
    return vote


def _refuse_late(battle: Battle, now: datetime) -> None:
    if not battle.campaign.is_open:
        raise NotOpenError
    if battle.is_gone:
        raise GoneError
    if battle.has_expired(now):
        raise ExpiredError


@transaction.atomic
def _store(vote: Vote) -> None:
    battle = vote.battle
    hold(battle)  # a skip that came between either stands by now or will find the vote
    ((is_open, was_skipped),) = _store_votes([vote])
    if not is_open:  # closed or paused since the battle was read
        raise NotOpenError
    if battle.is_unblinded:
        exclude_unblinded(vote)
    if was_skipped:
        count_again(battle)


def _replay(vote: Vote, key: str) -> Vote:
    if vote.idempotency_key != key:
        raise AlreadyVotedError
    return vote


def digest(vote: Vote, battle: Any = None) -> str:
    """sha256 over the vote's core as canonical JSON: sorted keys, no white space, UTF-8, times in UTC.

    `battle`: the vote's, or as much of it, where that is at hand without the row.
    """
    battle = battle or vote.battle
    core = {
        "battle": str(battle.public_id),
        "competitors": [battle.competitor_a_id, battle.competitor_b_id],
        "dwell_ms": vote.dwell_ms,
        "guide": vote.guide_id,
        "key": vote.idempotency_key,
        "layout": vote.layout,
        "outcome": str(vote.outcome),
        "prompt": battle.prompt_id,
        "rater": str(vote.rater.public_id),
        "responses": [battle.response_a_id, battle.response_b_id],
        "voted_at": vote.voted_at.astimezone(UTC).isoformat(timespec="microseconds"),
    }
    canonical = json.dumps(core, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def can_undo(campaign: Campaign) -> bool:
    """Whether the rater's last vote may still be taken back."""
    return campaign.is_open and not campaign.names_were_shown


def undo(battle: Battle, rater: Rater) -> Battle:
    """Takes back the rater's last vote; the pair comes back as a new battle. Twice is as good as once."""
    with transaction.atomic():
        hold_open(battle)  # a second undo at once finds the first one's
        last = (
            Vote.objects.of(rater, battle.campaign)
            .select_related("retraction", "battle__replaced_by")
            .order_by("-pk")
            .first()
        )
        if last is None or last.battle_id != battle.pk or not can_undo(battle.campaign):
            raise TooLateError
        if hasattr(last, "retraction"):
            return last.battle.replaced_by
        Retraction.objects.create(vote=last)
        return draw_again(last.battle)


def skip(battle: Battle, rater: Rater) -> None:
    """The battle isn't shown to this rater again; its pair counts as not drawn.

    Who goes back to it and votes after all has voted: a skip never takes a vote away, whichever is faster.
    """
    with transaction.atomic():
        hold_open(battle)
        if Vote.objects.filter(battle=battle).exists():
            raise AlreadyVotedError
        _note, created = BattleNote.objects.get_or_create(
            battle=battle, kind=BattleNote.Kind.SKIP, defaults={"rater": rater}
        )
        if created:
            uncount(battle)


def flag(battle: Battle, rater: Rater, text: str) -> None:
    """The same words once, and of other words so many."""
    with transaction.atomic():
        hold_open(battle)
        flags = BattleNote.objects.filter(battle=battle, kind=BattleNote.Kind.FLAG)
        if flags.filter(text=text).exists():
            return
        if flags.count() >= MOST_FLAGS:
            raise FlaggedOftenError
        flags.create(battle=battle, rater=rater, kind=BattleNote.Kind.FLAG, text=text)


def hold_open(battle: Battle) -> None:
    """Holds the battle for whatever is said about it besides a vote, which is taken as long as votes are."""
    hold(battle)
    battle.campaign.refresh_from_db()  # closed or paused, or its names shown, since the battle was read
    if not battle.campaign.is_open:
        raise NotOpenError


def hold(battle: Battle) -> None:
    """Until the end of the transaction nobody else says anything about it, and its campaign's state stays.

    Rows may still point to both.
    """
    if connection.features.has_select_for_update:  # elsewhere a transaction writes alone
        with connection.cursor() as cursor:
            cursor.execute(_HOLD, [battle.campaign_id, battle.pk])
