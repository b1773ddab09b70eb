"""Exports that somebody asked for on the page: made by a worker, kept for EXPORT_DAYS, then removed."""

from __future__ import annotations

import hashlib
import logging
import re
import shutil
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Q
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext as _

from arena.campaigns.models import Campaign
from arena.corpus.models import Prompt
from arena.corpus.sweeping import text_redacted
from arena.exchange.export_models import Export
from arena.exchange.exports import UNFINISHED, export

logger = logging.getLogger(__name__)

BEAT_SECONDS = 2.0  # between two notes of how far it is; the page looks as often
LEFT_BEHIND = timedelta(days=1)  # after which a file that no export knows has nobody any more
_NAMED = re.compile(rf"(?:{re.escape(UNFINISHED)})?([0-9a-f]{{32}})[.-]")  # by an export's public id


class LostClaimError(Exception):
    """Another worker has taken over, or the export was deleted; this one has nothing to say any more."""


def folder() -> Path:
    path = Path(settings.DATA_DIR) / "exports"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def path_of(wanted: Export) -> Path:
    return folder() / f"{wanted.public_id.hex}.zip"


def name_of(wanted: Export) -> str:
    """Of the folder in the zip, and of the download."""
    layout = "" if wanted.layout == Export.Layout.WHOLE else f"-{wanted.layout}"
    return f"{wanted.campaign.slug}{layout}-{wanted.created_at:%Y-%m-%d}"


def request_export(campaign: Campaign, layout: str, user: User | AnonymousUser | None) -> Export:
    """One that is open already is returned, not doubled."""
    asked = {"created_by": user if isinstance(user, User) else None}
    wanted, _made = Export.objects.filter(state__in=Export.OPEN).get_or_create(
        campaign=campaign, layout=Export.Layout(layout), defaults=asked
    )
    return wanted


def do_export(wanted: Export) -> None:
    """One attempt from claim to end. Somebody else's is left alone."""
    if not wanted.claim_it():
        return
    try:
        if wanted.attempts > Export.MAX_ATTEMPTS:
            _fail(
                wanted, _("The worker stopped %(n)s times while it was written.") % {"n": wanted.attempts - 1}
            )
            return
        _write(wanted)
    except LostClaimError:
        return
    except OSError as error:
        if not wanted.update_mine(beat_at=timezone.now()):
            return  # deleted or taken over, and with it the files
        logger.exception("export %s failed", wanted.public_id)
        _fail(wanted, _("The file couldn't be written: %(why)s.") % {"why": error.strerror or error})
    except Exception:
        logger.exception("export %s failed", wanted.public_id)
        _fail(wanted, _("It ended in an error of ours. The worker's log says which."))


def _write(wanted: Export) -> None:
    path = path_of(wanted)
    path.unlink(missing_ok=True)  # of a worker that was killed before it could say so
    for begun in folder().glob(f"{UNFINISHED}{path.stem}-*"):
        shutil.rmtree(begun, ignore_errors=True)
    done = export(wanted.campaign, path, wanted.layout, name_of(wanted), _beats(wanted))
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    now = timezone.now()
    finished = wanted.update_mine(
        state=Export.State.DONE,
        table="",
        rows=sum(done.rows.values()),
        size=path.stat().st_size,
        sha256=sha256,
        finished_at=now,
        expires_at=now + timedelta(days=settings.EXPORT_DAYS),
    )
    if not finished and not Export.objects.filter(pk=wanted.pk).exists():
        path.unlink(missing_ok=True)


def _beats(wanted: Export) -> Callable[[str, int], None]:
    """Renews the claim and notes how far it is, whenever it is told, at most every two seconds."""
    due = time.monotonic()

    def tell(table: str, rows: int) -> None:
        nonlocal due
        if time.monotonic() < due:
            return
        due = time.monotonic() + BEAT_SECONDS
        if not wanted.update_mine(table=table, rows=rows, beat_at=timezone.now()):
            raise LostClaimError

    return tell


def _fail(wanted: Export, why: str) -> None:
    now = timezone.now()
    failed = wanted.update_mine(
        state=Export.State.FAILED,
        failure=why,
        finished_at=now,
        expires_at=now + timedelta(days=settings.EXPORT_DAYS),
    )
    if failed or not Export.objects.filter(pk=wanted.pk).exists():
        path_of(wanted).unlink(missing_ok=True)


def delete_export(wanted: Export) -> None:
    """Who is writing it finds that out and stops."""
    wanted.delete()
    path_of(wanted).unlink(missing_ok=True)


@receiver(text_redacted, dispatch_uid="exports of a redacted text")
def delete_outdated(prompt: Prompt, **_signal: object) -> None:
    """Files of campaigns with this prompt hold a text that is gone; those not begun will be without it."""
    of_sets, of_battles = Q(campaign__prompt_sets=prompt.prompt_set_id), Q(campaign__battles__prompt=prompt)
    begun = Export.objects.exclude(state=Export.State.QUEUED)
    for wanted in begun.filter(of_sets | of_battles).distinct():
        delete_export(wanted)
    remove_orphans()


def remove_expired() -> None:
    for wanted in Export.objects.expired():
        delete_export(wanted)
    remove_orphans()
    limit = (timezone.now() - LEFT_BEHIND).timestamp()
    for path in _files():
        if not _export_of(path) and path.stat().st_mtime < limit:
            _remove(path)


def remove_orphans() -> None:
    """What was written of exports that are deleted, and what killed workers had begun."""
    files = _files()  # before the rows: who begins now has one already
    rows = Export.objects.values_list("public_id", "state", "beat_at")
    since = timezone.now() - Export.LEASE
    known = {public_id.hex for public_id, _state, _beat_at in rows}
    at_work = {
        public_id.hex for public_id, state, at in rows if state == Export.State.RUNNING and at and at > since
    }
    for path in files:
        of = _export_of(path)
        if of and of not in (at_work if path.name.startswith(UNFINISHED) else known):
            _remove(path)


def _export_of(path: Path) -> str:
    """The public id in its name."""
    found = _NAMED.match(path.name)
    return found[1] if found else ""


def _files() -> list[Path]:
    return list(folder().iterdir())


def _remove(path: Path) -> None:
    """Somebody else may be removing it too."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
