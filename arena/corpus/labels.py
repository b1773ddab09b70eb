"""Changing what is known of prompts' hardness: by hand, in bulk, from a file or by an LLM.

Labels say something about a prompt and are no part of it: they change after publishing too, and aren't in the
content hash. Each change keeps what stood before it, so a snapshot finds the labels of its day.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db import transaction

from arena.compiled import CompiledUpdate
from arena.corpus.hardness import Flag, given, is_hard
from arena.corpus.label_models import LabelChange
from arena.corpus.models import HARD_CRITERIA, Prompt
from arena.settled import stamp

LABELS = ("is_hard", *HARD_CRITERIA)
_CHUNK = 500
_write = CompiledUpdate(lambda prompt: Prompt.objects.filter(pk=prompt))


def labels_of(prompt: Prompt) -> dict[str, Flag]:
    return {name: getattr(prompt, name) for name in LABELS}


def given_hardness(prompt: Prompt) -> Flag:
    """What somebody said outright; None where the criteria speak."""
    return given(prompt.is_hard, [getattr(prompt, name) for name in HARD_CRITERIA])


def changed(labels: Mapping[str, Flag], new: Mapping[str, Flag]) -> dict[str, Flag]:
    """The labels after a change. `is_hard` in `new` is said outright; None lets the criteria speak."""
    unknown = set(new) - set(LABELS)
    if unknown:
        raise ValueError(f"labels are {', '.join(LABELS)}, not {', '.join(sorted(unknown))}")
    before = [labels[name] for name in HARD_CRITERIA]
    outright = new["is_hard"] if "is_hard" in new else given(labels["is_hard"], before)
    criteria = {name: new.get(name, labels[name]) for name in HARD_CRITERIA}
    return {"is_hard": is_hard(outright, list(criteria.values())), **criteria}


def set_labels(new: Mapping[int, Mapping[str, Flag]], *, source: str, by: str = "") -> int:
    """Prompt -> what changes; all or nothing. How many prompts have other labels now."""
    with transaction.atomic():
        pks = sorted(new)
        return sum(
            _set({pk: new[pk] for pk in pks[start : start + _CHUNK]}, source, by)
            for start in range(0, len(pks), _CHUNK)
        )


def _set(new: Mapping[int, Mapping[str, Flag]], source: str, by: str) -> int:
    rows = list(Prompt.objects.select_for_update().filter(pk__in=list(new)).order_by("pk").only(*LABELS))
    now = stamp()  # once nobody else holds them: the later change is dated later
    prompts: list[Prompt] = []
    changes: list[LabelChange] = []
    for prompt in rows:
        was = labels_of(prompt)
        labels = changed(was, new[prompt.pk])
        if labels == was:
            continue
        for name, value in labels.items():
            setattr(prompt, name, value)
        prompts.append(prompt)
        changes.append(LabelChange(prompt=prompt, was=was, source=source, by=by[:150], at=now))
    for prompt in prompts:
        _write(labels_of(prompt), prompt=prompt.pk)
    LabelChange.objects.bulk_create(changes)
    return len(prompts)


def last_change(prompts: Sequence[int]) -> dict[int, LabelChange]:
    """Where the labels of each prompt come from; none of a prompt whose labels are as it came."""
    rows = LabelChange.objects.filter(prompt__in=prompts).order_by("at", "pk").defer("was")
    return {change.prompt_id: change for change in rows}
