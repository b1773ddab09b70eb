"""Snapshots of the three boards and their pages, on a database of so many votes, SQLite as it ships.

    .venv/bin/python -m bench.leaderboards --models 250 --votes 1000000
    .venv/bin/python -m bench.leaderboards --models 20 --votes 10000

Fills a database of its own (kept with --folder, made once), then takes the three boards in a fresh process:
reading the rows, the fit with two-way intervals, rank sets and 1,000 resamples, pairs, and what is stored.
The page is asked for 60 times in another process, through Django without a socket.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SLUG = "bench"
ROOT = Path(__file__).resolve().parent.parent
PAGES = 60
CHUNK = 20_000


def main() -> None:
    """Fill, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=int, default=250)
    parser.add_argument("--votes", type=int, default=1_000_000)
    parser.add_argument("--prompts", type=int, default=400)
    parser.add_argument("--raters", type=int, default=300)
    parser.add_argument("--folder", type=Path, help="keeps the database here for another run")
    parser.add_argument("--task", choices=TASKS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        print(json.dumps(TASKS[options.task](options)))
        return
    with tempfile.TemporaryDirectory() as made:
        folder = options.folder or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        print(f"load {os.getloadavg()[0]:.1f}, {options.models} models, {options.votes:,} votes")
        for task in TASKS:
            print(task, json.dumps(run(task, options, folder)), flush=True)


def run(task: str, options: argparse.Namespace, folder: Path) -> dict:
    """One task in a process of its own."""
    words = [f"--{name}={getattr(options, name)}" for name in ("models", "votes", "prompts", "raters")]
    environment = os.environ | {"TILTYARD_DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "arena.settings"}
    environment |= {"OPENBLAS_NUM_THREADS": "1"}
    environment.pop("DATABASE_URL", None)
    done = subprocess.run(
        [sys.executable, "-m", "bench.leaderboards", *words, "--task", task],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def fill(options: argparse.Namespace) -> dict:
    """Prompts, models, responses and votes; nothing if they are there."""
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", interactive=False, verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    from arena.battles.models import Vote

    if Vote.objects.count() < options.votes:
        from bench.board_data import fill_campaign

        fill_campaign(SLUG, options.models, options.prompts, options.raters, options.votes)
    return {"votes": Vote.objects.count()}


def take(_options: argparse.Namespace) -> dict:
    """The three boards of people; wall, CPU and peak memory of the whole process."""
    import django

    django.setup()
    from arena.campaigns.models import Campaign
    from arena.leaderboards.defaults import ensure_leaderboards
    from arena.leaderboards.fitting import snapshots
    from arena.leaderboards.fitting.sources import Round
    from arena.leaderboards.models import Leaderboard
    from arena.leaderboards.schedule import request_snapshot

    round_ = Round()
    people = Leaderboard.Source.RATERS
    found: dict = {}
    for board in ensure_leaderboards(Campaign.objects.get(slug=SLUG)):
        if board.source == people:
            wall, cpu = time.perf_counter(), time.process_time()
            run = request_snapshot(board)
            assert run.claim_it()
            snapshots.do_claimed(run, round_)
            found[board.slug] = {
                "state": run.state,
                "wall_s": round(time.perf_counter() - wall, 2),
                "cpu_s": round(time.process_time() - cpu, 2),
            }
    for kind in ("wall_s", "cpu_s"):
        found[kind] = round(sum(one[kind] for one in found.values() if isinstance(one, dict)), 2)
    found["load"] = round(os.getloadavg()[0], 1)
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return found


def page(_options: argparse.Namespace) -> dict:
    """Server time of the board page from a snapshot, and what it weighs; loaded as by the web server."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    import arena.operation.web  # noqa: F401
    from arena.campaigns.models import Campaign
    from arena.leaderboards.models import Leaderboard

    Campaign.objects.filter(slug=SLUG).update(status=Campaign.Status.CLOSED)
    Leaderboard.objects.update(visibility=Leaderboard.Visibility.PUBLIC)
    visitor, times = Client(headers={"host": "localhost"}), []
    address = f"/boards/{SLUG}/?board=overall"
    with CaptureQueriesContext(connection) as queries:
        answer = visitor.get(address)
        count = len(queries)
    if answer.status_code != 200:
        raise RuntimeError(f"{address} answered {answer.status_code}")
    for _ in range(PAGES):
        start = time.perf_counter()
        answer = visitor.get(address)
        times.append(1000 * (time.perf_counter() - start))
    return {
        "p50_ms": round(statistics.median(times), 1),
        "p95_ms": round(sorted(times)[int(0.95 * PAGES)], 1),
        "kB": len(answer.content) // 1000,
        "queries": count,
    }


TASKS = {"fill": fill, "take": take, "page": page}

if __name__ == "__main__":
    main()
