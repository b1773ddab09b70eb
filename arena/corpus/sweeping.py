"""After a redaction: its text is taken out wherever others keep or say it, and files with it are deleted.

What is to be done is stored with the tombstone, and forgotten when all of it is. Every step may be done
twice; one that fails holds up no other, and is done again on the next click or within a minute. Rows are
changed one to a transaction, so that a sweep never holds one and waits for another.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from django.apps import apps
from django.db import connection, models, transaction
from django.db.models import Q, QuerySet
from django.dispatch import Signal
from django.utils import timezone

from arena.broken_off import done_again
from arena.corpus.models import Prompt, Response
from arena.corpus.quotations import CALLS, PLACES, REDACTED, Place, blank, keys_about
from arena.corpus.redaction_models import Sweep
from arena.endpoints import ledger
from arena.endpoints.models import CallAttempt, Endpoint

# Sent with the prompt once a text of it, or of a response to it, is gone: files written before still hold it.
text_redacted = Signal()
# Sent with `team_id` and `texts`: a room above drops what copies it keeps and answers with their names.
text_is_gone = Signal()

logger = logging.getLogger(__name__)


def sweep_up(sweeps: QuerySet[Sweep]) -> None:
    """What fails is logged and stays to be done."""
    for sweep in sweeps.select_related("prompt__prompt_set").order_by("pk"):
        failed = [step for step in _steps() if not _is_done(step, sweep)] if sweep.texts else []
        if failed:
            continue
        Sweep.objects.filter(pk=sweep.pk).update(texts=[])
        if _is_done(_forget_on_disk, sweep):
            Sweep.objects.filter(pk=sweep.pk).delete()


def is_swept(row: Prompt | Response) -> bool:
    return not sweeps_of(row).exclude(texts=[]).exists()


def sweeps_of(row: Prompt | Response) -> QuerySet[Sweep]:
    if isinstance(row, Response):
        return Sweep.objects.filter(response=row)
    return Sweep.objects.filter(prompt=row, response=None)


def _steps() -> tuple[Callable[[Sweep], None], ...]:
    return (
        _end_open_battles,
        _let_claims_end,
        _take_out,
        _blank_other_copies,
        _drop_files_with_it,
        _tell_of_files_made,
        _take_out_again,
    )


def _is_done(step: Callable[[Sweep], None], sweep: Sweep) -> bool:
    try:
        step(sweep)
    except Exception:
        logger.exception("%s failed in the %s; it is tried again within a minute", step.__name__, sweep)
        return False
    return True


@done_again
def _end_open_battles(sweep: Sweep) -> None:
    """Battles on somebody's screen end now, and another is drawn."""
    now, response = timezone.now(), sweep.response_id
    which = Q(response_a=response) | Q(response_b=response) if response else Q()
    sweep.prompt.battles.filter(which, vote=None, expires_at__gt=now).update(expires_at=now)


def _let_claims_end(sweep: Sweep) -> None:
    """Whoever read the text before it went and holds its endpoint has stored the request after this."""
    for pk in Endpoint.objects.filter(team=sweep.prompt.prompt_set.team_id).values_list("pk", flat=True):
        with transaction.atomic():
            Endpoint.objects.select_for_update().filter(pk=pk).first()


def _take_out(sweep: Sweep) -> None:
    """Wherever the texts are said again. Each row is held back: what is being written to it comes first."""
    # Elsewhere a transaction writes alone, and none that began before the redaction is open.
    _look_through_places(sweep, each_held=connection.features.has_select_for_update)


def _take_out_again(sweep: Sweep) -> None:
    """For whoever had read the text and not yet written when it went."""
    _look_through_places(sweep, each_held=False)


def _look_through_places(sweep: Sweep, *, each_held: bool) -> None:
    for place in PLACES:
        for pk in _keys(place, sweep):
            if each_held or _says_it(place, pk, sweep.texts):
                _take_out_of_row(place, pk, sweep.texts)


def _keys(place: Place, sweep: Sweep) -> list[int]:
    about = ("response", sweep.response_id) if sweep.response_id else ("prompt", sweep.prompt_id)
    return keys_about(place, *about, sweep.prompt.prompt_set.team_id)


def _says_it(place: Place, pk: int, texts: list[str]) -> bool:
    row = place.rows().filter(pk=pk).first()
    return row is not None and bool(_changed(place, row, texts))


@done_again
def _take_out_of_row(place: Place, pk: int, texts: list[str]) -> None:
    with transaction.atomic():
        row = place.rows().select_for_update(no_key=True).filter(pk=pk).first()
        changed = row is not None and _changed(place, row, texts)
        if row is not None and changed:
            row.save(update_fields=changed)


def _changed(place: Place, row: models.Model, texts: list[str]) -> list[str]:
    changed = set(blank(row, place.columns, texts))
    if place is CALLS:
        changed |= _changed_in_call(row, texts)
    return sorted(changed)


def _changed_in_call(attempt: Any, texts: list[str]) -> set[str]:
    """What was asked holds the texts whole, however short they are.

    What is on its way then comes back to find itself written off.
    """
    changed = set()
    for message in attempt.request.get("messages", []):
        for text in sorted(filter(str.strip, texts), key=len, reverse=True):
            if text in message["content"] and text not in REDACTED:
                message["content"] = message["content"].replace(text, REDACTED)
                changed.add("request")
    if attempt.finished_at is None and attempt.error_kind != ledger.WITHDRAWN:
        attempt.error_kind = ledger.WITHDRAWN
        changed.add("error_kind")
    return changed


def _blank_other_copies(sweep: Sweep) -> None:
    """The reply that a generated response was read from; the earlier turns that came with an imported one."""
    response = sweep.response_id
    if not response:
        return
    CallAttempt.objects.filter(call__generation_call__response=response).update(
        reply_text=REDACTED, raw_reply=REDACTED
    )
    for side in ("a", "b"):
        origins: Any = apps.get_model("arena", "Origin").objects
        of_side = origins.filter(**{f"battle__response_{side}": response})
        for pk in of_side.exclude(turns=None).values_list("pk", flat=True):
            with transaction.atomic():
                origin = origins.select_for_update(no_key=True).get(pk=pk)
                origin.turns = origin.turns | {side: [REDACTED for _ in origin.turns.get(side, [])]}
                origin.save(update_fields=["turns"])


def _drop_files_with_it(sweep: Sweep) -> None:
    """Files that still held one of the texts; their names are kept with the tombstone."""
    team = sweep.prompt.prompt_set.team_id
    answers = text_is_gone.send(sender=Prompt, team_id=team, texts=sweep.texts)
    names = {name for _receiver, found in answers for name in found or ()}
    if names:
        _add_to_tombstone(sweep, names)


def _add_to_tombstone(sweep: Sweep, names: set[str]) -> None:
    rows: Any = Response.objects if sweep.response_id else Prompt.objects
    with transaction.atomic():
        row = rows.select_for_update(no_key=True).get(pk=sweep.response_id or sweep.prompt_id)
        row.tombstone["uploads"] = sorted(names | set(row.tombstone.get("uploads", ())))
        row.save(update_fields=["tombstone"])


def _tell_of_files_made(sweep: Sweep) -> None:
    text_redacted.send(sender=Prompt, prompt=sweep.prompt)


def _forget_on_disk(sweep: Sweep) -> None:
    """The log of SQLite holds pages as they were."""
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (is_busy, *_pages) = cursor.fetchone()
    if is_busy:
        raise TimeoutError("the database's log is being read, so it can't be cut off yet")
