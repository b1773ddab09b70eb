"""From a file to stored rows: all of them or none.

`plan_import` reads and checks and writes nothing. `carry_out` makes counts and HTML first and then stores
everything in one transaction, so that voting waits for the INSERTs alone.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from django.contrib.auth.models import AnonymousUser, User
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from arena.exchange import import_prompts, import_responses, import_texts, import_votes
from arena.exchange.formats.known import AUTO
from arena.exchange.formats.problems import RefusedError, Report
from arena.exchange.formats.reading import Reading, read
from arena.exchange.models import Import
from arena.exchange.plans import Plan
from arena.raters.models import Rater, Team


class OvertakenError(Exception):
    """Another import stored some of the same rows in the meantime; nothing was stored by this one."""


def plan_import(
    kind: str,
    team: Team,
    target: str,
    source: Path | bytes,
    file_name: str,
    admission: str = Rater.Admission.RECORDED,
    format_name: str = AUTO,
    judges: bool = False,
    model: str = "",
) -> Plan:
    reading = read(kind, source, file_name, format_name, judges, model)
    report = reading.report()
    sha256 = file_digest(source)
    rows: tuple = ()
    try:
        rows = _check(team, target, reading, report, sha256)
    except RefusedError as refused:
        report.error(refused.problem)
    return Plan(
        kind=kind,
        team=team,
        target=target,
        file_name=Path(file_name).name,
        file_sha256=sha256,
        description=reading.description,
        rows=rows,
        errors=tuple(report.errors),
        error_count=report.error_count,
        notices=tuple(report.notices),
        skipped=report.skipped,
        admission=admission,
    )


def _check(team: Team, target: str, reading: Reading, report: Report, sha256: str) -> tuple:
    if reading.kind == Import.Kind.PROMPTS:
        return import_prompts.check(team, target, reading.rows, report)
    if reading.kind == Import.Kind.RESPONSES:
        return import_responses.check(team, target, reading.rows, report)
    return import_votes.check(team, target, reading.rows, report, sha256)


def carry_out(plan: Plan) -> int:
    """Stores the plan's rows and says how many; a plan with errors can't be carried out."""
    if not plan.is_sound:
        raise ValueError(f"{plan.file_name} has {plan.error_count} errors")
    try:
        if plan.kind == Import.Kind.PROMPTS:
            prompts = import_prompts.make(plan)
            with transaction.atomic():
                import_prompts.store(plan, prompts)
        elif plan.kind == Import.Kind.RESPONSES:
            responses = import_responses.make(plan)
            with transaction.atomic():
                import_responses.store(plan, responses)
        else:
            texts = import_texts.make(plan.rows)
            with transaction.atomic():
                import_votes.store(plan, texts)
    except IntegrityError as error:
        raise OvertakenError(
            _("Another import stored some of these rows in the meantime. Nothing was changed; try again.")
        ) from error
    return len(plan.rows)


def file_digest(source: Path | bytes) -> str:
    if isinstance(source, bytes):
        return hashlib.sha256(source).hexdigest()
    with source.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def new_record(plan: Plan, user: User | AnonymousUser | None = None) -> Import:
    """The plan as a row: what a file was and what came of it."""
    return Import(
        team=plan.team,
        kind=plan.kind,
        target=plan.target[:120],
        file_name=plan.file_name[-255:] or "upload",
        file_sha256=plan.file_sha256,
        created_by=user if isinstance(user, User) else None,
        added=len(plan.rows) if plan.is_sound else 0,
        state=Import.State.PREVIEWED if plan.is_sound else Import.State.REFUSED,
        **outcome(plan),
    )


def outcome(plan: Plan) -> dict:
    return {
        "skipped": plan.skipped,
        "error_count": plan.error_count,
        "errors": [
            {"line": problem.line, "column": problem.column, "reason": problem.reason}
            for problem in plan.errors
        ],
        "notices": list(plan.notices),
    }


def finish(record: Import, plan: Plan) -> None:
    """Carries the plan out and writes down that it was."""
    record.added = carry_out(plan)
    record.state = Import.State.DONE
    record.finished_at = timezone.now()
    for name, value in outcome(plan).items():
        setattr(record, name, value)
    record.save()
