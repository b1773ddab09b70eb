"""The next version of a prompt set, and what differs between two."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from arena.corpus.models import HARD_CRITERIA, Prompt, PromptSet

_COPIED = (
    "external_id",
    "messages",
    "category",
    "language",
    "tags",
    "reference",
    "is_hard",
    *HARD_CRITERIA,
    "rendered_html",
    "renderer_version",
)
_COMPARED = ("category", "language", "tags", "reference", "is_hard", *HARD_CRITERIA)
_BATCH = 500


class NoNewVersionError(Exception):
    """args[0] says why."""


def draft_next(prompt_set: PromptSet) -> PromptSet:
    """A draft with the set's prompts and labels, under its name and the next version; no responses."""
    with transaction.atomic():
        # Two clicks at once: the second waits, then finds the draft of the first.
        of_name = PromptSet.stored.filter(team=prompt_set.team_id, name=prompt_set.name)
        list(of_name.select_for_update().order_by("pk").values_list("pk"))
        waiting = of_name.filter(status=PromptSet.Status.DRAFT).first()
        if waiting:
            raise NoNewVersionError(
                _("“%(name)s” is a draft already: change that, or publish it first.") % {"name": waiting}
            )
        draft = PromptSet.objects.create(
            team_id=prompt_set.team_id,
            name=prompt_set.name,
            version=of_name.aggregate(last=Max("version"))["last"] + 1,
            description=prompt_set.description,
            licence=prompt_set.licence,
            is_internal=prompt_set.is_internal,
        )
        # A redacted prompt has no text to ask for, so it stays behind.
        # Held back, so that whoever redacts one meanwhile waits, and finds the copy as well.
        whole = prompt_set.prompts.filter(tombstone__isnull=True).select_for_update(no_key=True)
        rows = whole.order_by("pk").values(*_COPIED)
        Prompt.objects.bulk_create((Prompt(prompt_set=draft, **row) for row in rows), batch_size=_BATCH)
    return draft


def previous_version(prompt_set: PromptSet) -> PromptSet | None:
    earlier = PromptSet.objects.filter(team=prompt_set.team_id, name=prompt_set.name)
    return earlier.filter(version__lt=prompt_set.version).order_by("-version").first()


@dataclass(frozen=True)
class TextLine:
    """One line of a compared text; `kind` is same, removed or added."""

    kind: str
    text: str


@dataclass(frozen=True)
class FieldChange:
    field: str
    before: Any
    after: Any


@dataclass(frozen=True)
class PromptChange:
    external_id: str
    fields: tuple[FieldChange, ...]
    text: tuple[TextLine, ...]


@dataclass(frozen=True)
class Difference:
    added: tuple[tuple[str, str], ...]
    removed: tuple[tuple[str, str], ...]
    changed: tuple[str, ...]
    same: int

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.removed or self.changed)


def compare(before: PromptSet, after: PromptSet) -> Difference:
    """Prompts by their id: new ones and those that went, with their text, and the ids of changed ones."""
    old, new = _prompts(before), _prompts(after)
    kept = [name for name in new if name in old]
    changed = tuple(name for name in kept if old[name] != new[name])
    return Difference(
        added=tuple((name, _text(new[name])) for name in new if name not in old),
        removed=tuple((name, _text(old[name])) for name in old if name not in new),
        changed=changed,
        same=len(kept) - len(changed),
    )


def changes(before: PromptSet, after: PromptSet, external_ids: tuple[str, ...]) -> Iterator[PromptChange]:
    """What differs in these prompts, field by field and line by line; read for one page of them."""
    old, new = _prompts(before, external_ids), _prompts(after, external_ids)
    for name in external_ids:
        one, other = old[name], new[name]
        fields = tuple(
            FieldChange(field, one[field], other[field]) for field in _COMPARED if one[field] != other[field]
        )
        text = tuple(_lines(_text(one), _text(other))) if one["messages"] != other["messages"] else ()
        yield PromptChange(name, fields, text)


def _prompts(prompt_set: PromptSet, external_ids: tuple[str, ...] | None = None) -> dict[str, dict[str, Any]]:
    prompts = prompt_set.prompts.order_by("pk")
    if external_ids is not None:
        prompts = prompts.filter(external_id__in=external_ids)
    rows = prompts.values("external_id", "messages", *_COMPARED)
    return {row.pop("external_id"): row for row in rows.iterator()}


def _text(row: dict[str, Any]) -> str:
    """As it's read: the role of a turn only where there are several."""
    turns = row["messages"]
    if len(turns) == 1:
        return str(turns[0]["content"])
    return "\n".join(f"{turn['role']}: {turn['content']}" for turn in turns)


_KINDS = {"  ": "same", "- ": "removed", "+ ": "added"}


def _lines(before: str, after: str) -> Iterator[TextLine]:
    for line in difflib.ndiff(before.split("\n"), after.split("\n")):
        if line[:2] in _KINDS:  # "? " points at characters
            yield TextLine(_KINDS[line[:2]], line[2:])
