"""A battle for the campaign's team to look at: made up on the spot, never stored, drawn or counted."""

from __future__ import annotations

import secrets

from django.db.models import Count

from arena.battles import pairing
from arena.battles.models import Battle
from arena.campaigns.models import Campaign
from arena.campaigns.opening import drawable_responses
from arena.corpus.models import Response

_random = secrets.SystemRandom()


def example(campaign: Campaign) -> Battle | None:
    """Any prompt, pair and sides that a rater could meet, whether or not the campaign is open yet."""
    texts = drawable_responses(campaign).filter(renderer_version__gt=0).order_by()
    prompts = list(
        texts.values("prompt")
        .annotate(competitors=Count("competitor", distinct=True), texts=Count("text_hash", distinct=True))
        .filter(competitors__gte=2, texts__gte=2)
        .values_list("prompt", flat=True)
    )
    if not prompts:
        return None
    of_one = texts.filter(prompt=_random.choice(prompts)).values_list("pk", "competitor_id", "text_hash")
    possible = pairing.pairs_that_can_meet(pairing.Text(*text) for text in of_one)
    pair, propensity = pairing.choose_pair(possible, {}, _random)
    a, b = pairing.choose_texts(possible[pair], _random)
    shown = Response.objects.select_related("prompt").in_bulk([a.response, b.response])
    first, second = shown[a.response], shown[b.response]
    return Battle(
        campaign=campaign,
        prompt=first.prompt,
        response_a=first,
        response_b=second,
        competitor_a_id=a.competitor,
        competitor_b_id=b.competitor,
        propensity=propensity,
    )
