"""A response as it is stored: its text with what is counted and rendered once, before anybody sees it."""

import hashlib
from dataclasses import asdict
from typing import Any

from arena.corpus.models import Response
from arena.corpus.render import RENDERER_VERSION, render
from arena.corpus.style_counts import count_style


def text_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def new_response(text: str, **fields: Any) -> Response:
    """Not saved: rendering takes its time, and belongs before the transaction that stores."""
    return Response(
        text=text,
        is_blank=not text.strip(),
        text_hash=text_hash(text),
        rendered_html=render(text),
        renderer_version=RENDERER_VERSION,
        **asdict(count_style(text)),
        **fields,
    )
