"""A drawn chart's names alone: they lie over the chart and stay in sight where a phone scrolls it."""

from __future__ import annotations

import re

NAMES_AT_END = frozenset(("slopes", "history", "elo"))
"""Charts whose lines end at their names; those of all others stand before the plot."""
WIDEST = 200
"""Pixels: wider names would leave a phone no room for what they name."""
REACH = 8
"""Pixels that half a name after the plot may reach over it, above and below."""

_FRAME = re.compile(
    r'<svg (?P<kinds>[^>]*?) width="(?P<width>[0-9.]+)" height="(?P<height>[0-9.]+)" viewBox="[^"]*">'
    r'.*?<g [^>]*transform="translate\((?P<x>[0-9.]+),(?P<y>[0-9.]+)\)">'
    r'.*?class="background"[^>]* d="M0,0h(?P<across>[0-9.]+)v(?P<down>[0-9.]+)h',
    re.DOTALL,
)
_NOTHING = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"></svg>'


def names_alone(svg: str, name: str) -> str:
    """As high as the chart, so that both lie on each other; clear where no name can stand."""
    frame = _FRAME.match(svg)
    if frame is None:
        raise ValueError(f"the chart {name} isn't framed as vl_convert frames them: draw it anew")
    x, y, across, down, width = (float(frame[part]) for part in ("x", "y", "across", "down", "width"))
    at_end = name in NAMES_AT_END
    left, right, reach = (x + across + 1, width, REACH) if at_end else (0.0, x - 1, 0)
    if not 1 <= right - left <= WIDEST:
        return _NOTHING
    shown = f'<rect x="{left:g}" y="{y - reach:g}" width="{right - left:g}" height="{down + 2 * reach:g}"/>'
    inner = svg[svg.index(">") + 1 : svg.rindex("</svg>")]
    return (
        f'<svg {frame["kinds"]} width="{right - left:g}" height="{frame["height"]}"'
        f' viewBox="{left:g} 0 {right - left:g} {frame["height"]}">'
        f'<clipPath id="names">{shown}</clipPath><g clip-path="url(#names)">{inner}</g></svg>'
    )
