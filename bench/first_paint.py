"""First paint of a board's page on the profile of a slow phone, in Chromium against `manage.py run`.

    .venv/bin/python -m bench.first_paint                        # fills a database as bench.leaderboards does
    .venv/bin/python -m bench.first_paint --folder FOLDER        # one that bench.leaderboards has filled

The profile is that of Lighthouse's mobile runs: 150 ms between a request and its answer, 1.6 Mbit/s down,
750 kbit/s up, a processor four times slower, 375 × 812 px. The browser delays each request, not the making
of a connection. A load is first with an empty cache, in a new profile each time, or again in a profile that
has seen the page. Prints JSON; stops at a load that paints nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import leaderboards
from bench.battle_raters import free_port, start_server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

CHROMIUM = "/usr/bin/chromium"
KBIT = 1000 / 8
NETWORK = {
    "offline": False,
    "latency": 150,
    "downloadThroughput": 1600 * KBIT,
    "uploadThroughput": 750 * KBIT,
}
SLOWER = 4
PHONE: dict[str, Any] = {
    "viewport": {"width": 375, "height": 812},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}
WATCH_LARGEST = """
  window.largest = 0;
  new PerformanceObserver((list) => { for (const one of list.getEntries()) largest = one.startTime; })
    .observe({ type: "largest-contentful-paint", buffered: true });
"""
PAINTED = "() => performance.getEntriesByName('first-contentful-paint').length && largest"
READ = """() => {
  const [page] = performance.getEntriesByType("navigation");
  const blocks = (one) => one.renderBlockingStatus === "blocking";
  return {
    first: performance.getEntriesByName("first-contentful-paint")[0].startTime,
    largest,
    answer: page.responseStart,
    whole: page.responseEnd,
    blocking: performance.getEntriesByType("resource").filter(blocks).length,
  };
}"""


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, help="a folder that bench.leaderboards has filled")
    parser.add_argument("--models", type=int, default=250)
    parser.add_argument("--votes", type=int, default=100_000)
    parser.add_argument("--loads", type=int, default=10, help="with an empty cache, and as many again")
    return parser.parse_args()


def fill(arguments: argparse.Namespace, folder: Path) -> None:
    """The database of bench.leaderboards, its boards taken and public."""
    options = argparse.Namespace(
        models=arguments.models, votes=arguments.votes, prompts=400, raters=300, folder=folder, task=None
    )
    for task in leaderboards.TASKS:
        leaderboards.run(task, options, folder)


def load(context: BrowserContext, address: str) -> dict[str, float]:
    """One load in a new tab of this profile: times in ms since the navigation began, and bytes received."""
    page = context.new_page()
    page.add_init_script(WATCH_LARGEST)
    devtools = context.new_cdp_session(page)
    devtools.send("Network.enable")
    devtools.send("Network.emulateNetworkConditions", NETWORK)
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    received: list[float] = []
    devtools.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    answer = page.goto(address, wait_until="networkidle")
    if answer is None or not answer.ok:
        raise SystemExit(f"{address} answered {answer and answer.status}")
    page.wait_for_function(PAINTED)
    found: dict[str, float] = page.evaluate(READ)
    page.close()
    return found | {"bytes": sum(received), "requests": len(received)}


def measure(browser: Browser, address: str, loads: int) -> dict[str, list[dict[str, float]]]:
    empty = []
    for _number in range(loads):
        context = browser.new_context(**PHONE)
        empty.append(load(context, address))
        context.close()
    context = browser.new_context(**PHONE)
    load(context, address)
    again = [load(context, address) for _number in range(loads)]
    context.close()
    return {"empty cache": empty, "again": again}


def report(loads: list[dict[str, float]]) -> dict[str, Any]:
    def at(name: str, share: float) -> int:
        ordered = sorted(one[name] for one in loads)
        return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))])

    words = {
        "first": "first contentful paint",
        "largest": "largest",
        "answer": "answer begins",
        "whole": "ends",
    }
    times = {f"{said} ms": [at(name, 0.5), at(name, 0.95)] for name, said in words.items()}
    counts = {name: at(name, 0.5) for name in ("bytes", "requests", "blocking")}
    return {"n": len(loads), "[p50, p95]": times} | counts


def main() -> int:
    from playwright.sync_api import sync_playwright

    arguments = read_arguments()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (arguments.folder or Path(temporary)).resolve()
        if arguments.folder is None:
            fill(arguments, folder)
        os.environ["TILTYARD_DATA_DIR"] = str(folder)
        before = os.getloadavg()[0]
        port = free_port()
        server = start_server(port, Path(temporary) / "server.log")
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
                address = f"http://localhost:{port}/boards/{leaderboards.SLUG}/?board=overall"
                found = measure(browser, address, arguments.loads)
                browser.close()
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=60)
    loads = {"load average": [round(before, 1), round(os.getloadavg()[0], 1)]}
    print(json.dumps({name: report(each) for name, each in found.items()} | loads, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
