"""Findings of judges asked elsewhere: a recorded run, its judges, and one judgment for each row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils import timezone

from arena.battles.models import Battle
from arena.campaigns.models import Campaign
from arena.exchange.formats.rows import VoteRow
from arena.exchange.insertions import Spool, number
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


@dataclass(frozen=True)
class Findings:
    """One recorded run, and its judges by the file's name for them."""

    run: JudgeRun
    judges: dict[str, Judge]

    @classmethod
    def of(cls, campaign: Campaign, names: Iterable[str], waiting: Spool) -> Findings:
        """Numbered, and first among the rows that wait."""
        now = timezone.now()
        judges, new = _judges(campaign, names)
        run = JudgeRun(
            campaign=campaign,
            kind=JudgeRun.Kind.RECORDED,
            family_policy=JudgeRun.FamilyPolicy.ALLOW,  # as found: nothing was left out here
            status=JudgeRun.Status.COMPLETED,
            started_at=now,
            finished_at=now,
        )
        number(new)
        number([run])
        of_run = JudgeRun.judges.through
        heard = {judge.pk for judge in judges.values()}
        for rows in (new, [run], [of_run(judgerun_id=run.pk, judge_id=pk) for pk in heard]):
            waiting.add(rows)
        return cls(run, judges)

    def of_rows(self, rows: Iterable[tuple[VoteRow, Battle]]) -> list[Judgment]:
        return [_judgment(self.run, self.judges[row.rater], row, battle) for row, battle in rows]


def _judges(campaign: Campaign, names: Iterable[str]) -> tuple[dict[str, Judge], list[Judge]]:
    """By the file's name, and those that are new. A judge of our own, who can be asked, is another one."""
    found: dict[str, Judge] = {}
    new: dict[str, Judge] = {}
    for name in names:
        own = Judge.objects.filter(team=campaign.team, name=name or UNNAMED, endpoint__isnull=False)
        known_as = f"{name[:100]} (recorded)" if own.exists() else name or UNNAMED
        there = new.get(known_as) or Judge.objects.filter(team=campaign.team, name=known_as).first()
        found[name] = there or new.setdefault(known_as, Judge(team=campaign.team, name=known_as))
    return found, list(new.values())


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
