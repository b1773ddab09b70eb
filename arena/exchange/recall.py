"""How a file is read is asked once: the same bytes, uploaded again by the team, are read the same way."""

from __future__ import annotations

from dataclasses import replace

from django.utils.translation import gettext as _

from arena.exchange import uploads
from arena.exchange.formats.how import How
from arena.exchange.imports import file_digest
from arena.exchange.models import Import

_ASKED = ("encoding", "delimiter", "columns", "model_columns", "model", "judges", "people")
_WORKED = (Import.State.PREVIEWED, Import.State.DONE)


def apply(record: Import) -> list[str]:
    """Sets on a new upload what was chosen for this file before, and says so."""
    told = How.from_json(record.options)
    if any(getattr(told, name) for name in ("encoding", "delimiter", "columns", "model_columns")):
        return []
    before = _latest(record)
    if before is None:
        return []
    chosen = How.from_json(before.options)
    if before.kind != record.kind:
        chosen = How(encoding=chosen.encoding, delimiter=chosen.delimiter)
    how = replace(chosen, model=told.model or chosen.model)
    if told.judges or told.people:
        how = replace(how, judges=told.judges, people=told.people)
    if how == told:
        return []
    record.options = record.options | how.as_json()
    Import.objects.filter(pk=record.pk).update(options=record.options)
    words = _("read as was chosen for this file before; it can be changed under “How the file is read”")
    return [words]


def _latest(record: Import) -> Import | None:
    """Of the same kind if there is one."""
    same = Import.objects.filter(team=record.team, state__in=_WORKED).exclude(pk=record.pk)
    found = same.filter(file_sha256=file_digest(uploads.path_of(record))).order_by("-pk")[:20]
    chosen = [other for other in found if any(other.options.get(name) for name in _ASKED)]
    return next((other for other in chosen if other.kind == record.kind), next(iter(chosen), None))
