"""`manage.py run` as it is operated: real gunicorn, real consumer, a data folder of its own."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.operation.processes import (
    children_of,
    command_of,
    heed_signals,
    members_of,
    running,
    wait_for,
)

ROOT = Path(__file__).resolve().parents[2]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Installation:
    """One `manage.py run` over a data folder."""

    def __init__(self, folder: Path, port: int, *options: str) -> None:
        self.port = port
        self.log = folder / "run.log"
        self.visitor = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        environment |= {
            "TILTYARD_DATA_DIR": str(folder / "data"),
            "DRAIN_SECONDS": "20",
            "QUEUE_WORKERS": "2",
        }
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "run", "--prepare", "--port", str(port), *options],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=heed_signals,
            )

    def get(self, path: str) -> tuple[int, bytes]:
        try:
            with self.visitor.open(f"http://127.0.0.1:{self.port}{path}", timeout=240) as reply:
                return reply.status, reply.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()
        except OSError:
            return 0, b""

    def wait_until_ready(self) -> None:
        wait_for(lambda: self.get("/readyz")[0] == 200, f"readiness; so far:\n{self.words()}")
        wait_for(lambda: "Ctrl-C ends it." in self.own_words(), "the links")

    def child(self, what: str) -> int:
        """The pid of the child whose command line names `what`."""
        found = [pid for pid in children_of(self.process.pid) if what in command_of(pid)]
        return found[0] if found else 0

    def words(self) -> str:
        return self.log.read_text()

    def own_words(self) -> str:
        """From where this run says its address; the log may hold earlier runs too."""
        return self.words().rpartition(f"Tiltyard: http://localhost:{self.port}/")[2]

    def printed_path(self, beginning: str) -> str:
        """The path that begins so, of a link printed by this run."""
        return re.findall(rf"http://localhost:{self.port}({beginning}\S+)", self.words())[-1]

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=240)

    def end_by_force(self) -> None:
        sessions = [*children_of(self.process.pid), self.process.pid]
        for pid in [pid for session in sessions for pid in members_of(session)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(timeout=240)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("installation")


@pytest.fixture
def run(folder):
    started = []

    def start(*options: str, port: int | None = None, folder: Path = folder) -> Installation:
        started.append(Installation(folder, port or free_port(), *options))
        return started[-1]

    yield start
    for installation in started:
        installation.end_by_force()


def test_the_first_page_is_served_and_sigterm_leaves_nothing(run):
    installation = run()
    installation.wait_until_ready()
    status, page = installation.get("/")
    assert status == 200
    assert b"Tiltyard" in page
    sessions = children_of(installation.process.pid)
    assert len(sessions) == 2
    # A web server with two workers, and a consumer; the first worker answers before the second is there.
    wait_for(lambda: sum(len(members_of(session)) for session in sessions) >= 4, "all processes")
    processes = [pid for session in sessions for pid in members_of(session)]
    assert installation.stop() == 0
    assert not set(processes) & set(running())
    assert installation.words().rstrip().endswith("Stopped.")


def test_a_start_says_where_to_go_and_how_to_become_admin(run):
    installation = run()
    installation.wait_until_ready()
    words = installation.words()
    assert f"Tiltyard: http://localhost:{installation.port}/" in words
    status, page = installation.get(installation.printed_path("/accounts/reset/"))
    assert status == 200
    assert b'name="new_password1"' in page


def test_an_empty_database_is_filled_with_the_demo_and_raters_can_join(run, tmp_path):
    installation = run("--demo", folder=tmp_path)
    installation.wait_until_ready()
    words = installation.words()
    assert "Demo campaign loaded: " in words
    assert installation.get(installation.printed_path("/join/"))[0] == 200
    assert installation.stop() == 0
    again = run("--demo", folder=tmp_path)
    again.wait_until_ready()
    assert again.words().count("Demo campaign loaded: ") == 1


def test_web_workers_never_stop_to_look_through_what_was_loaded_at_the_start():
    """A full collection of it takes 0.15 s, in which a worker answers nobody."""
    asked = "import gc, arena.operation.web; print(gc.get_freeze_count(), gc.get_count())"
    told = subprocess.run(
        [sys.executable, "-c", asked], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    assert int(told.split()[0]) > 50_000


def test_static_files_are_served_compressed_names_and_all(run):
    installation = run()
    installation.wait_until_ready()
    manifest = json.loads((installation.log.parent / "data" / "static" / "staticfiles.json").read_text())
    name = next(hashed for plain, hashed in manifest["paths"].items() if plain.endswith(".css"))
    status, content = installation.get(f"/static/{name}")
    assert status == 200
    assert content


def test_head_is_answered_as_get_without_a_body_and_the_connection_goes_on(run):
    """A body would be read as the beginning of the next answer; the server would warn of it."""
    installation = run()
    installation.wait_until_ready()
    connection = http.client.HTTPConnection("127.0.0.1", installation.port, timeout=60)
    connection.connect()
    kept = connection.sock
    for path in ("/", "/boards/", "/api/v1/leaderboards/", "/nowhere/", "/healthz"):
        connection.request("HEAD", path)
        told = connection.getresponse()
        told.read()
        connection.request("GET", path)
        shown = connection.getresponse()
        assert (shown.status, len(shown.read())) == (told.status, int(told.headers["Content-Length"])), path
        assert connection.sock is kept, path
    connection.close()
    assert "body bytes" not in installation.words()


def test_a_killed_web_server_comes_back_and_refuses_nobody(run):
    installation = run()
    installation.wait_until_ready()
    killed = installation.child("gunicorn")
    os.kill(killed, signal.SIGKILL)
    # The supervisor holds the socket: the visitor who comes now waits for the next server.
    # Workers of the killed one may answer until they notice, and the killed one shows until it is collected.
    assert installation.get("/healthz")[0] == 200
    wait_for(lambda: installation.child("gunicorn") not in {0, killed}, "the web server")
    assert installation.get("/healthz")[0] == 200
    assert "the web server ended by SIGKILL; starting it again" in installation.words()
    assert installation.stop() == 0


def test_the_web_processes_of_a_host_count_what_a_stranger_asks_together(run, monkeypatch, tmp_path):
    monkeypatch.setenv("WEB_WORKERS", "3")
    monkeypatch.setenv("API_PER_MINUTE_ANONYMOUS", "2")
    installation = run(folder=tmp_path)  # where no test has just asked
    installation.wait_until_ready()
    asked = [installation.get("/api/v1/leaderboards/")[0] for _ in range(12)]
    # Counted apart three processes would let six through; a minute's end on the way lets two more.
    assert 2 <= asked.count(200) <= 4 and asked.count(200) + asked.count(429) == 12


def test_a_killed_consumer_comes_back(run):
    installation = run()
    installation.wait_until_ready()
    killed = wait_for(lambda: installation.child("run_huey"), "the consumer")
    os.kill(killed, signal.SIGKILL)
    wait_for(lambda: installation.child("run_huey") not in {0, killed}, "the consumer")
    assert "the queue's consumer ended by SIGKILL; starting it again" in installation.words()
    assert installation.stop(signal.SIGINT) == 0


def test_visitors_who_fall_silent_hold_no_thread_for_long(run):
    installation = run()
    installation.wait_until_ready()
    beginning = (
        f"POST /accounts/login/ HTTP/1.1\r\nHost: localhost:{installation.port}\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\nusername="
    )
    with contextlib.ExitStack() as held:
        visitors = [
            held.enter_context(socket.create_connection(("127.0.0.1", installation.port)))
            for _ in range(12)  # more than the two times four threads
        ]
        for visitor in visitors:
            visitor.sendall(beginning.encode())
        assert installation.get("/healthz") == (200, b"alive\n")
        for visitor in visitors:
            visitor.settimeout(240)
            while visitor.recv(65536):
                pass


def test_a_port_in_use_is_said_in_words(run, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        installation = run(port=other.getsockname()[1])
        assert installation.process.wait(timeout=240) == 1
    assert f"can't listen on 127.0.0.1 port {installation.port}" in installation.words()
    assert "choose another: ./tiltyard run --port" in installation.words()
    assert "Traceback" not in installation.words().rpartition("can't listen")[2]
