"""A large file of responses through the page while people vote: how long, how much memory, and do votes wait?

    .venv/bin/python -m bench.imports                # 200,000 responses, just under 100 MB
    .venv/bin/python -m bench.imports --rows 20000 --rate 5
    .venv/bin/python -m bench.imports --campaign 74000   # a whole campaign instead, with so many votes

It fills a database of its own in a temporary folder, starts `manage.py run` on it and stops it. First votes
are cast on the quiet server, at a fixed rate that keeps its own clock; then again from the upload to the end
of the import. Exits with 1 if a request failed, a vote or row is missing, or a file beyond the limit left
anything.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from arena.corpus.render import RENDERER_VERSION
from bench import battle_data, battle_raters

MODELS = 10
PASSWORD = "lance-and-shield-7"
BOUNDARY = "bench-9f2c1d"
WORDS = (
    "the reply",
    "begins with",
    "what was asked",
    "and says",
    "why it holds",
    "in so many words",
    "as a reader needs",
)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--megabytes", type=float, default=99.5, help="of the file")
    parser.add_argument("--rate", type=float, default=4, help="votes a second")
    parser.add_argument("--raters", type=int, default=4)
    parser.add_argument("--campaign", type=int, default=0, help="votes of an exported campaign")
    parser.add_argument("--quiet", type=float, default=45, help="seconds of votes before the import")
    return parser.parse_args()


# --- what there is before ---------------------------------------------------------------------------------


def fill(rows: int) -> str:
    """A campaign to vote in, a large published prompt set, an admin; returns a token to join with."""
    from django.contrib.auth.models import User

    from arena.corpus.models import Prompt, PromptSet
    from arena.raters.models import Team

    token = battle_data.fill(argparse.Namespace(prompts=200, models=8, votes=2000))
    large = PromptSet.objects.create(team=Team.default(), name="large", status=PromptSet.Status.PUBLISHED)
    prompts = (
        Prompt(
            prompt_set=large,
            external_id=f"p{number}",
            messages=[{"role": "user", "content": f"Prompt {number}?"}],
            rendered_html=f"<p>Prompt {number}?</p>",
            renderer_version=RENDERER_VERSION,
        )
        for number in range(-(-rows // MODELS))
    )
    Prompt.objects.bulk_create(prompts, batch_size=1000)
    User.objects.create_superuser("carol", password=PASSWORD)
    return token


def write_file(path: Path, rows: int, size: int) -> None:
    """Responses of a few paragraphs with lists, bold words and here and there a heading or a line of code."""
    dice = random.Random(1)
    longest = size // rows
    with path.open("w") as file:
        for number in range(rows):
            row = {
                "prompt_id": f"p{number // MODELS}",
                "model": f"large model {number % MODELS}",
                "response": "",
            }
            row["response"] = text(dice, longest - len(json.dumps(row)) - 12)
            file.write(json.dumps(row) + "\n")


def text(dice: random.Random, length: int) -> str:
    parts: list[str] = []
    while sum(map(len, parts)) + 2 * len(parts) < length:
        words = " ".join(dice.choices(WORDS, k=6)).capitalize() + "."
        shape = dice.random()
        if shape < 0.15:
            words = f"- {words}"
        elif shape < 0.2:
            words = f"## {words}"
        elif shape < 0.35:
            words = words.replace("asked", "**asked**")
        elif shape < 0.4:
            words = f"`{words}`"
        parts.append(words)
    return "\n\n".join(parts)[:length]


def export_campaign(folder: Path, votes: int) -> Path:
    """Of another database, which is filled by a process of its own; its prompt set has a name of its own."""
    other = os.environ | {"TILTYARD_DATA_DIR": str(folder / "elsewhere")}
    out = folder / "campaign.zip"
    subprocess.run(
        [sys.executable, "-m", "bench.imports_export", str(votes), str(out)], env=other, check=True
    )
    return out


# --- the admin --------------------------------------------------------------------------------------------


@dataclass
class Admin:
    port: int
    cookies: dict[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, body=None, headers: dict | None = None) -> tuple[int, str, str]:
        connection = http.client.HTTPConnection("localhost", self.port, timeout=300)
        sent = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        connection.request(method, path, body, sent | (headers or {}))
        answer = connection.getresponse()
        for cookie in answer.headers.get_all("Set-Cookie") or ():
            name, value = cookie.split(";")[0].split("=", 1)
            self.cookies[name] = value
        page = answer.read().decode()
        connection.close()
        return answer.status, answer.headers.get("Location", ""), page

    def post(self, path: str, **fields: str) -> tuple[int, str, str]:
        headers = {"Content-Type": "application/x-www-form-urlencoded", "X-CSRFToken": self.csrf}
        return self.ask("POST", path, urlencode(fields), headers)

    @property
    def csrf(self) -> str:
        return self.cookies.get("csrftoken", "")

    def sign_in(self) -> None:
        self.ask("GET", "/accounts/login/")
        status, _, page = self.post("/accounts/login/", username="carol", password=PASSWORD)
        if status != 302:
            raise SystemExit(f"signing in was answered with {status}: {page[:500]}")

    def upload(self, path: Path, target: str, kind: str = "responses") -> tuple[int, str]:
        """Sent piece by piece, as browsers do."""
        ends = f"--{BOUNDARY}\r\nContent-Disposition: form-data; name="
        head = (
            f'{ends}"csrfmiddlewaretoken"\r\n\r\n{self.csrf}\r\n{ends}"target"\r\n\r\n{target}\r\n'
            f'{ends}"file"; filename="{path.name}"\r\nContent-Type: application/jsonl\r\n\r\n'
        ).encode()
        tail = f"\r\n--{BOUNDARY}--\r\n".encode()

        def pieces() -> Iterator[bytes]:
            yield head
            with path.open("rb") as file:
                while piece := file.read(64 * 1024):
                    yield piece
            yield tail

        headers = {
            "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
            "Content-Length": str(len(head) + path.stat().st_size + len(tail)),
        }
        status, location, _ = self.ask("POST", f"/imports/new/?kind={kind}", pieces(), headers)
        return status, location

    def wait_while(self, path: str, words: str) -> str:
        """Until the page no longer says that it is at it."""
        while True:
            status, _, page = self.ask("GET", path)
            if status != 200:
                raise SystemExit(f"{path} was answered with {status}")
            if words not in page:
                return page
            time.sleep(0.5)


# --- memory -----------------------------------------------------------------------------------------------


def resident(server: int) -> dict[str, dict[int, tuple[int, int]]]:
    """Resident and highest resident kilobytes of each process, web or worker."""
    parents, found = {}, {"web": {}, "worker": {}}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
    family = {server}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    for pid in family - {server}:
        try:
            command = Path(f"/proc/{pid}/cmdline").read_text()
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            continue
        sizes = re.findall(r"Vm(?:HWM|RSS):\s+(\d+)", status)
        kind = "worker" if "huey" in command or "spawn_main" in command else "web"
        if len(sizes) == 2:
            found[kind][pid] = (int(sizes[1]), int(sizes[0]))
    return found


def growth(before: dict[int, tuple[int, int]], after: dict[int, tuple[int, int]]) -> float:
    """Megabytes by which the process that grew most did, at its highest."""
    return round(max((after[pid][1] - before[pid][0]) / 1024 for pid in before if pid in after), 1)


# --- the measurement --------------------------------------------------------------------------------------


def votes(
    arguments: argparse.Namespace, port: int, token: str, until: threading.Event
) -> battle_raters.Tally:
    """Cast at the given rate, each due at a time of its own, until told to stop."""
    raters = [battle_raters.Rater(port, token) for _ in range(arguments.raters)]
    for rater in raters:
        rater.join()
    tally, every = battle_raters.Tally(), arguments.raters / arguments.rate
    begun = time.perf_counter()

    def work(number: int, rater: battle_raters.Rater) -> None:
        due = begun + number * every / arguments.raters
        while not until.wait(max(0, due - time.perf_counter())):
            tally.time(rater, due)
            due += every

    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(raters)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tally


def latencies(tally: battle_raters.Tally) -> dict:
    took = sorted(tally.latencies)
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
    figures = {
        name: round(1000 * took[min(len(took) - 1, int(s * len(took)))], 1) for name, s in shares.items()
    }
    return (
        {"votes": len(took), "failed": len(tally.failures)}
        | {f"{k} ms": v for k, v in figures.items()}
        | {"slowest ms": round(1000 * took[-1], 1)}
    )


def quiet_votes(arguments: argparse.Namespace, port: int, token: str) -> battle_raters.Tally:
    until = threading.Event()
    threading.Timer(arguments.quiet, until.set).start()
    return votes(arguments, port, token, until)


def import_file(admin: Admin, path: Path, kind: str) -> dict:
    begun = time.perf_counter()
    status, location = admin.upload(path, "large", kind)
    if status != 302:
        raise SystemExit(f"the upload was answered with {status}")
    uploaded = time.perf_counter()
    page = admin.wait_while(location, "Being checked")
    if "Nothing is stored yet" not in page:
        raise SystemExit(f"the check ended otherwise: {re.findall('<p class=.lede.>.*?</p>', page)}")
    checked = time.perf_counter()
    admin.post(f"{location}confirm/")
    page = admin.wait_while(location, "Being stored")
    if "Imported." not in page:
        raise SystemExit(f"storing ended otherwise: {re.findall('<p class=.lede.>.*?</p>', page)}")
    stored = time.perf_counter()
    marks = {"upload": uploaded - begun, "check": checked - uploaded, "store": stored - checked}
    return {f"{name} s": round(took, 1) for name, took in (marks | {"all": stored - begun}).items()}


def refuse_too_large(admin: Admin, folder: Path) -> dict:
    """One megabyte over the limit."""
    path = folder / "too_large.jsonl"
    with path.open("wb") as file:
        file.truncate(101 * 1024 * 1024)
    before = {entry.name for entry in folder.iterdir()}
    begun = time.perf_counter()
    try:
        status, _ = admin.upload(path, "large")
    except OSError:  # the server answers and closes before it has read everything
        status = 413
    took = time.perf_counter() - begun
    left = {entry.name for entry in folder.iterdir()} - before | {
        entry.name for entry in (folder / "uploads").iterdir()
    }
    return {"status": status, "seconds": round(took, 2), "files left": sorted(left)}


@contextmanager
def voting(arguments: argparse.Namespace, port: int, token: str) -> Iterator[dict]:
    """Raters vote as long as this is held; `busy`, once it isn't: what they saw."""
    done, found = threading.Event(), {}
    voters = threading.Thread(target=lambda: found.update(busy=votes(arguments, port, token, done)))
    voters.start()
    try:
        yield found
    finally:
        done.set()
        voters.join()


