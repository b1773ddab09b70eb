"""Battles that are drawn on purpose: repeats, for agreement of raters with themselves, and golds.

Neither is counted for its pair, and neither has a propensity: boards leave both out.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from random import Random

from django.db.models import QuerySet

from arena.battles.gold_models import Gold
from arena.battles.models import Battle
from arena.campaigns.models import Campaign
from arena.compiled import Compiled
from arena.corpus.models import Competitor, PromptSet
from arena.raters.models import Rater

# So many votes of the same rater lie between a battle and its repeat, and of how many the repeat is chosen.
REPEAT_AFTER, REPEAT_AMONG = 10, 40
GOLDS_LOOKED_AT = 200


def plan(campaign: Campaign, rater: Rater, kinds: list[str], random: Random, now: datetime) -> list[Battle]:
    """Of the kinds that were chosen, the golds and repeats that there are for this rater, not yet stored."""
    makers: dict[str, Callable[[Campaign, Rater, Random, int], list[Battle]]] = {
        Battle.Kind.GOLD: _golds,
        Battle.Kind.REPEAT: _repeats,
    }
    battles = []
    for kind, make in makers.items():
        if wanted := kinds.count(kind):
            battles += make(campaign, rater, random, wanted)
    for battle in battles:
        battle.campaign, battle.rater, battle.drawn_at = campaign, rater, now
    return battles


@Compiled
def _once(campaign: int, rater: int) -> QuerySet:
    """Battles of the rater that could come a second time, the latest first."""
    voted = Battle.objects.filter(
        campaign=campaign, rater=rater, kind=Battle.Kind.REGULAR, vote__isnull=False, vote__retraction=None
    )
    can_return = voted.filter(
        repeats=None,
        prompt__tombstone__isnull=True,
        prompt__prompt_set__status__in=PromptSet.FROZEN,
        response_a__tombstone__isnull=True,
        response_b__tombstone__isnull=True,
        competitor_a__status=Competitor.Status.ACTIVE,
        competitor_b__status=Competitor.Status.ACTIVE,
    )
    newest_first = can_return.order_by("-drawn_at", "-pk")
    return newest_first.only(*_SIDES)[REPEAT_AFTER : REPEAT_AFTER + REPEAT_AMONG]


_SIDES = ("prompt_id", "competitor_a_id", "competitor_b_id", "response_a_id", "response_b_id")


def _repeats(campaign: Campaign, rater: Rater, random: Random, wanted: int) -> list[Battle]:
    """Sides swapped. Where the rater has seen names, a second vote wouldn't be blind: none."""
    if campaign.names_were_shown:
        return []
    found = _once(campaign=campaign.pk, rater=rater.pk)
    return [
        Battle(
            kind=Battle.Kind.REPEAT,
            repeat_of=first,
            prompt_id=first.prompt_id,
            competitor_a_id=first.competitor_b_id,
            competitor_b_id=first.competitor_a_id,
            response_a_id=first.response_b_id,
            response_b_id=first.response_a_id,
        )
        for first in random.sample(found, min(wanted, len(found)))
    ]


def _golds(campaign: Campaign, rater: Rater, random: Random, wanted: int) -> list[Battle]:
    golds = Gold.objects.in_use().filter(
        campaign=campaign,
        prompt__tombstone__isnull=True,
        response_a__tombstone__isnull=True,
        response_b__tombstone__isnull=True,
    )
    new = golds.exclude(pk__in=Battle.objects.filter(rater=rater, gold__isnull=False).values("gold"))
    found = [
        gold
        for gold in new.select_related("prompt", "response_a", "response_b").only(
            "prompt__language", "response_a__competitor_id", "response_b__competitor_id"
        )[:GOLDS_LOOKED_AT]
        if not rater.languages or gold.prompt.language in ("", *rater.languages)
    ]
    return [_of_gold(gold, random) for gold in random.sample(found, min(wanted, len(found)))]


def _of_gold(gold: Gold, random: Random) -> Battle:
    sides = [gold.response_a, gold.response_b]
    first, second = sides if random.getrandbits(1) else reversed(sides)
    return Battle(
        kind=Battle.Kind.GOLD,
        gold=gold,
        prompt_id=gold.prompt_id,
        competitor_a_id=first.competitor_id,
        competitor_b_id=second.competitor_id,
        response_a_id=first.pk,
        response_b_id=second.pk,
    )
