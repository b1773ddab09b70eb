"""`python -m ratings compare VOTES A B`: is A better than B, and by how much?"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratings.board_options import LeaderboardOptions
from ratings.command_fit import add_board_options, read_board, shared_options
from ratings.compare import Duel, compare_two
from ratings.errors import BadOptionError, BadValueError, RatingsError
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
    compare.add_argument(
        "--pairs", type=int, default=1, metavar="N", help="adjust for N pairs looked at (Bonferroni; 1)"
    )
    compare.add_argument("--json", action="store_true", help="print JSON instead of words")
    add_board_options(compare)
    compare.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Fit the board and print the difference."""
    if options.pairs < 1:
        raise BadOptionError(f"{options.pairs} pairs", todo="adjust for at least one")
    shared = shared_options(options)
    LeaderboardOptions(**shared)  # refuses a confidence that the adjustment would hide
    shared["confidence"] = 1 - (1 - options.confidence) / options.pairs
    board_options = LeaderboardOptions(**shared, bootstrap=0, margin=options.margin)
    named = read_board(options)
    first, second = named.id_of(options.first), named.id_of(options.second)
    duel = _adjusted(compare_two(named.comparisons, first, second, board_options), options.pairs)
    costs = _costs(options, named, first, second) if options.cost else None
    if options.json:
        data = {**asdict(duel), "first": options.first, "second": options.second, "pairs": options.pairs}
        data["cost"] = None if costs is None else asdict(costs)
        sys.stdout.write(json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
        return
    counted = "ties left out" if board_options.ties == "drop" else "a tie counting half"
    lines = [*_words(duel, options.first, options.second, counted), _adjustment(options)]
    if costs is not None:
        lines.append(_cost_words(costs, options.cost, options.first, options.second))
    sys.stdout.write("\n".join(lines) + "\n")


def _adjusted(duel: Duel, pairs: int) -> Duel:
    """Bonferroni's p-values; the intervals are wide enough already."""
    adjusted: dict[str, Any] = {}
    for name in ("p", "equivalence_p", "worse_p"):
        p = getattr(duel, name)
        adjusted[name] = None if p is None else min(1.0, p * pairs)
    return replace(duel, **adjusted)


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
        _require_costs(options.cost, of_a, of_b, direct)
        x, y = np.where(forward, of_a, of_b)[direct], np.where(forward, of_b, of_a)[direct]
        prompts = None if votes.prompt is None else votes.prompt[direct]
        return cost_ratio(x, y, prompts, confidence=options.confidence)
    except RatingsError as error:
        raise in_file(error, options.votes, frame) from error


def _require_costs(
    name: str, of_a: NDArray[np.float64], of_b: NDArray[np.float64], direct: NDArray[np.bool_]
) -> None:
    """Costs of the direct battles are finite and ≥ 0; an error names the row in the file, and the column."""
    for side, costs in (("a", of_a), ("b", of_b)):
        bad = direct & ~(np.isfinite(costs) & (costs >= 0))
        if bad.any():
            row = int(np.argmax(bad))
            raise BadValueError(f"{name}_{side} is {costs[row]:g}", row=row, todo="a cost is finite and ≥ 0")


def _cost_words(costs: CostRatio, unit: str, first: str, second: str) -> str:
    words = f"Cost ({unit}): {first} takes {costs.ratio:.3g} times what {second} takes"
    if costs.lower is not None:
        words += f" ({costs.lower:.3g} to {costs.upper:.3g})"
    return f"{words}, in {costs.pairs} direct battle{'' if costs.pairs == 1 else 's'}"


def _adjustment(options: argparse.Namespace) -> str:
    if options.pairs == 1:
        return "Not adjusted for other pairs: one pair, named beforehand (--pairs N adjusts for N)."
    each = 1 - (1 - options.confidence) / options.pairs
    return (
        f"Adjusted for {options.pairs} pairs (Bonferroni): intervals at {each:.2%} each,"
        f" {options.confidence:.0%} together, and p-values times the number of pairs."
    )


def _no_interval(duel: Duel) -> str:
    if duel.limited_by:
        few = " and too few ".join(f"{name}s" for name in duel.limited_by)
        return f"No interval: too few {few} speak about this difference."
    return "No interval: one of the two has too few votes, or nearly all of its votes are ties."


def _words(duel: Duel, first: str, second: str, counted: str) -> list[str]:
    lines = [
        f"{first} less {second}: {duel.difference:+.1f} points (standard error {duel.standard_error:.1f})"
    ]
    if duel.effect is None or duel.lower is None or duel.upper is None:
        lines.append(_no_interval(duel))
    else:
        score, low, high = duel.effect.expected_score
        net, least, most = duel.effect.net_rate
        lines += [
            f"{100 * duel.confidence:.4g}% interval: {duel.lower:+.1f} to {duel.upper:+.1f} points",
            f"Expected score of {first}, {counted}: {score:.1%} ({low:.1%} to {high:.1%});"
            f" net rate {net:+.1%} ({least:+.1%} to {most:+.1%})",
            f"p = {duel.p:.4g}; equivalence within {duel.margin:g} points: p = {duel.equivalence_p:.4g};"
            f" worse by {duel.margin:g} points or more: p = {duel.worse_p:.4g}",
        ]
    lines.append(f"Verdict: {duel.verdict}")
    direct = f"Direct battles: {duel.wins} won, {duel.losses} lost, {duel.ties} tied"
    if duel.direct is not None:
        direct += (
            f" (exact sign test p = {duel.direct.p:.4g}: takes each vote as independent, so too small where"
            " raters or prompts repeat; the test above is the one to rely on)"
        )
    clusters = f"; effective clusters {duel.effective_clusters:.1f}" if duel.effective_clusters else ""
    return [*lines, direct, f"Method: {duel.method}{clusters}"]
