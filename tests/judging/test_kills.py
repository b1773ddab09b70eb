"""A real consumer, killed with SIGKILL in the middle of its work: nothing is lost and nothing is doubled."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from arena.endpoints import local_llm
from tests.endpoints.fake_server import FakeServer, Step, raw
from tests.judging.conftest import prefers
from tests.migrated_database import begin_migrated

ROOT = Path(__file__).resolve().parents[2]
CONCURRENCY = 4


class Installation:
    def __init__(self, folder: Path, server: FakeServer) -> None:
        self.server = server
        self.database = folder / "tiltyard.sqlite3"
        self.log = folder / "consumer.log"
        begin_migrated(self.database)
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

    def is_over(self) -> bool:
        return self.status() not in ("queued", "running")

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


def kill_every(place: Installation, seconds: float, calls: int) -> tuple[int, int]:
    """Kill a consumer this long after its first request, until no more than the tail is left, and finish.

    How many were killed, and how many requests may have been on their way.
    """
    kills = on_their_way = 0
    while True:
        consumer, before = place.start(), place.server.calls
        try:
            wait_until(lambda seen=before: place.server.calls > seen or place.is_over(), 300)
            deadline = time.monotonic() + seconds
            while time.monotonic() < deadline and not place.is_over():
                time.sleep(0.05)
        finally:
            on_their_way += place.server.in_flight
            kill(consumer)
        if place.is_over():
            return kills, on_their_way
        kills += 1
        # A kill may also fall between a claim and its request, or between a reply and its row.
        on_their_way += CONCURRENCY
        if calls - place.finished_calls() <= 2 * CONCURRENCY:
            seconds = 600.0


@pytest.mark.long
def test_two_thousand_battles_with_a_kill_every_three_seconds(tmp_path):
    battles = 2000
    with FakeServer(prefers("Reply 0")) as server:
        place = Installation(tmp_path, server)
        place.plan(battles)
        kills, on_their_way = kill_every(place, 3.0, 2 * battles)
        print(f"{kills} kills, {server.calls} requests for {2 * battles} calls, {on_their_way} on their way")
        assert kills >= 3
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


def forward_to(base_url: str):
    """Passes a request on to a real server, so that the fake one counts what the real one is asked."""

    def reply(body: dict) -> Step:
        request = urllib.request.Request(
            f"{base_url}/chat/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json", "Authorization": "Bearer none"},
        )
        try:
            with urllib.request.urlopen(request, timeout=600) as found:
                return raw(found.read())
        except urllib.error.HTTPError as error:
            return Step(error.code, error.read(), {"Content-Type": "application/json"})

    return reply


def judge_card(place: Installation) -> dict:
    words = (
        "import json; from arena.leaderboards.agreement.judge_card import compute;"
        "from arena.judging.models import Judge; from arena.campaigns.models import Campaign;"
        "from arena.leaderboards.agreement.card_page import build;"
        "card = compute(Campaign.objects.get(), Judge.objects.get());"
        "print('CARD', json.dumps([card.figures, build(card).cautions]))"
    )
    command = [sys.executable, "manage.py", "shell", "-c", words]
    told = subprocess.run(
        command, cwd=ROOT, env=place.environment, check=True, capture_output=True, text=True
    ).stdout
    figures, cautions = json.loads(told.rpartition("CARD ")[2])
    return figures | {"cautions": cautions}


@pytest.mark.llm
def test_with_a_real_model_a_kill_every_minute_loses_and_doubles_nothing(tmp_path):
    """Which response the model prefers is its own affair; what must hold is counted."""
    battles = 40
    real = RealServer()
    try:
        wait_until(real.is_ready, 120)
        with FakeServer(forward_to(real.base_url)) as server:
            place = Installation(tmp_path, server)
            place.plan(battles, local_llm.SLOTS, 300)
            kills, on_their_way = kill_every(place, 60.0, 2 * battles)
            sent, states = server.calls, Counter(s for (s,) in place.rows("SELECT state FROM arena_call"))
            retries = place.rows("SELECT COUNT(*) FROM arena_callattempt WHERE error_kind <> 'lost'")[0][0]
            command = [sys.executable, "manage.py", "run_judges", "kills", "--canaries", "--here"]
            subprocess.run(command, cwd=ROOT, env=place.environment, check=False)
            card = judge_card(place)
    finally:
        real.stop()
    outcomes = Counter(outcome for (outcome,) in place.rows("SELECT outcome FROM arena_judgment"))
    print(f"{kills} kills, {sent} requests, {dict(states)}, {dict(outcomes)}")
    print(f"lean {card['swap']['lean']}, canaries {card['canaries']}, cautions {card['cautions']}")
    keys = [key for (key,) in place.rows("SELECT key FROM arena_call")]
    assert len(set(keys)) == len(keys)
    assert sum(states.values()) == sum(outcomes.values()) * 2 == 2 * battles
    assert not set(states) & {"planned", "claimed", "retry_wait"}
    assert "" not in outcomes
    # A reply that couldn't be read is asked for once more; beyond that, only what was killed on its way.
    assert sent <= retries + on_their_way
    lean = card["swap"]["lean"]
    leans = lean["lower"] is not None and (lean["lower"] > 0 or lean["upper"] < 0)
    assert leans == any(caution.startswith("It leans to") for caution in card["cautions"])
    assert card["canaries"] is not None
