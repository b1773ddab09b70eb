"""Looks an installation over: what is sound, what is not, and what to do about it."""

from __future__ import annotations

import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlsplit

import django
from django.conf import settings
from django.contrib.auth.models import User
from django.db import DatabaseError, connection
from django.http.request import validate_host
from django.utils import timezone

from arena.battles import append_only
from arena.battles.models import Vote
from arena.battles.seal_models import Seal
from arena.campaigns.models import Campaign
from arena.campaigns.opening import missing_before_open
from arena.counted import counted
from arena.endpoints.key_use import endpoint_key
from arena.endpoints.keys import KeyMissingError
from arena.endpoints.models import Endpoint
from arena.operation import health
from arena.operation.prepare import static_files_are_current

LOW_DISK_BYTES = 1_000_000_000
LATE = timedelta(minutes=10)


@dataclass(frozen=True)
class Finding:
    subject: str
    is_sound: bool
    words: str


def sound(subject: str, words: str) -> Finding:
    return Finding(subject, True, words)


def unsound(subject: str, words: str) -> Finding:
    return Finding(subject, False, words)


def examine() -> Iterator[Finding]:
    yield sound("software", f"Python {sys.version.split()[0]}, Django {django.__version__}")
    yield from settings_findings()
    yield from folder_findings()
    yield from queue_findings()
    try:
        for check in DATABASE_CHECKS:
            yield from check()
    except DatabaseError as error:
        yield unsound("database", f"{type(error).__name__}: {error}")


def settings_findings() -> Iterator[Finding]:
    if settings.DEBUG:
        yield unsound("settings", "DEBUG is on: pages show code and settings to everybody; unset it")
    address = urlsplit(settings.PUBLIC_URL)
    if address.hostname and not validate_host(address.hostname, settings.ALLOWED_HOSTS):
        yield unsound("settings", f"add {address.hostname}, the host of PUBLIC_URL, to ALLOWED_HOSTS")
    if address.scheme == "https" and not settings.HTTPS:
        yield unsound(
            "settings", "PUBLIC_URL is https: set TILTYARD_HTTPS=1, so that cookies are sent by https only"
        )
    if address.scheme != "https" and settings.HTTPS:
        yield unsound("settings", "TILTYARD_HTTPS is on: PUBLIC_URL must begin with https://")
    if settings.HTTPS and not settings.PROXY_COUNT:
        yield unsound(
            "settings",
            "TILTYARD_HTTPS is on, so a proxy stands in front: set PROXY_COUNT=1, or all visitors share its"
            " address and one person's wrong passwords lock everybody out",
        )


def folder_findings() -> Iterator[Finding]:
    folder = settings.DATA_DIR
    free = shutil.disk_usage(folder).free
    words = f"{folder} has {free / 1e9:.1f} GB free"
    yield unsound("disk", f"{words}; make room") if free < LOW_DISK_BYTES else sound("disk", words)
    key = folder / "secret_key"
    if key.exists() and stat.S_IMODE(key.stat().st_mode) & 0o077:
        yield unsound("secret key", f"others may read {key}: chmod 600, and replace it if they might have")
    if static_files_are_current():
        yield sound("static files", "collected")
    else:
        yield unsound("static files", "missing or out of date: ./tiltyard run collects them when it starts")


def queue_findings() -> Iterator[Finding]:
    try:
        yield sound("queue", f"{health.check_queue()}, waiting: {counted(health.waiting_tasks(), 'task')}")
    except health.NotReadyError as reason:
        yield unsound("queue", f"{reason}; is ./tiltyard run running?")


def database_findings() -> Iterator[Finding]:
    yield sound("database", connection.vendor)
    missing = health.unapplied_migrations()
    if missing:
        yield unsound("migrations", f"not applied: {', '.join(missing)}; ./tiltyard manage migrate")
    elif triggers := append_only.missing_triggers():
        yield unsound(
            "votes",
            f"not protected against change ({', '.join(sorted(triggers))}): ./tiltyard manage migrate",
        )
    if connection.vendor == "sqlite":
        yield from sqlite_findings()


def seal_findings() -> Iterator[Finding]:
    """The consumer seals every minute; imported votes carry old dates, and are new all the same."""
    newest, long_ago = Seal.objects.order_by("-pk").first(), timezone.now() - LATE
    waiting = Vote.objects.filter(pk__gt=newest.last_vote if newest else 0)
    if waiting.filter(voted_at__lt=long_ago).exists() and not (newest and newest.at > long_ago):
        yield unsound(
            "seals", f"unsealed: {counted(waiting.count(), 'vote')}; is ./tiltyard run running its consumer?"
        )
    elif newest:
        yield sound(
            "seals", f"votes are sealed up to number {newest.last_vote}; verify_ballots checks them all"
        )


def sqlite_findings() -> Iterator[Finding]:
    with connection.cursor() as cursor:

        def pragma(name: str) -> str:
            cursor.execute(f"PRAGMA {name}")
            return str(cursor.fetchone()[0])

        if pragma("journal_mode") != "wal":
            yield unsound("database", "SQLite isn't in WAL mode: readers and writers block each other")
        if pragma("synchronous") != "2":
            yield unsound("database", "synchronous isn't FULL: a power cut could lose acknowledged votes")
        damage = pragma("quick_check")
        if damage != "ok":
            yield unsound("database", f"the file is damaged ({damage}): restore the last backup")


def admin_findings() -> Iterator[Finding]:
    admins = User.objects.filter(is_superuser=True, is_active=True)
    if not any(admin.has_usable_password() for admin in admins):
        yield unsound(
            "admin", "nobody can sign in as admin: ./tiltyard run prints a link that sets the password"
        )


def endpoint_findings() -> Iterator[Finding]:
    for endpoint in Endpoint.objects.order_by("pk"):
        try:
            endpoint_key(endpoint)
        except KeyMissingError as error:
            yield unsound(f"endpoint “{endpoint.name}”", str(error))


def campaign_findings() -> Iterator[Finding]:
    for campaign in Campaign.objects.filter(status=Campaign.Status.OPEN).order_by("pk"):
        for words in missing_before_open(campaign):
            yield unsound(f"campaign “{campaign.name}”", f"is open, but raters can't vote: {words}")


DATABASE_CHECKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    database_findings,
    seal_findings,
    admin_findings,
    endpoint_findings,
    campaign_findings,
)
