"""`ratings` against other engines on the same votes, each task in a fresh process, BLAS on one thread for
all.

    python -m venv ENV
    ENV/bin/pip install arena-rank==0.1.1 evalica==0.4.2 pandas scipy tqdm
    git clone --depth 1 https://github.com/lm-sys/FastChat
    .venv/bin/python -m bench.ratings --short --peers ENV/bin/python \\
        --fastchat FastChat/fastchat/serve/monitor/rating_systems.py

`--short`: 20 × 100,000 and 250 × 1,000,000 votes within eight minutes: as many rounds as fit, three at most.
Without it also 250 × 10 million, and all rounds. Without --peers and --fastchat, ours alone.

Engines take turns (A B A B), medians are shown. Everything starts from arrays of integer ids, but for
arena-rank, which takes a frame, and evalica, which takes lists. Peers' resamples are few and scaled up, and
labelled so.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.votes import write_votes

SHORT_SECONDS = 440.0
"""What --short spends on rounds: eight minutes less the votes' making."""

ROOT = Path(__file__).resolve().parent.parent
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM")}
XLA = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"}


@dataclass(frozen=True)
class Task:
    """What is timed; per peer its task and by how much its cost is multiplied."""

    ours: str
    peers: tuple[tuple[str, str, float], ...] = ()


TASKS = (
    Task("plain", (("FastChat", "plain", 1), ("arena-rank", "plain", 1), ("evalica", "plain", 1))),
    Task("resamples", (("FastChat", "resamples", 100), ("evalica", "resamples", 100))),
    Task("resamples by rater"),
    Task("style", (("FastChat", "style", 1), ("arena-rank", "style", 1))),
    Task("style sorted"),
    Task("two-way"),
    Task("style resamples 100", (("FastChat", "style resamples", 50),)),
    Task("style resamples"),
    Task("style resamples by rater"),
    Task("names"),
)


def run(command: list[str]) -> dict | None:
    """The cost a fresh process prints, or None if it fails."""
    done = subprocess.run(
        command,
        env={**os.environ, **ONE_THREAD, **XLA},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        print(f"failed: {' '.join(command[1:4])}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


Costs = dict[tuple[str, str, float], list[dict]]
"""Costs of each round by our task, engine and the factor that its cost is multiplied by."""


def commands(
    task: Task, folder: Path, options: argparse.Namespace
) -> dict[tuple[str, str, float], list[str]]:
    """What each engine is run with for a task."""
    ours = [sys.executable, "-m", "bench.engine_ours", task.ours, str(folder)]
    found = {(task.ours, "ratings", 1.0): ours}
    for engine, name, factor in task.peers if options.peers else ():
        if engine == "FastChat" and not options.fastchat:
            continue
        script = str(ROOT / "bench" / "engine_peers.py")
        file = [options.fastchat] if engine == "FastChat" else []
        found[task.ours, engine, factor] = [options.peers, script, engine, name, str(folder), *file]
    return found


def measure(tasks: list[Task], folder: Path, options: argparse.Namespace, seconds: float) -> list[dict]:
    """Rows (engine, cpu, wall, peak) of the tasks: medians over the rounds, engines taking turns.

    A round that wouldn't fit into `seconds` isn't begun, but for the first.
    """
    all_commands = {key: line for task in tasks for key, line in commands(task, folder, options).items()}
    costs: Costs = {key: [] for key in all_commands}
    began = time.monotonic()
    for number in range(options.rounds):
        spent = time.monotonic() - began
        if number and spent * (number + 1) / number > seconds:
            break
        for key, command in all_commands.items():
            cost = run(command)
            if cost is not None:
                costs[key].append(cost)
    return [_row(*key, found) for key, found in costs.items() if found]


def _row(task: str, engine: str, factor: float, costs: list[dict]) -> dict:
    median = {name: statistics.median(c[name] for c in costs) for name in ("cpu", "wall", "peak_mb")}
    return {
        "task": task,
        "engine": engine,
        "cpu": median["cpu"] * factor,
        "wall": median["wall"] * factor,
        "peak_mb": median["peak_mb"],
        "scaled": factor,
        "rounds": len(costs),
    }


def table(size: str, rows: list[dict]) -> str:
    """A size's rows as Markdown, with how many times our CPU time each engine takes."""
    lines = [
        f"### {size}",
        "",
        "| task | engine | CPU s | wall s | peak MB | × ours | rounds |",
        "|---|---|---|---|---|---|---|",
    ]
    ours = {r["task"]: r["cpu"] for r in rows if r["engine"] == "ratings"}
    for r in rows:
        scaled = "" if r["scaled"] == 1 else f" (scaled × {r['scaled']:g})"
        times = "" if r["engine"] == "ratings" else f"{r['cpu'] / ours[r['task']]:.0f}"
        costs = f"{r['cpu']:.3f} | {r['wall']:.3f} | {r['peak_mb']:.0f}"
        lines.append(f"| {r['task']} | {r['engine']}{scaled} | {costs} | {times} | {r['rounds']} |")
    return "\n".join(lines)


def main() -> None:
    """Measure all tasks at all sizes and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="20x100000,250x1000000,250x10000000")
    parser.add_argument("--short", action="store_true", help="the two smaller sizes within eight minutes")
    parser.add_argument("--tasks", default="", help="of ours, separated by commas")
    parser.add_argument("--peers", help="interpreter of the environment with arena-rank and evalica")
    parser.add_argument("--fastchat", help="path of FastChat's rating_systems.py")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    sizes = options.sizes.split(",")[: 2 if options.short else None]
    seconds = SHORT_SECONDS / len(sizes) if options.short else float("inf")
    wanted = [t for t in options.tasks.split(",") if t]
    load = os.getloadavg()[0]
    busy = ": MEASURED UNDER LOAD" if load > 1 else ""
    print(f"{os.cpu_count()} cores, load {load:.1f}{busy}; rounds {options.rounds}")
    everything = {}
    with tempfile.TemporaryDirectory() as scratch:
        for size in sizes:
            competitors, votes = (int(n) for n in size.split("x"))
            write_votes(Path(scratch) / size, competitors, votes)
            tasks = [t for t in TASKS if not wanted or t.ours in wanted]
            rows = measure(tasks, Path(scratch) / size, options, seconds)
            everything[size] = rows
            print("\n" + table(size, rows), flush=True)
    if options.json:
        options.json.write_text(json.dumps(everything, indent=1) + "\n")


if __name__ == "__main__":
    main()
