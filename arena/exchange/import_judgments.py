"""Findings of judges asked elsewhere: a recorded run, its judges, and one judgment for each row."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils import timezone

from arena.battles.models import Battle
from arena.campaigns.models import Campaign
from arena.exchange.formats.rows import VoteRow
from arena.exchange.plans import BATCH
from arena.judging.models import Judge, JudgeRun, Judgment

UNNAMED = "unnamed judge"


def stored(campaign: Campaign | None) -> dict[str, tuple[str, str, str]]:
    """What recorded judgments of the campaign say, by the key of their row."""
    judgments = Judgment.objects.filter(run__campaign=campaign, run__kind=JudgeRun.Kind.RECORDED)
    columns = (
        "battle__origin__key",
        "battle__competitor_a__name_key",
        "battle__competitor_b__name_key",
        "outcome",
    )
    rows = judgments.exclude(battle__origin=None).values_list(*columns)
    return {key.partition(":")[2]: (a, b, outcome) for key, a, b, outcome in rows}


def store(campaign: Campaign, rows: Sequence[tuple[VoteRow, Battle, str]]) -> None:
    if not rows:
        return
    now = timezone.now()
    judges = _judges(campaign, {row.rater: None for row, _battle, _key in rows})
    run = JudgeRun.objects.create(
        campaign=campaign,
        kind=JudgeRun.Kind.RECORDED,
        family_policy=JudgeRun.FamilyPolicy.ALLOW,  # as found: nothing was left out here
        status=JudgeRun.Status.COMPLETED,
        started_at=now,
        finished_at=now,
    )
    run.judges.set(judges.values())
    Judgment.objects.bulk_create(
        (_judgment(run, judges[row.rater], row, battle) for row, battle, _key in rows), batch_size=BATCH
    )


def _judges(campaign: Campaign, names: dict[str, None]) -> dict[str, Judge]:
    """By the file's name for them. A judge of our own, who can be asked, is another one."""
    found = {}
    for name in names:
        own = Judge.objects.filter(team=campaign.team, name=name or UNNAMED, endpoint__isnull=False)
        known_as = f"{name[:100]} (recorded)" if own.exists() else name or UNNAMED
        found[name], _made = Judge.objects.get_or_create(team=campaign.team, name=known_as)
    return found


def _judgment(run: JudgeRun, judge: Judge, row: VoteRow, battle: Battle) -> Judgment:
    # Which side a judge preferred before the verbosity rule isn't in a file of outcomes.
    base = "" if row.outcome == Judgment.Outcome.TIE_VERBOSE else row.outcome
    return Judgment(
        run=run,
        judge=judge,
        battle=battle,
        outcome=row.outcome,
        base_outcome=base,
        flip=row.flip,
        resolved_at=battle.drawn_at,
    )
