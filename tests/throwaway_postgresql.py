"""A PostgreSQL cluster for one command: `python tests/throwaway_postgresql.py COMMAND …` runs COMMAND with
DATABASE_URL naming a fresh database, and ends the cluster afterwards. Its files aren't synced to the disk.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FAST = ("fsync=off", "full_page_writes=off", "synchronous_commit=off", "max_connections=200")
# A test's rows aren't committed: autovacuum would note each table as empty, and what is planned by that can
# take hours on the rows a test has just filled in. Never looked at, a table is taken by its size.
STEADY = ("autovacuum=off",)
MISSING = "PostgreSQL's server isn't installed (Debian, Ubuntu: apt install postgresql)"


def programs() -> Path | None:
    """The folder of initdb and pg_ctl, the newest version's; Debian keeps it off PATH."""
    found = shutil.which("initdb")
    if found:
        return Path(found).parent
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: float(p.parts[-3]))
    return versions[-1].parent if versions else None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def as_server(*command: str | Path) -> None:
    """PostgreSQL refuses to run as root, so that root hands its cluster to the user of Debian's package."""
    words = [str(word) for word in command]
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    done = subprocess.run([*user, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr.strip()}")


@contextmanager
def cluster() -> Iterator[str]:
    """The URL of a database in a cluster that lives as long as the block."""
    bin_ = programs()
    if bin_ is None:
        raise RuntimeError(MISSING)
    folder = Path(tempfile.mkdtemp(prefix="tiltyard-postgresql-"))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
    data, port = folder / "data", free_port()
    settings = f"-c listen_addresses=127.0.0.1 -p {port} -k {folder} "
    settings += " ".join(f"-c {setting}" for setting in (*FAST, *STEADY))
    try:
        as_server(bin_ / "initdb", "-D", data, "-U", "tiltyard", "-A", "trust", "-E", "UTF8", "--no-sync")
        as_server(bin_ / "pg_ctl", "-D", data, "-o", settings, "-l", folder / "log", "-w", "start")
        try:
            yield f"postgres://tiltyard@127.0.0.1:{port}/postgres"
        finally:
            as_server(bin_ / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main(command: list[str]) -> int:
    try:
        with cluster() as url:
            return subprocess.run(command, env=os.environ | {"DATABASE_URL": url}).returncode
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
