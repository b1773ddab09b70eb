"""One measured call: CPU and wall seconds, and the process's peak memory."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Callable


def measured(work: Callable[[], object]) -> object:
    """Run `work`, print one line of JSON with its cost, return its result."""
    cpu, wall = time.process_time(), time.perf_counter()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    forked = after.ru_utime + after.ru_stime - children.ru_utime - children.ru_stime
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + after.ru_maxrss
    cost = {
        "cpu": time.process_time() - cpu + forked,
        "wall": time.perf_counter() - wall,
        "peak_mb": peak / 1024,
    }
    print(json.dumps(cost), flush=True)
    return result
