"""From a file to stored rows: all of them or none.

`plan_import` reads and checks and writes nothing. `finish` stores a plan's rows in the process that calls it;
what is uploaded goes through the intake, so that a large file is the worker's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.db import IntegrityError
from django.utils.translation import gettext as _

from arena.counted import counted
from arena.exchange import (
    archive,
    import_campaign,
    import_prompts,
    import_responses,
    import_votes,
    import_votes_stored,
)
from arena.exchange.formats.how import AS_FOUND, How
from arena.exchange.formats.lines import unstorable
from arena.exchange.formats.problems import Problem, RefusedError, Report
from arena.exchange.formats.reading import FileRows
from arena.exchange.formats.rows import AnyRow
from arena.exchange.models import Import
from arena.exchange.personal import Personal
from arena.exchange.plans import Chosen, Plan
from arena.exchange.shifts import Shift, StoppedError, remove_rest
from arena.raters.models import Rater, Team

_STORE = {
    Import.Kind.PROMPTS: import_prompts.store,
    Import.Kind.RESPONSES: import_responses.store,
    Import.Kind.VOTES: import_votes_stored.store,
    Import.Kind.CAMPAIGN: import_campaign.store,
}


class OvertakenError(Exception):
    """Another import stored some of the same rows in the meantime; nothing was stored by this one."""


def plan_import(
    kind: str,
    team: Team,
    target: str,
    source: Path | bytes,
    file_name: str,
    admission: str = Rater.Admission.RECORDED,
    how: How = AS_FOUND,
    each: Callable[[int], object] | None = None,
    every_error: Callable[[Problem], object] | None = None,
    every_note: Callable[[Problem], object] | None = None,
    place: Path | None = None,
    most_unpacked: int | None = None,
) -> Plan:
    """`each` is told how many rows have been read; the others see what a plan only has the first of.

    `place`: where an uploaded archive is unpacked; without it the file is the operator's own, and of its
    archive `most_unpacked` bytes are unpacked.
    """
    if kind == Import.Kind.CAMPAIGN:
        sha256 = archive.digest_of(source)
        return import_campaign.plan(team, target, source, file_name, sha256, each, place, most_unpacked)
    file, sha256 = FileRows(kind, source, file_name, how), file_digest(source)
    report, personal = Report(every_error=every_error, every_note=every_note), Personal()

    def shown() -> Iterator[AnyRow]:
        for count, row in enumerate(file.rows(report), start=1):
            personal.look(row)
            if each:
                each(count)
            yield row

    stream = shown()
    rows: Chosen | tuple = ()
    try:
        rows = _check(team, target, file, stream, report, sha256)
    except RefusedError as refused:
        report.error(refused.problem)
        _read_on(stream, report)
    return Plan(
        kind=kind,
        team=team,
        target=target,
        file_name=Path(file_name).name,
        file_sha256=sha256,
        description=file.description,
        rows=rows,
        errors=tuple(report.errors),
        error_count=report.error_count,
        notices=report.told,
        skipped=report.skipped,
        personal=personal.as_json(),
        admission=admission,
        how=how,
        contents=report.contents,
    )


def _check(
    team: Team, target: str, file: FileRows, stream: Iterator[Any], report: Report, sha256: str
) -> Chosen:
    if reason := unstorable(target):
        raise RefusedError(f"the name {reason}")
    if file.kind == Import.Kind.PROMPTS:
        return import_prompts.check(team, target, file, stream, report)
    if file.kind == Import.Kind.RESPONSES:
        return import_responses.check(team, target, file, stream, report)
    return import_votes.check(team, target, file, stream, report, sha256)


def _read_on(stream: Iterator[AnyRow], report: Report) -> None:
    """What else is wrong with a file is told at the same time as that it has no place to go."""
    try:
        for _row in stream:
            pass
    except RefusedError as refused:
        report.error(refused.problem)


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
        file_name=plan.file_name[-255:] or "upload",
        options=plan.how.as_json(),
        created_by=user if isinstance(user, User) else None,
        state=Import.State.PREVIEWED if plan.is_sound else Import.State.REFUSED,
        **outcome(plan),
    )


def outcome(plan: Plan) -> dict[str, Any]:
    return {
        "target": plan.target[:120],
        "contents": dict(plan.contents),
        "file_sha256": plan.file_sha256,
        "description": plan.description[:200],
        "added": plan.count if plan.is_sound else 0,
        "total_rows": plan.steps,
        "skipped": plan.skipped,
        "error_count": plan.error_count,
        "errors": [
            {"line": problem.line, "column": problem.column, "reason": problem.reason}
            for problem in sorted(plan.errors, key=lambda problem: problem.line or 0)
        ],
        "notices": list(plan.notices),
        "personal": plan.personal,
    }


def finish(record: Import, plan: Plan) -> None:
    """Stores the plan's rows here and now. If that fails, the record is as it was and nothing is left."""
    is_new, before = record.pk is None, record.state
    record.state, record.done_rows = Import.State.STORING, 0
    record.save()
    shift = Shift.begin(record)
    if shift is None:
        raise StoppedError
    try:
        store(plan, shift)
    except BaseException:
        if is_new:
            record.delete()
        else:
            shift.end(before)
        raise


def store(plan: Plan, shift: Shift) -> None:
    """All rows of the plan, and the record's last change, or nothing at all."""
    if not plan.is_sound:
        raise ValueError(f"{plan.file_name} has {counted(plan.error_count, 'error')}")
    record = shift.record
    for name, value in outcome(plan).items():
        setattr(record, name, value)
    record.save(update_fields=list(outcome(plan)))
    try:
        _STORE[Import.Kind(plan.kind)](plan, shift)
    except IntegrityError as error:
        remove_rest(record)
        raise OvertakenError(
            _("Another import stored some of these rows in the meantime. Nothing was changed; try again.")
        ) from error
    except BaseException:
        remove_rest(record)
        raise
