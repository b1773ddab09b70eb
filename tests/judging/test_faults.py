"""A server that fails in every way there is, call by call by a script: what a run ends with is what the
script's oracle says, and nothing was invented."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace

import pytest

from arena.endpoints.models import CallAttempt
from arena.judging.models import JudgeCall, JudgeRun
from arena.judging.planning import plan_run
from tests.endpoints.fake_server import Step, answer, error, hang, json_step, raw, status
from tests.judging.conftest import verdict, work_off

pytestmark = pytest.mark.django_db

HUGE = b'{"choices": [{"finish_reason": "stop", "message": {"content": "' + b"tie " * 2_600_000 + b'"}}]}'


@dataclass(frozen=True)
class Fault:
    """The steps a call meets (the last for ever), and what must become of it."""

    steps: tuple[Step, ...]
    state: str = "parsed"
    verdict: str = "first"
    attempts: int = 1


def good(winner: str = "first") -> Step:
    return answer(verdict(winner))


def lost(*steps: Step, state: str, attempts: int) -> Fault:
    return Fault(steps, state, "", attempts)


FAULTS = [
    Fault((good(),)),
    Fault((good("tie"),), verdict="tie"),
    Fault((status(429, retry_after=1), good()), attempts=2),
    Fault((status(429), status(429), good("second")), verdict="second", attempts=3),
    Fault((status(500), status(502), status(503), good()), attempts=4),
    Fault((hang(0.1), good()), attempts=2),
    Fault((replace(good(), delay=1.6), good("second")), verdict="second", attempts=2),
    Fault((replace(good(), cut=120), good()), attempts=2),
    Fault((raw(b"<html>Bad gateway</html>", "text/html"), good()), attempts=2),
    Fault((json_step({"error": {"message": "overloaded", "code": 529}}), good()), attempts=2),
    Fault((answer("I like the first."), good()), attempts=2),
    lost(status(500), state="gave_up", attempts=6),
    lost(status(429), state="gave_up", attempts=6),
    lost(raw(b"\x00\xff garbage"), state="gave_up", attempts=6),
    lost(replace(good(), cut=200), state="gave_up", attempts=6),
    lost(raw(HUGE), state="gave_up", attempts=1),
    lost(answer("tie"), state="parse_failed", attempts=2),
    lost(answer('{"winner": "tie"}'), state="parse_failed", attempts=2),
    lost(answer(""), state="parse_failed", attempts=2),
    lost(answer(None), state="parse_failed", attempts=2),
    lost(answer(verdict("model_a")), state="parse_failed", attempts=2),
    lost(answer(verdict("tie")[:-9], "length"), state="truncated", attempts=2),
    lost(answer("No.", "content_filter"), state="refused", attempts=1),
    lost(error(400, "maximum context length is 8"), state="context_overflow", attempts=1),
    # In all three structured modes.
    lost(error(400, "no"), state="bad_request", attempts=3),
]


class Play:
    """Gives each call of a run its own fault, by what it shows first."""

    def __init__(self) -> None:
        self.seen: defaultdict[tuple[str, ...], int] = defaultdict(int)
        self.order: dict[tuple[str, ...], Fault] = {}

    def __call__(self, body: dict) -> Step:
        texts = tuple(re.findall(r"Reply \d to p\d+", str(body["messages"][1])))
        fault = self.order.setdefault(texts, FAULTS[len(self.order) % len(FAULTS)])
        self.seen[texts] += 1
        return fault.steps[min(self.seen[texts], len(fault.steps)) - 1]

    def fault_of(self, judge_call: JudgeCall) -> Fault:
        battle = judge_call.judgment.battle
        texts = [battle.response_a.text, battle.response_b.text]
        shown = texts if judge_call.order == "ab" else texts[::-1]
        return self.order[tuple(text.split(",")[0] for text in shown)]


def expected_outcome(ab: Fault, ba: Fault) -> str:
    """By hand, apart from the product's own table."""
    if not ab.verdict or not ba.verdict:
        return "no_verdict"
    sides = {
        "ab": {"first": "model_a", "second": "model_b", "tie": "tie"}[ab.verdict],
        "ba": {"first": "model_b", "second": "model_a", "tie": "tie"}[ba.verdict],
    }
    return sides["ab"] if sides["ab"] == sides["ba"] else "tie_unstable"


def test_whatever_the_server_does_the_end_is_what_the_script_says(make_court, server):
    court = make_court(battles=3 * len(FAULTS) // 2, timeout_seconds=1, concurrency=2)
    play = server.default = Play()
    run = plan_run(court.campaign, [court.judge], court.pks)
    work_off(court.endpoint)
    run.refresh_from_db()
    assert run.status == JudgeRun.Status.COMPLETED_WITH_FAILURES
    calls = JudgeCall.objects.select_related(
        "call", "judgment__battle__response_a", "judgment__battle__response_b"
    )
    met = Counter()
    for judge_call in calls:
        fault = play.fault_of(judge_call)
        met[FAULTS.index(fault)] += 1
        found = (judge_call.call.state, judge_call.verdict, judge_call.call.attempt_count)
        assert found == (fault.state, fault.verdict, fault.attempts), FAULTS.index(fault)
        assert bool(judge_call.failure) == (not fault.verdict)
    assert len(met) == len(FAULTS), "every fault was met"
    for judgment in run.judgments.all():
        ab, ba = (play.fault_of(calls.get(judgment=judgment, order=order)) for order in ("ab", "ba"))
        assert judgment.outcome == expected_outcome(ab, ba)
    assert server.calls == CallAttempt.objects.count() == sum(play.seen.values())
