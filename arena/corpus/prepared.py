"""What is made of a response's text once, before it is stored. Knows no Django: other processes do it too."""

from __future__ import annotations

from typing import NamedTuple

from arena.corpus.render import render
from arena.corpus.style_counts import StyleCounts, count_style


class Prepared(NamedTuple):
    html: str
    counts: StyleCounts


def prepare(text: str) -> Prepared:
    return Prepared(render(text), count_style(text))
