"""A file of prompts may hold the models' responses in its other columns: it is taken on for them."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser, User

from arena.exchange.formats.how import How
from arena.exchange.models import Import
from arena.exchange.preview import layout_of


def columns_of(record: Import) -> tuple[str, ...]:
    """Those beside the prompts that look like responses, as long as the file is here."""
    if record.kind != Import.Kind.PROMPTS or record.state not in (Import.State.PREVIEWED, Import.State.DONE):
        return ()
    return _beside_prompts(record)


def _beside_prompts(record: Import) -> tuple[str, ...]:
    layout = layout_of(record)
    return layout.responses_beside_prompts(How.from_json(record.options)) if layout else ()


def take_on(record: Import, user: User | AnonymousUser | None) -> Import | None:
    """A new import of the same file, which leaves the old one; None if it isn't here any more."""
    if record.state != Import.State.DONE or not (columns := columns_of(record)):
        return None
    mine = Import.objects.filter(pk=record.pk, stored_as=record.stored_as)
    if not mine.update(stored_as=""):
        return None
    return Import.objects.create(
        team=record.team,
        kind=Import.Kind.RESPONSES,
        target=record.target,
        file_name=record.file_name,
        file_size=record.file_size,
        stored_as=record.stored_as,
        options=_how(record, columns).as_json(),
        created_by=user if isinstance(user, User) else None,
        state=Import.State.CHECKING,
    )


def _how(record: Import, models: tuple[str, ...]) -> How:
    """Read the same way; a row is about the prompt whose id, or else whose text, it holds."""
    told, layout = How.from_json(record.options), layout_of(record)
    read = told.columns if told.columns is not None or layout is None else layout.meanings
    key = "id" if "id" in (read or {}) else "prompt"
    columns = {"prompt_id" if key == "id" else "prompt": (read or {})[key]}
    return How(columns=columns, model_columns=models, encoding=told.encoding, delimiter=told.delimiter)


def waits(record: Import) -> bool:
    """Whether an import that is done keeps its file for that."""
    return record.kind == Import.Kind.PROMPTS and bool(_beside_prompts(record))
