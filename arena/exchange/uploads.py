"""Uploaded files while they wait to be imported, under generated names beside the database."""

import os
import shutil
import uuid
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone

from arena.exchange.models import Import

KEPT_HOURS = 24
WAITING = (Import.State.PREVIEWED, Import.State.REFUSED)


def folder() -> Path:
    path = Path(settings.DATA_DIR) / "uploads"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def keep(upload: UploadedFile) -> str:
    """Stores the bytes and returns the name; what was uploaded as has no part in it."""
    name = uuid.uuid4().hex
    if hasattr(upload, "temporary_file_path"):  # on the disk already
        Path(upload.temporary_file_path()).rename(folder() / name)
        upload.close()
        return name
    with (folder() / name).open("xb") as file:
        for chunk in upload.chunks():
            file.write(chunk)
    return name


def path_of(record: Import) -> Path:
    return folder() / record.stored_as


def errors_path(record: Import) -> Path:
    return folder() / f"{record.stored_as}.errors.csv"


def notes_path(record: Import) -> Path:
    return folder() / f"{record.stored_as}.notes.csv"


def is_kept(record: Import) -> bool:
    return bool(record.stored_as) and path_of(record).is_file()


def forget(record: Import) -> None:
    if record.stored_as:
        path_of(record).unlink(missing_ok=True)
        errors_path(record).unlink(missing_ok=True)
        notes_path(record).unlink(missing_ok=True)
        record.stored_as = ""


def forget_stale() -> None:
    """Files that nobody imported or mended within a day, and previews that nobody confirmed."""
    limit = timezone.now() - timedelta(hours=KEPT_HOURS)
    idle = Import.objects.filter(state__in=(*WAITING, Import.State.DONE), created_at__lt=limit)
    for record in idle.exclude(stored_as=""):
        unchanged = Import.objects.filter(pk=record.pk, state=record.state)
        if record.state == Import.State.PREVIEWED:
            is_ours = unchanged.delete()[0] > 0  # nobody has confirmed it in this moment
        else:
            is_ours = unchanged.update(stored_as="") > 0
        if is_ours:
            forget(record)
    _forget_strays(limit.timestamp())


def _forget_strays(before: float) -> None:
    """Files that no import knows: whoever uploaded them ended in between."""
    known = set(Import.objects.exclude(stored_as="").values_list("stored_as", flat=True))
    with os.scandir(folder()) as entries:
        for entry in entries:
            if entry.name.partition(".")[0] not in known and entry.stat().st_mtime < before:
                if entry.is_dir(follow_symlinks=False):  # an archive that was being unpacked
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    Path(entry.path).unlink(missing_ok=True)
