"""`python -m ratings agreement VOTES`: do raters agree where they voted on the same prompt and pair?"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ratings.agreement import agreement, krippendorff_alpha
from ratings.clustered_kappa import clustered_kappa
from ratings.comparisons import MODEL_A, MODEL_B, OUTCOMES
from ratings.errors import NoVotesError, RatingsError
from ratings.frames import comparisons_from_frame, names_of, texts_of
from ratings.rater_overlap import Overlap, overlap
from ratings.votes_file import in_file, read_votes


def add_arguments(commands: Any) -> None:
    """The `agreement` command and its options."""
    command = commands.add_parser("agreement", help="agreement between raters", description=__doc__)
    command.add_argument(
        "votes",
        type=Path,
        help="CSV, TSV or Parquet with judge, prompt_id and, where prompts may be of one text, prompt_text",
    )
    command.add_argument("--between", nargs=2, metavar=("R1", "R2"), help="two raters, for Cohen's kappa")
    command.add_argument("--json", action="store_true", help="print JSON instead of words")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Read, compare, print."""
    frame = read_votes(options.votes)
    rater = "judge" if "judge" in frame.columns else "rater"
    try:
        named = comparisons_from_frame(frame, cluster=(rater, "prompt_id"))
        texts = texts_of(frame)
    except RatingsError as error:
        raise in_file(error, options.votes, frame) from error
    found = overlap(named.comparisons, texts)
    data = _everyone(found)
    if options.between:
        data["between"] = _two(found, names_of(frame[rater]), options.between)
    if options.json:
        sys.stdout.write(json.dumps(data, indent=1, allow_nan=False) + "\n")
        return
    sys.stdout.write("\n".join(_words(data, options.between)) + "\n")


def _everyone(found: Overlap) -> dict[str, Any]:
    alpha = krippendorff_alpha(found.ratings, found.unit_cluster, sides=(MODEL_A, MODEL_B))
    return {
        "raters": found.ratings.shape[0],
        "units": found.ratings.shape[1],
        "repeated": found.repeated,
        "agreement": asdict(agreement(found.first, found.second, found.cluster)),
        "alpha": asdict(alpha),
    }


def _two(found: Overlap, names: list[str], between: list[str]) -> dict[str, Any]:
    ids = []
    for name in between:
        if name not in names:
            raise NoVotesError(f"no rater is called {name!r}")
        ids.append(names.index(name))
    forward = (found.first_rater == ids[0]) & (found.second_rater == ids[1])
    backward = (found.first_rater == ids[1]) & (found.second_rater == ids[0])
    if not (forward | backward).any():
        raise NoVotesError(f"{between[0]} and {between[1]} share no prompt and pair")
    first = np.concatenate([found.first[forward], found.second[backward]])
    second = np.concatenate([found.second[forward], found.first[backward]])
    cluster = np.concatenate([found.cluster[forward], found.cluster[backward]])
    kappa = clustered_kappa(first, second, len(OUTCOMES), cluster, sides=(MODEL_A, MODEL_B))
    return {"kappa": asdict(kappa), "agreement": asdict(agreement(first, second, cluster))}


def _words(data: dict[str, Any], between: list[str] | None) -> list[str]:
    repeats = f"{data['repeated']} repeats left out"
    lines = [
        f"{data['raters']} raters on {data['units']} shared prompts and pairs; {repeats}",
        f"Agreement: {_share(data['agreement']['every'])}",
        f"Agreement where both name a winner: {_share(data['agreement']['decisive'])}",
        f"Krippendorff's alpha (nominal): {_coefficient(data['alpha'])}",
    ]
    if between:
        lines += [
            f"{between[0]} and {between[1]}: {_share(data['between']['agreement']['every'])}",
            f"Cohen's kappa: {_coefficient(data['between']['kappa'])}",
        ]
    return lines


def _coefficient(found: dict[str, Any]) -> str:
    if found["lower"] is None:
        return f"{found['estimate']:.3f} (no interval: too few prompts, or all alike)"
    return f"{found['estimate']:.3f} ({found['lower']:.3f} to {found['upper']:.3f})"


def _share(share: dict[str, Any] | None) -> str:
    if share is None:
        return "none"
    return f"{share['estimate']:.1%} ({share['lower']:.1%} to {share['upper']:.1%}) of {share['n']}"
