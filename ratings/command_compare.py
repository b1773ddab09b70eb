"""`python -m ratings compare VOTES A B`: is A better than B, and by how much?"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ratings.board_options import LeaderboardOptions
from ratings.command_fit import add_board_options, read_board, shared_options
from ratings.compare import Duel, compare_two


def add_arguments(commands: Any) -> None:
    """The `compare` command and its options."""
    compare = commands.add_parser("compare", help="compare two competitors", description=__doc__)
    compare.add_argument("votes", type=Path, help="CSV, TSV or Parquet with model_a, model_b, winner")
    compare.add_argument("first", metavar="A", help="a competitor by name")
    compare.add_argument("second", metavar="B", help="another")
    compare.add_argument("--margin", type=float, default=10.0, help="points that matter (10)")
    compare.add_argument("--json", action="store_true", help="print JSON instead of words")
    add_board_options(compare)
    compare.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Fit the board and print the difference."""
    board_options = LeaderboardOptions(**shared_options(options), bootstrap=0, margin=options.margin)
    named = read_board(options)
    first, second = named.id_of(options.first), named.id_of(options.second)
    duel = compare_two(named.comparisons, first, second, board_options)
    if options.json:
        data = {**asdict(duel), "first": options.first, "second": options.second}
        sys.stdout.write(json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
        return
    sys.stdout.write("\n".join(_words(duel, options.first, options.second)) + "\n")


def _words(duel: Duel, first: str, second: str) -> list[str]:
    lines = [
        f"{first} less {second}: {duel.difference:+.1f} points (standard error {duel.standard_error:.1f})"
    ]
    if duel.effect is None or duel.lower is None or duel.upper is None:
        lines.append("Too few raters speak about this difference for an interval.")
    else:
        chance, low, high = duel.effect.win_probability
        lines += [
            f"{duel.confidence:.0%} interval: {duel.lower:+.1f} to {duel.upper:+.1f} points",
            f"Chance that {first} wins a decisive vote: {chance:.1%} ({low:.1%} to {high:.1%})",
            f"p = {duel.p:.4g}; equivalence within {duel.margin:g} points: p = {duel.equivalence_p:.4g};"
            f" worse by {duel.margin:g} points or more: p = {duel.worse_p:.4g}",
        ]
    lines.append(f"Verdict: {duel.verdict}")
    direct = f"Direct battles: {duel.wins} won, {duel.losses} lost, {duel.ties} tied"
    if duel.direct is not None:
        direct += f" (sign test p = {duel.direct.p:.4g})"
    clusters = (
        "" if duel.effective_clusters is None else f"; effective clusters {duel.effective_clusters:.1f}"
    )
    return [*lines, direct, f"Method: {duel.method}{clusters}"]
