"""What an installation needs before it serves: tables, static files, an admin, and links to begin with."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.db import transaction
from django.urls import reverse

from arena.campaigns.models import Campaign, Invite
from arena.corpus.models import PromptSet
from arena.counted import counted
from arena.operation.health import unapplied_migrations
from arena.operation.start_lock import start_lock
from arena.raters.accounts import make_account, password_link
from arena.raters.models import Membership, Role, Team

Say = Callable[[str], object]


class DemoFailedError(Exception):
    """The demo could not be loaded; its own words are above."""


def prepare(say: Say, *, demo: bool) -> None:
    with start_lock(settings.DATA_DIR, lambda: say("Waiting for another start over the same data folder.")):
        migrate(say)
        collect_static_files(say)
        if demo and is_empty():
            load_demo(say)
        ensure_admin()


def migrate(say: Say) -> None:
    missing = unapplied_migrations()
    if missing:
        say(f"Bringing the database up to date ({counted(len(missing), 'migration')}).")
        call_command("migrate", interactive=False, verbosity=0)


def collect_static_files(say: Say) -> None:
    """Collects them again only when a file was added, taken away or changed."""
    if static_files_are_current():
        return
    say("Collecting static files.")
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    static_note().write_text(static_state())


def static_note() -> Path:
    return Path(settings.STATIC_ROOT) / ".collected"


def static_files_are_current() -> bool:
    return static_note().is_file() and static_note().read_text() == static_state()


def static_state() -> str:
    digest = hashlib.sha256(settings.STORAGES["staticfiles"]["BACKEND"].encode())
    for finder in get_finders():
        for path, storage in sorted(finder.list([]), key=lambda found: found[0]):
            status = Path(storage.path(path)).stat()
            digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def is_empty() -> bool:
    return not (Campaign.objects.exists() or PromptSet.objects.exists())


def load_demo(say: Say) -> None:
    """In a process of its own, which keeps what an import needs out of this one's memory."""
    say("Loading the demo campaign.")
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "load_demo"]
    if subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode:
        raise DemoFailedError(
            "the demo could not be loaded (its own words are above); --no-demo does without it"
        )


def ensure_admin() -> User:
    """The first account that may do everything, made if there is none."""
    admin = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if admin is None:
        with transaction.atomic():
            admin, _ = make_account("admin")
            Membership.objects.update_or_create(
                user=admin, team=Team.default(), defaults={"role": Role.ADMIN}
            )
            admin.is_staff = admin.is_superuser = True
            admin.save(update_fields=["is_staff", "is_superuser"])
    return admin


def ways_in(port: int) -> list[str]:
    """Where to go, and the keys still needed. Imports all pages for their addresses: that takes a second."""
    admin, address = ensure_admin(), settings.PUBLIC_URL or f"http://localhost:{port}"
    lines = [f"Tiltyard: {address}/"]
    if not admin.has_usable_password():
        lines.append(f"Set the password of “{admin.username}”: {address}{password_link(admin)}")
    for campaign in campaigns_without_link():
        _, token = Invite.issue(campaign, label="printed at the first start")
        lines.append(f"Invite raters to “{campaign.name}”: {address}{reverse('join', args=[token])}")
    return [*lines, "Ctrl-C ends it."]


def campaigns_without_link() -> list[Campaign]:
    """Open campaigns that admit by invite and never had one; of an older link only the hash is kept."""
    return list(
        Campaign.objects.filter(
            status=Campaign.Status.OPEN, admission=Campaign.Admission.INVITE, invites=None
        ).order_by("pk")
    )
