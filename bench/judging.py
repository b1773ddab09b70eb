"""Judge calls through a real consumer: how many a second, at what cost in CPU and memory.

    .venv/bin/python bench/judging.py --battles 1000 --concurrency 50 --seconds 1

It fills a database of its own in a temporary folder, starts a stub that answers every call after so many
seconds, plans a run of two calls a battle and lets one consumer work it off. CPU and peak memory are the
consumer's, from /proc. CPU a call is over calls alone: the consumer's start is taken off. Exits with 1 if a
call was bought twice or came to nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TICKS = os.sysconf("SC_CLK_TCK")
CRITERIA = ("factual", "relevant", "clarity")
SCORES = dict.fromkeys(CRITERIA, 4)
VERDICT = {"reason": "Because.", "scores": {"first": SCORES, "second": SCORES}, "winner": "tie"}
REPLY = {
    "object": "chat.completion",
    "model": "stub",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"content": json.dumps(VERDICT)}}],
    "usage": {"prompt_tokens": 400, "completion_tokens": 60},
}


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--battles", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=1.0, help="how long the stub thinks")
    parser.add_argument("--database", help="DATABASE_URL; else SQLite in the temporary folder")
    parser.add_argument("--stub", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--fill", help=argparse.SUPPRESS)
    return parser.parse_args()


# --- the stub ---------------------------------------------------------------------------------------------


async def serve(port: int, seconds: float) -> None:
    body = json.dumps(REPLY).encode()
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    )
    count = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal count
        try:
            while asked := await reader.readuntil(b"\r\n\r\n"):
                lines = asked.lower().split(b"\r\n")
                if lines[0].startswith(b"get"):
                    told = str(count).encode()
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(told), told))
                    continue
                length = next(line for line in lines if line.startswith(b"content-length:"))
                await reader.readexactly(int(length.split(b":")[1]))
                count += 1
                await asyncio.sleep(seconds)
                writer.write(head + body)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", port, backlog=512)
    async with server:
        await server.serve_forever()


# --- the database -----------------------------------------------------------------------------------------


def fill(base_url: str, battles: int, concurrency: int) -> None:
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", interactive=False, verbosity=0)
    from arena.corpus.responses import new_response
    from arena.endpoints.models import Endpoint
    from arena.judging.models import Judge, Rubric
    from arena.judging.planning import plan_run
    from arena.judging.prompting import Criterion, RubricText
    from arena.judging.tasks import enqueue
    from arena.raters.models import Team

    team = Team.default()
    campaign, pks = make_battles(team, battles, new_response)
    endpoint = Endpoint.objects.create(
        team=team,
        name="Stub",
        base_url=base_url,
        model_id="stub",
        concurrency=concurrency,
        timeout_seconds=60,
    )
    text = RubricText("Judge.", tuple(Criterion(name, "Is it?", 1, 5) for name in CRITERIA))
    judge = Judge.objects.create(
        team=team, name="Judge", endpoint=endpoint, rubric=Rubric.publish(team, "Bench", text)
    )
    enqueue(plan_run(campaign, [judge], pks))


def make_battles(team, count: int, new_response) -> tuple:
    from django.utils import timezone

    from arena.battles.models import Battle
    from arena.campaigns.models import Campaign
    from arena.corpus.models import Competitor, Prompt, PromptSet, Response

    prompt_set = PromptSet.objects.create(team=team, name="Bench", status="published")
    campaign = Campaign.objects.create(team=team, name="Bench", slug="bench", status="open")
    sides = [Competitor.objects.create(team=team, name=name) for name in ("Left", "Right")]
    prompts = Prompt.objects.bulk_create(
        Prompt(
            prompt_set=prompt_set,
            external_id=f"p{number}",
            messages=[{"role": "user", "content": f"What is {number}?"}],
        )
        for number in range(count)
    )
    words = "A text of a few hundred characters, as responses are. " * 8
    texts = [
        new_response(f"{words} {side} {prompt.pk}", prompt=prompt, competitor=side)
        for prompt in prompts
        for side in sides
    ]
    made = Response.objects.bulk_create(texts)
    battles = Battle.objects.bulk_create(
        Battle(
            campaign=campaign,
            prompt=made[place].prompt,
            competitor_a=sides[0],
            competitor_b=sides[1],
            response_a=made[place],
            response_b=made[place + 1],
            drawn_at=timezone.now(),
        )
        for place in range(0, len(made), 2)
    )
    return campaign, [battle.pk for battle in battles]


# --- measuring --------------------------------------------------------------------------------------------


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def peak_megabytes(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def calls_received(port: int) -> int:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as asked:
        asked.sendall(b"GET / HTTP/1.1\r\n\r\n")
        return int(asked.recv(1000).split(b"\r\n\r\n")[1])


def until(condition, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"waited {seconds:g} s in vain")
        time.sleep(0.1)


class Place:
    def __init__(self, folder: Path, port: int, arguments: argparse.Namespace) -> None:
        self.database = folder / "tiltyard.sqlite3"
        self.url = arguments.database or f"sqlite:///{self.database}"
        self.environment = os.environ | {
            "TILTYARD_DATA_DIR": str(folder),
            "DATABASE_URL": self.url,
            "QUEUE_URL": f"sqlite:///{folder / 'queue.sqlite3'}",
            "ENDPOINT_ALLOWED_HOSTS": f"127.0.0.1:{port}",
            "DJANGO_SETTINGS_MODULE": "arena.settings",
            "PYTHONPATH": str(ROOT),
        }

    def query(self, sql: str) -> list[tuple]:
        if self.url.startswith("sqlite"):
            with closing(sqlite3.connect(self.database, timeout=20)) as connection:
                return connection.execute(sql).fetchall()
        import psycopg

        with psycopg.connect(self.url) as connection:
            return connection.execute(sql).fetchall()

    def is_done(self) -> bool:
        return self.query("SELECT status FROM arena_judgerun")[0][0] not in ("queued", "running", "paused")


def consumer_environment(place: Place) -> dict[str, str]:
    """What `manage.py run` gives its consumer; the settings it comes with are read from the environment."""
    os.environ.update(place.environment)
    sys.path.insert(0, str(ROOT))
    from arena.operation.programs import CONSUMER_ENVIRONMENT

    return CONSUMER_ENVIRONMENT


def measure(place: Place, port: int, arguments: argparse.Namespace) -> bool:
    calls = 2 * arguments.battles
    command = [sys.executable, "manage.py", "run_huey", "--quiet", "--skip-checks", "--worker-type", "thread"]
    command += ["--workers", str(arguments.concurrency), "--max-delay", "1"]
    consumer = subprocess.Popen(
        command, cwd=ROOT, env=place.environment | consumer_environment(place), start_new_session=True
    )
    try:
        until(lambda: calls_received(port) > 0, 120)
        began, cpu = time.monotonic(), cpu_seconds(consumer.pid)
        until(place.is_done, 20 * calls * arguments.seconds / arguments.concurrency + 120)
        wall, cpu = time.monotonic() - began, cpu_seconds(consumer.pid) - cpu
        peak = peak_megabytes(consumer.pid)
    finally:
        os.killpg(consumer.pid, signal.SIGTERM)
        consumer.wait(60)
    states = place.query("SELECT state, COUNT(*) FROM arena_call GROUP BY state")
    ideal = calls * arguments.seconds / arguments.concurrency
    print(f"{calls} calls at {arguments.concurrency} at once: {wall:.1f} s; without any work {ideal:g} s")
    print(f"CPU a call {1000 * cpu / calls:.1f} ms; peak memory {peak:.0f} MB; load {os.getloadavg()}")
    print(f"states {dict(states)}; received by the stub {calls_received(port)}")
    return dict(states) == {"parsed": calls} and calls_received(port) == calls


def main() -> int:
    arguments = read_arguments()
    if arguments.stub:
        asyncio.run(serve(arguments.stub, arguments.seconds))
        return 0
    if arguments.fill:
        fill(arguments.fill, arguments.battles, arguments.concurrency)
        return 0
    port = free_port()
    myself = [sys.executable, str(Path(__file__).resolve())]
    stub = subprocess.Popen([*myself, "--stub", str(port), "--seconds", str(arguments.seconds)])
    try:
        with tempfile.TemporaryDirectory() as folder:
            place = Place(Path(folder), port, arguments)
            numbers = ["--battles", str(arguments.battles), "--concurrency", str(arguments.concurrency)]
            filling = [*myself, "--fill", f"http://127.0.0.1:{port}/v1", *numbers]
            subprocess.run(filling, cwd=ROOT, env=place.environment, check=True)
            return 0 if measure(place, port, arguments) else 1
    finally:
        stub.terminate()
        stub.wait()


if __name__ == "__main__":
    raise SystemExit(main())
