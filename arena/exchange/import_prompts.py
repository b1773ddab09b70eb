from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from arena.corpus.hardness import is_hard
from arena.corpus.models import Prompt, PromptSet
from arena.corpus.render import RENDERER_VERSION, render_turns
from arena.exchange.formats.columns import CRITERIA
from arena.exchange.formats.problems import Problem, RefusedError, Report
from arena.exchange.formats.rows import PromptRow
from arena.exchange.plans import BATCH, Plan, latest_set, remark_on_known
from arena.raters.models import Team

_CONTENT = ("messages", "category", "language", "tags", "reference", "is_hard", *CRITERIA)


def check(team: Team, name: str, rows: tuple[PromptRow, ...], report: Report) -> tuple[PromptRow, ...]:
    if not name.strip() or len(name) > 120:
        raise RefusedError(_("A prompt set needs a name of at most 120 characters."))
    prompt_set = latest_set(team, name)
    if prompt_set is None:
        report.notice(_("a new prompt set “%(name)s” will be made") % {"name": name})
        return rows
    stored = {
        prompt.pop("external_id"): prompt
        for prompt in prompt_set.prompts.values("external_id", *_CONTENT).iterator()
    }
    new, known = [], 0
    for row in rows:
        if row.id not in stored:
            new.append(row)
        elif stored[row.id] == content(row):
            known += 1
        else:
            reason = _("prompt %(id)r is stored with other contents") % {"id": row.id}
            report.error(Problem(reason, row.line, "id"))
    if new and prompt_set.status != PromptSet.Status.DRAFT:
        raise RefusedError(
            _("“%(name)s” is %(status)s and takes no more prompts; import them under another name")
            % {"name": prompt_set, "status": prompt_set.status}
        )
    remark_on_known(known, report)
    return tuple(new)


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


def make(plan: Plan) -> list[Prompt]:
    """The prompts, rendered, before the transaction that stores them."""
    return [as_prompt(row) for row in plan.rows]


def as_prompt(row: PromptRow) -> Prompt:
    fields = content(row)
    html = render_turns(fields["messages"])
    return Prompt(external_id=row.id, rendered_html=html, renderer_version=RENDERER_VERSION, **fields)


def store(plan: Plan, prompts: list[Prompt]) -> None:
    prompt_set = latest_set(plan.team, plan.target) or PromptSet.objects.create(
        team=plan.team, name=plan.target
    )
    for prompt in prompts:
        prompt.prompt_set = prompt_set
    Prompt.objects.bulk_create(prompts, batch_size=BATCH)
