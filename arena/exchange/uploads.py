"""Uploaded files while their preview waits, under generated names beside the database."""

import uuid
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone

from arena.exchange.models import Import

KEPT_HOURS = 24


def folder() -> Path:
    path = Path(settings.DATA_DIR) / "uploads"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def keep(upload: UploadedFile) -> str:
    """Stores the bytes and returns the name; what was uploaded as has no part in it."""
    name = uuid.uuid4().hex
    with (folder() / name).open("xb") as file:
        for chunk in upload.chunks():
            file.write(chunk)
    return name


def path_of(record: Import) -> Path:
    return folder() / record.stored_as


def is_kept(record: Import) -> bool:
    return bool(record.stored_as) and path_of(record).is_file()


def forget(record: Import) -> None:
    if record.stored_as:
        path_of(record).unlink(missing_ok=True)
        record.stored_as = ""


def forget_stale() -> None:
    """Previews that nobody confirmed within a day."""
    limit = timezone.now() - timedelta(hours=KEPT_HOURS)
    for record in Import.objects.filter(state=Import.State.PREVIEWED, created_at__lt=limit):
        forget(record)
        record.delete()
