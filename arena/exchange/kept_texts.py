"""A text that is redacted is taken out of uploads too that wait to be imported: the whole file goes."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection
from typing import Any

from django.dispatch import receiver

from arena.corpus.sweeping import text_is_gone
from arena.exchange import intake, uploads
from arena.exchange.formats import parquet
from arena.exchange.formats.how import How
from arena.exchange.formats.lines import Row
from arena.exchange.formats.problems import RefusedError
from arena.exchange.formats.tables import CHOOSABLE, open_table
from arena.exchange.models import Import

logger = logging.getLogger(__name__)

# A shorter text could be a part of any other: it has to fill a cell.
_PART = 40


@receiver(text_is_gone)
def drop_uploads(sender: object, *, team_id: int, texts: Collection[str], **_rest: Any) -> list[str]:
    """The names of the team's files that held one of the texts."""
    wanted = [text for text in texts if text.strip()]
    dropped = []
    for record in Import.objects.filter(team_id=team_id).exclude(stored_as=""):
        if uploads.is_kept(record) and _may_hold(record, wanted):
            _drop(record)
            dropped.append(record.file_name)
    return dropped


def _drop(record: Import) -> None:
    if intake.cancel(record) or intake.drop(record):  # one under way stops, and its file goes then
        return
    stored_as = record.stored_as
    uploads.forget(record)
    Import.objects.filter(pk=record.pk, stored_as=stored_as).update(stored_as="")  # if it is still there


def _may_hold(record: Import, texts: list[str]) -> bool:
    """A file that can't be looked through may; one that somebody discards meanwhile doesn't any more."""
    try:
        return _holds(record, texts)
    except FileNotFoundError:
        return False
    except Exception:
        logger.exception("the upload %s can't be searched for a redacted text, so it is dropped", record.pk)
        return True


def _holds(record: Import, texts: list[str]) -> bool:
    return _holds_bytes(record, [text for text in texts if len(text) >= _PART]) or _holds_cells(record, texts)


def _holds_bytes(record: Import, texts: list[str]) -> bool:
    """In any encoding and as JSON or CSV write it, also in rows that can't be read."""
    forms = {
        form
        for text in texts
        for form in (
            text,
            text.replace('"', '""'),
            json.dumps(text)[1:-1],
            json.dumps(text, ensure_ascii=False)[1:-1],
        )
    }
    spelled = {form.encode(encoding, "ignore") for form in forms for encoding in CHOOSABLE}
    if not spelled:
        return False
    content = uploads.path_of(record).read_bytes()
    return any(part in content for part in spelled if len(part) >= _PART)


def _holds_cells(record: Import, texts: list[str]) -> bool:
    how, wanted = How.from_json(record.options), set(texts)
    try:
        table = open_table(uploads.path_of(record), record.file_name, how.encoding, how.delimiter)
        rows = (row for row in table.rows() if isinstance(row, Row))
        return any(wanted & set(_texts(list(row.values.values()))) for row in rows)
    except RefusedError:
        # Of a text file the bytes were looked through; what is packed, or a short text, may be in there.
        return _is_packed(record) or any(len(text) < _PART for text in texts)


def _is_packed(record: Import) -> bool:
    with uploads.path_of(record).open("rb") as file:
        return file.read(len(parquet.MAGIC)) == parquet.MAGIC


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [text for each in value for text in _texts(each)] if isinstance(value, list) else []
