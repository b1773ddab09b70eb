"""What a draw looks at: prompts at random, their texts, what the rater has met, counts and weights."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Any

from django.db.models import F, OuterRef, QuerySet, Subquery
from django.utils import timezone

from arena.battles import pairing, targets
from arena.battles.models import Battle
from arena.battles.pair_models import PairCount, PairWeight
from arena.campaigns.models import Campaign
from arena.campaigns.opening import drawable_responses
from arena.compiled import Compiled
from arena.corpus.models import Prompt, PromptSet
from arena.raters.models import Rater

FIRST_LOOK, SECOND_LOOK, LOOK = 4, 32, 200  # prompts looked at
# Where a campaign's prompts lie is asked for this seldom. Prompts newer than that wait for the third look.
SPANS_HOLD = 5.0  # seconds
NOBODY = -1

Spans = list[tuple[int, int]]
_spans: dict[int, tuple[float, Spans]] = {}


@dataclass
class Desk:
    """What one rater has already met on a prompt."""

    met: set[pairing.Pair] = field(default_factory=set)
    revealed: set[int] = field(default_factory=set)
    lapsed: dict[pairing.Pair, int] = field(default_factory=dict)


@dataclass
class Chances:
    """Of the pairs that a draw may choose: how often each was drawn, and what a vote on it would settle."""

    counts: dict[pairing.Pair, int] = field(default_factory=dict)
    weights: dict[pairing.Pair, float] = field(default_factory=dict)


def prompts_in_random_order(campaign: Campaign, random: Random) -> Iterator[list[int]]:
    """A few at first; whoever has met nearly everything makes the draw look at all the others."""
    sample = pairing.sample_ids(_spans_of(campaign), FIRST_LOOK + SECOND_LOOK, random)
    yield sample[:FIRST_LOOK]
    yield sample[FIRST_LOOK:]
    rest = list(
        targets.not_full(campaign, _prompts(campaign)).exclude(pk__in=sample).values_list("pk", flat=True)
    )
    random.shuffle(rest)
    for start in range(0, len(rest), LOOK):
        yield rest[start : start + LOOK]


def _prompts(campaign: Campaign) -> QuerySet[Prompt]:
    return Prompt.objects.filter(prompt_set__campaigns=campaign, prompt_set__status__in=PromptSet.FROZEN)


def _spans_of(campaign: Campaign) -> Spans:
    """First and last number of each published set's prompts; what is drawn is checked again all the same."""
    now = time.monotonic()
    known = _spans.get(campaign.pk)
    if known is None or now - known[0] > SPANS_HOLD:
        known = _spans[campaign.pk] = (now, _look_up_spans(campaign))
    return known[1]


def forget_spans() -> None:
    """For tests, which fill the tables anew with the same numbers."""
    _spans.clear()


def _look_up_spans(campaign: Campaign) -> Spans:
    of_set = Prompt.objects.filter(prompt_set=OuterRef("pk"))
    first, last = (Subquery(of_set.order_by(order).values("pk")[:1]) for order in ("pk", "-pk"))
    sets = campaign.prompt_sets.filter(status__in=PromptSet.FROZEN).annotate(first=first, last=last)
    return list(sets.exclude(first=None).values_list("first", "last"))


@Compiled
def _texts(leak_policy: str, campaign: int, prompts: tuple[int, ...]) -> QuerySet:
    responses = drawable_responses(Campaign(pk=campaign, leak_policy=leak_policy)).filter(prompt__in=prompts)
    return responses.filter(renderer_version__gt=0).values_list(
        "prompt_id", "prompt__language", "renderer_version", "pk", "competitor_id", "text_hash"
    )


def drawable_texts(campaign: Campaign, rater: Rater, prompts: list[int]) -> dict[int, list[pairing.Text]]:
    """By prompt, in languages that the rater reads; a prompt without a language is for everybody.

    Of texts that two versions of the renderer made, those of the newer one: two sides must look alike.
    """
    texts: dict[int, list[pairing.Text]] = {}
    newest: dict[int, int] = {}
    read = {"", *rater.languages} if rater.languages else None
    rows = _texts(campaign.leak_policy, campaign=campaign.pk, prompts=_padded(prompts))
    for prompt, language, version, *text in rows:
        if (read is not None and language not in read) or version < newest.get(prompt, 0):
            continue
        if version > newest.get(prompt, 0):
            newest[prompt], texts[prompt] = version, []
        texts[prompt].append(pairing.Text(*text))
    return texts


@Compiled
def _met(raters: tuple[int, ...], prompts: tuple[int, ...]) -> QuerySet:
    battles = Battle.objects.filter(rater__in=raters, prompt__in=prompts, replaced_by=None).with_skips()
    return (
        battles.annotate(skip_id=F("skip__pk"))
        .select_related("campaign", "vote")
        .only(
            "kind",
            "rater_id",
            "prompt_id",
            "competitor_a_id",
            "competitor_b_id",
            "expires_at",
            "campaign__status",
            "campaign__reveal",
            "campaign__names_shown_at",
            "vote__battle_id",
        )
    )


def desks_of(campaign: Campaign, rater: Rater, prompts: list[int]) -> defaultdict[int, Desk]:
    """What the rater met here and had revealed anywhere on these prompts; a lapsed battle may return."""
    desks: defaultdict[int, Desk] = defaultdict(Desk)
    if not prompts:
        return desks
    now = timezone.now()
    for battle in _met(raters=_padded([rater.pk, *rater.same_person]), prompts=_padded(prompts)):
        desk = desks[battle.prompt_id or 0]
        lapsed = has_lapsed(battle, now)
        returns = battle.rater_id == rater.pk and battle.kind == Battle.Kind.REGULAR
        if lapsed and returns and battle.campaign_id == campaign.pk:
            desk.lapsed[battle.pair] = battle.pk
        elif battle.campaign_id == campaign.pk:
            desk.met.add(battle.pair)
        # Where votes reveal, an open battle counts: its names may be out before one drawn now is voted on.
        if not lapsed and battle.campaign.names_were_shown:
            desk.revealed.update(battle.pair)
    return desks


def has_lapsed(battle: Any, now: datetime) -> bool:
    """Handed out, and neither voted on nor skipped in time."""
    return battle.has_expired(now) and battle.skip_id is None and not hasattr(battle, "vote")


@Compiled
def _chances(campaign: int, competitors: tuple[int, ...]) -> QuerySet:
    same = PairWeight.objects.filter(
        campaign=OuterRef("campaign"), low=OuterRef("low"), high=OuterRef("high")
    )
    counts = PairCount.objects.filter(campaign=campaign, low__in=competitors, high__in=competitors)
    weighed = counts.annotate(weight=Subquery(same.values("weight")[:1]))
    return weighed.values_list("low_id", "high_id", "battles", "weight")


def chances_of(campaign: Campaign, possible: Iterable[Iterable[pairing.Pair]]) -> Chances:
    competitors = {competitor for pairs in possible for pair in pairs for competitor in pair}
    chances = Chances()
    for low, high, battles, weight in _chances(
        campaign=campaign.pk, competitors=_padded(sorted(competitors))
    ):
        chances.counts[low, high] = battles
        if weight is not None:
            chances.weights[low, high] = weight
    return chances


def _padded(numbers: list[int]) -> tuple[int, ...]:
    """As many as the next power of two, so that few statements have to be made."""
    size = 1 << max(0, len(numbers) - 1).bit_length()
    return (*numbers, *[NOBODY] * (size - len(numbers)))
