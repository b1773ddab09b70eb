"""Large files in the background. The queue may lose or repeat a message: the imports' rows are the truth."""

import threading

from django.utils import timezone
from huey import crontab
from huey.contrib.djhuey import db_periodic_task, db_task

from arena.exchange import export_requests, intake, uploads
from arena.exchange.export_models import Export
from arena.exchange.models import Import
from arena.exchange.shifts import waiting

_desk = threading.Lock()
_exports = threading.Lock()


def start(record: Import) -> None:
    """A small file here and now, a larger one by the worker."""
    if intake.is_quick(record):
        intake.work_on(record)
        # What was to be stored at once if it is in order; by now it may have been discarded.
        if again := Import.objects.filter(pk=record.pk, state=Import.State.STORING).first():
            intake.work_on(again)
    else:
        work_off_imports()


@db_task()
def work_off_imports() -> None:
    """One file after the other: a large one takes memory and its share of the processor."""
    while _desk.acquire(blocking=False):
        try:
            record = waiting(Import.objects.all(), timezone.now()).order_by("pk").first()
            if record is None:
                return
            intake.work_on(record)
        finally:
            _desk.release()


@db_periodic_task(crontab(minute="*"))
def sweep_imports() -> None:
    """Takes up what a lost message or a killed process left behind."""
    uploads.forget_stale()
    work_off_imports.call_local()


@db_task()
def work_off_exports() -> None:
    """One after the other, for the same reason."""
    while _exports.acquire(blocking=False):
        try:
            wanted = Export.objects.claimable().order_by("pk").first()
            if wanted is None:
                return
            export_requests.do_export(wanted)
        finally:
            _exports.release()


@db_periodic_task(crontab(minute="*"))
def sweep_exports() -> None:
    export_requests.remove_expired()
    work_off_exports.call_local()
