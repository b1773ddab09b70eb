"""What a file's columns may be where their names don't say: put before a person, never taken for granted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from arena.corpus.models import Prompt
from arena.exchange.formats.columns import likely_models
from arena.exchange.formats.reading import Layout
from arena.exchange.models import Import
from arena.exchange.plans import latest_set

_NUMBER = re.compile(r"\d+\.?\d*|\.\d+")
_KEYS = {"id": "prompt_id", "text": "prompt"}  # what these headers mean beside columns of models


@dataclass(frozen=True)
class Proposal:
    """A table with one column for each model, and the column that says which prompt a row is about."""

    models: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)  # ours -> the file's


NOTHING = Proposal()


def proposal_for(record: Import, layout: Layout | None) -> Proposal:
    """For a file of responses that names neither a model nor a response."""
    if record.kind != Import.Kind.RESPONSES or layout is None or "model" in layout.meanings:
        return NOTHING
    columns = _keys(record, layout)
    prompts = set(columns.values())
    response = layout.meanings.get("response")
    if not columns or (response and response not in prompts):
        return NOTHING
    free = [header for header in layout.columns if header not in prompts]
    models = likely_models(["prompt", *free])
    about = _prompt_columns(record, layout, models)
    models = tuple(header for header in models if header not in about and not _is_of_numbers(layout, header))
    return Proposal(models, columns) if models else NOTHING


def _keys(record: Import, layout: Layout) -> dict[str, str]:
    """By its name, else by what it holds: ids or texts of the prompts that are to be answered."""
    known = {name: layout.meanings[name] for name in ("prompt_id", "prompt") if name in layout.meanings}
    if known:
        return known
    for header in layout.columns:
        if name := _KEYS.get(header.strip().casefold()):
            return {name: header}
    return dict(_found_keys(record, layout, layout.columns)[:1])


def _prompt_columns(record: Import, layout: Layout, headers: Iterable[str]) -> set[str]:
    """Those that repeat the prompts."""
    return {header for _name, header in _found_keys(record, layout, headers)}


def _found_keys(record: Import, layout: Layout, headers: Iterable[str]) -> list[tuple[str, str]]:
    prompt_set = latest_set(record.team, record.target)
    if prompt_set is None:
        return []
    prompts = Prompt.objects.filter(prompt_set=prompt_set)
    found: list[tuple[str, str]] = []
    for header in headers:
        held = set(layout.cells(header))
        if not held:
            continue
        if prompts.filter(external_id__in=held).count() == len(held):
            found.append(("prompt_id", header))
        elif held <= {prompt.text for prompt in prompts.only("messages")[:_COMPARED]}:
            found.append(("prompt", header))
    return found


_COMPARED = 2_000  # prompts whose texts are looked at


def _is_of_numbers(layout: Layout, header: str) -> bool:
    cells = layout.cells(header)
    return bool(cells) and all(_NUMBER.fullmatch(cell.strip()) for cell in cells)
