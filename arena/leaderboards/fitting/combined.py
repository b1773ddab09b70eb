"""The board of people and a judge together: what people say, with the judge's help (PPI++), never pooled.

A vote and a verdict belong together when they are about the same prompt and the same two responses. Where
they can't be combined, the board is people's alone and says why.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.leaderboards.fitting import comparisons as rows_of_boards
from arena.leaderboards.fitting.comparisons import UNKNOWN, BoardRows, Columns, Cutoff
from arena.leaderboards.fitting.prompt_texts import prompt_clusters
from arena.leaderboards.fitting.row_digest import digest
from arena.leaderboards.models import Leaderboard
from ratings.board import FittedBoard, check_board, fit_board
from ratings.board_options import LeaderboardOptions
from ratings.combined_board import CombinedBoard, fit_combined_leaderboard
from ratings.comparisons import SWAPPED, Comparisons
from ratings.errors import BadOptionError
from ratings.leaderboard import assemble
from ratings.prediction_powered import RefusedError
from ratings.standings import LeaderboardFit

Source = Leaderboard.Source


@dataclass(frozen=True, eq=False)
class CombinedRows(BoardRows):
    """People's rows as any board has them, and what the judge says.

    both: rows (m,) of `comparisons` on whose pair there is a verdict, `verdict` (m,) its outcome in the
    row's sides · judged: what the judge says on pairs without a vote.
    """

    both: NDArray[np.int64]
    verdict: NDArray[np.int64]
    judged: Comparisons
    helper: str = "the judge"


@dataclass(frozen=True, eq=False)
class CombinedFit:
    """`facts` goes into the snapshot's counts: whether the judge was used, how far, or why not."""

    board: FittedBoard
    leaderboard: LeaderboardFit
    facts: Mapping[str, Any]


def read_combined(leaderboard: Leaderboard, cutoff: Cutoff) -> CombinedRows:
    people = rows_of_boards.read_columns(_as(leaderboard, Source.RATERS), cutoff)
    judge_source = Source.PANEL if leaderboard.judge_id is None else Source.JUDGE
    judged_cutoff = replace(cutoff, last_id=cutoff.last_judgment_id)
    judge = rows_of_boards.read_columns(_as(leaderboard, judge_source), judged_cutoff)
    votes, verdicts = people.columns, _with_texts(judge.columns)
    key_of_votes, key_of_verdicts = _keys(votes), _keys(verdicts)
    # Of several verdicts on a pair the latest counts.
    keys, last = np.unique(key_of_verdicts[::-1], return_index=True)
    chosen = len(key_of_verdicts) - 1 - last
    place = np.minimum(np.searchsorted(keys, key_of_votes), max(len(keys) - 1, 0))
    matched = (keys[place] == key_of_votes) if len(keys) else np.zeros(len(key_of_votes), dtype=bool)
    matched &= key_of_votes != UNKNOWN
    both = np.flatnonzero(matched)
    verdict = _turned(verdicts, chosen[place[both]], votes, both)
    further = np.sort(chosen[~np.isin(keys, key_of_votes)])
    rest = {name: column[further] for name, column in verdicts.items()}
    return _assembled(leaderboard, people, rest, both, verdict)


def _as(leaderboard: Leaderboard, source: str) -> Leaderboard:
    """The board of one of the two alone; not stored."""
    return Leaderboard(
        campaign_id=leaderboard.campaign_id,
        slug=leaderboard.slug,
        subset=leaderboard.subset,
        source=source,
        judge_id=leaderboard.judge_id if source == Source.JUDGE else None,
        policies=leaderboard.policies,
        part=leaderboard.part,
    )


def _with_texts(columns: Columns) -> Columns:
    known = (columns["response_a"] != UNKNOWN) & (columns["response_b"] != UNKNOWN)
    order = np.lexsort((columns["pk"][known],))
    return {name: column[known][order] for name, column in columns.items()}


def _keys(columns: Columns) -> NDArray[np.int64]:
    """One number for each unordered pair of responses, which also tells the prompt."""
    low = np.minimum(columns["response_a"], columns["response_b"])
    high = np.maximum(columns["response_a"], columns["response_b"])
    if len(high) and high.max() >= 2**31:
        raise OverflowError("ids of responses beyond 2^31 can't be joined to pairs this way")
    key: NDArray[np.int64] = (low << 32) | high
    return np.where(low == UNKNOWN, UNKNOWN, key)


