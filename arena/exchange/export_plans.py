"""What a campaign was to answer, the boards that it has, and what people found on reading its battles."""

from __future__ import annotations

from typing import Any

from arena.corpus.models import Competitor
from arena.exchange.export_extract import CHUNK, Extract, Rows
from arena.leaderboards.models import Leaderboard
from arena.leaderboards.part import told_elsewhere
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.reading.reading_models import Reading

PLAN = (
    "version",
    "question",
    "margin",
    "ties",
    "both_bad",
    "boards",
    "pairs",
    "raters",
    "votes",
    "hard_at_least",
    "created_at",
    "frozen_at",
    "sha256",
    "reckoned",
)


def analysis_plans(extract: Extract) -> Rows:
    plans = AnalysisPlan.objects.filter(campaign=extract.campaign, created_at__lte=extract.at)
    for row in plans.order_by("version").values(*PLAN):
        yield row | {"pairs": pairs_told(row["pairs"])}


def pairs_told(pairs: list[dict[str, Any]]) -> list[dict[str, str]]:
    """By the names that were frozen, `a` and `b`, and those that the export has for these models."""
    names = dict(
        Competitor.objects.filter(pk__in={pk for pair in pairs for pk in pair["ids"]}).values_list(
            "pk", "name"
        )
    )
    return [
        {"a": pair["a"], "b": pair["b"]}
        | {f"model_{side}": names.get(pk, pair[side]) for side, pk in zip("ab", pair["ids"], strict=True)}
        for pair in pairs
    ]


def leaderboards(extract: Extract) -> Rows:
    boards = Leaderboard.objects.filter(campaign=extract.campaign, created_at__lte=extract.at)
    copied = ("name", "subset", "source", "style_control", "policies", "visibility", "created_at")
    for row in boards.select_related("judge").order_by("pk"):
        told = {name: getattr(row, name) for name in copied}
        told["part"] = told_elsewhere(row.part, extract.campaign)
        yield {"leaderboard": row.slug, "judge": row.judge.name if row.judge else None} | told


def readings(extract: Extract) -> Rows:
    rows = Reading.objects.filter(battle__in=extract.battles, at__lte=extract.at).select_related("battle")
    for row in rows.order_by("battle", "pk").iterator(CHUNK):
        yield {
            "battle_id": str(row.battle.public_id),
            "reader": extract.pseudonym(f"reader {row.reader_id}"),
            "side": row.side,
            "failure": row.failure,
            "comment": row.comment,
            "at": row.at,
        }
