"""An empty, migrated SQLite database as a file, kept from one run of the tests to the next.

All migrations together take eight seconds of processor time. Whoever begins from a copy still runs `migrate`,
which then finds nothing to do. The file is named by what it was made of: an edited migration makes a new one.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".migrated"


def kept() -> Path:
    made_of = [*sorted((ROOT / "arena" / "migrations").glob("*.py")), ROOT / "requirements.txt"]
    named = [f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in made_of]
    return FOLDER / f"{hashlib.sha256(chr(10).join(named).encode()).hexdigest()[:16]}.sqlite3"


def begin_migrated(database: Path) -> bool:
    """Puts a copy there, if one is kept."""
    if not kept().exists():
        return False
    shutil.copyfile(kept(), database)
    return True


def keep(database: Path) -> None:
    """Keeps this one, which has just been migrated, instead of any that was made of other files."""
    FOLDER.mkdir(exist_ok=True)
    new = FOLDER / f"new-{os.getpid()}"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("VACUUM INTO ?", [str(new)])
    others = [path for path in FOLDER.glob("*.sqlite3") if path != kept()]
    new.replace(kept())
    for other in others:
        other.unlink(missing_ok=True)
