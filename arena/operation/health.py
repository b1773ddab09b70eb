"""Is this process alive (healthz), and can it serve (readyz)?"""

from __future__ import annotations

import time

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from huey.contrib.djhuey import HUEY

from arena.counted import counted

HEARTBEAT = "tiltyard-consumer-heartbeat"
# The beat is queued every minute like any other work, so a full queue delays it just as it delays a judge.
STALE_SECONDS = 180


class NotReadyError(Exception):
    """Why this installation can't serve."""


@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    return HttpResponse("alive\n", content_type="text/plain")


@require_safe
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """503 with the reasons when the tables aren't there or nobody works on the queue."""
    checks = {"database": check_database, "queue": check_queue}
    findings, ready = {}, True
    for name, check in checks.items():
        try:
            findings[name] = check()
        except NotReadyError as reason:
            findings[name], ready = str(reason), False
    return JsonResponse({"ready": ready, **findings}, status=200 if ready else 503)


def check_database() -> str:
    try:
        missing = unapplied_migrations()
    except DatabaseError:
        raise NotReadyError("unreachable") from None
    if missing:
        raise NotReadyError(f"not applied: {counted(len(missing), 'migration')}; ./tiltyard manage migrate")
    return "ok"


def unapplied_migrations() -> list[str]:
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]


def check_queue() -> str:
    age = heartbeat_age()
    if age is None:
        raise NotReadyError("no consumer has run yet")
    if age > STALE_SECONDS:
        raise NotReadyError(
            f"no sign of life from the consumer for {age:.0f} s; waiting: {counted(waiting_tasks(), 'task')}"
        )
    return "ok"


def beat(now: float | None = None) -> None:
    """The consumer's sign of life, kept in the queue's own store so that any web server can read it."""
    HUEY.put(HEARTBEAT, time.time() if now is None else now)


def heartbeat_age() -> float | None:
    try:
        seen = HUEY.get(HEARTBEAT, peek=True)
    except Exception as error:
        # Each of the three storages has errors of its own.
        raise NotReadyError(f"the queue's store is unreachable ({type(error).__name__})") from error
    return None if seen is None else max(0.0, time.time() - seen)


def waiting_tasks() -> int:
    return HUEY.pending_count()
