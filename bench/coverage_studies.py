"""What the studies of coverage share: their options, the work over processes, JSON and the table."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

Rows = list[dict]


def run(
    words: str,
    scenarios: Sequence[Any],
    study: Callable[..., dict],
    table: Callable[[Rows], str],
    *,
    repetitions: int = 500,
) -> None:
    """Study the scenarios that the command line asks for and print their table; `words` is the help."""
    options = _options(words, [s.name for s in scenarios], repetitions)
    chosen = [s for s in scenarios if s.name in options.only]
    rows = []
    with ProcessPoolExecutor(options.workers) as pool:
        for future in [pool.submit(study, s, options.repetitions, seed=options.seed) for s in chosen]:
            rows.append(future.result())
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    print(table(rows))


def _options(words: str, names: list[str], repetitions: int) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=words, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=repetitions)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--only", default=",".join(names), help="scenarios by name, separated by commas")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    options.only = options.only.split(",")
    if unknown := [name for name in options.only if name not in names]:
        parser.error(f"no scenario {', '.join(unknown)}; there are {', '.join(names)}")
    return options
