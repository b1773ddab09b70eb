"""Which battles a rater is given, and the drawing of new ones.

A draw looks at a few prompts at random, however many prompts and votes there are: it takes the first on
which some pair can still meet for this rater, then the pair. Taking the first that will do of prompts in
random order is a uniform choice among those that will do.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import F, QuerySet, Subquery
from django.db.models.expressions import Combinable
from django.db.models.functions import Greatest
from django.utils import timezone

from arena.battles import desks, pairing, planned, targets
from arena.battles.models import Battle
from arena.battles.pair_models import PairCount
from arena.campaigns.models import Campaign
from arena.compiled import Compiled, CompiledInsert
from arena.raters.models import Rater

# Battles a rater holds at most. The page gets two: the one on the screen and the one it paints next. When
# no other waits behind them, two more are drawn together.
LEASES, ON_PAGE = 4, 2
# Two tabs of one rater may draw the same battle at once; the database refuses the second, which draws again.
ATTEMPTS = 5

_random = secrets.SystemRandom()
_store_battles = CompiledInsert(Battle)


class OvertakenError(Exception):
    """Another request of this rater has drawn meanwhile: what they may meet has to be looked at anew."""


def hand_out(campaign: Campaign, rater: Rater, wanted: int = LEASES) -> list[Battle]:
    """The first of the rater's open battles, in the order they are shown; tops them up to `wanted`."""
    if not campaign.is_open or wanted < 1:
        return []
    return _until_alone(lambda: _hand_out(campaign, rater, wanted))


def _until_alone(act: Callable[[], list[Battle]]) -> list[Battle]:
    for _attempt in range(ATTEMPTS - 1):
        with suppress(OvertakenError, IntegrityError):
            return act()
    return act()


@Compiled
def _held(rater: int, campaign: int, now: datetime) -> QuerySet[Battle]:
    """The newest battle comes along in the same query: nothing can be drawn between the two looks."""
    waiting = Battle.objects.waiting(rater, campaign, now).with_texts()
    return waiting.annotate(latest=Subquery(_newest_first(rater)[:1]))[: ON_PAGE + 1]


def _hand_out(campaign: Campaign, rater: Rater, wanted: int) -> list[Battle]:
    def look() -> list[Any]:
        return _held(rater=rater.pk, campaign=campaign.pk, now=timezone.now())

    waiting = look()
    latest = waiting[0].latest if waiting else _latest(rater)
    if not waiting:
        waiting = look()  # what was drawn between the two looks shows now
    held = len(waiting)
    missing = wanted - held if held <= ON_PAGE else 0
    while missing > 0 and (drawn := _draw_once(campaign, rater, missing, latest)):
        missing -= len(drawn)
        held += len(drawn)
        latest = max(battle.pk for battle in drawn)
    enough = min(wanted, ON_PAGE)
    return waiting[:enough] if len(waiting) >= enough or held == len(waiting) else look()[:enough]


def draw(campaign: Campaign, rater: Rater, wanted: int = 1) -> list[Battle]:
    """New battles for this rater, at most `wanted`; none when there is nothing left that they may meet."""
    return _until_alone(lambda: _draw_once(campaign, rater, wanted, _latest(rater)))


def _newest_first(rater_id: int) -> QuerySet[Battle, int]:
    return Battle.objects.filter(rater=rater_id).order_by("-pk").values_list("pk", flat=True)


@Compiled
def _newest(rater: int) -> QuerySet[Battle, int]:
    return _newest_first(rater)[:1]


def _latest(rater: Rater) -> int | None:
    return next(iter(_newest(rater=rater.pk)), None)


def _draw_once(campaign: Campaign, rater: Rater, wanted: int, latest: int | None) -> list[Battle]:
    now = timezone.now()
    if campaign.has_ended(now):
        return []
    kinds = [
        pairing.choose_kind(campaign.gold_share, campaign.repeat_share, _random) for _slot in range(wanted)
    ]
    on_purpose = planned.plan(campaign, rater, kinds, _random, now)
    battles = _regular(campaign, rater, wanted - len(on_purpose), now) if len(on_purpose) < wanted else []
    for battle in on_purpose:
        battles.insert(_random.randrange(len(battles) + 1), battle)
    return _place(battles, rater, latest) if battles else []


def _regular(campaign: Campaign, rater: Rater, wanted: int, now: datetime) -> list[Battle]:
    """Not yet stored."""
    for prompts in desks.prompts_in_random_order(campaign, _random):
        chosen, met = _possible(campaign, rater, prompts, wanted)
        if chosen:
            chances = desks.chances_of(campaign, chosen.values())
            return [
                _battle(campaign, rater, prompt, pairs, chances, met[prompt], now)
                for prompt, pairs in chosen.items()
            ]
    return []