def measure(arguments: argparse.Namespace, folder: Path) -> int:
    from django.db import connections

    from arena.battles.models import Vote
    from arena.corpus.models import Response

    token = fill(arguments.rows)
    path, kind = folder / "large.jsonl", "responses"
    if arguments.campaign:
        path, kind = export_campaign(folder, arguments.campaign), "campaign"
    else:
        write_file(path, arguments.rows, int(arguments.megabytes * 1024 * 1024))
    before = (Vote.objects.count(), Response.objects.count())
    connections.close_all()
    port = battle_raters.free_port()
    server = battle_raters.start_server(port, folder / "server.log")
    try:
        admin = Admin(port)
        admin.sign_in()
        quiet_votes(argparse.Namespace(**vars(arguments) | {"quiet": 5}), port, token)  # warms up
        quiet = quiet_votes(arguments, port, token)
        at_rest = resident(server.pid)
        with voting(arguments, port, token) as found:
            took = import_file(admin, path, kind)
            at_the_end = resident(server.pid)
        refused = refuse_too_large(admin, folder)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=60)
    server_cpu = resource.getrusage(resource.RUSAGE_CHILDREN)
    arrived = Vote.objects.filter(battle__campaign__slug="large").count()
    added = (Vote.objects.count() - before[0], Response.objects.count() - before[1])
    rows, cast = arguments.campaign or arguments.rows, len(quiet.latencies) + len(found["busy"].latencies)
    result = {
        "file": {"kind": kind, "MB": round(path.stat().st_size / 1024 / 1024, 1), "rows": rows},
        "import": took,
        "server CPU s from its start to its end, votes included": round(sum(server_cpu[:2]), 1),
        "web process grew by MB": growth(at_rest["web"], at_the_end["web"]),
        "worker's highest MB": max(high for _, high in at_the_end["worker"].values()) // 1024,
        "quiet": latencies(quiet),
        "during the import": latencies(found["busy"]),
        "rows stored": arrived if arguments.campaign else added[1],
        "101 MB": refused,
        "'database is locked' in the log": (folder / "server.log").read_text().count("database is locked"),
        "load average after": [round(load, 2) for load in os.getloadavg()],
    }
    print(json.dumps(result, indent=2))
    complete = result["rows stored"] >= rows and added[0] >= cast and not found["busy"].failures
    return 0 if complete and refused["status"] == 413 and not refused["files left"] else 1


def main() -> int:
    arguments = read_arguments()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TILTYARD_DATA_DIR"] = folder
        os.environ["DJANGO_SETTINGS_MODULE"] = "arena.settings"
        import django

        django.setup()
        return measure(arguments, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
