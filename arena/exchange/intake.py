"""What happens to an upload: it is kept, checked, looked at, perhaps read otherwise, confirmed and stored."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _

from arena.exchange import encodings, onward, recall, uploads
from arena.exchange.error_list import error_list
from arena.exchange.formats.how import AS_FOUND, How
from arena.exchange.formats.problems import RefusedError
from arena.exchange.imports import OvertakenError, outcome, plan_import, store
from arena.exchange.models import Import
from arena.exchange.plans import Plan
from arena.exchange.shifts import AT_WORK, Shift, StoppedError, remove_rest
from arena.raters.models import Team

# A file beyond this is the worker's: checking it takes longer than somebody should wait for a page.
INLINE_BYTES = 1024 * 1024
MAX_TURNS = 5  # of work that whoever was at it didn't end
NOTE_SECONDS = 1.0


def accept(
    team: Team,
    user: User | AnonymousUser | None,
    kind: str,
    target: str,
    upload: UploadedFile,
    how: How = AS_FOUND,
    at_once: bool = False,
) -> Import:
    """Keeps the file; checking it comes next, and storing it as well if it is to be done `at_once`."""
    uploads.forget_stale()
    size = upload.size or 0
    return Import.objects.create(
        team=team,
        kind=kind,
        target=target[:120],
        file_name=(upload.name or "")[-255:] or "upload",
        file_size=size,
        stored_as=uploads.keep(upload),
        options=how.as_json() | ({"at_once": True} if at_once else {}),
        created_by=user if isinstance(user, User) else None,
        state=Import.State.CHECKING,
    )


def read_otherwise(record: Import, how: How) -> bool:
    """Sets how the file is to be read; False if it is no longer to be read at all."""
    return _turn_to(record, uploads.WAITING, Import.State.CHECKING, options=how.as_json())


def send_to(record: Import, target: str) -> bool:
    """Sets another address for a whole campaign, which is checked anew."""
    return _turn_to(record, uploads.WAITING, Import.State.CHECKING, target=target[:120])


def is_quick(record: Import) -> bool:
    """Whether whoever sent it may wait for it."""
    return record.file_size <= INLINE_BYTES and record.kind != Import.Kind.CAMPAIGN


def say_whose(record: Import, are_judges: bool) -> bool:
    """Sets whether the raters of a file of votes are people or judges; it is checked anew."""
    how = replace(How.from_json(record.options), people=not are_judges, judges=are_judges)
    return read_otherwise(record, how)


def confirm(record: Import) -> bool:
    """False if it is no longer to be stored, or it has to be said first whose votes they are."""
    return not record.asks_whose and _turn_to(record, [Import.State.PREVIEWED], Import.State.STORING)


def _turn_to(record: Import, before: Any, state: str, **also: Any) -> bool:
    also |= {"state": state, "is_cancelled": False, "done_rows": 0, "leased_until": None, "finished_at": None}
    if not Import.objects.filter(pk=record.pk, state__in=before).exclude(stored_as="").update(**also):
        return False
    try:
        record.refresh_from_db()
    except Import.DoesNotExist:  # removed in this moment
        return False
    return True


def cancel(record: Import) -> bool:
    """Whoever is at work stops at the next step; what was stored is removed."""
    return bool(Import.objects.filter(pk=record.pk, state__in=AT_WORK).update(is_cancelled=True))


def discard(record: Import) -> bool:
    """A file that waits goes and leaves no note; False when it was confirmed or dropped in this moment."""
    waiting = Import.objects.filter(pk=record.pk, state__in=uploads.WAITING)
    if not waiting.delete()[0]:
        return False
    uploads.forget(record)
    return True


def drop(record: Import) -> bool:
    """Of a file that waits nothing stays but the note that it was here."""
    if not _turn_to(record, uploads.WAITING, Import.State.CANCELLED, added=0):
        return False
    _forget_file(record)
    return True


def work_on(record: Import) -> None:
    """Checks or stores, whichever is due; does nothing if somebody is at it."""
    was_left = record.leased_until is not None
    shift = Shift.begin(record)
    if shift is None:
        return
    try:
        shift.note(0)
        if not uploads.is_kept(record):
            raise RefusedError(_("The file is no longer here, so nothing was imported. Upload it again."))
        if was_left and record.turn > MAX_TURNS:
            raise RefusedError(_("Work on this file was broken off %(n)s times.") % {"n": MAX_TURNS})
        _check(shift) if record.state == Import.State.CHECKING else _store(shift)
    except RefusedError as refused:
        _refuse(shift, refused)
    except StoppedError:
        _stop(shift)


def _check(shift: Shift) -> None:
    record = shift.record
    is_table = record.kind != Import.Kind.CAMPAIGN
    recalled = recall.apply(record) if record.turn == 1 and is_table else []
    plan = _plan(record, _each(shift.note))
    if is_table and not plan.is_sound and _is_guessed(record):
        plan = replace(plan, description="")  # which encoding it has was only tried
    state = Import.State.PREVIEWED if plan.is_sound else Import.State.REFUSED
    shift.note(0)
    found = outcome(plan)
    shift.end(state, **found | {"notices": [*recalled, *found["notices"]]})
    if plan.is_sound and record.options.get("at_once") and not record.asks_whose:
        confirm(record)


def _is_guessed(record: Import) -> bool:
    """A file of text in an encoding that nobody named and that it isn't in."""
    return not How.from_json(record.options).encoding and bool(encodings.odd_words(uploads.path_of(record)))


