"""Where the battles of two models with each other are read."""

from urllib.parse import urlencode

from django.db.models import Q
from django.urls import reverse

from arena.campaigns.models import Campaign


def address_of(campaign: Campaign, name_a: str, name_b: str) -> str:
    """Of the reader with these two chosen, for the team's researchers; empty if they never met."""
    two = dict(campaign.competitors.filter(name__in=(name_a, name_b)).values_list("name", "pk"))
    if len(two) < 2:
        return ""
    a, b = two[name_a], two[name_b]
    met = Q(competitor_a=a, competitor_b=b) | Q(competitor_a=b, competitor_b=a)
    if not campaign.battles.filter(met).exists():
        return ""
    return f"{reverse('battle-reader', args=[campaign.slug])}?{urlencode({'model': a, 'against': b})}"
