"""Keeps child processes running and ends them together. Knows nothing of Django.

What it guarantees: a child that dies is started again, unless it dies too often, which ends the whole with
the reason. The first SIGTERM, SIGINT or SIGHUP asks every child to finish (TERM) and waits, within a bound; a
second one doesn't wait. At the end no process of any child's session is left. Children live in sessions of
their own because Ctrl-C reaches a whole group, and some take it to mean "drop everything".
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
PR_SET_PDEATHSIG = 1  # linux/prctl.h
ORPHAN_SECONDS = 2.0

_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


class KeepsDyingError(Exception):
    """A child that ended more often than it may be restarted."""


@dataclass(frozen=True)
class Program:
    name: str
    command: Sequence[str]
    environment: dict[str, str]
    descriptors: tuple[int, ...] = ()


class Child:
    """A program's process, present or past."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.process: subprocess.Popen[bytes] | None = None
        self.deaths: list[float] = []
        self.start_at = 0.0

    def start(self) -> None:
        self.process = subprocess.Popen(
            self.program.command,
            env=self.program.environment,
            pass_fds=self.program.descriptors,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=_end_with_parent if _libc else None,
        )

    def exit_code(self) -> int | None:
        return self.process.poll() if self.process else None

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def ask_to_finish(self) -> None:
        if self.process and self.is_running:
            self.process.terminate()

    def end_session(self, patience: float) -> None:
        """Ends what is left of the session: TERM, then KILL after `patience` seconds."""
        if self.process is None:
            return
        if patience and _signal_session(self.process.pid, signal.SIGTERM):
            deadline = time.monotonic() + patience
            while time.monotonic() < deadline and _signal_session(self.process.pid, 0):
                time.sleep(0.05)
        _signal_session(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process = None


class Supervisor:
    def __init__(
        self,
        programs: Sequence[Program],
        say: Callable[[str], object],
        *,
        drain_seconds: float,
        restarts: int = 5,
        window_seconds: float = 60.0,
        restart_delay: float = 0.5,
        at_start: Callable[[], object] = lambda: None,
        at_stop: Callable[[], object] = lambda: None,
    ) -> None:
        self.children = [Child(program) for program in programs]
        self.say = say
        self.drain_seconds = drain_seconds
        self.restarts = restarts
        self.window_seconds = window_seconds
        self.restart_delay = restart_delay
        self.at_start = at_start
        self.at_stop = at_stop
        self.stops = 0

    def run(self) -> int:
        """Returns the exit code: 0 when told to stop, 1 when a child keeps dying."""
        with self._signals() as awake:
            try:
                self.tend()
                self.at_start()
                while not self.stops:
                    self.tend()
                    awake(0.2)
            except KeepsDyingError as reason:
                self.say(str(reason))
                return 1
            finally:
                self._drain(awake)
        return 0

    def tend(self) -> None:
        """One round: notices deaths and starts what is due."""
        for child in self.children:
            code = child.exit_code()
            if code is not None:
                self._bury(child, code)
            if child.process is None and time.monotonic() >= child.start_at:
                child.start()

    def _bury(self, child: Child, code: int) -> None:
        now = time.monotonic()
        child.end_session(ORPHAN_SECONDS)
        child.deaths = [moment for moment in child.deaths if now - moment < self.window_seconds] + [now]
        ended = f"the {child.program.name} ended {describe_exit(code)}"
        if len(child.deaths) > self.restarts:
            raise KeepsDyingError(
                f"{ended}, {len(child.deaths)} times in {self.window_seconds:g} s; giving up."
                " Its own words are above."
            )
        self.say(f"{ended}; starting it again")
        child.start_at = now + self.restart_delay * len(child.deaths)

    def _drain(self, awake: Callable[[float], None]) -> None:
        deadline, stops = time.monotonic() + self.drain_seconds, self.stops
        self.at_stop()
        for child in self.children:
            child.ask_to_finish()
        while any(child.is_running for child in self.children):
            if time.monotonic() >= deadline or self.stops > stops:
                names = ", ".join(child.program.name for child in self.children if child.is_running)
                self.say(f"not waiting any longer for: {names}")
                break
            awake(0.2)
        for child in self.children:
            child.end_session(0)

    @contextlib.contextmanager
    def _signals(self) -> Iterator[Callable[[float], None]]:
        """Counts stop signals; yields a sleep that any signal, a child's death included, cuts short."""
        read, write = os.pipe()
        os.set_blocking(read, False)
        os.set_blocking(write, False)

        def stop(number: int, frame: object) -> None:
            self.stops += 1

        def awake(seconds: float) -> None:
            if select.select([read], [], [], seconds)[0]:
                os.read(read, 1024)

        handlers = {number: stop for number in STOP_SIGNALS if signal.getsignal(number) != signal.SIG_IGN}
        handlers[signal.SIGCHLD] = lambda number, frame: None
        before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        wakeup = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        try:
            yield awake
        finally:
            signal.set_wakeup_fd(wakeup)
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(read)
            os.close(write)


def describe_exit(code: int) -> str:
    return f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"


def _signal_session(leader: int, number: int) -> bool:
    """Whether the session still had a process to signal."""
    try:
        os.killpg(leader, number)
    except ProcessLookupError:
        return False
    return True


def _end_with_parent() -> None:
    """Should this process be killed outright, the kernel asks its children to finish."""
    assert _libc is not None  # noqa: S101
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
