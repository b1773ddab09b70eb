"""What judges found comes back.

Their replies stay in the export: a call belongs to an endpoint, and an export names none.
"""

from __future__ import annotations

from arena.exchange.import_campaign_return import Return, Row, moment
from arena.exchange.plans import BATCH
from arena.judging.models import Judge, JudgeRun, Judgment
from arena.raters.models import Team


def store_judgments(back: Return) -> None:
    judges = {row["name"]: _judge(back.team, row) for row in back.each("judges", dict)}
    runs: dict[int, JudgeRun] = {}
    judgments = []
    for row in back.each("judgments", dict):
        resolved_at, judge = moment(row["voted_at"]), judges[row["rater"]]
        if row["run"] not in runs:
            runs[row["run"]] = JudgeRun.objects.create(
                campaign=back.campaign,
                kind=JudgeRun.Kind.RECORDED,
                family_policy=JudgeRun.FamilyPolicy.ALLOW,
                status=JudgeRun.Status.COMPLETED,
                started_at=resolved_at,
                finished_at=resolved_at,
            )
        runs[row["run"]].judges.add(judge)
        judgments.append(
            Judgment(
                run=runs[row["run"]],
                judge=judge,
                battle=back.battles[row["battle_id"]],
                replicate=row["replicate"],
                outcome=Judgment.Outcome(row["winner"]),
                base_outcome=row["base_outcome"],
                flip=row["flip"],
                leaning=row["leaning"],
                resolved_at=resolved_at,
            )
        )
    Judgment.objects.bulk_create(judgments, batch_size=BATCH)


def _judge(team: Team, row: Row) -> Judge:
    """A judge that can be asked is another one, though it has the name."""
    own = Judge.objects.filter(team=team, name=row["name"], endpoint__isnull=False).exists()
    name = f"{row['name'][:100]} (recorded)" if own else row["name"]
    return Judge.objects.get_or_create(team=team, name=name, defaults={"family": row["family"]})[0]
