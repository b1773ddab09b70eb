"""What judges found comes back.

Their replies stay in the export: a call belongs to an endpoint, and an export names none.
"""

from __future__ import annotations

from collections import defaultdict, deque
from functools import partial
from typing import Any
from uuid import uuid4

from django.db.models import Model

from arena.exchange.export_judging import RUN
from arena.exchange.formats.cells import CellError
from arena.exchange.import_campaign_return import Return, Row, moment, put
from arena.judging.models import Judge, JudgeRun, Judgment, Rubric
from arena.judging.prompting import Criterion, RubricText, rubric_hash


def bring_judgments(back: Return) -> None:
    judges = _bring_judges(back)
    runs = _runs(back, judges)
    with_finding: set[Any] = set()

    def judgment(row: Row) -> list[Model]:
        fought = back.battles[row["battle_id"]]
        back.refuse_another_battle(row, fought)
        run, *_judges = runs[row["run"]]
        with_finding.add(row["run"])
        return [
            back.numbered(
                Judgment(
                    run_id=run.pk,
                    judge=judges[row["rater"]],
                    battle_id=fought.pk,
                    replicate=row["replicate"],
                    outcome=Judgment.Outcome(row["winner"]),
                    base_outcome=row["base_outcome"],
                    flip=row["flip"],
                    leaning=row["leaning"],
                    resolved_at=moment(row["voted_at"]),
                )
            )
        ]

    back.bring("judgments", judgment)
    for name in with_finding:  # the others found nothing, and nobody can be asked on
        back.keep(*runs[name])


def _runs(back: Return, judges: dict[str, Judge]) -> dict[Any, list[Model]]:
    """Each with the rows that name its judges."""
    runs: dict[Any, list[Model]] = {}
    of_run = JudgeRun.judges.through

    def run(row: Row) -> list[Model]:
        made = back.numbered(JudgeRun(campaign=back.campaign, **_settings(row)))
        named = [judges[name] for name in row["judges"] if name in judges]
        its_judges = (back.numbered(of_run(judgerun_id=made.pk, judge_id=judge.pk)) for judge in named)
        put(runs, row["run"], [made, *its_judges])
        return runs[row["run"]]

    deque(back.each("judge_runs", run), maxlen=0)
    return runs


def _settings(row: Row) -> dict[str, Any]:
    times = {name: moment(row[name]) for name in ("created_at", "started_at", "finished_at")}
    told = {name: row[name] for name in RUN if not name.endswith("_at")}
    over = {"kind": JudgeRun.Kind.RECORDED, "status": JudgeRun.Status.COMPLETED}
    return told | times | over | {"budget_usd": row["budget_usd"]}


def _bring_judges(back: Return) -> dict[str, Judge]:
    judges: dict[str, Judge] = {}
    by_model: dict[Any, list[Judge]] = defaultdict(list)
    rubrics = _Rubrics(back)

    def judge(row: Row) -> Judge:
        made = _judge(back, row, rubrics)
        put(judges, row["name"], made)
        if row.get("model") is not None:  # exports of earlier versions don't tell
            by_model[row["model"]].append(made)
        return made

    found = list(back.each("judges", judge))
    _mark_models(back, by_model)
    new = list({judge.pk: judge for judge in found if judge._state.adding}.values())
    back.known["judges"] = sum(not judge._state.adding for judge in found)
    back.keep(*rubrics.new, *new)
    return judges


def _judge(back: Return, row: Row, rubrics: _Rubrics) -> Judge:
    """A judge that can be asked is another one, though it has the name."""
    named = Judge.objects.filter(team=back.team)
    own = named.filter(name=row["name"], endpoint__isnull=False).exists()
    name = f"{row['name'][:100]} (recorded)" if own else row["name"]
    rubric = rubrics.of(row)
    if there := named.filter(name=name).first():
        return there
    told = {"family": row["family"], "parameters": row["parameters"], "rubric": rubric}
    return back.numbered(Judge(team=back.team, name=name, **told))


def _mark_models(back: Return, by_model: dict[Any, list[Judge]]) -> None:
    """Judges that one model was stay so."""
    for same in by_model.values():
        known = [judge.recorded_model for judge in same if judge.recorded_model]
        if len(same) > 1 or known:
            mark = known[0] if known else uuid4().hex
            unmarked = [judge for judge in same if not judge.recorded_model]
            for judge in unmarked:
                judge.recorded_model = mark
            there = Judge.objects.filter(
                pk__in=[judge.pk for judge in unmarked if not judge._state.adding], recorded_model=""
            )
            back.afterwards.append(partial(there.update, recorded_model=mark))


class _Rubrics:
    """The team's own where they read the same, else one more version."""

    def __init__(self, back: Return) -> None:
        self._back = back
        self.new: list[Rubric] = []

    def of(self, row: Row) -> Rubric | None:
        if row["rubric_name"] is None:
            return None
        criteria = tuple(Criterion(**told) for told in row["criteria"])
        if row["rubric_sha256"] != rubric_hash(RubricText(row["instructions"], criteria, row["mode"])):
            raise CellError("rubric_sha256", "isn't that of the rubric's text; get the export again")
        there = Rubric.objects.filter(team=self._back.team, name=row["rubric_name"])
        named = [*there, *(rubric for rubric in self.new if rubric.name == row["rubric_name"])]
        same = [rubric for rubric in named if rubric.sha256 == row["rubric_sha256"]]
        return same[0] if same else self._make(row, {rubric.version for rubric in named})

    def _make(self, row: Row, taken: set[int]) -> Rubric:
        version = row["rubric_version"]
        made = self._back.numbered(
            Rubric(
                team=self._back.team,
                name=row["rubric_name"],
                version=max(taken) + 1 if version in taken else version,
                mode=Rubric.Mode(row["mode"]),
                instructions=row["instructions"],
                criteria=row["criteria"],
                sha256=row["rubric_sha256"],
            )
        )
        self.new.append(made)
        return made
