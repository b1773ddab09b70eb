"""The first rows of a file as they will appear, before anything is stored."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from arena.corpus.models import Prompt, Response
from arena.exchange import encodings, uploads
from arena.exchange.formats.how import How
from arena.exchange.formats.lines import unstorable
from arena.exchange.formats.problems import RefusedError
from arena.exchange.formats.reading import Layout, first_rows, look_at
from arena.exchange.formats.rows import PromptRow, ResponseRow
from arena.exchange.import_prompts import as_prompt
from arena.exchange.import_responses import as_response
from arena.exchange.models import Import
from arena.exchange.plans import latest_set

SHOWN = 5
CUT = 20_000  # characters of a text; the import keeps all of it


def layout_of(record: Import) -> Layout | None:
    """None when the file is gone or can't be read as it is told to be.

    Where only its encoding is in the way, its columns are shown in the first that fits, to be chosen by.
    """
    if not uploads.is_kept(record):
        return None
    how = How.from_json(record.options)
    fitting = () if how.encoding else encodings.odd_words(uploads.path_of(record))
    for encoding in (how.encoding, *fitting):
        with suppress(RefusedError):
            layout = _look(record, replace(how, encoding=encoding))
            # Bytes that are no text can't be shown, nor come back from a form.
            if not any(unstorable(column) for column in layout.columns):
                return layout
    return None


def _look(record: Import, how: How) -> Layout:
    return look_at(record.kind, uploads.path_of(record), record.file_name, how)


def by_place(record: Import, shown: Layout | None, how: How) -> How:
    """The same columns by the names that they have in the encoding that was chosen."""
    if shown is None or not how.encoding or how.encoding == shown.encoding:
        return how
    with suppress(RefusedError):
        columns = _look(record, how).columns
        if len(columns) == len(shown.columns):
            named = dict(zip(shown.columns, columns, strict=True))
            chosen = how.columns and {name: named.get(told, told) for name, told in how.columns.items()}
            models = tuple(named.get(told, told) for told in how.model_columns)
            return replace(how, columns=chosen, model_columns=models)
    return how


def first_look(record: Import) -> list[dict[str, Any]]:
    if not uploads.is_kept(record):
        return []
    how = How.from_json(record.options)
    rows = first_rows(record.kind, uploads.path_of(record), record.file_name, SHOWN, how)
    if record.kind == Import.Kind.PROMPTS:
        return _marked(record, [_prompt_look(row) for row in rows])
    if record.kind == Import.Kind.RESPONSES:
        prompts = _prompts(record, {row.prompt_id for row in rows})
        looks = [_response_look(row) | {"prompt": prompts.get(row.prompt_id)} for row in rows]
        return _marked(record, looks)
    return [{"row": row} for row in rows]


def _marked(record: Import, looks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Which rows aren't taken as they stand here, and which are there already."""
    refused = {error["line"] for error in record.errors}
    there = _there(record, looks)
    return [
        look | {"is_refused": look["row"].line in refused, "is_known": look["row"].key in there}
        for look in looks
    ]


def _there(record: Import, looks: list[dict[str, Any]]) -> set[object]:
    """Keys of rows that are stored."""
    prompt_set = latest_set(record.team, record.target)
    rows = [look["row"] for look in looks]
    if prompt_set is None or record.state == Import.State.DONE:
        return set()
    if record.kind == Import.Kind.PROMPTS:
        found = Prompt.objects.filter(prompt_set=prompt_set, external_id__in=[row.id for row in rows])
        return set(found.values_list("external_id", flat=True))
    ids = [row.prompt_id for row in rows]
    responses = Response.objects.filter(prompt__prompt_set=prompt_set, prompt__external_id__in=ids)
    stored = responses.values_list("prompt__external_id", "competitor__name_key", "sample")
    return {(prompt, "", key, sample) for prompt, key, sample in stored}


def _prompt_look(row: PromptRow) -> dict[str, Any]:
    turns = tuple(replace(turn, content=turn.content[:CUT]) for turn in row.turns)
    return {"row": row, "prompt": as_prompt(replace(row, turns=turns)), "is_cut": turns != row.turns}


def _response_look(row: ResponseRow) -> dict[str, Any]:
    return {
        "row": row,
        "response": as_response(replace(row, text=row.text[:CUT])),
        "is_cut": len(row.text) > CUT,
    }


def _prompts(record: Import, ids: set[str]) -> dict[str, Prompt]:
    prompt_set = latest_set(record.team, record.target)
    found = Prompt.objects.filter(prompt_set=prompt_set, external_id__in=ids)
    return {prompt.external_id: prompt for prompt in found if len(prompt.text) <= CUT}
