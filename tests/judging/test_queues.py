"""Two hosts that share no file, only a database and a queue on Redis or PostgreSQL; one is killed."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.conftest import IN_CI
from tests.endpoints.fake_server import FakeServer
from tests.judging.test_kills import CONCURRENCY, ROOT, kill, slow, wait_until
from tests.throwaway_postgresql import MISSING, cluster, free_port, programs

BATTLES = 12


def need(program: object, words: str) -> None:
    """In CI what is missing is a failure; elsewhere it is said why nothing was tested."""
    if not program:
        pytest.fail(words) if IN_CI else pytest.skip(words)


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    need(programs(), MISSING)
    with cluster() as url:
        yield url


@contextlib.contextmanager
def redis(folder: Path) -> Iterator[str]:
    program = shutil.which("redis-server")
    need(program, "redis-server isn't installed (Debian, Ubuntu: apt install redis-server)")
    port = free_port()
    command = [str(program), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: answers(port), 30)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.terminate()
        server.wait(30)


def answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


class Host:
    """A machine's worth of settings: a data folder and a secret of its own, the database and queue of all."""

    def __init__(self, folder: Path, database: str, queue: str, server: FakeServer) -> None:
        folder.mkdir()
        self.folder = folder
        kept = {n: v for n, v in os.environ.items() if not n.startswith(("PYTEST", "DJANGO"))}
        self.environment = kept | {
            "TILTYARD_DATA_DIR": str(folder),
            "DATABASE_URL": database,
            "QUEUE_URL": queue,
            "ENDPOINT_ALLOWED_HOSTS": server.host,
            "DJANGO_SETTINGS_MODULE": "arena.settings",
        }

    def plan(self, base_url: str) -> None:
        command = [sys.executable, "-m", "tests.judging.dispatch", base_url]
        command += [str(number) for number in (BATTLES, 2 * CONCURRENCY, 20)]
        subprocess.run(command, cwd=ROOT, env=self.environment, check=True)

    def start(self) -> subprocess.Popen:
        command = [sys.executable, "manage.py", "run_huey", "--quiet", "--worker-type", "thread"]
        command += ["--workers", str(CONCURRENCY), "--max-delay", "1", "--skip-checks"]
        with (self.folder / "consumer.log").open("a") as log:
            return subprocess.Popen(
                command, cwd=ROOT, env=self.environment, stdout=log, stderr=log, start_new_session=True
            )


class Ledger:
    """What the database says."""

    def __init__(self, url: str) -> None:
        self.url = url

    def rows(self, query: str) -> list[tuple]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            found = connection.execute(query)
            return found.fetchall() if found.description else []

    def finished(self) -> int:
        return self.rows("SELECT COUNT(*) FROM arena_call WHERE finished_at IS NOT NULL")[0][0]

    def is_over(self) -> bool:
        return self.rows("SELECT status FROM arena_judgerun")[0][0] not in ("queued", "running")


@contextlib.contextmanager
def queue_of(kind: str, database: str, folder: Path) -> Iterator[str]:
    if kind == "postgresql":
        yield database
    else:
        with redis(folder) as url:
            yield url


@pytest.fixture
def fresh(database: str) -> Iterator[str]:
    """A database of this test's own in the cluster."""
    name = f"run_{free_port()}"
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield database.rpartition("/")[0] + f"/{name}"


@pytest.mark.parametrize("kind", ["redis", "postgresql"])
def test_two_hosts_and_a_kill_lose_and_double_nothing(tmp_path, fresh, kind):
    with FakeServer(slow(0.3)) as server, queue_of(kind, fresh, tmp_path) as queue:
        hosts = [Host(tmp_path / name, fresh, queue, server) for name in ("one", "two")]
        ledger = Ledger(fresh)
        hosts[0].plan(server.base_url)
        consumers = [host.start() for host in hosts]
        try:
            wait_until(lambda: ledger.finished() >= 6, 120)
            kill(consumers[0])
            on_their_way = 2 * CONCURRENCY
            ledger.rows("UPDATE arena_call SET lease_until = '2000-01-01' WHERE state = 'claimed'")
            consumers.append(hosts[0].start())
            wait_until(ledger.is_over, 150)
        finally:
            for consumer in consumers:
                kill(consumer)
        states = Counter(state for (state,) in ledger.rows("SELECT state FROM arena_call"))
        assert states == {"parsed": 2 * BATTLES}
        keys = [key for (key,) in ledger.rows("SELECT key FROM arena_call")]
        assert len(set(keys)) == len(keys) == 2 * BATTLES
        outcomes = Counter(o for (o,) in ledger.rows("SELECT outcome FROM arena_judgment"))
        assert outcomes == {"model_a": BATTLES}
        assert 2 * BATTLES <= server.calls <= 2 * BATTLES + on_their_way
        answered = ledger.rows("SELECT COUNT(*) FROM arena_callattempt WHERE error_kind = ''")
        assert answered == [(2 * BATTLES,)]
        assert server.most_in_flight <= 2 * CONCURRENCY + CONCURRENCY, "the limit is shared by both hosts"
