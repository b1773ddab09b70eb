"""What was written down about a campaign comes back: plans, calibrations, changes of labels, its report.

Boards are made anew, and private. Readings and measurements belong to accounts and endpoints, which an export
doesn't name; they stay in it.
"""

from __future__ import annotations

from typing import Any

from django.db.models import Model

from arena.corpus.label_models import LabelChange, SpotCheck
from arena.exchange.export_plans import PLAN
from arena.exchange.exports import REPORT_FIELDS
from arena.exchange.import_campaign_return import Return, Row, moment, prompt_key, put
from arena.judging.calibration_models import Calibration, CalibrationLabel
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.reckoning import Reckoning
from arena.leaderboards.report.report_models import ReportText


def bring_label_changes(back: Return) -> None:
    """Who changed them isn't known here."""

    def change(row: Row) -> list[Model]:
        made = LabelChange(
            prompt_id=back.prompts[prompt_key(row)],
            was=row["was"],
            source=LabelChange.Source(row["source"]),
            at=moment(row["at"]),
        )
        return [back.numbered(made)]

    def check(row: Row) -> list[Model]:
        prompt = back.prompts[prompt_key(row)]
        return [back.numbered(SpotCheck(prompt_id=prompt, criteria=row["criteria"], at=moment(row["at"])))]

    back.bring("label_changes", change)
    back.bring("spot_checks", check)


def bring_plans(back: Return) -> None:
    def plan(row: Row) -> list[Model]:
        told = _read_plan(row)
        fields = {name: told[name] for name in PLAN if not name.endswith("_at")}
        fields |= {name: moment(told[name]) for name in ("created_at", "frozen_at")}
        return [back.numbered(AnalysisPlan(campaign=back.campaign, **fields))]

    back.bring("analysis_plans", plan)


def _read_plan(row: Row) -> Row:
    """Exports of before don't say what a plan was reckoned to find, nor what hard meant."""
    told = row.get("reckoned")
    if told is not None:
        Reckoning.read(told)
    return row | {"reckoned": told, "hard_at_least": row.get("hard_at_least")}


def bring_report_text(back: Return, told: Row | None) -> None:
    if told:
        fields = {name: told.get(name, "") for name in REPORT_FIELDS}
        back.keep(back.numbered(ReportText(campaign=back.campaign, **fields)))


def bring_calibrations(back: Return) -> None:
    made: dict[Any, Calibration] = {}

    def calibration(row: Row) -> list[Model]:
        copied = ("seed", "held_out_percent", "least_votes", "left_out", "sha256")
        fields = {name: row[name] for name in copied} | {"created_at": moment(row["created_at"])}
        one = back.numbered(Calibration(campaign=back.campaign, name=row["calibration"], **fields))
        put(made, row["calibration"], one)
        return [one]

    def label(row: Row) -> list[Model]:
        copied = ("part", "category", "outcome", "votes", "agreeing")
        return [
            back.numbered(
                CalibrationLabel(
                    calibration=made[row["calibration"]],
                    battle_id=back.battles[row["battle_id"]].pk,
                    **{name: row[name] for name in copied},
                )
            )
        ]

    back.bring("calibrations", calibration)
    back.bring("calibration_labels", label)
