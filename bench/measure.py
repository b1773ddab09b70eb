"""One measured call: CPU and wall seconds, and the process's peak memory."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Callable
from pathlib import Path


def measured(work: Callable[[], object]) -> object:
    """Run `work`, print one line of JSON with its cost, return its result."""
    cpu, wall = time.process_time(), time.perf_counter()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    forked = after.ru_utime + after.ru_stime - children.ru_utime - children.ru_stime
    peak = _own_peak() + after.ru_maxrss
    cost = {
        "cpu": time.process_time() - cpu + forked,
        "wall": time.perf_counter() - wall,
        "peak_mb": peak / 1024,
    }
    print(json.dumps(cost), flush=True)
    return result


def _own_peak() -> int:
    """Peak resident kilobytes of this process alone: ru_maxrss starts at what the parent had before."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
