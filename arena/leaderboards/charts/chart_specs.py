"""Charts of a snapshot as Vega-Lite, made of its stored rows. Colours come with the scheme, never alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import altair as alt

from arena.leaderboards.boards.duels import say_share
from arena.leaderboards.charts import line_charts
from arena.leaderboards.charts.chart_page import TITLES, say_cut
from arena.leaderboards.charts.chart_rows import ChartRows
from arena.leaderboards.charts.chart_scheme import (
    MOST_IN_A_MATRIX,
    MOST_SLOPES,
    ROW,
    Scheme,
    need,
    spread_labels,
)
from arena.percent import percent

Spec = dict[str, Any]


def ratings(rows: ChartRows, scheme: Scheme) -> Any:
    """Every rating with its interval; the mean as a hairline."""
    values = [r for r in rows.ratings if r["rating"] is not None]
    need(values, "no model has a rating")
    order = [r["model"] for r in values]
    base = alt.Chart(alt.Data(values=values)).encode(y=alt.Y("model:N", sort=order, title=None))
    x = alt.X(
        "rating:Q",
        title=f"Rating (points), {percent(0.95)} interval",
        scale=alt.Scale(zero=False),
        axis=alt.Axis(format="d", labelFlush=False),
    )
    mean = alt.Chart(alt.Data(values=[{"mean": 1000}])).mark_rule(color=scheme.quiet).encode(x="mean:Q")
    bars = base.mark_rule(color=scheme.ink, strokeWidth=2).encode(x=alt.X("lower:Q"), x2="upper:Q")
    dots = base.mark_point(color=scheme.ink, filled=True, size=60, opacity=1).encode(x=x)
    return alt.layer(mean, bars, dots).properties(width=400, height=ROW * len(order))


def wins(rows: ChartRows, scheme: Scheme) -> Any:
    """What the row's model scores against the column's, a tie counting half: observed, predicted."""
    _matrix_of(rows.matrix, rows.models)
    shown = ("observed", "Score, a tie counting half"), ("predicted", "Expected score by the ratings")
    charts = [
        _matrix(rows.matrix, rows.models, scheme, name, title, [0, 0.5, 1], "percent")
        for name, title in shown
    ]
    return alt.hconcat(*charts)


def battles(rows: ChartRows, scheme: Scheme) -> Any:
    """How often each two met."""
    _matrix_of(rows.matrix, rows.models)
    most = max(cell["battles"] for cell in rows.matrix)
    need(most, "no two models have met")
    return _matrix(rows.matrix, rows.models, scheme, "battles", "Battles", [0, most], "plain")


def categories(rows: ChartRows, scheme: Scheme) -> Any:
    """Ratings by category: a board of each category's votes alone."""
    need(rows.categories, "no category has votes enough for ratings of its own")
    rated = [cell for cell in rows.categories if cell["rating"] is not None]
    need(rated, "no model has a finite rating in any category")
    names = list(dict.fromkeys(cell["category"] for cell in rows.categories))
    reach = max(abs(cell["rating"] - 1000) for cell in rated) or 1.0
    colour = alt.Color(
        "rating:Q",
        scale=alt.Scale(
            domain=[1000 - reach, 1000, 1000 + reach],
            range=[scheme.side_b, scheme.paper, scheme.side_a],
            interpolate="rgb",
        ),
        legend=None,
    )
    places: Any = {
        "x": alt.X("category:N", sort=names, title=None, axis=alt.Axis(orient="top", labelAngle=-35)),
        "y": alt.Y("model:N", sort=rows.models, title=None),
    }
    base = alt.Chart(alt.Data(values=rated)).encode(**places)
    text = base.mark_text(fontSize=11).encode(
        text=alt.Text("rating:Q", format=".0f"),
        color=_readable(f"abs(datum.rating - 1000) > {0.6 * reach}", scheme),
    )
    # No colour: it would be read as a rating.
    without = [cell for cell in rows.categories if cell["rating"] is None]
    words = alt.Chart(alt.Data(values=without)).encode(**places).mark_text(fontSize=9, color=scheme.quiet)
    layers = [base.mark_rect().encode(color=colour), text]
    layers += [words.encode(text="says:N")] if without else []
    return alt.layer(*layers).properties(width=max(300, 72 * len(names)), height=ROW * len(rows.models))


