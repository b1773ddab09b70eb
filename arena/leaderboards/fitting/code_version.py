"""Which code a snapshot was computed by: a hash of what numbers depend on, and the libraries."""

import hashlib
import tomllib
from functools import cache
from importlib.metadata import version
from pathlib import Path

from django.conf import settings

SOURCES = ("ratings/**/*.py", "arena/leaderboards/fitting/*.py")


@cache
def code_version() -> str:
    """Such as "0.1.0+3f2a91c0b7de numpy 2.4.6 scipy 1.18.0"; another hash may mean other numbers."""
    root = Path(settings.BASE_DIR)
    sha = hashlib.sha256()
    for path in sorted(path for pattern in SOURCES for path in root.glob(pattern)):
        sha.update(f"{path.relative_to(root).as_posix()}\n".encode())
        sha.update(path.read_bytes())
    release = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    return f"{release}+{sha.hexdigest()[:12]} numpy {version('numpy')} scipy {version('scipy')}"
