"""Room for the reader's typeface: a drawing is measured in one, and shown in whichever its reader has."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any

WIDER = 1.22
"""So many times as wide as Arial, in which charts are measured, is the widest typeface that stands in for it
(DejaVu Sans, Verdana)."""
SIZES = {"labelFontSize": 10, "titleFontSize": 11}
"""Vega's own sizes in pixels, which a specification doesn't name."""
TITLE_SIZES = {"fontSize": 13, "subtitleFontSize": 11}

_SIZE = re.compile(r'font-size="([0-9.]+)px"')


def with_room(spec: dict[str, Any]) -> dict[str, Any]:
    """The same drawing with all letters so much larger: what is laid out around them leaves that room."""
    roomy = _larger(deepcopy(spec))
    config = roomy.setdefault("config", {})
    config["axis"] = _times(SIZES) | config.get("axis", {})
    config["title"] = _times(TITLE_SIZES) | config.get("title", {})
    return roomy


def in_true_size(svg: str) -> str:
    """Letters as large as they shall be, each where it was laid out."""
    return _SIZE.sub(lambda found: f'font-size="{float(found[1]) / WIDER:.4g}px"', svg)


def _times(sizes: dict[str, int]) -> dict[str, float]:
    return {name: size * WIDER for name, size in sizes.items()}


def _larger(part: Any) -> Any:
    """Sizes that the specification names, and the width up to which labels are written out."""
    if isinstance(part, dict):
        return {
            key: value * WIDER
            if key in ("fontSize", "labelLimit")
            else value
            if key == "values"
            else _larger(value)
            for key, value in part.items()
        }
    return [_larger(one) for one in part] if isinstance(part, list) else part
