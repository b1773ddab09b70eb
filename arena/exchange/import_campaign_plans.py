"""What was written down about a campaign comes back: plans, calibrations, changes of labels, its report.

Boards are made anew, and private. Readings and measurements belong to accounts and endpoints, which an export
doesn't name; they stay in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Model

from arena.compiled import CompiledUpdate
from arena.corpus.label_models import LabelChange, SpotCheck
from arena.exchange.export_plans import PLAN
from arena.exchange.exports import REPORT_FIELDS
from arena.exchange.import_campaign_return import Return, Row, moment, prompt_key
from arena.exchange.plans import BATCH
from arena.judging.calibration_models import Calibration, CalibrationLabel
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.reckoning import Reckoning
from arena.leaderboards.report.report_models import ReportText


def store_label_changes(back: Return) -> None:
    """Who changed them isn't known here."""
    changes = [
        LabelChange(
            prompt=back.prompts[prompt_key(row)],
            was=row["was"],
            source=LabelChange.Source(row["source"]),
            at=moment(row["at"]),
        )
        for row in back.each("label_changes", dict)
    ]
    LabelChange.objects.bulk_create(changes, batch_size=BATCH)
    rows = list(back.each("spot_checks", dict))
    checks = [SpotCheck(prompt=back.prompts[prompt_key(row)], criteria=row["criteria"]) for row in rows]
    store_dated(checks, rows, "at")


def store_plans(back: Return) -> None:
    rows = list(back.each("analysis_plans", _read_plan))
    plans = [
        AnalysisPlan(
            campaign=back.campaign,
            **{name: row[name] for name in PLAN if not name.endswith("_at")},
            frozen_at=moment(row["frozen_at"]),
        )
        for row in rows
    ]
    store_dated(plans, rows, "created_at")


def _read_plan(row: Row) -> Row:
    """Exports of before don't say what a plan was reckoned to find, nor what hard meant."""
    told = row.get("reckoned")
    if told is not None:
        Reckoning.read(told)
    return row | {"reckoned": told, "hard_at_least": row.get("hard_at_least")}


def store_report_text(back: Return, told: Row | None) -> None:
    if told:
        ReportText.objects.create(
            campaign=back.campaign, **{name: told.get(name, "") for name in REPORT_FIELDS}
        )


def store_calibrations(back: Return) -> None:
    rows = list(back.each("calibrations", dict))
    copied = ("seed", "held_out_percent", "least_votes", "left_out", "sha256")
    made = {
        row["calibration"]: Calibration(
            campaign=back.campaign, name=row["calibration"], **{name: row[name] for name in copied}
        )
        for row in rows
    }
    store_dated(list(made.values()), rows, "created_at")
    copied = ("part", "category", "outcome", "votes", "agreeing")
    labels = [
        CalibrationLabel(
            calibration=made[row["calibration"]],
            battle=back.battles[row["battle_id"]],
            **{name: row[name] for name in copied},
        )
        for row in back.each("calibration_labels", dict)
    ]
    CalibrationLabel.objects.bulk_create(labels, batch_size=BATCH)


def store_dated(made: Sequence[Any], rows: Sequence[Row], column: str) -> None:
    """A new row is dated now; afterwards it has the time that it came with."""
    if not made:
        return
    model: type[Model] = type(made[0])
    model._default_manager.bulk_create(made, batch_size=BATCH)
    write = CompiledUpdate(lambda pk: model._default_manager.filter(pk=pk))
    for one, row in zip(made, rows, strict=True):
        setattr(one, column, moment(row[column]))
        write({column: getattr(one, column)}, pk=one.pk)
