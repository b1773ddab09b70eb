"""Redacted texts that are still said elsewhere though nothing is noted to be swept: found by hash and length.

A tombstone keeps both and no text. So a text is found where it stands whole, and with it, once it is known
again, all that quotes it. Of a prompt with several turns or a reference the hash is over all of them at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from arena.corpus.models import Prompt, Response
from arena.corpus.publishing import HASHED, prompt_hash
from arena.corpus.quotations import PLACES, REDACTED, in_texts, keys_about
from arena.corpus.redaction_models import Sweep
from arena.corpus.responses import text_hash
from arena.corpus.sweeping import sweep_up, sweeps_of

Row = Prompt | Response


def redacted() -> Iterator[Row]:
    """Every one that nothing more is noted for."""
    swept = Sweep.objects.exclude(texts=[])
    prompts = Prompt.objects.filter(tombstone__isnull=False).order_by("pk")
    yield from prompts.exclude(pk__in=swept.filter(response=None).values("prompt")).select_related(
        "prompt_set"
    )
    responses = Response.objects.filter(tombstone__isnull=False).order_by("pk")
    done = responses.exclude(pk__in=swept.filter(response__isnull=False).values("response"))
    yield from done.select_related("prompt__prompt_set", "competitor")


def can_be_told(row: Row) -> bool:
    return isinstance(row, Response) or (len(row.messages) == 1 and not row.reference)


def still_said(row: Row) -> tuple[str, int]:
    """The text, and in how many rows about it it stands whole; empty where it is gone or can't be told."""
    length = row.characters if isinstance(row, Response) else _tombstone(row)["characters"]
    if not length or not can_be_told(row):
        return "", 0
    is_it, known, found, rows = _test_for(row), dict[str, bool](), "", 0
    for texts in _rows_about(row):
        told = [text for text in texts if _holds(text, length, is_it, known)]
        if told:
            rows += 1
            found = found or next(part for part in _parts(told[0], length) if is_it(part))
    return found, rows


def take_out(row: Row, text: str) -> None:
    """As if the redaction were just done: what fails is tried again each minute."""
    prompt, response = (row.prompt, row) if isinstance(row, Response) else (row, None)
    Sweep.objects.create(prompt=prompt, response=response, texts=[text])
    sweep_up(sweeps_of(row))


def _tombstone(row: Row) -> dict[str, Any]:
    return dict(row.tombstone or {})


def _test_for(row: Row) -> Callable[[str], bool]:
    sha256 = _tombstone(row)["sha256"]
    if isinstance(row, Response):
        return lambda text: text_hash(text) == sha256
    content = {name: getattr(row, name) for name in HASHED} | {"tombstone": None}
    turn = row.messages[0]
    return lambda text: prompt_hash(content | {"messages": [turn | {"content": text}]}) == sha256


def _rows_about(row: Row) -> Iterator[list[str]]:
    """Of each row that may say it, the texts in it."""
    is_response = isinstance(row, Response)
    team = (row.prompt if isinstance(row, Response) else row).prompt_set.team_id
    for place in PLACES:
        for pk in keys_about(place, "response" if is_response else "prompt", row.pk, team):
            held = place.rows().filter(pk=pk).values(*place.columns).first()
            yield list(_texts_in(list((held or {}).values())))


def _texts_in(value: Any) -> Iterator[str]:
    """Those in JSON within a text too, as a server's reply holds them."""
    texts: list[str] = []

    def note(text: str) -> str:
        texts.append(text)
        return text

    in_texts(value, note)
    for text in texts:
        yield text
        if text.lstrip()[:1] in ("{", "["):
            try:
                inner = json.loads(text)
            except (ValueError, RecursionError):
                continue
            yield from _texts_in(inner)


def _holds(text: str, length: int, is_it: Callable[[str], bool], known: dict[str, bool]) -> bool:
    if len(text) < length or text == REDACTED:
        return False
    if text not in known:
        known[text] = any(map(is_it, _parts(text, length)))
    return known[text]


def _parts(text: str, length: int) -> Iterator[str]:
    return (text[at : at + length] for at in range(len(text) - length + 1))
