"""Index of the rooms' tasks: the consumer looks here. And its own sign of life."""

from importlib import import_module
from importlib.util import find_spec

from huey import crontab
from huey.contrib.djhuey import on_startup, periodic_task

from arena.operation.health import beat

ROOMS = ("endpoints", "corpus", "campaigns", "battles", "judging", "leaderboards", "exchange")

for room in ROOMS:
    if find_spec(f"arena.{room}.tasks"):
        import_module(f"arena.{room}.tasks")


@periodic_task(crontab(minute="*"))
def heartbeat() -> None:
    beat()


@on_startup()
def first_heartbeat() -> None:
    beat()
