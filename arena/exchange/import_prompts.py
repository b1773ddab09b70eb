from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from arena.corpus.hardness import is_hard
from arena.corpus.models import Prompt, PromptSet
from arena.corpus.publishing import HASHED, prompt_hash
from arena.corpus.render import RENDERER_VERSION, render_turns
from arena.exchange.alike import Alike
from arena.exchange.formats.columns import CRITERIA
from arena.exchange.formats.problems import Problem, RefusedError, Report
from arena.exchange.formats.reading import FileRows
from arena.exchange.formats.rows import PromptRow
from arena.exchange.plans import Chosen, Plan, latest_set, remark_on_known
from arena.exchange.shifts import Shift
from arena.raters.models import Team

_LABELS = ("is_hard", *CRITERIA)


def check(team: Team, name: str, file: FileRows, rows: Iterable[PromptRow], report: Report) -> Chosen:
    """`rows` are the file's, on their first way through."""
    if not name.strip() or len(name) > 120:
        raise RefusedError(_("A prompt set needs a name of at most 120 characters."))
    prompt_set = latest_set(team, name)
    if prompt_set is None:
        alike = Alike()
        wanted = bytearray(1 for _row in alike.look(rows))
        report.promise(_("new prompt set: “%(name)s”") % {"name": name})
        alike.tell(report)
        return Chosen(lambda: file.rows(Report()), wanted)
    columns = (*HASHED, *_LABELS, "tombstone")
    stored = {prompt["external_id"]: prompt for prompt in prompt_set.prompts.values(*columns).iterator()}
    alike = Alike((name, _text(prompt)) for name, prompt in stored.items() if not prompt["tombstone"])
    wanted, known, relabelled = bytearray(), 0, 0
    for row in alike.look(rows):
        there = stored.get(row.id)
        wanted.append(there is None)
        if there is None:
            continue
        if is_same(row, there):
            known += 1
            relabelled += _says_otherwise(row, there)
        else:
            reason = _("prompt %(id)r is stored with other contents") % {"id": row.id}
            report.error(Problem(reason, row.line, "id"))
    if any(wanted) and prompt_set.status != PromptSet.Status.DRAFT:
        raise RefusedError(closed(prompt_set))
    remark_on_known(known, report)
    _remark_on_labels(relabelled, report)
    alike.tell(report)
    return Chosen(lambda: file.rows(Report()), wanted)


def is_same(row: PromptRow, stored: Mapping[str, Any]) -> bool:
    """Labels are findings about a prompt and no part of it; of a redacted one its hash is compared."""
    return prompt_hash(content(row) | {"external_id": row.id, "tombstone": None}) == prompt_hash(stored)


def _text(stored: Mapping[str, Any]) -> str:
    return "\n\n".join(turn["content"] for turn in stored["messages"])


def _says_otherwise(row: PromptRow, stored: Mapping[str, Any]) -> bool:
    said = content(row)
    return any(said[name] is not None and said[name] != stored[name] for name in _LABELS)


def _remark_on_labels(count: int, report: Report) -> None:
    if count:
        words = ngettext(
            "%(count)s prompt has other labels here than in the file: they stay until a file of "
            "labels sets them",
            "%(count)s prompts have other labels here than in the file: they stay until a file of "
            "labels sets them",
            count,
        )
        report.notice(words % {"count": f"{count:,}"})


def closed(prompt_set: PromptSet) -> str:
    return _("“%(name)s” is %(status)s and takes no more prompts: make a new version of it first") % {
        "name": prompt_set,
        "status": prompt_set.status,
    }


def content(row: PromptRow) -> dict[str, Any]:
    """The row as stored."""
    return {
        "messages": [{"role": turn.role, "content": turn.content} for turn in row.turns],
        "category": row.category,
        "language": row.language,
        "tags": list(row.tags),
        "reference": row.reference,
        "is_hard": is_hard(row.hard, row.criteria),
        **dict(zip(CRITERIA, row.criteria, strict=True)),
    }


def as_prompt(row: PromptRow) -> Prompt:
    """Rendered, and not stored yet."""
    fields = content(row)
    html = render_turns(fields["messages"])
    return Prompt(external_id=row.id, rendered_html=html, renderer_version=RENDERER_VERSION, **fields)


def store(plan: Plan, shift: Shift) -> None:
    arrival = shift.expect_rows()
    prompt_set = latest_set(plan.team, plan.target)
    if prompt_set is None:
        prompt_set = PromptSet.objects.create(team=plan.team, name=plan.target, arrival=arrival)

    def made() -> Iterator[Prompt]:
        for number, row in enumerate(plan.rows, start=1):
            shift.reached = number
            prompt = as_prompt(row)
            prompt.prompt_set, prompt.arrival = prompt_set, arrival
            yield prompt

    shift.store(made())
    with transaction.atomic():
        # Who publishes it meanwhile freezes what is in it now.
        found = PromptSet.stored.select_for_update().get(pk=prompt_set.pk)
        if plan.rows and found.status != PromptSet.Status.DRAFT:
            raise RefusedError(closed(found))
        shift.land(len(plan.rows))
