"""Reads /proc: which processes exist, whose children they are, in which session."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path


def heed_signals() -> None:
    """In a fresh child, which under nohup or behind a shell's & would inherit that these are ignored."""
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


def running() -> dict[int, tuple[int, int]]:
    """pid -> (parent, session) of every process that isn't dead and waiting to be collected."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # The name in parentheses may hold anything; what follows the last one is in fixed order.
            state, parent, _, session = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if state not in {"Z", "X"}:
            found[int(folder.name)] = (int(parent), int(session))
    return found


def children_of(parent: int) -> list[int]:
    return sorted(pid for pid, (above, _) in running().items() if above == parent)


def members_of(session: int) -> list[int]:
    return sorted(pid for pid, (_, leader) in running().items() if leader == session)


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def wait_for(condition: Callable[[], object], what: str, seconds: float = 240):
    """The condition's first true value; a busy machine only makes it later."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.05)
    raise AssertionError(f"waited {seconds:g} s for {what}")
