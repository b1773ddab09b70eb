"""What a setting may look like. Each check raises with its name, what is wrong, and what is right."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
# A name, an address of version 4, or one of version 6, bare or in brackets; then perhaps a port.
_HOST = re.compile(
    r"([A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(:(?P<port>[0-9]{1,5}))?|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]+"
)
_KEY_NAME = re.compile(r"[A-Z][A-Z0-9_]*_(KEY|TOKEN)|/.+")


def split_list(text: str) -> list[str]:
    return [entry.strip() for entry in text.split(",") if entry.strip()]


def check_origins(name: str, entries: Iterable[str]) -> list[str]:
    """Scheme and host, as browsers send them."""
    for entry in entries:
        parts = urlsplit(entry)
        if (
            parts.scheme not in {"http", "https"}
            or not parts.netloc
            or parts.netloc != entry.split("//", 1)[1]
        ):
            raise ImproperlyConfigured(
                f"{name} has {entry!r}; an entry is an address without a path, like https://arena.example.org"
            )
    return list(entries)


def is_host(entry: str) -> bool:
    found = _HOST.fullmatch(entry)
    return found is not None and 0 < int(found["port"] or 1) < 65536


def check_hosts(name: str, entries: Iterable[str]) -> list[str]:
    for entry in entries:
        if not is_host(entry):
            raise ImproperlyConfigured(
                f"{name} has {entry!r}; an entry is host or host:port, without scheme and path, like"
                " llm.example.org:8000"
            )
    return list(entries)


def check_names(name: str, entries: Iterable[str]) -> list[str]:
    """Host names that visitors type; Django compares them without the port."""
    for entry in entries:
        if not re.fullmatch(r"\*|\.?[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\]", entry):
            raise ImproperlyConfigured(
                f"{name} has {entry!r}; an entry is a host name alone, like arena.example.org, without"
                " scheme, port and path"
            )
    return list(entries)


def read_key_hosts(name: str, entries: Iterable[str]) -> dict[str, str]:
    """`NAME=host`: the one host, or host:port, that the key of this name may be sent to."""
    found: dict[str, str] = {}
    for entry in entries:
        key, _, host = (part.strip() for part in entry.partition("="))
        if not _KEY_NAME.fullmatch(key) or not is_host(host):
            raise ImproperlyConfigured(
                f"{name} has {entry!r}; an entry is the name of a key (it ends in _KEY or _TOKEN, or is a"
                " file's absolute path), =, and its host, like OPENAI_API_KEY=api.openai.com"
            )
        if key in found:
            raise ImproperlyConfigured(f"{name} has {key} twice; a key goes to one host")
        found[key] = host
    return found


def check_level(name: str, level: str) -> str:
    if level.strip().upper() not in LEVELS:
        raise ImproperlyConfigured(f"{name} is {level!r}; use one of {', '.join(LEVELS)}")
    return level.strip().upper()


def make_folder(name: str, folder: Path) -> Path:
    """The folder, made if missing, in which a file can be made; others of the machine can't look into it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch(mode=0o600)
        probe.unlink(missing_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(
            f"{name} is {folder}, which can't be written ({error.strerror}); name a folder that belongs to"
            " the user who runs Tiltyard"
        ) from None
    return folder
