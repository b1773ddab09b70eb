"""Raters at once on a real server: votes a second, latency of vote-and-next, errors, queries, CPU per vote.

    .venv/bin/python bench/battles.py --raters 20 --seconds 60   # closed loop, no time to think
    .venv/bin/python bench/battles.py --rate 20 --seconds 60     # open loop: arrivals keep their own clock
    .venv/bin/python bench/battles.py --prompts 5000 --models 20 --votes 1000000

It fills a database of its own in a temporary folder, starts `manage.py run` on it (web server and consumer,
as in operation) and stops it. In the open loop the latency runs from the moment a vote was due, so a server
that falls behind is seen. Exits with 1 if a request failed or an acknowledged vote isn't in the database.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import secrets
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parent.parent
SLUG = "bench"
OUTCOMES = ("model_a", "model_b", "tie", "both_bad")
WORDS = (
    "the",
    "answer",
    "begins",
    "with",
    "what",
    "the",
    "question",
    "asks",
    "and",
    "says",
    "why",
    "it",
    "holds",
)


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


# --- the database -----------------------------------------------------------------------------------------


def fill(arguments: argparse.Namespace) -> str:
    """Prompts, models, responses of 60 to 400 words and recorded votes; returns a token to join with."""
    from django.core.management import call_command

    call_command("migrate", interactive=False, verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    from arena.campaigns.models import Campaign, Invite

    campaign = Campaign.objects.filter(slug=SLUG).first() or make_campaign(arguments)
    missing = arguments.votes - campaign.battles.filter(vote__isnull=False).count()
    if missing > 0:
        add_votes(campaign, missing)
    return Invite.issue(campaign)[1]


def make_campaign(arguments: argparse.Namespace):
    from django.utils import timezone

    from arena.campaigns.models import Campaign, Guide
    from arena.corpus.models import Competitor, Prompt, PromptSet
    from arena.raters.models import Team

    team = Team.default()
    prompt_set = PromptSet.objects.create(team=team, name="bench", status=PromptSet.Status.PUBLISHED)
    Prompt.objects.bulk_create(
        [
            Prompt(
                prompt_set=prompt_set,
                external_id=str(number),
                messages=[{"role": "user", "content": f"Prompt {number}?"}],
                rendered_html=f"<p>Prompt {number}?</p>",
                renderer_version=1,
            )
            for number in range(arguments.prompts)
        ],
        batch_size=1000,
    )
    for number in range(arguments.models):
        competitor = Competitor.objects.create(team=team, name=f"model {number}")
        add_responses(prompt_set, competitor, number)
    campaign = Campaign.objects.create(
        team=team, slug=SLUG, name="Bench", status=Campaign.Status.OPEN, opened_at=timezone.now()
    )
    campaign.prompt_sets.add(prompt_set)
    campaign.competitors.set(Competitor.objects.all())
    Guide.objects.create(campaign=campaign, version=1, text="Vote.", sha256="0" * 64)
    return campaign


def add_responses(prompt_set, competitor, number: int) -> None:
    from arena.corpus.models import Response

    rows = []
    for prompt in prompt_set.prompts.all():
        length = 60 + (prompt.pk * 37 + number * 101) % 341
        text = " ".join(WORDS[(prompt.pk + n) % len(WORDS)] for n in range(length))
        rows.append(
            Response(
                prompt=prompt,
                competitor=competitor,
                text=text,
                text_hash=f"{prompt.pk:032x}{number:032x}",
                characters=len(text),
                words=length,
                headings=0,
                list_items=0,
                bold=0,
                code_blocks=0,
                emoji=0,
                rendered_html=f"<p dir='auto'>{text}</p>",
                renderer_version=1,
            )
        )
    Response.objects.bulk_create(rows, batch_size=500)


def add_votes(campaign, count: int) -> None:
    """Votes recorded earlier, by a hundred raters; they fill the tables that a draw must not have to read."""
    from django.utils import timezone

    from arena.battles.models import Battle, Vote
    from arena.corpus.models import Competitor, Response
    from arena.raters.models import Rater

    raters = [
        Rater.objects.get_or_create(
            team_id=campaign.team_id, pseudonym=f"recorded {n}", admission=Rater.Admission.RECORDED
        )[0]
        for n in range(100)
    ]
    competitors = list(Competitor.objects.values_list("pk", flat=True))
    responses = {(p, c): pk for p, c, pk in Response.objects.values_list("prompt_id", "competitor_id", "pk")}
    prompts = sorted({prompt for prompt, _ in responses})
    now = timezone.now()
    for start in range(0, count, 20_000):
        battles = []
        for n in range(start, min(start + 20_000, count)):
            a = n % len(competitors)
            b = (a + 1 + n // len(competitors) % (len(competitors) - 1)) % len(competitors)
            prompt, pair = prompts[n * 7919 % len(prompts)], (competitors[a], competitors[b])
            battles.append(
                Battle(
                    campaign=campaign,
                    kind=Battle.Kind.RECORDED,
                    rater=raters[n % 100],
                    prompt_id=prompt,
                    competitor_a_id=pair[0],
                    competitor_b_id=pair[1],
                    response_a_id=responses[prompt, pair[0]],
                    response_b_id=responses[prompt, pair[1]],
                    drawn_at=now,
                )
            )
        Battle.objects.bulk_create(battles, batch_size=2000)
        votes = [
            Vote(
                battle=battle,
                rater_id=battle.rater_id,
                outcome=OUTCOMES[n % 4],
                idempotency_key=str(battle.public_id),
                voted_at=now,
                digest="0" * 64,
            )
            for n, battle in enumerate(battles)
        ]
        Vote.objects.bulk_create(votes, batch_size=2000)


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


# --- the server -------------------------------------------------------------------------------------------


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


def cpu_seconds(root_pid: int) -> float:
    """User and system time of a process and its descendants so far."""
    ticks, parents = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        pid = int(path.parent.name)
        parents[pid], ticks[pid] = int(fields[1]), int(fields[11]) + int(fields[12])
    family = {root_pid}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(ticks.get(pid, 0) for pid in family) / os.sysconf("SC_CLK_TCK")


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


def vote_for(arguments: argparse.Namespace, port: int, token: str) -> tuple[Tally, float]:
    raters = [Rater(port, token) for _ in range(arguments.raters)]
    for rater in raters:
        rater.join()
    tally, begun = Tally(), time.perf_counter()
    end = begun + arguments.seconds
    threads = []
    for number, rater in enumerate(raters):
        if arguments.rate:
            every = arguments.raters / arguments.rate
            first = begun + number * every / arguments.raters
            threads.append(threading.Thread(target=open_loop, args=(rater, tally, end, first, every)))
        else:
            threads.append(threading.Thread(target=closed_loop, args=(rater, tally, end)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tally.reopened = sum(rater.reopened for rater in raters)
    return tally, time.perf_counter() - begun


# --- the report -------------------------------------------------------------------------------------------


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