def _possible(
    campaign: Campaign, rater: Rater, prompts: list[int], wanted: int
) -> tuple[dict[int, pairing.Possible], Mapping[int, desks.Desk]]:
    """The first `wanted` prompts on which some can meet for this rater; and what the rater met there."""
    texts = desks.drawable_texts(campaign, rater, prompts)
    met = desks.desks_of(campaign, rater, list(texts))
    full, closed = targets.full_pairs(campaign, texts), targets.full_prompts(campaign, texts)
    possible: dict[int, pairing.Possible] = {}
    for prompt in prompts:
        if len(possible) < wanted and prompt in texts and prompt not in closed:
            away = met[prompt].met | full.get(prompt, set())
            if pairs := pairing.pairs_that_can_meet(texts[prompt], away, met[prompt].revealed):
                possible[prompt] = pairs
    return possible, met


def _battle(
    campaign: Campaign,
    rater: Rater,
    prompt: int,
    possible: pairing.Possible,
    chances: desks.Chances,
    desk: desks.Desk,
    now: datetime,
) -> Battle:
    """Chooses pair and sides. The count goes up, so that the next of a row is drawn as if this one stood."""
    pair, propensity = pairing.choose_pair(possible, chances.counts, _random, chances.weights)
    a, b = pairing.choose_texts(possible[pair], _random)
    lapsed = desk.lapsed.get(pair)
    if lapsed is None:
        chances.counts[pair] = chances.counts.get(pair, 0) + 1
    return Battle(
        campaign=campaign,
        rater=rater,
        prompt_id=prompt,
        competitor_a_id=a.competitor,
        competitor_b_id=b.competitor,
        response_a_id=a.response,
        response_b_id=b.response,
        propensity=propensity,
        replaces_id=lapsed,
        drawn_at=now,
    )


def _place(battles: list[Battle], rater: Rater, latest: int | None) -> list[Battle]:
    """Stores the battles and counts their pairs.

    Two draws at once could hand out more than a desk holds, or a text that the other's vote reveals: only
    the one that still finds the rater's `latest` battle places its own.
    """
    # What comes back after its lease ran out was counted when it was first drawn.
    counted = [battle for battle in battles if _is_counted(battle) and battle.replaces_id is None]
    pairs = Counter(battle.pair for battle in counted)
    for battle in battles:
        battle.expires_at = battle.drawn_at + timedelta(hours=settings.BATTLE_HOURS)
    with transaction.atomic():
        if connection.features.has_select_for_update:  # elsewhere a transaction writes alone
            Rater.objects.select_for_update().get(pk=rater.pk)
        if pairs:
            alone = PairCount.objects.add(battles[0].campaign_id, pairs, (rater.pk, latest or 0))
        else:
            alone = _latest(rater) == latest
        if not alone:
            raise OvertakenError
        _store_battles(battles)
    return battles


def _is_counted(battle: Battle) -> bool:
    return battle.kind == Battle.Kind.REGULAR


def draw_again(battle: Battle) -> Battle:
    """The same prompt and pair as a new battle, with its sides redrawn, in place of an undone one.

    A repeat's too: sides that never change would tell its rater what it is.
    """
    now = timezone.now()
    names = ("a", "b") if secrets.randbits(1) else ("b", "a")
    return Battle.objects.create(
        campaign_id=battle.campaign_id,
        kind=battle.kind,
        rater_id=battle.rater_id,
        prompt_id=battle.prompt_id,
        competitor_a_id=getattr(battle, f"competitor_{names[0]}_id"),
        competitor_b_id=getattr(battle, f"competitor_{names[1]}_id"),
        response_a_id=getattr(battle, f"response_{names[0]}_id"),
        response_b_id=getattr(battle, f"response_{names[1]}_id"),
        propensity=battle.propensity,
        replaces=battle,
        repeat_of_id=battle.repeat_of_id,
        gold_id=battle.gold_id,
        drawn_at=now,
        expires_at=now + timedelta(hours=settings.BATTLE_HOURS),
    )


def uncount(battle: Battle) -> None:
    """As if it had never been drawn; a vote on it all the same counts it again."""
    _change_count(battle, Greatest(F("battles") - 1, 0))


def count_again(battle: Battle) -> None:
    _change_count(battle, F("battles") + 1)


def _change_count(battle: Battle, battles: Combinable) -> None:
    if _is_counted(battle):
        low, high = battle.pair
        counts = PairCount.objects.filter(campaign_id=battle.campaign_id, low_id=low, high_id=high)
        counts.update(battles=battles)