def _store(shift: Shift) -> None:
    """Checked anew: what is stored may have changed since the preview."""
    record = shift.record
    remove_rest(record)
    plan = _plan(record, _each(lambda _count: shift.note(0)))
    if not plan.is_sound:
        shift.end(Import.State.REFUSED, **outcome(plan))
        return
    try:
        store(plan, shift)
    except OvertakenError as error:
        shift.end(Import.State.PREVIEWED, notices=[*record.notices, str(error)], done_rows=0)
        return
    if not onward.waits(record):
        _forget_file(record)


def _plan(record: Import, each: Callable[[int], object]) -> Plan:
    with (
        error_list(uploads.errors_path(record)) as errors,
        error_list(uploads.notes_path(record)) as notes,
    ):
        return plan_import(
            record.kind,
            record.team,
            record.target,
            uploads.path_of(record),
            record.file_name,
            how=How.from_json(record.options),
            each=each,
            every_error=errors.add,
            every_note=notes.add,
            place=uploads.folder(),
        )


def _each(note: Callable[[int], object]) -> Callable[[int], None]:
    """Notes the progress every second or so, however many rows that are."""
    due = time.monotonic() + NOTE_SECONDS

    def each(count: int) -> None:
        nonlocal due
        if time.monotonic() >= due:
            note(count)
            due = time.monotonic() + NOTE_SECONDS

    return each


def _refuse(shift: Shift, refused: RefusedError) -> None:
    problem = refused.problem
    errors = [{"line": problem.line, "column": problem.column, "reason": problem.reason}]
    remove_rest(shift.record)
    shift.end(Import.State.REFUSED, added=0, error_count=1, errors=errors)


def _stop(shift: Shift) -> None:
    """Cancelled by somebody, or taken over; whoever took it over has it then."""
    record = shift.record
    if not Import.objects.filter(pk=record.pk, turn=record.turn, is_cancelled=True).exists():
        return
    with ExitStack() as last:
        last.callback(_forget_file, record)
        remove_rest(record)
        shift.end(Import.State.CANCELLED, added=0, done_rows=0)


def _forget_file(record: Import) -> None:
    uploads.forget(record)
    Import.objects.filter(pk=record.pk).update(stored_as="")  # if it is still there
