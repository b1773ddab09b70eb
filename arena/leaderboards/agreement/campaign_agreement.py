"""How far people agree with people, judges with people, and judges with judges, on the same responses.

Computed by the worker. Outcomes are three: the one response, the other, a tie (both bad and orders that
disagree are ties here). Gold battles are left out.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping
from datetime import timedelta
from itertools import combinations
from typing import Any

import numpy as np
from django.conf import settings
from django.db.models import Count, Max
from django.utils import timezone

from arena.battles.models import Retraction, Vote
from arena.campaigns.models import Campaign
from arena.judging.models import Judge, Judgment
from arena.leaderboards.agreement import judged_battles as read
from arena.leaderboards.agreement.agreement_models import CampaignAgreement
from arena.leaderboards.agreement.judge_agreement import SIDES, Row, compare, first_votes, people_rows
from arena.leaderboards.agreement.judge_figures import Plain, latest_of
from arena.leaderboards.agreement.judged_battles import Finding, Pair
from arena.leaderboards.fitting.code_version import code_version
from arena.leaderboards.fitting.prompt_texts import clusters_of
from arena.leaderboards.models import Snapshot
from ratings.agreement import AMBIGUOUS_BELOW, krippendorff_alpha
from ratings.errors import BadValueError, NoVotesError

logger = logging.getLogger(__name__)

MOST_PAIRS = 20_000
"""Pairs looked at, by number of their prompt; the page says when there were more."""
Votes = Mapping[Pair, Mapping[int, int]]


def compute_due() -> int:
    """How many campaigns' figures were computed. One that fails is logged and holds up no other."""
    computed = 0
    for campaign in Campaign.objects.filter(battles__isnull=False).distinct().order_by("pk"):
        if not is_due(campaign):
            continue
        try:
            compute(campaign)
            computed += 1
        except Exception:
            logger.exception("the agreement in %s failed", campaign.slug)
    return computed


def is_due(campaign: Campaign) -> bool:
    """When rows came, and as often as boards are taken: with each new snapshot, asked for by hand too."""
    known = CampaignAgreement.objects.filter(campaign=campaign).first()
    rest = timedelta(minutes=settings.SNAPSHOT_MINUTES)
    # Asked every minute, and looking at what is there takes a second at a million votes: last of all.
    if known and timezone.now() - known.computed_at < rest and not _boards_are_newer(known):
        return False
    there = what_is_there(campaign)
    if not there["vote"] and not there["findings"]:
        return False
    return known is None or known.seen != there or known.code_version != code_version()


def _boards_are_newer(known: CampaignAgreement) -> bool:
    taken = Snapshot.objects.filter(
        leaderboard__campaign=known.campaign_id, leaderboard__part={}, taken_at__gt=known.computed_at
    )
    return taken.exists()


def what_is_there(campaign: Campaign) -> dict[str, Any]:
    votes = Vote.objects.filter(battle__campaign=campaign)
    findings = Judgment.objects.filter(run__campaign=campaign).exclude(outcome="")
    return {
        **votes.aggregate(vote=Max("pk"), votes=Count("pk")),
        "retractions": Retraction.objects.filter(vote__battle__campaign=campaign).count(),
        "findings": findings.aggregate(n=Count("pk"))["n"],
        "excluded": campaign.exclusions.count(),
        "revoked": campaign.exclusions.exclude(revoked_at=None).count(),
    }


def compute(campaign: Campaign) -> CampaignAgreement:
    seen, at = what_is_there(campaign), timezone.now()
    found, _made = CampaignAgreement.objects.update_or_create(
        campaign=campaign,
        defaults={
            "figures": figures_of(campaign),
            "seen": seen,
            "code_version": code_version(),
            "computed_at": at,
        },
    )
    return found


