"""How large a drawn chart is, and its names alone: they stay in sight over it where a phone scrolls it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

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


FRAME_WITHIN = 2_000
"""Characters of a drawing that hold its frame, many times over: a page reads no more of it."""


@dataclass(frozen=True)
class Size:
    """In pixels; an `img` that says it keeps its place free until it has loaded."""

    width: int
    height: int


def sizes_of(drawing: str, name: str) -> tuple[Size, Size] | tuple[None, None]:
    """Of a chart and of its names alone, by the beginning of its drawing.

    None of one of another make: the picture itself says what is wrong, and the page stands without it.
    """
    frame = _FRAME.match(drawing)
    if frame is None:
        return None, None
    width, height = (math.ceil(float(frame[part])) for part in ("width", "height"))
    cut = _cut(frame, name)
    return Size(width, height), Size(1, 1) if cut is None else Size(math.ceil(cut[1] - cut[0]), height)


def _cut(frame: re.Match[str], name: str) -> tuple[float, float] | None:
    """From where to where the names stand; None where none can."""
    x, across, width = (float(frame[part]) for part in ("x", "across", "width"))
    left, right = (x + across + 1, width) if name in NAMES_AT_END else (0.0, x - 1)
    return (left, right) if 1 <= right - left <= WIDEST else None


def names_alone(svg: str, name: str) -> str:
    """As high as the chart, so that both lie on each other; clear where no name can stand."""
    frame = _FRAME.match(svg)
    if frame is None:
        raise ValueError(f"the chart {name} isn't framed as vl_convert frames them: draw it anew")
    cut = _cut(frame, name)
    if cut is None:
        return _NOTHING
    y, down, (left, right) = float(frame["y"]), float(frame["down"]), cut
    reach = REACH if name in NAMES_AT_END else 0
    shown = f'<rect x="{left:g}" y="{y - reach:g}" width="{right - left:g}" height="{down + 2 * reach:g}"/>'
    inner = svg[svg.index(">") + 1 : svg.rindex("</svg>")]
    return (
        f'<svg {frame["kinds"]} width="{right - left:g}" height="{frame["height"]}"'
        f' viewBox="{left:g} 0 {right - left:g} {frame["height"]}">'
        f'<clipPath id="names">{shown}</clipPath><g clip-path="url(#names)">{inner}</g></svg>'
    )
