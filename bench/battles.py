"""Raters at once on a real server: votes a second, latency of vote-and-next, errors, queries, CPU per vote.

    .venv/bin/python -m bench.battles --raters 20 --seconds 60   # closed loop, no time to think
    .venv/bin/python -m bench.battles --rate 20 --seconds 60     # open loop: arrivals keep their own clock
    .venv/bin/python -m bench.battles --prompts 5000 --models 20 --votes 1000000

It fills a database of its own in a temporary folder, starts `manage.py run` on it (web server and consumer,
as in operation) and stops it. In the open loop the latency runs from the moment a vote was due, so a server
that falls behind is seen. Exits with 1 if a request failed or an acknowledged vote isn't in the database.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import signal
import statistics
import sys
import tempfile
from pathlib import Path

from bench.battle_data import SLUG, fill
from bench.battle_raters import ROOT, Tally, cpu_seconds, free_port, start_server, vote_for


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--raters", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rate", type=float, help="votes a second over all raters: open loop")
    parser.add_argument("--prompts", type=int, default=24)
    parser.add_argument("--models", type=int, default=6)
    parser.add_argument("--votes", type=int, default=600, help="votes in the database before the start")
    parser.add_argument("--keep", type=Path, help="a folder to fill once and use again")
    return parser.parse_args()


def queries_per_vote(token: str) -> dict[str, float]:
    """Statements of one vote-and-next seen from inside, with and without opening and closing transactions."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client(headers={"host": "localhost"})
    client.post(f"/join/{token}/")
    page = client.get(f"/campaigns/{SLUG}/battle/").content.decode()
    counts = []
    for _ in range(60):
        battle = re.search(r'data-order="([^" ]+)', page)[1]
        ballot = {"outcome": "tie", "key": secrets.token_hex(8)}
        with CaptureQueriesContext(connection) as captured:
            answer = client.post(f"/battles/{battle}/vote/", ballot, headers={"HX-Request": "true"})
        page = answer.content.decode()
        counts.append([query["sql"] for query in captured])
    counts = counts[-20:]  # the first time a pair is drawn it gets a row to be counted in
    work = [sum(not re.match("BEGIN|COMMIT|SAVEPOINT|RELEASE", sql) for sql in sqls) for sqls in counts]
    return {
        "mean": statistics.mean(work),
        "max": max(work),
        "with transaction control": max(map(len, counts)),
    }


def report(tally: Tally, seconds: float, cpu: float, locked: int, queries: dict) -> dict:
    took = sorted(tally.latencies)
    if not took:
        raise SystemExit(f"no vote was answered; first failures: {tally.failures[:5]}")

    def percentile(share: float) -> float:
        return round(1000 * took[min(len(took) - 1, int(share * len(took)))], 1)

    return {
        "votes": len(took),
        "votes per second": round(len(took) / seconds, 1),
        "p50 ms": percentile(0.5),
        "p95 ms": percentile(0.95),
        "p99 ms": percentile(0.99),
        "slowest ms": round(1000 * took[-1], 1),
        "failures": len(tally.failures),
        "first failures": tally.failures[:3],
        "idle connections opened again": tally.reopened,
        "'database is locked' in the log": locked,
        "server CPU ms per vote": round(1000 * cpu / len(took), 2),
        "queries per vote-and-next": queries,
        "load average after": [round(load, 2) for load in os.getloadavg()],
    }


def main() -> int:
    arguments = read_arguments()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        os.environ["TILTYARD_DATA_DIR"] = str(folder)
        os.environ["DJANGO_SETTINGS_MODULE"] = "arena.settings"
        sys.path.insert(0, str(ROOT))
        import django

        django.setup()
        return measure(arguments, folder)


def measure(arguments: argparse.Namespace, folder: Path) -> int:
    from django.db import connections

    from arena.battles.models import Vote

    token = fill(arguments)
    queries = queries_per_vote(token)
    before = Vote.objects.count()
    connections.close_all()
    log, port = folder / "server.log", free_port()
    server = start_server(port, log)
    try:
        cpu_before = cpu_seconds(server.pid)
        tally, seconds = vote_for(arguments, port, token)
        cpu = cpu_seconds(server.pid) - cpu_before
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=60)
    result = report(tally, seconds, cpu, log.read_text().count("database is locked"), queries)
    result["votes in the database"] = {"before": before, "added": Vote.objects.count() - before}
    print(json.dumps({"arguments": vars(arguments) | {"keep": None}} | result, indent=2))
    complete = result["votes in the database"]["added"] == len(tally.latencies)
    return 0 if complete and not tally.failures else 1


if __name__ == "__main__":
    sys.exit(main())
