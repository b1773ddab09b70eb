"""The tables of the charts as files: a row for every cell, in the order of the tables' rows."""

from __future__ import annotations

from typing import Any

from arena.leaderboards.charts.chart_rows import ChartRows
from arena.leaderboards.style_words import WORTH

RATED = {"rating": "number", "lower": "number", "upper": "number"}
CHARTS = {
    "chart-ratings": {"model": "text", **RATED},
    "chart-slopes": {
        "model": "text",
        "heading": "text",
        "rating": "number",
        "move": "number",
        "move_lower": "number",
        "move_upper": "number",
    },
    "chart-wins": {"model": "text", "against": "text", "observed": "number", "predicted": "number"},
    "chart-battles": {"model": "text", "against": "text", "battles": "count"},
    "chart-categories": {
        "model": "text",
        "category": "text",
        **RATED,
        "battles": "count",
        "unbounded": "text",
    },
    "chart-history": {"model": "text", "snapshot": "count", "at": "text", **RATED},
    "chart-style": WORTH,
    "chart-price": {"model": "text", "dollars": "number", **RATED},
    "chart-elo": {"model": "text", **RATED},
}
"""Columns: name to kind."""
_SQUARES = ("chart-slopes", "chart-categories", "chart-history")
"""Kept column by column; their tables have a line for each model, in the board's order."""


def values_of(rows: ChartRows, table: str) -> list[tuple[Any, ...]]:
    kept = {
        "chart-ratings": rows.ratings,
        "chart-slopes": [{**row, "heading": row["board"]} for row in rows.slopes],
        "chart-wins": rows.matrix,
        "chart-battles": rows.matrix,
        "chart-categories": rows.categories,
        "chart-history": rows.history,
        "chart-style": rows.coefficients,
        "chart-price": rows.prices,
        "chart-elo": rows.elo,
    }[table]
    if table in _SQUARES:
        places = {name: place for place, name in enumerate(rows.models)}
        kept = sorted(kept, key=lambda row: places.get(row["model"], len(places)))
    return [tuple(row.get(name) for name in CHARTS[table]) for row in kept]
