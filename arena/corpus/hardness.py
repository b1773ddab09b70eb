"""Whether a prompt is hard: said outright, or from so many of the seven criteria."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from django.db.models import Q

from arena.corpus.label_models import LabelChange
from arena.corpus.models import HARD_AT_LEAST, HARD_CRITERIA, Prompt

Flag = bool | None
_CHUNK = 500


def is_hard(given: Flag, criteria: Sequence[Flag], at_least: int = HARD_AT_LEAST) -> Flag:
    """What was said outright counts; else the criteria decide as soon as the unknown ones can't change it."""
    if given is not None:
        return given
    met, failed = criteria.count(True), criteria.count(False)
    if met >= at_least:
        return True
    return False if len(criteria) - failed < at_least else None


def given(stored: Flag, criteria: Sequence[Flag]) -> Flag:
    """What was said outright, told from what is stored: where the criteria say the same, they speak."""
    return None if stored == is_hard(None, criteria) else stored


def hardness_at(moment: datetime | None, prompts: Iterable[int], at_least: int) -> dict[int, Flag]:
    """Prompt -> whether it is hard by the labels of that moment; labels changed later are read as they were.

    `at_least` criteria of the seven make a prompt hard where nobody said so outright.
    """
    wanted = list(prompts)
    found: dict[int, Flag] = {}
    for start in range(0, len(wanted), _CHUNK):
        chunk = wanted[start : start + _CHUNK]
        rows = Prompt.objects.filter(pk__in=chunk).values("pk", "is_hard", *HARD_CRITERIA)
        found |= {row.pop("pk"): _read(row, at_least) for row in rows}
        if moment is not None:
            found |= _as_they_were(moment, chunk, at_least)
    return found


def _as_they_were(moment: datetime, prompts: Sequence[int], at_least: int) -> dict[int, Flag]:
    """The first change after the moment knows what stood before it."""
    later = LabelChange.objects.filter(Q(at__gt=moment), prompt__in=prompts).order_by("-at", "-pk")
    return {prompt: _read(was, at_least) for prompt, was in later.values_list("prompt_id", "was")}


def _read(labels: Mapping[str, Flag], at_least: int) -> Flag:
    criteria = [labels[name] for name in HARD_CRITERIA]
    return is_hard(given(labels["is_hard"], criteria), criteria, at_least)
