"""The tables of a report as files: their columns. The rows are made with the report (report_draft.py)."""

from __future__ import annotations

from arena.leaderboards.agreement import agreement_views
from arena.leaderboards.boards import board_rows
from arena.leaderboards.charts.chart_files import CHARTS
from arena.leaderboards.reading import reader_page
from arena.leaderboards.style_words import WORTH

_LOOK = {"plan": "count", "look": "text"}
"""What a snapshot is registered under, and which look it is (looks.plan_and_look)."""
_PAIR = {
    "model_a": "text",
    "model_b": "text",
    "difference": "number",
    "lower": "number",
    "upper": "number",
    "verdict": "text",
    "p_adjusted": "number",
}
FILES = {
    "report-prompt-sets": {
        "prompt_set": "text",
        "prompts": "count",
        "licence": "text",
        "published": "text",
        "sha256": "text",
    },
    "report-prompt-categories": {"category": "text", "prompts": "count"},
    "report-prompt-languages": {"language": "text", "prompts": "count"},
    "report-models": {
        "model": "text",
        "organisation": "text",
        "licence": "text",
        "responses": "count",
        "answered_as": "text",
    },
    "report-judges": {
        "judge": "text",
        "model": "text",
        "rubric": "text",
        "asked": "text",
        "judgments": "count",
    },
    "report-sentinels": {
        "model": "text",
        "rank_lower": "count",
        "rank_upper": "count",
        "rating": "number",
        "wins": "count",
        "losses": "count",
        "ties": "count",
    },
    "report-answers": {
        "board": "text",
        "snapshot": "count",
        **_LOOK,
        **_PAIR,
        "a_for_b": "text",
        "b_for_a": "text",
        "plan_pairs": "count",
    },
    "report-planned": {"what": "text", "planned": "number", "reached": "number"},
    "report-ratings": {
        "snapshot": "count",
        "rank_lower": "count",
        "rank_upper": "count",
        "model": "text",
        "rating": "number",
        "lower": "number",
        "upper": "number",
        "battles": "count",
        "flags": "text",
    },
    "report-agreement": agreement_views.COLUMNS,
    "report-boards": board_rows.COLUMNS,
    "report-style": WORTH,
    "report-categories": CHARTS["chart-categories"],
    "report-failures": reader_page.FAILURES,
    "report-read": {"prompt": "text", "model": "text", "failure": "text", "comment": "text"},
    "report-verdicts": {"verdict": "text", "pairs": "count"},
    "report-undecided": {"snapshot": "count", **_PAIR},
    "report-exclusions": {"rule": "text", "reason": "text"},
    "report-snapshots": {
        "board": "text",
        "snapshot": "count",
        "cutoff": "text",
        "registered": "flag",
        "vote_digest": "text",
        "seed": "count",
        "code": "text",
    },
    "report-plans": {
        "version": "count",
        "frozen_at": "text",
        "when": "text",
        "margin": "number",
        "sha256": "text",
    },
}
"""Name to columns; a column's name to its kind."""
