"""`python -m ratings plan`: how many votes a difference needs, and what a number of votes can show."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from ratings.board import FittedBoard, fit_board
from ratings.board_options import LeaderboardOptions
from ratings.command_fit import add_board_options, read_board, shared_options
from ratings.compare import contrast_of, effective_clusters_of, require_comparable, shares_of
from ratings.errors import BadOptionError, NotEnoughDataError
from ratings.planner import (
    Detectable,
    Need,
    direct_votes_needed,
    minimum_detectable,
    new_raters_needed,
    votes_to_separate,
)
from ratings.scale import POINTS_PER_LOG_ODDS

LEAST_CLUSTERS = 2.0
OF_BOARDS = ("style", "style_transform", "cluster", "ties", "both_bad", "unstable", "position", "seed")


def add_arguments(commands: Any) -> None:
    """The `plan` command and its options."""
    plan = commands.add_parser("plan", help="plan an evaluation", description=__doc__)
    plan.add_argument("--difference", type=float, metavar="POINTS", help="the difference that matters")
    plan.add_argument("--votes-on-pair", type=int, metavar="N", help="votes you have; what can they show?")
    plan.add_argument(
        "--tie-share", type=float, default=0.0, help="of votes that are ties, half a win each (0)"
    )
    plan.add_argument("--power", type=float, default=0.8, help="chance to find the difference (0.8)")
    plan.add_argument("--pairs", type=int, default=1, help="tests that share the error (1)")
    plan.add_argument(
        "--design-effect",
        type=float,
        help="of the lone pair, where votes cluster (1); a board brings its own",
    )
    plan.add_argument("--votes", type=Path, help="a board to start from: raters and direct votes to add")
    plan.add_argument("--between", nargs=2, metavar=("A", "B"), help="two competitors of that board")
    plan.add_argument("--json", action="store_true", help="print JSON instead of words")
    board = plan.add_argument_group("how the board is fitted (only with --votes; --confidence always)")
    add_board_options(board)
    plan.set_defaults(run=run, untouched={name: plan.get_default(name) for name in OF_BOARDS})


def run(options: argparse.Namespace) -> None:
    """Answer what was asked."""
    if options.difference is None and options.votes_on_pair is None:
        raise BadOptionError("nothing to plan", todo="give --difference POINTS or --votes-on-pair N")
    if (options.votes is None) != (options.between is None):
        raise BadOptionError("--votes and --between belong together", todo="give both or neither")
    _require_heeded(options)
    answers = _general(options)
    if options.votes is not None:
        if options.difference is None:
            raise BadOptionError("a board to plan on, but no difference", todo="give --difference POINTS")
        answers |= _on_board(options)
    if options.json:
        data = {name: asdict(answer) for name, answer in answers.items()}
        sys.stdout.write(json.dumps(data, indent=1, allow_nan=False) + "\n")
        return
    sys.stdout.write("\n".join(_line(name, answer) for name, answer in answers.items()) + "\n")


def _require_heeded(options: argparse.Namespace) -> None:
    """No option without an effect, and the same bounds as of a board."""
    LeaderboardOptions(confidence=options.confidence)
    if options.votes is not None and options.design_effect is not None:
        raise BadOptionError("--design-effect beside --votes", todo="leave it out: the board brings its own")
    given = [name for name, default in options.untouched.items() if getattr(options, name) != default]
    if options.votes is None and given:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise BadOptionError(f"{named} without a board", todo="give --votes and --between, or leave it out")


def _shared(options: argparse.Namespace) -> dict[str, Any]:
    return {"confidence": options.confidence, "power": options.power, "comparisons": options.pairs}


def _general(options: argparse.Namespace) -> dict[str, Need | Detectable]:
    answers: dict[str, Need | Detectable] = {}
    effect = 1.0 if options.design_effect is None else options.design_effect
    shared = _shared(options) | {"design_effect": effect, "tie_share": options.tie_share}
    if options.difference is not None:
        answers["two competitors alone"] = votes_to_separate(options.difference, **shared)
    if options.votes_on_pair is not None:
        answers["smallest difference found"] = minimum_detectable(options.votes_on_pair, **shared)
    return answers


def _on_board(options: argparse.Namespace) -> dict[str, Need | Detectable]:
    named = read_board(options)
    board = fit_board(named.comparisons, LeaderboardOptions(**shared_options(options), bootstrap=0))
    i, j = (int(np.flatnonzero(board.order == named.id_of(name))[0]) for name in options.between)
    require_comparable(board, i, j)
    contrast = contrast_of(board, i, j)
    if effective_clusters_of(board, contrast) < LEAST_CLUSTERS:
        raise NotEnoughDataError(
            f"{options.votes}: too few raters or prompts speak about {' and '.join(options.between)}",
            todo="collect votes by more of them, or plan without --votes",
        )
    error = POINTS_PER_LOG_ODDS * board.covariance.deviation(contrast)
    model = POINTS_PER_LOG_ODDS * float(np.sqrt(contrast @ board.fit.bread @ contrast))
    effective = effective_clusters_of(board, contrast)
    need = direct_votes_needed(
        options.difference,
        model_error=model,
        design_effect=(error / model) ** 2,
        lasting_error=POINTS_PER_LOG_ODDS * float(board.covariance.deviations_of_same_voters[i, j]),
        effective=effective,
        **_shared(options),
    )
    same = {"rater": "by the same raters", "prompt": "on the same prompts"}
    if board.covariance.dimensions:
        voters = " ".join(same[d.name] for d in board.covariance.dimensions)
        need = replace(need, of=f"votes {voters}")
    answers: dict[str, Need | Detectable] = {"more votes on this pair": need}
    return {**answers, **_more_raters(board, i, j, error, options)}


def _more_raters(
    board: FittedBoard, i: int, j: int, error: float, options: argparse.Namespace
) -> dict[str, Need | Detectable]:
    needs: dict[str, Need | Detectable] = {}
    for share in shares_of(board, np.array([i]), np.array([j])):
        need = new_raters_needed(
            options.difference,
            standard_error=error,
            raters=share.count,
            lasting_error=float(share.lasting_error[0]),
            effective=float(share.effective[0]),
            lasting_effective=float(share.lasting_effective[0]),
            **_shared(options),
        )
        needs[f"more {share.name}s as active as the present ones"] = replace(need, of=f"new {share.name}s")
    return needs


def _line(name: str, answer: Need | Detectable) -> str:
    if isinstance(answer, Need):
        return f"{answer.points:g} points, {name}: {answer}"
    if answer.points is None:
        return f"{answer.votes} votes on a pair show no difference, however large"
    words = f"{name} by {answer.votes} votes on a pair: {answer.points:.1f} points"
    return f"{words}, an expected score of {answer.expected_score:.1%}"
