"""Judge cards: computed by the worker for each judge with findings in a campaign, anew when rows came."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, Max
from django.utils import timezone

from arena.battles.models import Vote
from arena.campaigns.models import Campaign
from arena.endpoints import limits
from arena.judging.families import family_of
from arena.judging.models import Judge, JudgeRun, Judgment
from arena.leaderboards.agreement import judge_agreement, judge_figures
from arena.leaderboards.agreement import judged_battles as read
from arena.leaderboards.agreement.card_models import JudgeCard
from arena.leaderboards.agreement.judged_battles import Finding, Pair
from arena.leaderboards.fitting.code_version import code_version

logger = logging.getLogger(__name__)


def compute_due() -> int:
    """Compute what is due; how many that was. A card that fails is logged and holds up no other."""
    computed = 0
    judged = Judgment.objects.exclude(outcome="").order_by().values_list("run__campaign", "judge").distinct()
    for campaign_id, judge_id in sorted(judged):
        campaign, judge = Campaign.objects.get(pk=campaign_id), Judge.objects.get(pk=judge_id)
        if not is_due(campaign, judge):
            continue
        try:
            compute(campaign, judge)
            computed += 1
        except Exception:
            logger.exception("the card of judge %s in %s failed", judge.pk, campaign.slug)
    return computed


def is_due(campaign: Campaign, judge: Judge) -> bool:
    """At once for a first card, or when no run goes on; while one does, no oftener than boards are taken."""
    card = JudgeCard.objects.filter(campaign=campaign, judge=judge).first()
    if card is None:
        return True
    if card.seen == what_is_there(campaign, judge) and card.code_version == code_version():
        return False
    going = judge.runs.filter(campaign=campaign, status__in=(JudgeRun.Status.QUEUED, JudgeRun.Status.RUNNING))
    rested = timezone.now() - card.computed_at >= timedelta(minutes=settings.SNAPSHOT_MINUTES)
    return rested or not going.exists()


def what_is_there(campaign: Campaign, judge: Judge) -> dict[str, Any]:
    """Counts and newest rows: cheap to ask for, and other whenever a card would be another.

    Of votes those on prompts that it judged: others can't stand on a battle of its own.
    """
    findings = Judgment.objects.filter(run__campaign=campaign).exclude(outcome="")
    own = findings.filter(judge=judge)
    mine = own.aggregate(count=Count("pk"), newest=Max("resolved_at"))
    votes = Vote.objects.filter(battle__campaign=campaign, battle__prompt__in=own.values("battle__prompt"))
    excluded = campaign.exclusions.aggregate(all=Count("pk"), revoked=Count("revoked_at"))
    return {
        "findings": mine["count"],
        "newest": mine["newest"].isoformat() if mine["newest"] else None,
        "others": findings.exclude(judge=judge).count(),
        "canaries": read.count_canaries(judge),
        **votes.aggregate(vote=Max("pk"), votes=Count("pk"), retractions=Count("retraction")),
        "excluded": excluded["all"],
        "revoked": excluded["revoked"],
    }


def compute(campaign: Campaign, judge: Judge) -> JudgeCard:
    """Raises ValueError for a judge without a finding in this campaign."""
    seen, at = what_is_there(campaign, judge), timezone.now()
    if not seen["findings"]:
        raise ValueError(f"{judge.name} has found nothing in {campaign.slug}: there is nothing to report")
    card, _made = JudgeCard.objects.update_or_create(
        campaign=campaign,
        judge=judge,
        defaults={
            "figures": figures_of(campaign, judge),
            "seen": seen,
            "code_version": code_version(),
            "computed_at": at,
        },
    )
    return card


def figures_of(campaign: Campaign, judge: Judge) -> dict[str, Any]:
    findings = read.read_findings(campaign, [judge.pk])
    asked = read.read_asked(campaign, judge)
    latest = judge_figures.latest_of(findings)
    texts, clusters = read.read_texts(latest), judge_figures.clusters_in(findings)
    ballots = read.read_ballots(campaign, latest)
    priced = judge.endpoint is not None and limits.has_prices(judge.endpoint)
    return {
        "counts": judge_figures.counts_of(findings, asked, read.count_open(campaign, judge)),
        "swap": judge_figures.swap_figures(findings, asked),
        "sides": judge_figures.side_figures(findings, asked),
        "failures": read.read_failures(campaign, judge),
        "agreement": judge_agreement.agreement_figures(
            latest, ballots, texts, read.read_categories(latest), clusters, read.read_names(ballots)
        ),
        "length": judge_agreement.length_figures(latest, ballots, texts, clusters),
        "own_family": _own_family(campaign, judge, latest, texts, clusters),
        "contradictions": judge_figures.contradiction_figures(findings, asked),
        "repeats": judge_figures.repeat_figures(findings),
        "cost": judge_figures.cost_figures(findings, read.read_bills(campaign, judge), priced),
        "sentinels": judge_figures.sentinel_figures(findings, read.read_sentinels(campaign)),
        "canaries": judge_figures.canary_figures(read.read_canaries(judge)),
    }


def _own_family(
    campaign: Campaign,
    judge: Judge,
    latest: dict[Pair, int],
    texts: dict[int, read.Text],
    clusters: dict[int, int],
) -> dict[str, Any] | None:
    family = family_of(judge)
    others = dict(read.other_judges(campaign, judge))
    if not family or not others:
        return None
    by_judge: dict[int, list[Finding]] = {other: [] for other in others}
    for finding in read.read_findings(campaign, others):
        by_judge[finding.judge].append(finding)
    opinions = [
        judge_figures.Opinion(others[other], judge_figures.latest_of(found))
        for other, found in by_judge.items()
    ]
    return judge_figures.own_family_figures(family, latest, opinions, texts, clusters)
