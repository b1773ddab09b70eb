"""What judges found comes back.

Their replies stay in the export: a call belongs to an endpoint, and an export names none.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any
from uuid import uuid4

from django.db.models import Max

from arena.exchange.export_judging import RUN
from arena.exchange.import_campaign_plans import store_dated
from arena.exchange.import_campaign_return import Return, Row, moment
from arena.exchange.plans import BATCH
from arena.judging.models import Judge, JudgeRun, Judgment, Rubric
from arena.raters.models import Team


def store_judgments(back: Return) -> None:
    told = list(back.each("judges", dict))
    judges = {row["name"]: _judge(back.team, row) for row in told}
    _mark_models(told, judges)
    rows = list(back.each("judgments", dict))
    runs = _store_runs(back, {row["run"] for row in rows}, judges)
    Judgment.objects.bulk_create(
        (
            Judgment(
                run=runs[row["run"]],
                judge=judges[row["rater"]],
                battle=back.battles[row["battle_id"]],
                replicate=row["replicate"],
                outcome=Judgment.Outcome(row["winner"]),
                base_outcome=row["base_outcome"],
                flip=row["flip"],
                leaning=row["leaning"],
                resolved_at=moment(row["voted_at"]),
            )
            for row in rows
        ),
        batch_size=BATCH,
    )


def _store_runs(back: Return, wanted: set[int], judges: dict[str, Judge]) -> dict[int, JudgeRun]:
    """Those with a finding; they are over, and nobody can be asked on."""
    rows = [row for row in back.each("judge_runs", dict) if row["run"] in wanted]
    runs = [JudgeRun(campaign=back.campaign, **_settings(row)) for row in rows]
    store_dated(runs, rows, "created_at")
    for run, row in zip(runs, rows, strict=True):
        run.judges.set(judges[name] for name in row["judges"] if name in judges)
    return {row["run"]: run for row, run in zip(rows, runs, strict=True)}


def _settings(row: Row) -> dict[str, Any]:
    times = {name: moment(row[name]) for name in ("started_at", "finished_at")}
    told = {name: row[name] for name in RUN if not name.endswith("_at")}
    over = {"kind": JudgeRun.Kind.RECORDED, "status": JudgeRun.Status.COMPLETED}
    return told | times | over | {"budget_usd": row["budget_usd"]}


def _judge(team: Team, row: Row) -> Judge:
    """A judge that can be asked is another one, though it has the name."""
    own = Judge.objects.filter(team=team, name=row["name"], endpoint__isnull=False).exists()
    name = f"{row['name'][:100]} (recorded)" if own else row["name"]
    told = {"family": row["family"], "parameters": row["parameters"], "rubric": _rubric(team, row)}
    return Judge.objects.get_or_create(team=team, name=name, defaults=told)[0]


def _mark_models(rows: list[Row], judges: dict[str, Judge]) -> None:
    """Judges that one model was stay so; exports of earlier versions don't tell."""
    by_model: dict[int, list[Judge]] = defaultdict(list)
    for row in rows:
        if row.get("model") is not None:
            by_model[row["model"]].append(judges[row["name"]])
    for same in by_model.values():
        known = [judge.recorded_model for judge in same if judge.recorded_model]
        if len(same) > 1 or known:
            mark = known[0] if known else uuid4().hex
            Judge.objects.filter(pk__in=[judge.pk for judge in same], recorded_model="").update(
                recorded_model=mark
            )


def _rubric(team: Team, row: Row) -> Rubric | None:
    """The team's own where it reads the same, else one more version."""
    if row["rubric_name"] is None:
        return None
    named = Rubric.objects.filter(team=team, name=row["rubric_name"])
    same = named.filter(sha256=row["rubric_sha256"]).first()
    if same:
        return same
    version = row["rubric_version"]
    if named.filter(version=version).exists():
        version = named.aggregate(last=Max("version"))["last"] + 1
    return Rubric.objects.create(
        team=team,
        name=row["rubric_name"],
        version=version,
        mode=Rubric.Mode(row["mode"]),
        instructions=row["instructions"],
        criteria=row["criteria"],
        sha256=row["rubric_sha256"],
    )
