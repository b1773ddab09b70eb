"""`python -m ratings fit VOTES`: a leaderboard as a table and as JSON."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from ratings.board_options import LeaderboardOptions
from ratings.errors import BadOptionError, RatingsError
from ratings.frames import CLUSTER_COLUMNS, NamedComparisons, comparisons_from_frame
from ratings.leaderboard import fit_leaderboard
from ratings.style import TRANSFORMS, Transform
from ratings.tables import leaderboard_table
from ratings.votes_file import in_file, read_votes, say_left_out

# A long run says how far it is at most this often, in seconds.
PROGRESS_EVERY = 2.0


def add_arguments(commands: Any) -> None:
    """The `fit` command and its options."""
    fit = commands.add_parser("fit", help="fit a leaderboard", description=__doc__)
    fit.add_argument("votes", type=Path, help="CSV, TSV or Parquet with model_a, model_b, winner")
    add_board_options(fit)
    fit.add_argument("--bootstrap", type=int, default=1000, metavar="N", help="resamples, 0 for none (1000)")
    fit.add_argument("--interval", default="robust", help="robust, iid, bootstrap or percentile (robust)")
    fit.add_argument(
        "--anchor", metavar="NAME=RATING", help="put a competitor at a rating instead of the mean at 1000"
    )
    fit.add_argument("--min-votes", type=int, default=30, metavar="N", help="fewer are listed unranked (30)")
    fit.add_argument("--no-check", action="store_true", help="skip the second fit by another engine")
    fit.add_argument("--json", metavar="OUT", help="write the result as JSON; - for standard output")
    fit.set_defaults(run=run)


def add_board_options(command: argparse._ActionsContainer) -> None:
    """Options that every command shares which fits a board."""
    command.add_argument(
        "--style", default="", metavar="NAMES", help="covariates, e.g. words,headers,lists,bold"
    )
    command.add_argument(
        "--style-transform",
        metavar="HOW",
        help="relative: (a − b)/(a + b) over its root mean square; fastchat: (a − b)/(a + b + 1), z-scored;"
        " none: (a − b)/(a + b) as it is (relative)",
    )
    command.add_argument(
        "--cluster",
        metavar="COLUMNS",
        help=f"of {', '.join(CLUSTER_COLUMNS)}; none: votes are independent (default: those there are)",
    )
    command.add_argument("--ties", default="half", help="half, drop or davidson (half)")
    command.add_argument("--both-bad", default="half", help="half or drop (half)")
    command.add_argument("--unstable", default="half", help="half, drop or average (half)")
    command.add_argument("--position", action="store_true", help="fit the advantage of side a")
    command.add_argument("--seed", type=int, default=0, help="seed of everything drawn (0)")
    command.add_argument("--confidence", type=float, default=0.95, help="of the intervals (0.95)")


def read_board(options: argparse.Namespace) -> NamedComparisons:
    """The votes file as comparisons; errors name file and line."""
    transform = _style_transform(options)
    cluster = cluster_columns(options.cluster)
    frame = read_votes(options.votes)
    try:
        named = comparisons_from_frame(
            frame,
            style=split_names(options.style),
            style_transform=transform,
            cluster=cluster,
        )
    except RatingsError as error:
        raise in_file(error, options.votes, frame) from error
    if said := say_left_out(frame):
        sys.stderr.write(f"{options.votes}: {said}\n")
    return named


def split_names(text: str) -> tuple[str, ...]:
    """Names between commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def cluster_columns(text: str | None) -> tuple[str, ...] | None:
    """None: those there are; `none`: no column at all."""
    if text is None or text == "none":
        return None if text is None else ()
    columns = split_names(text)
    if not columns:
        raise BadOptionError("--cluster names no column", todo="name some, or say none")
    return columns


def _style_transform(options: argparse.Namespace) -> Transform:
    text = options.style_transform
    if text is None:
        return "relative"
    if not split_names(options.style):
        raise BadOptionError(
            "--style-transform without --style", todo="name covariates by --style, or leave it out"
        )
    for transform in TRANSFORMS:
        if text == transform:
            return transform
    raise BadOptionError(f"style transform {text!r}", todo=f"use {', '.join(TRANSFORMS)}")


def shared_options(options: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `add_board_options` as those of LeaderboardOptions."""
    return {
        "ties": options.ties,
        "both_bad": options.both_bad,
        "unstable": options.unstable,
        "style": bool(split_names(options.style)),
        "style_transform": _style_transform(options),
        "position": options.position,
        "seed": options.seed,
        "confidence": options.confidence,
    }


def run(options: argparse.Namespace) -> None:
    """Fit, print the table, write the JSON."""
    # Options are checked before a large file is read.
    if options.json not in (None, "-"):
        _require_writable(Path(options.json))
    LeaderboardOptions(**shared_options(options), bootstrap=options.bootstrap, interval=options.interval)
    _require_ends(options)
    named = read_board(options)
    anchor, rating = _anchor(options.anchor, named)
    board = fit_leaderboard(
        named.comparisons,
        LeaderboardOptions(
            **shared_options(options),
            interval=options.interval,
            bootstrap=options.bootstrap,
            anchor=anchor,
            anchor_rating=rating,
            min_votes=options.min_votes,
            check=not options.no_check,
        ),
        progress=Progress(),
    )
    text = json.dumps(board.as_dict(named.names), indent=1, ensure_ascii=False, allow_nan=False)
    if options.json == "-":
        sys.stdout.write(text + "\n")
        return
    if options.json:
        Path(options.json).write_text(text + "\n", encoding="utf-8")
    sys.stdout.write(leaderboard_table(board, named.names) + "\n")


def _require_ends(options: argparse.Namespace) -> None:
    least = round(40 / (1 - options.confidence))
    if options.interval == "percentile" and options.bootstrap < least:
        raise BadOptionError(
            f"percentile intervals from {options.bootstrap} resamples",
            todo=f"their ends need {least:,}, or take the bootstrap interval",
        )


def _require_writable(path: Path) -> None:
    if path.is_dir() or not path.parent.is_dir():
        where = "is a folder" if path.is_dir() else "is in a folder that isn't there"
        raise BadOptionError(f"--json {path} {where}", todo="name a file, or - for standard output")


def _anchor(text: str | None, named: NamedComparisons) -> tuple[int | None, float]:
    if text is None:
        return None, 1000.0
    name, separator, rating = text.rpartition("=")
    try:
        at = float(rating)
    except ValueError:
        separator = ""
    if not separator:
        raise BadOptionError(f"anchor {text!r}", todo="write it as NAME=1000")
    return named.id_of(name), at


class Progress:
    """Says on stderr how far a long bootstrap is."""

    def __init__(self) -> None:
        self.said = time.monotonic()

    def __call__(self, done: int, of: int) -> None:
        if time.monotonic() - self.said > PROGRESS_EVERY:
            self.said = time.monotonic()
            sys.stderr.write(f"bootstrap: {done} of {of} resamples\n")