def _turned(
    verdicts: Columns, chosen: NDArray[np.int64], votes: Columns, both: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The verdicts' outcomes in the sides of the votes."""
    outcome = verdicts["outcome"][chosen]
    same = verdicts["response_a"][chosen] == votes["response_a"][both]
    return np.where(same, outcome, SWAPPED[outcome].astype(np.int64))


def _assembled(
    leaderboard: Leaderboard,
    people: rows_of_boards.Read,
    rest: Columns,
    both: NDArray[np.int64],
    verdict: NDArray[np.int64],
) -> CombinedRows:
    rows = rows_of_boards.assemble(_as(leaderboard, Source.RATERS), people)
    known = np.array(rows.competitors, dtype=np.int64)
    about_known = np.isin(rest["a"], known) & np.isin(rest["b"], known)
    rest = {name: column[about_known] for name, column in rest.items()}
    prompts = prompt_clusters(np.concatenate([people.columns["prompt"], rest["prompt"]]))
    n = len(rows.comparisons)
    judged = Comparisons.of(
        max(len(known), 1),
        np.searchsorted(known, rest["a"]),
        np.searchsorted(known, rest["b"]),
        rest["outcome"],
        prompt=None if prompts is None else prompts[n:],
    )
    voted = replace(rows.comparisons, prompt=None if prompts is None else prompts[:n].astype(np.int32))
    counts = dict(rows.counts) | {"judged_votes": len(both), "further_verdicts": len(judged)}
    values = {name: getattr(rows, name) for name in BoardRows.__dataclass_fields__}
    return CombinedRows(
        **values
        | {"comparisons": voted, "counts": counts, "digest": _digest(rows.digest, both, verdict, judged)},
        both=both,
        verdict=verdict,
        judged=judged,
        helper="the judge" if leaderboard.judge_id else "the panel of judges",
    )


def _digest(people: str, both: NDArray[np.int64], verdict: NDArray[np.int64], judged: Comparisons) -> str:
    sha = hashlib.sha256(f"people:{people}\njudge:{digest(judged)}\n".encode())
    for column in (both, verdict):
        sha.update(column.astype("<i8").tobytes())
    return sha.hexdigest()


def fit_combined(rows: CombinedRows, options: LeaderboardOptions) -> CombinedFit:
    """Combined where that is allowed and tells more than people's votes alone; else people's, with why."""
    people = rows.comparisons.select(_mask(rows))
    reasons: tuple[str, ...]
    refused = True
    try:
        combined = _combine(people, rows, options)
    except RefusedError as error:
        reasons = error.reasons
    except BadOptionError as error:
        reasons = (error.what,)
    else:
        if combined.helps and combined.effective_votes > len(rows.comparisons):
            facts = {
                "used": True,
                "lam": round(combined.lam, 6),
                "effective_votes": round(combined.effective_votes, 2),
                "gain": round(combined.effective_votes / len(rows.comparisons) - 1, 6),
                "narrower": round(combined.narrower, 6),
                "p_help": round(combined.p_help, 6),
                "judged": combined.judged,
            }
            return CombinedFit(combined.board, combined.leaderboard, facts)
        refused = False
        reasons = (_why_not(combined, len(rows.comparisons)),)
    return _people_alone(rows, options, reasons, refused=refused)


def _why_not(combined: CombinedBoard, votes: int) -> str:
    if not combined.helps:
        return f"on the votes it knows its help can't be told from chance (p = {combined.p_help:.2g})"
    worth = f"{combined.effective_votes:.0f} of {votes}"
    return f"with the judge's help the votes it knows are worth no more than {worth} votes"


def _mask(rows: CombinedRows) -> NDArray[np.bool_]:
    mask = np.zeros(len(rows.comparisons), dtype=bool)
    mask[rows.both] = True
    return mask


def _combine(people: Comparisons, rows: CombinedRows, options: LeaderboardOptions) -> CombinedBoard:
    """As the pairs were drawn or, where the judge's mix of pairs is another, weighted to people's."""
    try:
        return fit_combined_leaderboard(people, rows.verdict, rows.judged, options)
    except RefusedError as error:
        if len(error.reasons) != 1 or "match_pairs" not in error.reasons[0]:
            raise
        return fit_combined_leaderboard(people, rows.verdict, rows.judged, options, match_pairs=True)


def _people_alone(
    rows: CombinedRows, options: LeaderboardOptions, reasons: tuple[str, ...], *, refused: bool
) -> CombinedFit:
    """`refused`: the judge can't be used; otherwise it could be, and doesn't help."""
    # No engine of others combines a judge with people; people alone are checked as on their own board.
    board = fit_board(rows.comparisons, replace(options, check=True))
    fitted = assemble(board, rows.comparisons, check_board(board), None)
    why = "can't be used" if refused else "doesn't help"
    told = "; ".join(reasons).replace("the judge", rows.helper)
    why = f"People's votes alone, for {rows.helper} {why}: {told}."
    fitted = replace(fitted, warnings=(why, *fitted.warnings))
    return CombinedFit(board, fitted, {"used": False, "refused": refused, "reasons": list(reasons)})