def figures_of(campaign: Campaign) -> Plain:
    judges = {
        judge.pk: judge.name
        for judge in Judge.objects.filter(judgments__run__campaign=campaign).distinct().order_by("pk")
    }
    findings: dict[int, list[Finding]] = defaultdict(list)
    for finding in read.read_findings(campaign, judges):
        findings[finding.judge].append(finding)
    latest = {judge: latest_of(found) for judge, found in findings.items()}
    wanted = pairs_of(campaign, latest)
    shown = set(sorted(wanted)[:MOST_PAIRS])
    people = first_votes(read.read_ballots(campaign, shown))
    categories, clusters = read.read_categories(shown), clusters_of({prompt for prompt, _, _ in shown})
    return {
        "pairs": len(wanted),
        "looked_at": len(shown),
        "prompts": len(clusters),
        "distinct_texts": len(set(clusters.values())),
        "ambiguous_below": AMBIGUOUS_BELOW,
        "people": people_figures(people, clusters),
        "judges": [
            {"judge": judges[judge], "with_people": compare(beside_people(latest[judge], people), clusters)}
            for judge in latest
        ],
        "between": [
            {
                "judges": [judges[one], judges[other]],
                "figures": compare(beside(latest[one], latest[other]), clusters),
            }
            for one, other in combinations(latest, 2)
        ],
        "categories": category_figures(people, latest, judges, categories, clusters),
    }


def pairs_of(campaign: Campaign, latest: Mapping[int, Mapping[Pair, int]]) -> set[Pair]:
    """Pairs that two saw, people or judges; the others say nothing about agreement."""
    seen: dict[Pair, int] = defaultdict(int)
    rows = (
        Vote.objects.counted(campaign.pk)
        .filter(battle__response_a__isnull=False, battle__response_b__isnull=False)
        .order_by()
        .values_list("battle__prompt_id", "battle__response_a_id", "battle__response_b_id")
        .annotate(n=Count("rater", distinct=True))
    )
    for prompt, a, b, n in rows.iterator():
        seen[prompt, min(a, b), max(a, b)] += n
    for found in latest.values():
        for pair in found:
            seen[pair] += 1
    return {pair for pair, n in seen.items() if n > 1}


def people_figures(people: Votes, clusters: Mapping[int, int]) -> Plain:
    twice = {pair: votes for pair, votes in people.items() if len(votes) > 1}
    return {
        "pairs": len(twice),
        "raters": len({rater for votes in twice.values() for rater in votes}),
        "two": compare(people_rows(twice), clusters, symmetric=True),
        "alpha": alpha(twice, clusters),
    }


def alpha(votes_of: Votes, clusters: Mapping[int, int]) -> Plain | None:
    """Krippendorff's, nominal, by prompt; None where nobody overlaps or nobody ever differs."""
    units = list(votes_of.values())
    if not units:
        return None
    # Who a vote is by doesn't enter alpha: one row per place in a unit keeps the table small.
    table = np.full((max(len(votes) for votes in units), len(units)), np.nan)
    for column, votes in enumerate(units):
        table[: len(votes), column] = list(votes.values())
    try:
        found = krippendorff_alpha(table, [clusters[pair[0]] for pair in votes_of], sides=SIDES)
    except (NoVotesError, BadValueError):
        return None
    return {name: getattr(found, name) for name in ("estimate", "lower", "upper", "units", "clusters")}


def beside_people(judge: Mapping[Pair, int], people: Votes) -> list[Row]:
    return [
        (pair, judge[pair], vote)
        for pair, votes in people.items()
        if pair in judge
        for vote in votes.values()
    ]


def beside(one: Mapping[Pair, int], other: Mapping[Pair, int]) -> list[Row]:
    return [(pair, one[pair], other[pair]) for pair in sorted(one.keys() & other.keys())]


def category_figures(
    people: Votes,
    latest: Mapping[int, Mapping[Pair, int]],
    judges: Mapping[int, str],
    categories: Mapping[int, str],
    clusters: Mapping[int, int],
) -> list[Plain]:
    names = sorted(set(categories.values()), key=lambda name: (not name, name))
    if len(names) < 2:
        return []
    found = []
    for name in names:
        votes = {pair: ballots for pair, ballots in people.items() if categories[pair[0]] == name}
        found.append(
            {
                "category": name,
                "people": people_figures(votes, clusters),
                "judges": [
                    {
                        "judge": judges[judge],
                        "with_people": compare(beside_people(latest[judge], votes), clusters),
                    }
                    for judge in latest
                ],
            }
        )
    return found
