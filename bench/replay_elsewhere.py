"""Brings an export into a new database under this Python, fits its boards again, and compares.

    ./tiltyard manage export_campaign SLUG --out EXPORT
    OTHER/bin/python bench/replay_elsewhere.py EXPORT

OTHER: an environment with requirements.txt, of any Python that Tiltyard supports. Every board whose newest
exported snapshot has all of the exported votes is compared, number by number; the exit code is 1 if one
differs by more than 1e-9, or if there is nothing to compare.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TOLERANCE = 1e-9
SLUG = "replayed"
NUMBERS = (
    "rating",
    "lower",
    "upper",
    "bootstrap_lower",
    "bootstrap_upper",
    "standard_error",
    "shift",
    "shift_lower",
    "shift_upper",
)
EXACT = ("rank_lower", "rank_upper", "tied_first", "component", "battles", "wins", "losses", "ties", "flags")
Board = tuple[str, str | None, str, bool]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("export", type=Path, help="folder or .zip that export_campaign wrote")
    export = parser.parse_args().export.resolve()
    before = boards_in(export)
    with tempfile.TemporaryDirectory() as place:
        after = boards_in(replayed(export, Path(place)))
    sys.stdout.write(f"Python {platform.python_version()}, {versions()}, {platform.machine()}\n")
    return report(before, after)


def replayed(export: Path, place: Path) -> Path:
    """Imported into a new database, fitted there, and exported again."""
    (place / "data").mkdir()
    environment = os.environ | {"TILTYARD_DATA_DIR": str(place / "data"), "DATABASE_URL": "", "QUEUE_URL": ""}
    environment = {name: value for name, value in environment.items() if value}
    again = place / "again"
    for command in (
        ["migrate", "--verbosity", "0"],
        ["import_campaign", str(export), "--campaign", SLUG],
        ["take_snapshots", "--campaign", SLUG, "--no-charts"],
        ["export_campaign", SLUG, "--out", str(again)],
    ):
        # The arguments are ours, and the interpreter is the one that is being tried.
        subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *command], env=environment, check=True, cwd=ROOT
        )
    return again


def boards_in(export: Path) -> dict[Board, dict[str, Any]]:
    """The newest snapshot of each board with its standings, by what the board is and not by its numbers."""
    snapshots = {row["snapshot"]: row | {"standings": {}} for row in rows(export, "snapshots")}
    for row in rows(export, "standings"):
        snapshots[row["snapshot"]]["standings"][row["model"]] = row
    ordered = sorted(snapshots.values(), key=lambda snapshot: snapshot["snapshot"])
    return {(s["source"], s["judge"], s["subset"], s["style_control"]): s for s in ordered}


def rows(export: Path, table: str) -> list[dict[str, Any]]:
    name = f"jsonl/{table}.jsonl"
    if export.is_dir():
        text = (export / name).read_text(encoding="utf-8")
    else:
        with zipfile.ZipFile(export) as archive:
            (found,) = (entry for entry in archive.namelist() if entry.endswith(f"/{name}"))
            text = archive.read(found).decode()
    return [json.loads(line) for line in text.split("\n") if line]


def report(before: dict[Board, dict[str, Any]], after: dict[Board, dict[str, Any]]) -> int:
    worst, compared = 0.0, 0
    for board, old in before.items():
        source, judge, subset, style = board
        title = f"{judge or source}, {subset}{', style-controlled' if style else ''}"
        new = after.get(board)
        if new is None or new["vote_digest"] != old["vote_digest"]:
            sys.stdout.write(f"  {title}: not compared, for other votes are in\n")
            continue
        largest, same = difference(old["standings"], new["standings"])
        worst, compared = max(worst, largest), compared + 1
        words = "identical to the last bit" if same else f"largest difference {largest:.2g}"
        votes = new["counts"]["votes"]
        sys.stdout.write(f"  {title}: {votes:,} votes, {len(new['standings'])} models, {words}\n")
    ok = compared and worst <= TOLERANCE
    sys.stdout.write(
        f"{compared} boards compared, largest difference {worst:.2g}: {'ok' if ok else 'NOT OK'}\n"
    )
    return 0 if ok else 1


def difference(old: dict[str, Any], new: dict[str, Any]) -> tuple[float, bool]:
    """The largest difference of a number, infinite where something else differs; whether all is the same."""
    if old.keys() != new.keys():
        return float("inf"), False
    largest = 0.0
    for model, was in old.items():
        now = new[model]
        if any(was[name] != now[name] for name in EXACT):
            return float("inf"), False
        for name in NUMBERS:
            if (was[name] is None) != (now[name] is None):
                return float("inf"), False
            if was[name] is not None:
                largest = max(largest, abs(was[name] - now[name]))
    return largest, largest == 0


def versions() -> str:
    import numpy
    import scipy

    return f"numpy {numpy.__version__}, scipy {scipy.__version__}"


if __name__ == "__main__":
    sys.exit(main())
