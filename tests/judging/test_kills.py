"""A real consumer, killed with SIGKILL in the middle of its work: nothing is lost and nothing is doubled."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from arena.endpoints import local_llm
from tests.endpoints.fake_server import FakeServer, Step
from tests.judging.conftest import prefers

ROOT = Path(__file__).resolve().parents[2]
CONCURRENCY = 4


class Installation:
    def __init__(self, folder: Path, server: FakeServer | RealServer) -> None:
        self.server = server
        self.database = folder / "tiltyard.sqlite3"
        self.log = folder / "consumer.log"
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "DJANGO"))
        }
        self.environment = kept | {
            "TILTYARD_DATA_DIR": str(folder),
            "DATABASE_URL": f"sqlite:///{self.database}",
            "QUEUE_URL": f"sqlite:///{folder / 'queue.sqlite3'}",
            "ENDPOINT_ALLOWED_HOSTS": server.host,
            "DJANGO_SETTINGS_MODULE": "arena.settings",
        }

    def plan(self, battles: int, concurrency: int = CONCURRENCY, seconds: int = 20) -> None:
        command = [sys.executable, "-m", "tests.judging.dispatch", self.server.base_url]
        command += [str(battles), str(concurrency), str(seconds)]
        subprocess.run(command, cwd=ROOT, env=self.environment, check=True)

    def start(self) -> subprocess.Popen:
        command = [sys.executable, "manage.py", "run_huey", "--quiet", "--worker-type", "thread"]
        command += ["--workers", str(CONCURRENCY), "--max-delay", "1"]
        with self.log.open("a") as log:
            return subprocess.Popen(
                command, cwd=ROOT, env=self.environment, stdout=log, stderr=log, start_new_session=True
            )

    def rows(self, query: str) -> list[tuple]:
        with contextlib.closing(sqlite3.connect(self.database, timeout=20)) as connection:
            return connection.execute(query).fetchall()

    def status(self) -> str:
        return self.rows("SELECT status FROM arena_judgerun")[0][0]

    def finished_calls(self) -> int:
        return self.rows("SELECT COUNT(*) FROM arena_call WHERE finished_at IS NOT NULL")[0][0]

    def wait_out_the_leases(self) -> None:
        """As if half a minute had gone by."""
        with contextlib.closing(sqlite3.connect(self.database, timeout=20)) as connection, connection:
            connection.execute(
                "UPDATE arena_call SET lease_until = '2000-01-01 00:00:00' WHERE state = 'claimed'"
            )


def kill(consumer: subprocess.Popen) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(consumer.pid, signal.SIGKILL)
    consumer.wait()


def wait_until(condition, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds:g} s in vain"
        time.sleep(0.02)


def slow(seconds: float):
    judge = prefers("Reply 0")

    def reply(body: dict) -> Step:
        return replace(judge(body), delay=seconds)

    return reply


def check_that_nothing_is_lost_or_doubled(place: Installation, battles: int, on_their_way: int) -> None:
    assert place.status() == "completed", place.log.read_text()[-2000:]
    states = Counter(state for (state,) in place.rows("SELECT state FROM arena_call"))
    assert states == {"parsed": 2 * battles}
    keys = [key for (key,) in place.rows("SELECT key FROM arena_call")]
    assert len(set(keys)) == len(keys) == 2 * battles
    outcomes = Counter(outcome for (outcome,) in place.rows("SELECT outcome FROM arena_judgment"))
    assert outcomes == {"model_a": battles}
    # What was on its way at a kill may have been answered to nobody, and is bought once more.
    assert 2 * battles <= place.server.calls <= 2 * battles + on_their_way
    answered = place.rows("SELECT COUNT(*) FROM arena_callattempt WHERE error_kind = ''")
    assert answered == [(2 * battles,)]
    assert place.rows("SELECT COUNT(*) FROM arena_callattempt WHERE error_kind NOT IN ('', 'lost')") == [(0,)]


def test_a_consumer_killed_in_the_middle_loses_and_doubles_nothing(tmp_path):
    battles = 12
    with FakeServer(slow(0.3)) as server:
        place = Installation(tmp_path, server)
        place.plan(battles)
        consumer = place.start()
        try:
            wait_until(lambda: server.calls >= 9, 60)
            kill(consumer)
            on_their_way = server.in_flight + CONCURRENCY
            assert place.status() == "running"
            place.wait_out_the_leases()
            consumer = place.start()
            wait_until(lambda: place.status() not in ("queued", "running"), 90)
        finally:
            kill(consumer)
        check_that_nothing_is_lost_or_doubled(place, battles, on_their_way)


@pytest.mark.long
def test_a_consumer_killed_every_few_seconds_finishes_all_the_same(tmp_path):
    """Leases run out by themselves here, so the tail takes more than half a minute."""
    battles, kills = 300, 6
    with FakeServer(slow(0.1)) as server:
        place = Installation(tmp_path, server)
        place.plan(battles)
        on_their_way = 0
        for _ in range(kills):
            consumer, before = place.start(), server.calls
            try:
                wait_until(lambda seen=before: server.calls >= seen + 30, 60)
            finally:
                kill(consumer)
            on_their_way += CONCURRENCY
        consumer = place.start()
        try:
            wait_until(lambda: place.status() not in ("queued", "running"), 300)
        finally:
            kill(consumer)
        check_that_nothing_is_lost_or_doubled(place, battles, on_their_way)


class RealServer:
    """The model that --with-local-llm starts, behind its own OpenAI-compatible server on loopback."""

    def __init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.host = f"127.0.0.1:{port}"
        self.base_url = f"http://{self.host}/v1"
        command = [sys.executable, "-m", "arena.endpoints.local_llm", str(port)]
        self.process = subprocess.Popen(command, cwd=ROOT)

    def is_ready(self) -> bool:
        assert self.process.poll() is None, "the local LLM ended; its own words are above"
        with contextlib.suppress(OSError), urllib.request.urlopen(f"http://{self.host}/health", timeout=5):
            return True
        return False

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=240)


@pytest.mark.llm
def test_with_a_real_model_two_kills_lose_and_double_nothing(tmp_path):
    """Which response the model prefers is its own affair; what must hold is counted."""
    battles = 30
    server = RealServer()
    try:
        wait_until(server.is_ready, 120)
        place = Installation(tmp_path, server)
        place.plan(battles, local_llm.SLOTS, 300)
        for kills in (1, 2):
            consumer = place.start()
            try:
                wait_until(lambda seen=kills: place.finished_calls() >= 8 * seen, 1200)
            finally:
                kill(consumer)
        consumer = place.start()
        try:
            wait_until(lambda: place.status() not in ("queued", "running"), 1800)
        finally:
            kill(consumer)
    finally:
        server.stop()
    assert place.status() in ("completed", "completed_with_failures")
    keys = [key for (key,) in place.rows("SELECT key FROM arena_call")]
    assert len(set(keys)) == len(keys) == place.finished_calls() == 2 * battles
    outcomes = Counter(outcome for (outcome,) in place.rows("SELECT outcome FROM arena_judgment"))
    print(f"outcomes with a real model: {dict(outcomes)}")
    assert sum(outcomes.values()) == battles
    assert "" not in outcomes
