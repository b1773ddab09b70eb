from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from arena.operation.supervisor import Child, KeepsDyingError, Program, Supervisor, describe_exit
from tests.operation.processes import children_of, heed_signals, members_of, running, wait_for

ROOT = Path(__file__).resolve().parents[2]

# A supervisor over two children, told by signals what to do; its children write what happens to them.
SUPERVISE = """
import os, sys
from arena.operation.supervisor import Program, Supervisor
def child(n): return Program(f"child {n}", [sys.executable, "-c", sys.argv[1], str(n)], dict(os.environ))
def say(words): print(words, flush=True)
sys.exit(Supervisor([child(1), child(2)], say, drain_seconds=float(sys.argv[2]), restart_delay=0.05,
                    at_stop=lambda: say("no more visitors")).run())
"""
OBEDIENT = """
import signal, sys, time
def finish(*_):
    print(f"child {sys.argv[1]} finishes", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, finish)
signal.signal(signal.SIGINT, lambda *_: print("dropped everything", flush=True))
print("ready", flush=True)
while True: time.sleep(0.05)
"""
STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
grandchild = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"
subprocess.Popen([sys.executable, "-c", grandchild])
print("ready", flush=True)
time.sleep(600)
"""


class Supervised:
    def __init__(self, child: str, drain_seconds: float, folder: Path) -> None:
        self.log = folder / "log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", SUPERVISE, textwrap.dedent(child), str(drain_seconds)],
                cwd=ROOT,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=heed_signals,
            )
        self.children = wait_for(
            lambda: self.count("ready") >= 2 and children_of(self.process.pid), "children"
        )

    def words(self) -> str:
        return self.log.read_text()

    def count(self, words: str) -> int:
        return self.words().count(words)

    def end(self, number: int) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=240)


@pytest.fixture
def supervise(tmp_path):
    started = []

    def start(child: str, drain_seconds: float = 30) -> Supervised:
        started.append(Supervised(child, drain_seconds, tmp_path))
        return started[-1]

    yield start
    for supervised in started:
        for session in [*supervised.children, supervised.process.pid]:
            for pid in members_of(session):
                os.kill(pid, signal.SIGKILL)
        supervised.process.wait(timeout=240)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_stop_signal_reaches_both_children_as_term_and_ends_with_zero(supervise, number):
    supervised = supervise(OBEDIENT)
    assert supervised.end(number) == 0
    assert supervised.count("child 1 finishes") == supervised.count("child 2 finishes") == 1
    assert "dropped everything" not in supervised.words()
    assert not set(supervised.children) & set(running())


def test_ctrl_c_in_a_terminal_does_not_reach_the_children_themselves(supervise):
    supervised = supervise(OBEDIENT)
    os.killpg(supervised.process.pid, signal.SIGINT)
    assert supervised.process.wait(timeout=240) == 0
    assert "dropped everything" not in supervised.words()


def test_what_must_happen_before_the_drain_happens_first(supervise):
    supervised = supervise(OBEDIENT)
    supervised.end(signal.SIGTERM)
    assert supervised.words().index("no more visitors") < supervised.words().index("finishes")


def test_a_child_that_does_not_finish_in_time_is_killed_with_its_whole_session(supervise):
    supervised = supervise(STUBBORN, drain_seconds=0.3)
    wait_for(lambda: all(len(members_of(child)) == 2 for child in supervised.children), "grandchildren")
    assert supervised.end(signal.SIGTERM) == 0
    assert "not waiting any longer for: child 1, child 2" in supervised.words()
    assert [pid for child in supervised.children for pid in members_of(child)] == []


def test_a_second_signal_does_not_wait(supervise):
    supervised = supervise(STUBBORN, drain_seconds=600)
    supervised.process.send_signal(signal.SIGINT)
    wait_for(lambda: supervised.count("no more visitors"), "the drain to begin")
    assert supervised.end(signal.SIGINT) == 0
    assert [pid for child in supervised.children for pid in members_of(child)] == []


def test_a_killed_child_is_started_again_and_its_orphans_are_ended(supervise):
    supervised = supervise(STUBBORN, drain_seconds=0.1)
    first, second = supervised.children
    wait_for(lambda: len(members_of(first)) == 2, "a grandchild")
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: supervised.count("ready") == 3, "the new child")
    assert members_of(first) == []
    assert "ended by SIGKILL; starting it again" in supervised.words()
    supervised.children = children_of(supervised.process.pid)
    assert second in supervised.children
    assert len(supervised.children) == 2


def test_when_the_supervisor_is_killed_its_children_finish(supervise):
    supervised = supervise(OBEDIENT)
    supervised.process.kill()
    supervised.process.wait(timeout=240)
    wait_for(lambda: not set(supervised.children) & set(running()), "the children to end")
    assert supervised.count("finishes") == 2


def test_a_child_that_keeps_dying_ends_the_whole_with_its_reason():
    said: list[str] = []
    program = Program("web server", [sys.executable, "-c", "raise SystemExit(3)"], dict(os.environ))
    lasting = Program("consumer", [sys.executable, "-c", "import time; time.sleep(600)"], dict(os.environ))
    supervisor = Supervisor([lasting, program], said.append, drain_seconds=30, restarts=2, restart_delay=0.01)
    assert supervisor.run() == 1
    assert said[:2] == ["the web server ended with exit code 3; starting it again"] * 2
    assert said[2].startswith("the web server ended with exit code 3, 3 times in 60 s; giving up.")
    assert all(child.process is None for child in supervisor.children)


def test_deaths_long_ago_do_not_count(monkeypatch):
    said: list[str] = []
    program = Program("web server", [sys.executable, "-c", "raise SystemExit(1)"], dict(os.environ))
    supervisor = Supervisor([program], said.append, drain_seconds=1, restarts=1, window_seconds=100)
    (child,) = supervisor.children
    die(supervisor, child)
    child.deaths = [moment - 101 for moment in child.deaths]
    die(supervisor, child)
    with pytest.raises(KeepsDyingError):
        die(supervisor, child)


def die(supervisor: Supervisor, child: Child) -> None:
    child.start()
    child.process.wait(timeout=240)
    child.start_at = float("inf")
    supervisor.tend()


def test_what_happens_at_the_start_finds_the_children_started():
    seen: list[bool] = []
    program = Program("any", [sys.executable, "-c", "raise SystemExit(1)"], dict(os.environ))
    supervisor = Supervisor([program], lambda words: None, drain_seconds=1, restarts=0)
    supervisor.at_start = lambda: seen.append(supervisor.children[0].process is not None)
    supervisor.run()
    assert seen == [True]


def test_signal_handlers_are_put_back():
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)]
    program = Program("any", [sys.executable, "-c", "raise SystemExit(1)"], dict(os.environ))
    Supervisor([program], lambda words: None, drain_seconds=1, restarts=0).run()
    assert before == [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)]


@pytest.mark.parametrize(
    ("code", "words"),
    [(0, "with exit code 0"), (3, "with exit code 3"), (-9, "by SIGKILL"), (-15, "by SIGTERM")],
)
def test_an_exit_is_described_in_words(code, words):
    assert describe_exit(code) == words
