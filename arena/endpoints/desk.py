"""Which workers of this process serve an endpoint or are called to: keeps messages as few as seats."""

from __future__ import annotations

import threading
import time
from collections import Counter


class Desk:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._serving: Counter[int] = Counter()
        self._called: Counter[int] = Counter()
        self._wakes: dict[int, float] = {}

    def call(self, endpoint_id: int, seats: int) -> bool:
        with self._lock:
            if self._serving[endpoint_id] + self._called[endpoint_id] >= seats:
                return False
            self._called[endpoint_id] += 1
            return True

    def arrive(self, endpoint_id: int, seats: int) -> bool:
        with self._lock:
            self._called[endpoint_id] = max(0, self._called[endpoint_id] - 1)
            if self._serving[endpoint_id] >= seats:
                return False
            self._serving[endpoint_id] += 1
            return True

    def leave(self, endpoint_id: int) -> None:
        with self._lock:
            self._serving[endpoint_id] -= 1

    def should_wake(self, endpoint_id: int, at: float) -> bool:
        """False when somebody is called at that time or before."""
        with self._lock:
            planned = self._wakes.get(endpoint_id)
            if planned is not None and time.monotonic() <= planned <= at:
                return False
            self._wakes[endpoint_id] = at
            return True
