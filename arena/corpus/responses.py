"""A response as it is stored: its text with what is counted and rendered once, before anybody sees it."""

import hashlib
from dataclasses import asdict
from typing import Any

from arena.corpus.models import Response
from arena.corpus.prepared import Prepared, prepare
from arena.corpus.render import RENDERER_VERSION


def text_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def new_response(text: str, prepared: Prepared | None = None, **fields: Any) -> Response:
    """Not saved: rendering takes its time, and belongs before the transaction that stores."""
    html, counts = prepared or prepare(text)
    return Response(
        text=text,
        is_blank=not text.strip(),
        text_hash=text_hash(text),
        rendered_html=html,
        renderer_version=RENDERER_VERSION,
        **asdict(counts),
        **fields,
    )
