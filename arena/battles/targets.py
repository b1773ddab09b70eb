"""What a campaign has enough of: pairs with their votes, prompts with their raters. They are drawn no more.

Reading takes as many rows as the targets ask for, however many votes there are.
"""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Greatest, Least
from django.utils import timezone

from arena.battles import pairing
from arena.battles.models import Battle
from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor, Prompt


def full_pairs(campaign: Campaign, prompts: Collection[int]) -> dict[int, set[pairing.Pair]]:
    """By prompt, the pairs that have their votes, or will have them when everybody has voted who is at it."""
    if not campaign.target_votes:
        return {}
    full: dict[int, set[pairing.Pair]] = {}
    for prompt, low, high in _cells(campaign).filter(prompt__in=prompts).values_list("prompt", "low", "high"):
        full.setdefault(prompt, set()).add((low, high))
    return full


def full_prompts(campaign: Campaign, prompts: Collection[int]) -> set[int]:
    """Those of the prompts that have their raters."""
    if not campaign.target_raters:
        return set()
    return set(_full_of_raters(campaign).filter(prompt__in=prompts).values_list("prompt", flat=True))


def not_full(campaign: Campaign, prompts: QuerySet[Prompt]) -> QuerySet[Prompt]:
    """Without the prompts that have all their raters, or all their votes for every pair of models."""
    if campaign.target_raters:
        prompts = prompts.exclude(pk__in=_full_of_raters(campaign).values("prompt"))
    if campaign.target_votes:
        models = campaign.competitors.filter(status=Competitor.Status.ACTIVE).count()
        cells = _cells(campaign).values_list("prompt", flat=True)
        by_prompt: dict[int, int] = {}
        for prompt in cells:
            by_prompt[prompt] = by_prompt.get(prompt, 0) + 1
        done = [prompt for prompt, full in by_prompt.items() if full >= models * (models - 1) // 2]
        prompts = prompts.exclude(pk__in=done)
    return prompts


def _under_way(campaign: Campaign) -> QuerySet[Battle]:
    """Regular battles with a vote that stands, or in a rater's hands."""
    in_hand = Q(vote=None, expires_at__gt=timezone.now(), skip=None)
    voted = Q(vote__isnull=False, vote__retraction=None)
    battles = Battle.objects.filter(campaign=campaign, kind=Battle.Kind.REGULAR, rater__isnull=False)
    return battles.with_skips().filter(in_hand | voted).order_by()


def _cells(campaign: Campaign) -> QuerySet:
    pairs = _under_way(campaign).annotate(
        low=Least("competitor_a_id", "competitor_b_id"), high=Greatest("competitor_a_id", "competitor_b_id")
    )
    cells = pairs.values("prompt", "low", "high").annotate(votes=Count("pk", distinct=True))
    return cells.filter(votes__gte=campaign.target_votes)


def _full_of_raters(campaign: Campaign) -> QuerySet:
    raters = _under_way(campaign).values("prompt").annotate(raters=Count("rater", distinct=True))
    return raters.filter(raters__gte=campaign.target_raters)
