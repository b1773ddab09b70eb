"""A body that is too large is not kept: eight at once must not fill a worker's memory."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from arena.endpoints.client import CallFailure, EndpointConfig, Reply, ask, build_payload
from tests.endpoints.fake_server import FakeServer, answer, gzipped, raw

STATUS = Path("/proc/self/status")
MEGABYTE = 1 << 20
MOST_GROWTH = 50 * MEGABYTE


def memory(what: str) -> int:
    """Bytes: VmRSS now, VmHWM at the most since the last reset."""
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(what))
    return int(line.split()[1]) * 1024


def growth(work) -> int:
    Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM
    before = memory("VmRSS")
    work()
    return memory("VmHWM") - before


@pytest.mark.skipif(not STATUS.exists(), reason="reads Linux's /proc")
@pytest.mark.parametrize("pack", [raw, gzipped])
def test_bodies_of_ten_megabytes_at_eight_workers_leave_memory_alone(pack):
    step = pack(b'{"choices": "' + b"x" * (10 * MEGABYTE) + b'"}')
    with FakeServer(answer()) as server, ThreadPoolExecutor(8) as workers:
        config = EndpointConfig(server.base_url, "m", allowed_hosts=(server.host,))
        payload = build_payload(replace(config, model="m"), [{"role": "user", "content": "?"}])

        def ask_often(times: int) -> list[Reply | CallFailure]:
            return list(workers.map(lambda _: ask(config, payload), range(times)))

        ask_often(16)
        server.default = step
        found: list[Reply | CallFailure] = []
        grown = growth(lambda: found.extend(ask_often(40)))
    assert {reply.kind for reply in found if isinstance(reply, CallFailure)} == {"too_large"}
    assert len(found) == 40
    assert grown <= MOST_GROWTH, f"{grown / MEGABYTE:.0f} MB"
