"""From the key to the next battle painted, in Chromium on a real server.

    .venv/bin/python -m bench.battle_screen
    .venv/bin/python -m bench.battle_screen --keep FOLDER      # a folder that bench.battles has filled

A rater votes by key. The clock runs in the page: from the time stamp of the key's event until the next
battle is in the page and has been painted (two animation frames later; the first begins before the paint).
Prints JSON; exits with 1 if a vote isn't in the database.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
from pathlib import Path

from bench.battle_data import SLUG, fill
from bench.battle_raters import ROOT, free_port, start_server

CHROMIUM = "/usr/bin/chromium"
SETTLED_MS = 350  # sooner a key is taken for the second half of a double click
MARKS = """
  window.paintedAfter = [];
  let pressed = null;
  const note = (event) => { if ("abtx".includes(event.key)) pressed = event.timeStamp; };
  addEventListener("keydown", note, true);
  document.addEventListener("DOMContentLoaded", () => {
    const stage = document.getElementById("stage");
    if (!stage) return;
    let shown = stage.querySelector("article")?.dataset.battle;
    new MutationObserver(() => {
      const now = stage.querySelector("article")?.dataset.battle;
      if (!now || now === shown) return;
      shown = now;
      const since = pressed;
      if (since === null) return;
      pressed = null;
      requestAnimationFrame(() => requestAnimationFrame(() => paintedAfter.push(performance.now() - since)));
    }).observe(stage, { childList: true });
  });
"""


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--presses", type=int, default=50)
    parser.add_argument("--prompts", type=int, default=60)
    parser.add_argument("--models", type=int, default=6)
    parser.add_argument("--votes", type=int, default=1000)
    parser.add_argument("--keep", type=Path, help="a folder to fill once and use again")
    return parser.parse_args()


def press_keys(port: int, token: str, presses: int, width: int) -> list[float]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": width, "height": 800})
        page.add_init_script(MARKS)
        page.goto(f"http://localhost:{port}/join/{token}/")
        page.get_by_role("button", name="Begin").click()
        page.wait_for_selector("article.battle")
        for number in range(presses):
            page.wait_for_timeout(SETTLED_MS)
            page.wait_for_function("() => !document.querySelector('#stage[aria-busy]')")
            if width < 768:  # both sides and the prompt have to have been seen
                for part in (".prompt .end", ".pane-a", ".pane-b"):
                    page.locator(f"#stage {part}").scroll_into_view_if_needed()
                    page.wait_for_timeout(50)
            page.keyboard.press("abtx"[number % 4])
            page.wait_for_function("count => paintedAfter.length > count", arg=number, timeout=60_000)
        page.wait_for_function(
            "() => !localStorage.getItem('tiltyard.queue:' + location.pathname)?.includes('url')",
            timeout=60_000,
        )
        took = page.evaluate("paintedAfter")
        browser.close()
    return took


def report(took: list[float]) -> dict[str, float]:
    ordered = sorted(took)

    def percentile(share: float) -> float:
        return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1)

    shares = {"p50 ms": 0.5, "p95 ms": 0.95, "p99 ms": 0.99}
    figures = {name: percentile(share) for name, share in shares.items()}
    return {"presses": len(ordered)} | figures | {"slowest ms": round(ordered[-1], 1)}


def measure(arguments: argparse.Namespace, folder: Path) -> int:
    from django.db import connections

    from arena.battles.models import Vote

    token = fill(arguments)
    before, load = Vote.objects.count(), os.getloadavg()
    connections.close_all()
    port = free_port()
    server = start_server(port, folder / "server.log")
    try:
        widths = {width: press_keys(port, token, arguments.presses, width) for width in (1280, 375)}
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=60)
    added = Vote.objects.count() - before
    result = {f"{width} px wide": report(took) for width, took in widths.items()}
    loads = {"load average before": load, "load average after": os.getloadavg()}
    rounded = {name: [round(one, 2) for one in each] for name, each in loads.items()}
    print(
        json.dumps(
            {"campaign": SLUG, "votes before": before, "votes added": added} | result | rounded, indent=2
        )
    )
    return 0 if added == sum(map(len, widths.values())) else 1


def main() -> int:
    arguments = read_arguments()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        os.environ["TILTYARD_DATA_DIR"] = str(folder)
        os.environ["DJANGO_SETTINGS_MODULE"] = "arena.settings"
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # playwright runs an event loop in this thread
        sys.path.insert(0, str(ROOT))
        import django

        django.setup()
        return measure(arguments, folder)


if __name__ == "__main__":
    sys.exit(main())
