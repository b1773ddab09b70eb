"""Raters at once on a real server: latency of vote-and-next, votes a second, statements, CPU a vote.

    .venv/bin/python -m bench.battles                            # a small database
    .venv/bin/python -m bench.battles --prompts 5000 --models 20 --votes 1000000 --rate 100 --raters 100

It fills a database of its own, in a temporary folder or in `--keep` to be used again, and measures a draw in
this process at a thousand votes and at all of them. Then it starts `manage.py run` on it (web server and
consumer, as in operation): first votes that keep a clock of their own (open loop: the latency runs from the
moment a vote was due, so a server that falls behind is seen), then raters without time to think (closed
loop). The raters share the machine's processors with the server. Prints JSON; exits with 1 if a request
failed or an acknowledged vote isn't in the database.
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
import time
from pathlib import Path

from bench.battle_data import SLUG, issue, prepare, top_up
from bench.battle_raters import ROOT, Rater, Round, free_port, start_server, vote_for

FEW_VOTES, DRAWS = 1_000, 400


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--prompts", type=int, default=24)
    parser.add_argument("--models", type=int, default=6)
    parser.add_argument("--votes", type=int, default=1000, help="votes in the database before the start")
    parser.add_argument("--rate", type=float, default=20, help="votes a second over all raters: open loop")
    parser.add_argument("--raters", type=int, default=20, help="of the open loop")
    parser.add_argument("--seconds", type=float, default=60, help="of the open loop")
    parser.add_argument("--closed-raters", type=int, default=16)
    parser.add_argument("--closed-seconds", type=float, default=30)
    parser.add_argument("--keep", type=Path, help="a folder to fill once and use again")
    return parser.parse_args()


def cpu_of_a_draw(campaign, name: str) -> dict[str, float]:
    """Milliseconds of this process for a draw of two battles, by raters who are new: 400 draws."""
    from arena.battles import draw
    from arena.raters.models import Rater as Drawer

    took = []
    for number in range(DRAWS // 10):
        rater = Drawer.objects.create(
            team_id=campaign.team_id, pseudonym=f"{name} {number}", admission=Drawer.Admission.SIMULATED
        )
        for _ in range(10):
            begun = time.process_time()
            draw.draw(campaign, rater, 2)
            took.append(1000 * (time.process_time() - begun))
    return {"median": round(statistics.median(took), 2), "mean": round(statistics.mean(took), 2)}


def inside_one_process(token: str, votes: int = 300) -> dict[str, object]:
    """Statements of one vote-and-next, and its CPU from the middleware inwards, without any network."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client, counts, cpu, order = Client(headers={"host": "localhost"}), [], [], []
    for number in range(votes):
        if not order:
            client = Client(headers={"host": "localhost"})
            client.post(f"/join/{token}/")
            order = order_on(client.get(f"/campaigns/{SLUG}/battle/").content.decode())
        path, ballot = f"/battles/{order[0]}/vote/", {"outcome": "tie", "key": secrets.token_hex(8)}
        if number < 60:
            with CaptureQueriesContext(connection) as captured:
                answer = client.post(path, ballot, headers={"HX-Request": "true"})
            counts.append([query["sql"] for query in captured])
        else:
            begun = time.process_time()
            answer = client.post(path, ballot, headers={"HX-Request": "true"})
            cpu.append(1000 * (time.process_time() - begun))
        order = order_on(answer.content.decode())
    counts = counts[-20:]  # the first time a pair is drawn it gets a row to be counted in
    work = [sum(not re.match("BEGIN|COMMIT|SAVEPOINT|RELEASE", sql) for sql in sqls) for sqls in counts]
    return {
        "statements a vote: mean": statistics.mean(work),
        "statements a vote: most": max(work),
        "most with transaction control": max(map(len, counts)),
        "CPU ms a vote, test client included": round(statistics.mean(cpu), 2),
    }


def order_on(page: str) -> list[str]:
    return re.search(r'data-order="([^"]*)"', page)[1].split()


def report(done: Round) -> dict:
    took = sorted(done.tally.latencies)
    if not took:
        raise SystemExit(f"no vote was answered; first failures: {done.tally.failures[:5]}")

    def percentile(share: float) -> float:
        return round(1000 * took[min(len(took) - 1, int(share * len(took)))], 1)

    return {
        "votes": len(took),
        "votes a second": round(len(took) / done.seconds, 1),
        "p50 ms": percentile(0.5),
        "p95 ms": percentile(0.95),
        "p99 ms": percentile(0.99),
        "slowest ms": round(1000 * took[-1], 1),
        "failures": len(done.tally.failures),
        "first failures": done.tally.failures[:3],
        "idle connections opened again": done.tally.reopened,
        "web server's CPU ms a vote": round(1000 * done.cpu["web"] / len(took), 2),
        "consumer's CPU ms a vote": round(1000 * done.cpu["others"] / len(took), 2),
        "load average after": load(),
    }


def load() -> list[float]:
    return [round(one, 2) for one in os.getloadavg()]


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


def draws(arguments: argparse.Namespace, folder: Path, campaign) -> dict:
    """A draw at a thousand votes is measured before the others come, and kept with the folder."""
    noted = folder / "draws_at_few_votes.json"
    if not noted.exists():
        top_up(campaign, min(FEW_VOTES, arguments.votes))
        cpu_of_a_draw(campaign, "warming up")
        noted.write_text(json.dumps(cpu_of_a_draw(campaign, "few")))
    top_up(campaign, arguments.votes)
    few, many = json.loads(noted.read_text()), cpu_of_a_draw(campaign, secrets.token_hex(4))
    return {
        f"at {FEW_VOTES} votes": few,
        f"at {arguments.votes} votes": many,
        "ratio of the medians": round(many["median"] / few["median"], 2),
    }


def measure(arguments: argparse.Namespace, folder: Path) -> int:
    from django.db import connections

    from arena.battles.models import Vote

    begun, at_first = time.perf_counter(), load()
    campaign = prepare(arguments)
    result: dict = {
        "load average before": at_first,
        "CPU ms of a draw of two": draws(arguments, folder, campaign),
    }
    result["seconds to fill the database"] = round(time.perf_counter() - begun, 1)
    token = issue(campaign)
    result["inside one process"] = inside_one_process(token)
    before = Vote.objects.count()
    connections.close_all()
    log, port = folder / "server.log", free_port()
    server = start_server(port, log)
    try:
        people = [Rater(port, token) for _ in range(max(arguments.raters, arguments.closed_raters))]
        for rater in people:
            rater.join()
        open_round = vote_for(arguments.seconds, arguments.rate, people[: arguments.raters], server.pid)
        closed_round = vote_for(arguments.closed_seconds, None, people[: arguments.closed_raters], server.pid)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=60)
    result["open loop"], result["closed loop"] = report(open_round), report(closed_round)
    added, rounds = Vote.objects.count() - before, (open_round, closed_round)
    answered = sum(len(one.tally.latencies) for one in rounds)
    failed = sum(len(one.tally.failures) for one in rounds)
    result["'database is locked' in the log"] = log.read_text().count("database is locked")
    result["votes in the database"] = {"before": before, "acknowledged": answered, "added": added}
    result["seconds in all"] = round(time.perf_counter() - begun, 1)
    print(json.dumps({"arguments": vars(arguments) | {"keep": None}} | result, indent=2))
    return 0 if added == answered and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
