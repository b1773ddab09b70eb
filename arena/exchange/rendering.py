"""Texts to HTML and counts; those of a large file in processes beside this one.

Knows no Django, so that a process is there at once. Whoever waits for a page goes first.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import suppress
from itertools import islice

from arena.corpus.prepared import Prepared, prepare

MANY = 30_000  # texts; fewer are no work for more than one. A file that a web process stores has fewer.
CHUNK = 100  # texts sent at once
AHEAD = 8  # chunks under way: results don't pile up in front of a slow disk
PROCESSES = 2
NICENESS = 19  # where the system has no policy for work in the background


def prepare_all(texts: Iterable[str], count: int) -> Iterator[Prepared]:
    """In the texts' order; `count` says about how many they are."""
    if count < MANY:
        yield from map(prepare, texts)
        return
    context = multiprocessing.get_context("spawn")  # a fork would copy the locks of this process's threads
    processes = min(PROCESSES, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)
    with ProcessPoolExecutor(processes, context, initializer=_begin) as pool:
        yield from _in_order(pool, iter(texts))


def _in_order(pool: ProcessPoolExecutor, texts: Iterator[str]) -> Iterator[Prepared]:
    under_way: deque[Future[list[Prepared]]] = deque()
    try:
        while chunk := list(islice(texts, CHUNK)):
            under_way.append(pool.submit(_prepare_chunk, chunk))
            if len(under_way) >= AHEAD:
                yield from under_way.popleft().result()
        while under_way:
            yield from under_way.popleft().result()
    finally:
        for future in under_way:
            future.cancel()


def _prepare_chunk(texts: list[str]) -> list[Prepared]:
    return [prepare(text) for text in texts]


def _begin() -> None:
    _step_back()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _step_back() -> None:
    """They get what the others leave. On Linux whoever wants the processor has it at once."""
    os.nice(NICENESS)
    if hasattr(os, "SCHED_IDLE"):
        with suppress(OSError):  # a sandbox may forbid it
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def _end_with_parent() -> None:
    """A killed parent tells its children nothing, and they would wait for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
