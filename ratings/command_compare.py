"""`python -m ratings compare VOTES A B`: is A better than B, and by how much?"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ratings.board_options import LeaderboardOptions
from ratings.command_fit import add_board_options, read_board, shared_options
from ratings.compare import Duel, compare_two
from ratings.errors import RatingsError
from ratings.frames import NamedComparisons, numbers
from ratings.pairwise import CostRatio, cost_ratio
from ratings.votes_file import VotesFileError, in_file, read_votes


def add_arguments(commands: Any) -> None:
    """The `compare` command and its options."""
    compare = commands.add_parser("compare", help="compare two competitors", description=__doc__)
    compare.add_argument("votes", type=Path, help="CSV, TSV or Parquet with model_a, model_b, winner")
    compare.add_argument("first", metavar="A", help="a competitor by name")
    compare.add_argument("second", metavar="B", help="another")
    compare.add_argument("--margin", type=float, default=10.0, help="points that matter (10)")
    compare.add_argument(
        "--cost", metavar="NAME", help="columns NAME_a and NAME_b: what each response cost, in any unit"
    )
    compare.add_argument("--json", action="store_true", help="print JSON instead of words")
    add_board_options(compare)
    compare.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Fit the board and print the difference."""
    board_options = LeaderboardOptions(**shared_options(options), bootstrap=0, margin=options.margin)
    named = read_board(options)
    first, second = named.id_of(options.first), named.id_of(options.second)
    duel = compare_two(named.comparisons, first, second, board_options)
    costs = _costs(options, named, first, second) if options.cost else None
    if options.json:
        data = {**asdict(duel), "first": options.first, "second": options.second}
        data["cost"] = None if costs is None else asdict(costs)
        sys.stdout.write(json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
        return
    counted = "ties left out" if board_options.ties == "drop" else "a tie counting half"
    lines = _words(duel, options.first, options.second, counted)
    if costs is not None:
        lines.append(_cost_words(costs, options.cost, options.first, options.second))
    sys.stdout.write("\n".join(lines) + "\n")


def _costs(options: argparse.Namespace, named: NamedComparisons, first: int, second: int) -> CostRatio:
    """Costs of the two in their direct battles, by prompt where that is known."""
    frame, votes = read_votes(options.votes), named.comparisons
    for column in (f"{options.cost}_a", f"{options.cost}_b"):
        if column not in frame.columns:
            raise VotesFileError(f"{options.votes}: column {column!r} is missing", todo="name costs by side")
    try:
        of_a, of_b = (numbers(frame[f"{options.cost}_{side}"]) for side in "ab")
        forward, back = ((votes.a == i) & (votes.b == j) for i, j in ((first, second), (second, first)))
        direct = forward | back
        x, y = np.where(forward, of_a, of_b)[direct], np.where(forward, of_b, of_a)[direct]
        prompts = None if votes.prompt is None else votes.prompt[direct]
        return cost_ratio(x, y, prompts, confidence=options.confidence)
    except RatingsError as error:
        raise in_file(error, options.votes) from error


def _cost_words(costs: CostRatio, unit: str, first: str, second: str) -> str:
    words = f"Cost ({unit}): {first} takes {costs.ratio:.3g} times what {second} takes"
    if costs.lower is not None:
        words += f" ({costs.lower:.3g} to {costs.upper:.3g})"
    return f"{words}, in {costs.pairs} direct battle{'' if costs.pairs == 1 else 's'}"


def _words(duel: Duel, first: str, second: str, counted: str) -> list[str]:
    lines = [
        f"{first} less {second}: {duel.difference:+.1f} points (standard error {duel.standard_error:.1f})"
    ]
    if duel.effect is None or duel.lower is None or duel.upper is None:
        few = " and too few ".join(f"{name}s" for name in duel.limited_by) or "votes with a winner"
        lines.append(f"Too few {few} speak about this difference for an interval.")
    else:
        score, low, high = duel.effect.expected_score
        net, least, most = duel.effect.net_rate
        lines += [
            f"{duel.confidence:.0%} interval: {duel.lower:+.1f} to {duel.upper:+.1f} points",
            f"Expected score of {first}, {counted}: {score:.1%} ({low:.1%} to {high:.1%});"
            f" net rate {net:+.1%} ({least:+.1%} to {most:+.1%})",
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
