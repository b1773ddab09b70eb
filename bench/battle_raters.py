"""The server, and raters with browsers of their own who vote on it."""

from __future__ import annotations

import http.client
import os
import re
import secrets
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from bench.battle_data import OUTCOMES, SLUG

ROOT = Path(__file__).resolve().parent.parent


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def start_server(port: int, log: Path) -> subprocess.Popen:
    process = subprocess.Popen(
        [sys.executable, "manage.py", "run", "--prepare", "--no-demo", "--port", str(port)],
        cwd=ROOT,
        stdout=log.open("wb"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    for _ in range(300):
        time.sleep(0.2)
        if process.poll() is not None:
            raise SystemExit(f"the server ended at once:\n{log.read_text()}")
        try:
            if get(port, "/healthz") == 200:
                return process
        except OSError:
            continue
    raise SystemExit(f"the server didn't answer in 60 s:\n{log.read_text()}")


def get(port: int, path: str) -> int:
    connection = http.client.HTTPConnection("localhost", port, timeout=5)
    connection.request("GET", path)
    return connection.getresponse().status


def cpu_seconds(root_pid: int) -> dict[str, float]:
    """User and system time so far of a process and its descendants: the web server's, and the others'."""
    parents, ticks, web = {}, {}, set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
            command = path.with_name("cmdline").read_bytes()
        except OSError:
            continue
        pid = int(path.parent.name)
        parents[pid], ticks[pid] = int(fields[1]), int(fields[11]) + int(fields[12])
        if b"gunicorn" in command:
            web.add(pid)
    family = {root_pid}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    second = os.sysconf("SC_CLK_TCK")
    return {
        "web": sum(ticks.get(pid, 0) for pid in family & web) / second,
        "others": sum(ticks.get(pid, 0) for pid in family - web) / second,
    }


# --- the raters -------------------------------------------------------------------------------------------


@dataclass
class Rater:
    """One browser: joins, then votes on what the last answer handed out."""

    port: int
    token: str
    connection: http.client.HTTPConnection = field(init=False)
    cookies: dict[str, str] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    held: set[str] = field(default_factory=set)
    reopened: int = 0

    def __post_init__(self) -> None:
        self.connection = http.client.HTTPConnection("localhost", self.port, timeout=60)

    def ask(self, method: str, path: str, form: dict | None = None, htmx: bool = False) -> tuple[int, str]:
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        body = None
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            headers["X-CSRFToken"] = self.cookies.get("csrftoken", "")
            body = urlencode(form)
        if htmx:
            headers["HX-Request"] = "true"
        answer = self.send(method, path, body, headers)
        for cookie in answer.headers.get_all("Set-Cookie") or ():
            name, value = cookie.split(";")[0].split("=", 1)
            self.cookies[name] = value
        return answer.status, answer.read().decode()

    def send(self, *request) -> http.client.HTTPResponse:
        """As browsers do: a connection that the server closed while it was idle is opened again, once."""
        try:
            self.connection.request(*request)
            return self.connection.getresponse()
        except (BrokenPipeError, ConnectionResetError, http.client.RemoteDisconnected):
            self.connection.close()
            self.reopened += 1
            self.connection.request(*request)
            return self.connection.getresponse()

    def join(self) -> None:
        self.cookies.clear()
        self.ask("GET", f"/join/{self.token}/")
        status, _ = self.ask("POST", f"/join/{self.token}/", {})
        if status != 302:
            raise RuntimeError(f"joining was answered with {status}")
        self.held.clear()
        self.read(self.ask("GET", f"/campaigns/{SLUG}/battle/")[1])

    def read(self, page: str) -> None:
        self.order = re.search(r'data-order="([^"]*)"', page)[1].split()
        self.held = (self.held | set(re.findall(r'data-battle="([^"]+)"', page))) & set(self.order)

    def vote(self) -> int:
        if not self.order:
            self.join()  # every battle voted on: as the next rater
        battle = self.order.pop(0)
        self.held.discard(battle)
        ballot = {
            "outcome": OUTCOMES[secrets.randbelow(4)],
            "key": secrets.token_urlsafe(12),
            "dwell_ms": "1000",
            "layout": "wide-ltr",
            "held": " ".join(self.held),
        }
        status, page = self.ask("POST", f"/battles/{battle}/vote/", ballot, htmx=True)
        if status == 200:
            self.read(page)
        return status


@dataclass
class Tally:
    latencies: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    reopened: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def time(self, rater: Rater, since: float) -> None:
        try:
            status = rater.vote()
        except (OSError, http.client.HTTPException, RuntimeError) as error:
            rater.connection.close()
            status = 0
            failure = repr(error)
        else:
            failure = f"status {status}"
        took = time.perf_counter() - since
        with self.lock:
            if status == 200:
                self.latencies.append(took)
            else:
                self.failures.append(failure)


def closed_loop(rater: Rater, tally: Tally, end: float) -> None:
    while (now := time.perf_counter()) < end:
        tally.time(rater, now)


def open_loop(rater: Rater, tally: Tally, end: float, start: float, every: float) -> None:
    due = start
    while due < end:
        time.sleep(max(0, due - time.perf_counter()))
        tally.time(rater, due)
        due += every


@dataclass
class Round:
    """What a number of raters did in a number of seconds, and what it cost the server."""

    tally: Tally
    seconds: float
    cpu: dict[str, float]


def vote_for(seconds: float, rate: float | None, raters: list[Rater], server_pid: int) -> Round:
    """With a rate the votes keep a clock of their own; without one each rater votes when an answer comes."""
    tally, before = Tally(), cpu_seconds(server_pid)
    begun = time.perf_counter()
    end, every = begun + seconds, len(raters) / rate if rate else 0.0
    threads = []
    for number, rater in enumerate(raters):
        if rate:
            first = begun + number / rate
            threads.append(threading.Thread(target=open_loop, args=(rater, tally, end, first, every)))
        else:
            threads.append(threading.Thread(target=closed_loop, args=(rater, tally, end)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took, after = time.perf_counter() - begun, cpu_seconds(server_pid)
    tally.reopened = sum(rater.reopened for rater in raters)
    return Round(tally, took, {name: after[name] - before[name] for name in after})
