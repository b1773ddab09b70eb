"""The first rows of a file as they will appear, before anything is stored."""

from __future__ import annotations

from typing import Any

from arena.corpus.models import Prompt
from arena.exchange import uploads
from arena.exchange.formats.canonical import first_rows
from arena.exchange.import_prompts import as_prompt
from arena.exchange.import_responses import as_response
from arena.exchange.models import Import
from arena.exchange.plans import latest_set

SHOWN = 5


def first_look(record: Import) -> list[dict[str, Any]]:
    if record.state != Import.State.PREVIEWED or not uploads.path_of(record).is_file():
        return []
    rows = first_rows(record.kind, uploads.path_of(record), record.file_name, SHOWN)
    if record.kind == Import.Kind.PROMPTS:
        return [{"row": row, "prompt": as_prompt(row)} for row in rows]
    if record.kind == Import.Kind.RESPONSES:
        prompts = _prompts(record, {row.prompt_id for row in rows})
        return [
            {"row": row, "prompt": prompts.get(row.prompt_id), "response": as_response(row)} for row in rows
        ]
    return [{"row": row} for row in rows]


def _prompts(record: Import, ids: set[str]) -> dict[str, Prompt]:
    prompt_set = latest_set(record.team, record.target)
    found = Prompt.objects.filter(prompt_set=prompt_set, external_id__in=ids)
    return {prompt.external_id: prompt for prompt in found}