def slopes(rows: ChartRows, scheme: Scheme) -> Any:
    """Each model over the three boards: a crooked line is a move."""
    boards = list(dict.fromkeys(point["board"] for point in rows.slopes))
    need(len(boards) > 1, "there is one board alone, and none to lay beside it")
    models = rows.models[:MOST_SLOPES]
    height = max(300, 18 * len(models))
    values = [dict(point) for point in rows.slopes if point["model"] in models]
    ends = list({point["model"]: point for point in values}.values())
    spread_labels(ends, [point["rating"] for point in values], height)
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("board:N", sort=boards, title=None, axis=alt.Axis(labelAngle=0, orient="top")),
        y=alt.Y("rating:Q", title="Rating (points)", scale=alt.Scale(zero=False), axis=alt.Axis(format="d")),
        detail="model:N",
    )
    end = alt.Chart(alt.Data(values=ends)).encode(x=base.encoding.x, y=base.encoding.y)
    return alt.layer(
        base.mark_line(color=scheme.quiet, strokeWidth=1.5),
        base.mark_point(color=scheme.ink, filled=True, size=45, opacity=1),
        *line_charts.names_beside(end, scheme),
    ).properties(width=420, height=height)


CHARTS: dict[str, Callable[[ChartRows, Scheme], Any]] = {
    "ratings": ratings,
    "slopes": slopes,
    "wins": wins,
    "battles": battles,
    "categories": categories,
    "history": line_charts.history,
    "style": line_charts.style,
    "price": line_charts.price,
    "elo": line_charts.elo,
}


def spec_of(name: str, rows: ChartRows, scheme: Scheme) -> Spec:
    """A chart as plain Vega-Lite, its data in it. Raises NothingToDrawError with what is missing."""
    chart = CHARTS[name](rows, scheme)
    spec: Spec = chart.configure(**_config(scheme)).to_dict()
    # Vega ignores `usermeta`: here it keeps the figures of the table beside the picture.
    replayed = {"elo": rows.elo, "one_moment": rows.one_moment, "recorded": rows.recorded}
    kept = {"usermeta": replayed} if name == "elo" else {}
    below = [part for part in (rows.origin, say_cut(name, rows)) if part]
    return spec | {"title": {"text": str(TITLES[name]), "subtitle": below}} | kept


def _matrix_of(cells: Sequence[dict[str, Any]], models: Sequence[str]) -> None:
    need(cells, "fewer than two models")
    need(len(models) <= MOST_IN_A_MATRIX, f"more than {MOST_IN_A_MATRIX} models don't fit a matrix")


def _matrix(
    cells: Sequence[dict[str, Any]],
    models: Sequence[str],
    scheme: Scheme,
    field: str,
    title: str,
    domain: list[float],
    kind: str,
) -> Any:
    """A square of row against column, its figure in every cell."""
    colours = (
        [scheme.side_b, scheme.paper, scheme.side_a] if len(domain) == 3 else [scheme.paper, scheme.side_a]
    )
    shown = [cell for cell in cells if cell[field] is not None]
    if kind == "percent":
        # As the table beside it writes them: a drawing would round 62.5 the other way.
        shown = [cell | {"says": say_share(cell[field])} for cell in shown]
    base = alt.Chart(alt.Data(values=shown)).encode(
        x=alt.X("against:N", sort=list(models), title=None, axis=alt.Axis(orient="top", labelAngle=-45)),
        y=alt.Y("model:N", sort=list(models), title=None),
    )
    colour = alt.Color(
        f"{field}:Q", scale=alt.Scale(domain=domain, range=colours, interpolate="rgb"), legend=None
    )
    middle = 0.3 if len(domain) == 3 else 0.6 * domain[-1]
    strong = f"abs(datum.{field} - {0.5 if len(domain) == 3 else 0}) > {middle}"
    text = base.mark_text(fontSize=10).encode(
        text="says:N" if kind == "percent" else alt.Text(f"{field}:Q", format=","),
        color=_readable(strong, scheme),
    )
    size = max(300, 34 * len(models))
    return alt.layer(base.mark_rect().encode(color=colour), text).properties(
        title=title, width=size, height=max(140, ROW * len(models))
    )


def _readable(strong: str, scheme: Scheme) -> Any:
    """Paper on strong colour, ink elsewhere."""
    return alt.condition(strong, alt.value(scheme.paper), alt.value(scheme.ink))


def _config(scheme: Scheme) -> dict[str, Any]:
    axis = {
        "labelColor": scheme.ink,
        "titleColor": scheme.quiet,
        "domainColor": scheme.rule,
        "tickColor": scheme.rule,
        "gridColor": scheme.rule,
        "labelLimit": 420,
        # Flush with the plot the first and last figure would touch their neighbours.
        "labelFlush": False,
        "labelSeparation": 4,
        "titleFontWeight": "normal",
    }
    return {
        "background": scheme.paper,
        "font": "system-ui, Segoe UI, Noto Sans, Helvetica Neue, Arial, sans-serif",
        "axis": axis,
        "text": {"color": scheme.ink},
        "title": {
            "color": scheme.ink,
            "subtitleColor": scheme.quiet,
            "fontWeight": "normal",
            "anchor": "start",
        },
        "view": {"stroke": None},
    }
