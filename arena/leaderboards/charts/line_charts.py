"""Charts with a number along both axes: history, online Elo, price, and what style is worth."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import altair as alt

from arena.leaderboards.charts.chart_rows import ChartRows
from arena.leaderboards.charts.chart_scheme import MOST_LINES, ROW, Scheme, need, spread_labels
from arena.percent import percent

HEIGHT = 340
# Lines are told apart without colour: by dash, by mark at their end, and by the name beside it.
DASHES = [[1, 0], [6, 3], [2, 2], [9, 3, 2, 3]]
MARKS = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]
LEADER = 18
SOME_DAYS = 5
"""From so many on the hour of a snapshot says nothing."""


def history(rows: ChartRows, scheme: Scheme) -> Any:
    """Ratings over the board's snapshots, of those who lead it now."""
    moments = {one["snapshot"] for one in rows.history}
    need(len(moments) > 1, "a history takes two snapshots, and this board has one")
    models = rows.models[:MOST_LINES]
    values = [dict(one) for one in rows.history if one["model"] in models]
    days = (datetime.fromisoformat(values[-1]["at"]) - datetime.fromisoformat(values[0]["at"])).days
    axis = alt.Axis(format="%d %b %Y" if days >= SOME_DAYS else "%d %b %H:%M", tickCount=4, labelOverlap=True)
    x = alt.X("at:T", title="Cutoff (UTC)", scale=alt.Scale(type="utc"), axis=axis)
    return _lines(values, scheme, x=x, key="at")


def elo(rows: ChartRows, scheme: Scheme) -> Any:
    """Online Elo as the votes came in; the bars at the end are what shuffled orders give."""
    need(rows.elo_track, "online Elo is told for people’s votes without style control")
    leaders = [one["model"] for one in rows.elo[:MOST_LINES]]
    values = [dict(one) for one in rows.elo_track if one["model"] in leaders]
    last = max(one["votes"] for one in values)
    band = [one | {"votes": last} for one in rows.elo if one["model"] in leaders]
    reach = [one[end] for one in band for end in ("lower", "upper")]
    lines = _lines(values, scheme, x=alt.X("votes:Q", title="Votes so far"), key="votes", reach=reach)
    bars = alt.Chart(alt.Data(values=band)).mark_rule(color=scheme.side_b, strokeWidth=3, opacity=0.5)
    return alt.layer(lines, bars.encode(x="votes:Q", y="lower:Q", y2="upper:Q"))


def _lines(
    values: list[dict[str, Any]], scheme: Scheme, *, x: Any, key: str, reach: Sequence[float] = ()
) -> Any:
    """A line of its own kind for each model, its name where it ends."""
    models = list(dict.fromkeys(one["model"] for one in values))
    last = {one["model"]: one for one in sorted(values, key=lambda one: one[key])}
    ends = [dict(one) for one in last.values()]
    spread_labels(ends, [*(one["rating"] for one in values), *reach], HEIGHT)
    dashes = [DASHES[number % len(DASHES)] for number in range(len(models))]
    marks = [MARKS[number % len(MARKS)] for number in range(len(models))]
    dash = alt.StrokeDash("model:N", scale=alt.Scale(domain=models, range=dashes), legend=None)
    shape = alt.Shape("model:N", scale=alt.Scale(domain=models, range=marks), legend=None)
    y = alt.Y("rating:Q", title="Rating (points)", scale=alt.Scale(zero=False), axis=alt.Axis(format="d"))
    base = alt.Chart(alt.Data(values=values)).encode(x=x, y=y, detail="model:N")
    end = alt.Chart(alt.Data(values=ends)).encode(x=x, y=y)
    return alt.layer(
        base.mark_line(color=scheme.quiet, strokeWidth=1.5).encode(strokeDash=dash),
        end.mark_point(color=scheme.ink, filled=True, size=60, opacity=1).encode(shape=shape),
        *names_beside(end, scheme),
    ).properties(width=520, height=HEIGHT)


def names_beside(ends: Any, scheme: Scheme) -> list[Any]:
    """Names beside the plot at `label_at`, and a thin line from each to its point, which may be elsewhere."""
    leaders = ends.mark_rule(color=scheme.quiet, strokeWidth=0.7, x2Offset=LEADER)
    names = ends.mark_text(align="left", dx=LEADER + 3, fontSize=11, color=scheme.ink)
    edge = alt.value("width")
    return [
        leaders.encode(x2=edge, y2="label_at:Q"),
        names.encode(x=edge, text="model:N", y="label_at:Q"),
    ]


def price(rows: ChartRows, scheme: Scheme) -> Any:
    """Rating against what a thousand responses cost."""
    need(len(rows.prices) > 1, "fewer than two models have responses whose cost is known")
    base = alt.Chart(alt.Data(values=rows.prices)).encode(
        x=alt.X("dollars:Q", title="Dollars for 1,000 responses", scale=alt.Scale(type="log")),
        y=alt.Y("rating:Q", title="Rating (points)", scale=alt.Scale(zero=False), axis=alt.Axis(format="d")),
    )
    return alt.layer(
        base.mark_rule(color=scheme.quiet).encode(y="lower:Q", y2="upper:Q"),
        base.mark_point(color=scheme.ink, filled=True, size=60, opacity=1),
        base.mark_text(align="left", dx=8, fontSize=11, color=scheme.ink).encode(text="model:N"),
    ).properties(width=520, height=HEIGHT)


def style(rows: ChartRows, scheme: Scheme) -> Any:
    """Points that a typical difference in each feature of style is worth."""
    need(rows.coefficients, "only a style-controlled board has coefficients of style")
    order = [one["name"] for one in rows.coefficients]
    base = alt.Chart(alt.Data(values=rows.coefficients)).encode(y=alt.Y("name:N", sort=order, title=None))
    zero = alt.Chart(alt.Data(values=[{"zero": 0}])).mark_rule(color=scheme.quiet).encode(x="zero:Q")
    x = alt.X("points:Q", title=f"Points for a typical difference, {percent(0.95)} interval")
    return alt.layer(
        zero,
        base.mark_rule(color=scheme.ink, strokeWidth=2).encode(x=alt.X("lower:Q"), x2="upper:Q"),
        base.mark_point(color=scheme.ink, filled=True, size=60, opacity=1).encode(x=x),
    ).properties(width=520, height=max(120, ROW * len(order)))
