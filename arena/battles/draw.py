"""Which battles a rater is given, and the drawing of new ones.

A draw looks at a few prompts at random, however many prompts and votes there are: it takes the first on
which some pair can still meet for this rater, then the pair. Taking the first that will do of prompts in
random order is a uniform choice among those that will do.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Max, Min, Q
from django.db.models.functions import Greatest
from django.utils import timezone

from arena.battles import pairing
from arena.battles.models import Battle, PairCount
from arena.battles.reveal import names_are_out
from arena.campaigns.models import Campaign
from arena.campaigns.opening import drawable_responses
from arena.corpus.models import Prompt, PromptSet
from arena.raters.models import Rater

# Battles a rater holds at once. The page gets two: the one on the screen and the one it paints next.
# The third is sent with the next answer.
LEASES, ON_PAGE = 3, 2
FIRST_LOOK, SECOND_LOOK, LOOK = 4, 32, 200  # prompts looked at
# Two tabs of one rater may draw the same battle at once; the database refuses the second, which draws again.
ATTEMPTS = 5

_random = secrets.SystemRandom()


@dataclass
class Desk:
    """What one rater has already met on a prompt."""

    met: set[pairing.Pair] = field(default_factory=set)
    revealed: set[int] = field(default_factory=set)
    lapsed: dict[pairing.Pair, int] = field(default_factory=dict)


def hand_out(campaign: Campaign, rater: Rater, wanted: int = LEASES) -> list[Battle]:
    """The first of the rater's open battles, in the order they are shown; tops them up to `wanted`."""
    if not campaign.is_open or wanted < 1:
        return []
    texts = Battle.objects.open_for(rater, campaign).with_texts()
    waiting = list(texts[:wanted])
    for _ in range(wanted - len(waiting)):
        if draw(campaign, rater) is None:
            break
    enough = min(wanted, ON_PAGE)
    return waiting[:enough] if len(waiting) >= enough else list(texts[:enough])


def draw(campaign: Campaign, rater: Rater) -> Battle | None:
    """A new battle for this rater; None when there is nothing left that they may meet."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return _draw_once(campaign, rater)
        except IntegrityError:
            if attempt == ATTEMPTS:
                raise
    return None


def _draw_once(campaign: Campaign, rater: Rater) -> Battle | None:
    for prompts in _prompts_in_random_order(campaign):
        texts = _drawable_texts(campaign, rater, prompts)
        desks = _desks(campaign, rater, [prompt for prompt in prompts if prompt in texts])
        for prompt in prompts:
            desk = desks.get(prompt, Desk())
            possible = pairing.pairs_that_can_meet(texts.get(prompt, ()), desk.met, desk.revealed)
            if possible:
                pair, propensity = pairing.choose_pair(possible, _counts(campaign, possible), _random)
                sides = pairing.choose_texts(possible[pair], _random)
                return _place(campaign, rater, prompt, sides, propensity, desk.lapsed.get(pair))
    return None


def _prompts_in_random_order(campaign: Campaign) -> Iterator[list[int]]:
    prompts = Prompt.objects.filter(
        prompt_set__campaigns=campaign, prompt_set__status=PromptSet.Status.PUBLISHED
    )
    spans = prompts.values("prompt_set").annotate(first=Min("pk"), last=Max("pk")).order_by()
    sample = pairing.sample_ids(spans.values_list("first", "last"), FIRST_LOOK + SECOND_LOOK, _random)
    yield sample[:FIRST_LOOK]
    yield sample[FIRST_LOOK:]
    rest = list(prompts.exclude(pk__in=sample).values_list("pk", flat=True))
    _random.shuffle(rest)
    for start in range(0, len(rest), LOOK):
        yield rest[start : start + LOOK]


def _drawable_texts(campaign: Campaign, rater: Rater, prompts: list[int]) -> dict[int, list[pairing.Text]]:
    responses = drawable_responses(campaign).filter(prompt__in=prompts, renderer_version__gt=0)
    if rater.languages:
        responses = responses.filter(Q(prompt__language="") | Q(prompt__language__in=rater.languages))
    texts: dict[int, list[pairing.Text]] = {}
    for prompt, *text in responses.values_list("prompt_id", "pk", "competitor_id", "text_hash"):
        texts.setdefault(prompt, []).append(pairing.Text(*text))
    return texts


_DESK_COLUMNS = (
    "prompt_id",
    "competitor_a_id",
    "competitor_b_id",
    "expires_at",
    "campaign__reveal",
    "campaign__status",
    "vote__outcome",
)


def _desks(campaign: Campaign, rater: Rater, prompts: list[int]) -> dict[int, Desk]:
    """What the rater met here and had revealed anywhere on these prompts; a lapsed battle may return."""
    desks: dict[int, Desk] = {}
    if not prompts:
        return desks
    battles = Battle.objects.filter(rater=rater, prompt__in=prompts, replaced_by=None).with_skips()
    now = timezone.now()
    for battle in battles.select_related("campaign", "vote").only(*_DESK_COLUMNS):
        desk = desks.setdefault(battle.prompt_id or 0, Desk())
        lapsed = battle.has_expired(now) and not battle.is_skipped and not hasattr(battle, "vote")
        if lapsed and battle.campaign_id == campaign.pk:
            desk.lapsed[battle.pair] = battle.pk
        elif battle.campaign_id == campaign.pk:
            desk.met.add(battle.pair)
        # Where votes reveal, an open battle counts: its names may be out before one drawn now is voted on.
        if not lapsed and names_are_out(battle.campaign):
            desk.revealed.update(battle.pair)
    return desks


def _counts(campaign: Campaign, possible: dict) -> dict[pairing.Pair, int]:
    competitors = {competitor for pair in possible for competitor in pair}
    counts = PairCount.objects.filter(campaign=campaign, low__in=competitors, high__in=competitors)
    return {(low, high): battles for low, high, battles in counts.values_list("low_id", "high_id", "battles")}


def _place(
    campaign: Campaign,
    rater: Rater,
    prompt: int,
    sides: tuple[pairing.Text, pairing.Text],
    propensity: float,
    lapsed: int | None,
) -> Battle:
    now = timezone.now()
    with transaction.atomic():
        battle = Battle.objects.create(
            campaign=campaign,
            rater=rater,
            prompt_id=prompt,
            competitor_a_id=sides[0].competitor,
            competitor_b_id=sides[1].competitor,
            response_a_id=sides[0].response,
            response_b_id=sides[1].response,
            propensity=propensity,
            replaces_id=lapsed,
            drawn_at=now,
            expires_at=now + timedelta(hours=settings.BATTLE_HOURS),
        )
        if lapsed is None:
            change_count(battle, 1)
    return battle


def draw_again(battle: Battle) -> Battle:
    """The same prompt and pair as a new battle, with its sides redrawn, in place of an undone one."""
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
        drawn_at=now,
        expires_at=now + timedelta(hours=settings.BATTLE_HOURS),
    )


def change_count(battle: Battle, by: int) -> None:
    low, high = battle.pair
    count = PairCount.objects.filter(campaign_id=battle.campaign_id, low_id=low, high_id=high)
    change = {"battles": Greatest(F("battles") + by, 0)}
    if not count.update(**change):
        missing = PairCount(campaign_id=battle.campaign_id, low_id=low, high_id=high)
        PairCount.objects.bulk_create([missing], ignore_conflicts=True)
        count.update(**change)
