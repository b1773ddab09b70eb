"""Charts with a number along both axes: history, online Elo, price, and what style is worth."""

from __future__ import annotations

from typing import Any

import altair as alt

from arena.leaderboards.chart_rows import ChartRows
from arena.leaderboards.chart_scheme import ROW, Scheme, need, spread_labels

MOST_LINES = 12
HEIGHT = 340


def history(rows: ChartRows, scheme: Scheme) -> Any:
    """Ratings over the board's snapshots, of those who lead it now."""
    moments = {one["snapshot"] for one in rows.history}
    need(len(moments) > 1, "a history takes two snapshots, and this board has one")
    models = rows.models[:MOST_LINES]
    values = [dict(one) for one in rows.history if one["model"] in models]
    return _lines(
        values, scheme, x=alt.X("at:T", title="Cutoff"), last=max(one["at"] for one in values), key="at"
    )


def elo(rows: ChartRows, scheme: Scheme) -> Any:
    """Online Elo as the votes came in; the bars at the end are what shuffled orders give."""
    need(rows.elo_track, "online Elo is told for people’s votes without style control")
    leaders = [one["model"] for one in rows.elo[:MOST_LINES]]
    values = [dict(one) for one in rows.elo_track if one["model"] in leaders]
    last = max(one["votes"] for one in values)
    lines = _lines(values, scheme, x=alt.X("votes:Q", title="Votes so far"), last=last, key="votes")
    band = [one | {"votes": last} for one in rows.elo if one["model"] in leaders]
    bars = alt.Chart(alt.Data(values=band)).mark_rule(color=scheme.side_b, strokeWidth=3, opacity=0.5)
    return alt.layer(lines, bars.encode(x="votes:Q", y="lower:Q", y2="upper:Q"))


def _lines(values: list[dict[str, Any]], scheme: Scheme, *, x: Any, last: Any, key: str) -> Any:
    spread_labels([one for one in values if one[key] == last], values, HEIGHT)
    base = alt.Chart(alt.Data(values=values)).encode(
        x=x,
        y=alt.Y("rating:Q", title="Rating (points)", scale=alt.Scale(zero=False), axis=alt.Axis(format="d")),
        detail="model:N",
    )
    ends = base.transform_filter(alt.FieldEqualPredicate(field=key, equal=last))
    return alt.layer(
        base.mark_line(color=scheme.quiet, strokeWidth=1.5),
        ends.mark_point(color=scheme.ink, filled=True, size=45, opacity=1),
        ends.mark_text(align="left", dx=9, fontSize=11, color=scheme.ink).encode(
            text="model:N", y="label_at:Q"
        ),
    ).properties(width=520, height=HEIGHT)


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
    order = [one["feature"] for one in rows.coefficients]
    base = alt.Chart(alt.Data(values=rows.coefficients)).encode(y=alt.Y("feature:N", sort=order, title=None))
    zero = alt.Chart(alt.Data(values=[{"zero": 0}])).mark_rule(color=scheme.quiet).encode(x="zero:Q")
    x = alt.X("points:Q", title="Points for a typical difference, 95 % interval")
    return alt.layer(
        zero,
        base.mark_rule(color=scheme.ink, strokeWidth=2).encode(x=alt.X("lower:Q"), x2="upper:Q"),
        base.mark_point(color=scheme.ink, filled=True, size=60, opacity=1).encode(x=x),
    ).properties(width=520, height=max(120, ROW * len(order)))
