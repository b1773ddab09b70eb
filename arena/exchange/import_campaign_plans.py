"""What was written down about a campaign comes back: plans, calibrations, changes of labels, its report.

Boards are made anew, and private. Readings and measurements belong to accounts and endpoints, which an export
doesn't name; they stay in it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from django.db.models import Model

from arena.campaigns.models import Campaign
from arena.corpus.label_models import LabelChange, SpotCheck
from arena.exchange.export_plans import PLAN
from arena.exchange.exports import REPORT_FIELDS
from arena.exchange.formats.cells import CellError
from arena.exchange.formats.problems import RefusedError
from arena.exchange.import_campaign_return import Return, Row, moment, prompt_key, put
from arena.judging.calibration import hash_labels
from arena.judging.calibration_models import Calibration, CalibrationLabel
from arena.leaderboards.defaults import BOARDS
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
    versions: dict[int, AnalysisPlan] = {}

    def plan(row: Row) -> list[Model]:
        told = _read_plan(row) | {"pairs": _read_pairs(row.get("pairs", []), back)}
        fields = {name: told[name] for name in PLAN if not name.endswith("_at")}
        fields |= {name: moment(told[name]) for name in ("created_at", "frozen_at")}
        made = back.numbered(AnalysisPlan(campaign=back.campaign, **fields))
        _check_plan(made)
        put(versions, made.version, made)
        return [made]

    back.bring("analysis_plans", plan)


def _read_pairs(told: Any, back: Return) -> list[dict[str, Any]]:
    """Exports of before have none: their plans are about all pairs."""
    pairs: list[dict[str, Any]] = []
    names = {"a", "b", "model_a", "model_b"}
    for pair in told if isinstance(told, list) else [told]:
        if not isinstance(pair, dict) or pair.keys() != names or not all(map(is_text, pair.values())):
            raise CellError("pairs", f"{pair!r} should be an object of texts: {', '.join(sorted(names))}")
        unknown = [name for name in (pair["model_a"], pair["model_b"]) if name not in back.models]
        if unknown:
            raise CellError("pairs", f"{unknown[0]!r} isn’t in models.jsonl")
        ids = [back.models[pair[name]].pk for name in ("model_a", "model_b")]
        if ids[0] == ids[1] or {*ids} in [{*one["ids"]} for one in pairs]:
            raise CellError("pairs", f"{pair['a']!r} and {pair['b']!r} are no pair, or one told before")
        pairs.append({"a": pair["a"], "b": pair["b"], "ids": ids})
    return pairs


def is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _check_plan(plan: AnalysisPlan) -> None:
    """What no form would have taken, and what its hash doesn't vouch for."""
    known = [board.name for board in BOARDS]
    if not isinstance(plan.boards, list) or [name for name in plan.boards if name not in known]:
        raise CellError("boards", f"{plan.boards!r} should list boards, of {', '.join(known)}")
    if isinstance(plan.margin, bool) or not isinstance(plan.margin, int | float):
        raise CellError("margin", f"{plan.margin!r} is no number")
    plan.clean_fields(exclude=("campaign", "frozen_by", "boards", "pairs", "reckoned"))
    plan.margin = float(plan.margin)  # as it is hashed
    if plan.hard_at_least is not None and plan.hard_at_least not in range(1, Campaign.HARD_CRITERIA + 1):
        raise CellError("hard_at_least", f"{plan.hard_at_least!r} isn't from 1 to {Campaign.HARD_CRITERIA}")
    wanted = plan.hash_content() if plan.frozen_at else ""
    if plan.sha256 != wanted:
        said = f"the plan as it stands here has the SHA-256 {wanted}" if wanted else "a draft has none"
        raise CellError("sha256", f"{plan.sha256!r}, but {said}: it isn't what was frozen")
    if plan.frozen_at and plan.campaign.created_at and plan.frozen_at >= plan.campaign.created_at:
        raise CellError("frozen_at", "it is later than the import")


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
    told: dict[Any, tuple[int, str]] = {}  # lines and hashes
    labels: dict[Any, list[tuple[str, str, str, int]]] = defaultdict(list)

    def calibration(row: Row) -> list[Model]:
        copied = ("seed", "held_out_percent", "least_votes", "left_out", "sha256")
        fields = {name: row[name] for name in copied} | {"created_at": moment(row["created_at"])}
        one = back.numbered(Calibration(campaign=back.campaign, name=row["calibration"], **fields))
        put(made, row["calibration"], one)
        told[row["calibration"]] = back.line, row["sha256"]
        return [one]

    def label(row: Row) -> list[Model]:
        copied = ("part", "category", "outcome", "votes", "agreeing")
        if not back.stores:
            hashed = (row["battle_id"], row["part"], row["outcome"], row["votes"])
            labels[row["calibration"]].append(hashed)
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
    if back.stores:
        return
    for name, (line, sha256) in told.items():
        if sha256 != (wanted := hash_labels(labels[name])):
            raise RefusedError(
                f"calibrations.jsonl: {sha256!r}, but the labels of “{name}” and their parts in "
                f"calibration_labels.jsonl have the SHA-256 {wanted}; get the export again",
                line,
                "sha256",
            )
