"""An endpoint's key: read at the last moment from where the endpoint says, kept out of all that is stored."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Mapping
from pathlib import Path

MASK = "[key]"
OWN_VARIABLES = frozenset({"SECRET_KEY", "DATABASE_URL", "QUEUE_URL", "EMAIL_URL", "CACHE_URL"})
# An environment and a disk hold much that is no key; what an endpoint may send must say that it is one.
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*_(KEY|TOKEN)")
_FILE = re.compile(r"(.*[._-])?(key|token)", re.IGNORECASE | re.DOTALL)
_LONGEST = 2000
# A shorter key is a placeholder for a server that wants any; masking it would riddle ordinary text.
_SHORTEST_MASKED = 6


class KeyMissingError(Exception):
    """The key can't be had; the message says what to do and never holds the key."""


def read_key(
    variable: str,
    file: str,
    environment: Mapping[str, str] = os.environ,
    secrets: Collection[str] = (),
) -> str:
    """The key from the named environment variable or file; empty when the endpoint names neither.

    `secrets` are Tiltyard's own: an endpoint that names one of them would send it to a stranger.
    """
    check_name(variable, file)
    if variable:
        key = environment.get(variable, "").strip()
        where = f"the environment variable {variable}"
        if not key:
            raise KeyMissingError(f"{where} is not set: set it and start Tiltyard again")
    elif file:
        key, where = _read_file(Path(file)), f"the file {file}"
    else:
        return ""
    if key in secrets:
        raise KeyMissingError(f"{where} holds a secret of Tiltyard's own, which is never sent anywhere")
    if len(key) > _LONGEST or not key.isascii() or not key.isprintable() or " " in key:
        raise KeyMissingError(f"{where} holds no key: a key is one line of printable ASCII without spaces")
    return key


def check_name(variable: str, file: str) -> None:
    """Raises KeyMissingError for a name that isn't a key's."""
    if variable in OWN_VARIABLES:
        raise KeyMissingError(f"{variable} holds a secret of Tiltyard's own, which is never sent anywhere")
    if variable and not _VARIABLE.fullmatch(variable):
        raise KeyMissingError(
            "use the name of an environment variable that ends in _KEY or _TOKEN, like OPENAI_API_KEY: "
            "others may hold anything, and are never sent"
        )
    if file and not _FILE.fullmatch(Path(file).name):
        raise KeyMissingError(
            f"{file} may hold anything: a file with a key has a name that is, or ends in, key or token, "
            "like openai.key or openai_token; name it so"
        )


def key_is_set(variable: str, file: str, environment: Mapping[str, str] = os.environ) -> bool:
    if not variable and not file:
        return False
    try:
        return bool(read_key(variable, file, environment))
    except KeyMissingError:
        return False


def redact(text: str, key: str) -> str:
    return text.replace(key, MASK) if len(key) >= _SHORTEST_MASKED else text


def _read_file(path: Path) -> str:
    if not path.is_absolute():
        raise KeyMissingError(f"{path} must be an absolute path")
    try:
        # Asked of the open file, so that it can't be exchanged between the check and the reading.
        with path.open("rb") as opened:
            status = os.fstat(opened.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_mode & 0o077:
                raise KeyMissingError(f"{path} must be a file with mode 0600: chmod 600 {path}")
            raw = opened.read(_LONGEST + 100)
    except OSError as error:
        raise KeyMissingError(f"{path} can't be read: {error.strerror}") from None
    key = raw.decode("ascii", "replace").strip()
    if not key:
        raise KeyMissingError(f"{path} is empty: write the key into it")
    return key
