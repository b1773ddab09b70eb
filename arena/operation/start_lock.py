"""Two starts over one data folder at once: the second waits until the first has prepared it."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def start_lock(folder: Path, when_waiting: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Held by one process at a time. The kernel lets go of it when that process ends, however it ends."""
    with (folder / "start.lock").open("a") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            when_waiting()
            fcntl.flock(held, fcntl.LOCK_EX)
        yield


@contextmanager
def sole_run(folder: Path) -> Iterator[bool]:
    """Whether no other run serves this folder; those that come meanwhile find this one."""
    with (folder / "run.lock").open("a") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
