"""A real consumer, killed with SIGKILL while models answer: every response comes once, whatever fails."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from arena.endpoints import local_llm
from tests.corpus.generation_studio import replies_with_its_name
from tests.endpoints.fake_server import FakeServer, Step, answer, hang, raw, status
from tests.judging.test_kills import CONCURRENCY, ROOT, Installation, RealServer, kill, wait_until

CUT = replace(answer("Half a text"), cut=40)
FAILURES = [
    status(429, retry_after=1),
    status(500),
    CUT,
    answer(""),
    raw(b"<html>Bad gateway</html>"),
    answer("Half a", "error"),
    hang(0.2),
    status(503),
]


class Workshop(Installation):
    def __init__(self, folder: Path, server: FakeServer | RealServer, prompts: int) -> None:
        super().__init__(folder, server)
        self.prompts = prompts

    def plan_generation(self, concurrency: int, seconds: int, most_tokens: int = 1024) -> None:
        command = [sys.executable, "-m", "tests.corpus.generation_dispatch", self.server.base_url]
        command += [str(number) for number in (self.prompts, concurrency, seconds, most_tokens)]
        subprocess.run(command, cwd=ROOT, env=self.environment, check=True)

    def status(self) -> str:
        return self.rows("SELECT status FROM arena_generationrun")[0][0]

    def is_done(self) -> bool:
        return self.status() not in ("queued", "running")

    def responses(self) -> list[tuple]:
        return self.rows(
            "SELECT p.external_id, c.name, r.sample, r.text FROM arena_response r"
            " JOIN arena_prompt p ON p.id = r.prompt_id JOIN arena_competitor c ON c.id = r.competitor_id"
        )


def mixed_failures(times: int) -> list[Step]:
    """Every kind so many times, between replies that are right."""
    script: list[Step] = []
    for failure in FAILURES * times:
        script += [failure, replace(answer("A text."), delay=0.05)]
    return script


def check_that_every_response_is_there_once(place: Workshop) -> None:
    found = place.responses()
    assert len(found) == 2 * place.prompts
    assert len({row[:3] for row in found}) == 2 * place.prompts
    keys = [key for (key,) in place.rows("SELECT key FROM arena_call")]
    assert len(set(keys)) == len(keys) == 2 * place.prompts
    linked = place.rows("SELECT COUNT(DISTINCT response_id) FROM arena_generationcall")
    assert linked == [(2 * place.prompts,)]


def slow(body: dict) -> Step:
    return replace(replies_with_its_name(body), delay=0.05)


@pytest.mark.parametrize(("prompts", "times"), [(12, 1), pytest.param(60, 2, marks=pytest.mark.long)])
def test_failures_and_a_kill_on_the_way_leave_each_response_once(tmp_path, prompts, times):
    with FakeServer(slow) as server:
        place = Workshop(tmp_path, server, prompts)
        server.script = mixed_failures(times)
        place.plan_generation(CONCURRENCY, seconds=5)
        consumer = place.start()
        try:
            wait_until(lambda: place.finished_calls() >= prompts, 90)
            kill(consumer)
            assert not place.is_done()
            place.wait_out_the_leases()
            consumer = place.start()
            wait_until(place.is_done, 120)
        finally:
            kill(consumer)
        assert place.status() == "completed", place.log.read_text()[-2000:]
        check_that_every_response_is_there_once(place)
        texts = Counter(text for *_, text in place.responses())
        assert not {"", "Half a", "Half a text"} & set(texts)
        right = set(texts) - {"A text."}
        assert right <= {f"**{m}** on: Question {n}?" for m in ("alpha", "beta") for n in range(prompts)}
        attempts = Counter(
            kind for (kind,) in place.rows("SELECT error_kind FROM arena_callattempt WHERE error_kind != ''")
        )
        # Replies without a text are no errors of the server's, but attempts of their calls all the same.
        asked_again = 2 * times
        assert place.server.calls <= 2 * prompts + asked_again + sum(attempts.values()) + CONCURRENCY * 2
        assert {"rate_limited", "server_error", "connection", "not_json"} <= set(attempts)


@pytest.mark.llm
def test_with_a_real_model_a_kill_leaves_each_response_once(tmp_path):
    """What the model writes is its own affair; what must hold is counted."""
    server = RealServer()
    try:
        wait_until(server.is_ready, 120)
        place = Workshop(tmp_path, server, 60)
        place.plan_generation(local_llm.SLOTS, seconds=300, most_tokens=48)
        for kills in (1, 2):
            consumer = place.start()
            try:
                wait_until(lambda seen=kills: place.finished_calls() >= 30 * seen, 1200)
            finally:
                kill(consumer)
        consumer = place.start()
        try:
            wait_until(place.is_done, 1800)
        finally:
            kill(consumer)
    finally:
        server.stop()
    assert place.status() == "completed", place.log.read_text()[-2000:]
    check_that_every_response_is_there_once(place)
    attempts = Counter(kind for (kind,) in place.rows("SELECT error_kind FROM arena_callattempt"))
    print(f"attempts with a real model: {dict(attempts)}")
    names = place.rows("SELECT DISTINCT answering_model FROM arena_response")
    assert names == [(local_llm.MODEL,)]
