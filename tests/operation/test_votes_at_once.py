"""Twenty tabs of one rater press at the same moment: over real sockets, on gunicorn, on both databases."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.conftest import IN_CI
from tests.migrated_database import begin_migrated
from tests.operation.processes import heed_signals, wait_for
from tests.throwaway_postgresql import MISSING, cluster, programs

ROOT = Path(__file__).resolve().parents[2]
BATTLES, POSTS = 20, 20

FILL = """
import csv, json, sys
from pathlib import Path
from django.core.management import call_command
from arena.campaigns.models import Campaign, Invite

folder = Path(sys.argv[1])
with (folder / "prompts.csv").open("w") as prompts, (folder / "responses.csv").open("w") as responses:
    asked, answered = csv.writer(prompts), csv.writer(responses)
    asked.writerow(["id", "prompt"])
    answered.writerow(["prompt_id", "model", "response"])
    for number in range(30):
        asked.writerow([f"p{number}", f"Question {number}?"])
        for model in ("Ember", "Fjord"):
            answered.writerow([f"p{number}", model, f"{model} says {number}."])
quiet = {"stdout": sys.stderr}
call_command("migrate", interactive=False, verbosity=0)
call_command("collectstatic", interactive=False, verbosity=0)
call_command("import_prompts", str(folder / "prompts.csv"), "--set", "few", **quiet)
call_command("import_responses", str(folder / "responses.csv"), "--set", "few", **quiet)
call_command("publish_set", "few", **quiet)
call_command("create_campaign", "many", "--set", "few", "--open", **quiet)
Campaign.objects.update(repeat_share=0)
print(json.dumps(Invite.issue(Campaign.objects.get())[1]))
"""
COUNT = """
import json
from arena.battles.models import Vote
print(json.dumps(list(Vote.objects.values_list("battle__public_id", "idempotency_key")), default=str))
"""


@dataclass
class Served:
    port: int
    token: str
    environment: dict[str, str]

    def votes(self) -> list[list[str]]:
        return in_django(COUNT, self.environment)


def in_django(script: str, environment: dict[str, str], *arguments: str) -> object:
    """What the script prints last, run with the settings of that environment."""
    start = "import django; django.setup()\n"
    command = [sys.executable, "-c", start + script, *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(params=["sqlite", "postgresql"])
def served(request, tmp_path):
    with ExitStack() as stack:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        environment |= {"TILTYARD_DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "arena.settings"}
        if request.param == "postgresql":
            if programs() is None:
                pytest.fail(MISSING) if IN_CI else pytest.skip(MISSING)
            environment["DATABASE_URL"] = stack.enter_context(cluster())
        else:
            begin_migrated(tmp_path / "tiltyard.sqlite3")
        token = in_django(FILL, environment, str(tmp_path))
        with socket.create_server(("127.0.0.1", 0)) as listener:
            command = [sys.executable, "-m", "gunicorn", "arena.operation.web:application", "--preload"]
            command += ["--bind", f"fd://{listener.fileno()}", "--worker-class", "gthread"]
            command += ["--workers", "2", "--threads", "10", "--log-level", "warning", "--no-control-socket"]
            server = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment,
                pass_fds=[listener.fileno()],
                start_new_session=True,
                preexec_fn=heed_signals,
            )
            port = listener.getsockname()[1]
            try:
                wait_for(lambda: answers(port), "gunicorn")
                yield Served(port, token, environment)
            finally:
                server.terminate()
                server.wait(timeout=120)


def answers(port: int) -> bool:
    try:
        return Browser(port).ask("GET", "/healthz")[0] == 200
    except OSError:
        return False


class Browser:
    def __init__(self, port: int, cookies: dict[str, str] | None = None) -> None:
        self.connection = http.client.HTTPConnection("localhost", port, timeout=240)
        self.cookies = dict(cookies or {})

    def ask(self, method: str, path: str, form: dict | None = None, **headers: str) -> tuple[int, str]:
        headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        body = None if form is None else urlencode(form)
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            headers["X-CSRFToken"] = self.cookies["csrftoken"]
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        for cookie in answer.headers.get_all("Set-Cookie") or ():
            name, value = cookie.split(";")[0].split("=", 1)
            self.cookies[name] = value
        return answer.status, answer.read().decode()

    def vote(self, battle: str, key: str, outcome: str) -> tuple[int, str]:
        ballot = {"outcome": outcome, "key": key}
        return self.ask("POST", f"/battles/{battle}/vote/", ballot, **{"HX-Request": "true"})

    def on_screen(self) -> str:
        page = self.ask("GET", "/campaigns/many/battle/")[1]
        return re.search(r'<article class="battle" data-battle="([^"]+)"', page)[1]


def sit_down(served: Served) -> Browser:
    browser = Browser(served.port)
    assert browser.ask("GET", f"/join/{served.token}/")[0] == 200
    assert browser.ask("POST", f"/join/{served.token}/", {})[0] == 302
    return browser


def press_at_once(served: Served, rater: Browser, battle: str, keys: list[str]) -> list[tuple[int, str]]:
    start, answered = threading.Barrier(len(keys)), []

    def press(number: int, key: str) -> None:
        tab = Browser(served.port, rater.cookies)
        tab.connection.connect()
        start.wait(timeout=240)
        answered.append(tab.vote(battle, key, ("model_a", "model_b", "tie", "both_bad")[number % 4]))

    threads = [threading.Thread(target=press, args=pair) for pair in enumerate(keys)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=240)
    return answered


def test_twenty_posts_at_once_on_each_of_twenty_battles_are_twenty_votes(served):
    rater, statuses, battles = sit_down(served), Counter(), []
    for _ in range(BATTLES):
        battles.append(rater.on_screen())
        keys = [f"each-its-own-{number}-{len(battles)}" for number in range(POSTS)]
        statuses.update(status for status, _ in press_at_once(served, rater, battles[-1], keys))
    assert statuses == {200: BATTLES, 409: BATTLES * (POSTS - 1)}
    assert sorted(battle for battle, _ in served.votes()) == sorted(battles)


def test_one_vote_sent_twenty_times_at_once_is_one_vote_with_one_answer(served):
    rater = sit_down(served)
    battle = rater.on_screen()
    answered = press_at_once(served, rater, battle, ["the-same-key-each-time"] * POSTS)
    assert {status for status, _ in answered} == {200}
    assert len(answered) == POSTS
    assert served.votes() == [[battle, "the-same-key-each-time"]]
    # Whoever was told to be first, and whoever came later, holds the same next battles.
    orders = {re.search(r'data-order="([^"]*)"', page)[1] for _, page in answered}
    assert len(orders) == 1
