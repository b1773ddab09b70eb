"""Snapshots: read, fit, publish. The fit runs outside any transaction, the publication inside one.

Of several workers one computes; what it publishes is whole or not there at all, and until then, or when the
fit fails, the last snapshot stays.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from time import monotonic
from typing import Any

from django.conf import settings
from django.db import transaction

from arena.leaderboards import sentences
from arena.leaderboards.fitting import pair_weights, plain_rows
from arena.leaderboards.fitting.category_boards import CategoryBoard, category_boards
from arena.leaderboards.fitting.code_version import code_version
from arena.leaderboards.fitting.combined import CombinedRows, fit_combined
from arena.leaderboards.fitting.comparisons import BoardRows, Cutoff
from arena.leaderboards.fitting.fragile import first_hangs_on
from arena.leaderboards.fitting.make_up import make_up
from arena.leaderboards.fitting.pair_results import pair_results
from arena.leaderboards.fitting.sources import Round, cutoff_in, rows_of, rows_to_fit
from arena.leaderboards.fitting.stored_standings import STANDING_FIELDS, clear_shifts, stored_standings
from arena.leaderboards.fitting.whole_board import moves_of
from arena.leaderboards.models import (
    CategoryRating,
    Leaderboard,
    PairResult,
    Snapshot,
    SnapshotChart,
    Standing,
)
from arena.leaderboards.plans.looks import finals_of
from arena.leaderboards.plans.registration import options_of, plans_of, registered_under
from arena.leaderboards.run_models import SnapshotRun
from arena.leaderboards.schedule import request_snapshot
from arena.settled import UnsettledError
from ratings.board import POSITION, FittedBoard, check_board, fit_board
from ratings.board_options import LeaderboardOptions
from ratings.clusters import effective_clusters
from ratings.errors import NotConvergedError, NotEnoughDataError, RatingsError
from ratings.leaderboard import assemble
from ratings.standings import LeaderboardFit
from ratings.style_left_out import LeftOut

logger = logging.getLogger(__name__)

# The command line's default too, so that a downloaded file gives the same numbers there.
SEED = 0
BEAT_SECONDS = 10


class LostClaimError(Exception):
    """Another worker has taken over; this one has nothing to say any more."""


@dataclass(frozen=True)
class Computed:
    """A snapshot before it is stored, in plain data: keyword arguments of its rows.

    pairs, category_ratings, weights: kept for the newest snapshot (and pairs for the final look), and so no
    part of a replay ·
    style_left_out: which features style control leaves out, and why; its warnings say it in words.
    """

    counts: dict[str, Any]
    options: dict[str, Any]
    coefficients: list[dict[str, Any]]
    warnings: list[str]
    vote_digest: str
    standings: list[dict[str, Any]]
    pairs: list[dict[str, Any]] = field(default_factory=list)
    category_ratings: list[dict[str, Any]] = field(default_factory=list)
    weights: list[dict[str, Any]] = field(default_factory=list)
    style_left_out: tuple[LeftOut, ...] = ()

    @property
    def controls_style(self) -> bool:
        """Is any feature of style left? Who is shown first is none."""
        return any(coefficient["name"] != POSITION for coefficient in self.coefficients)

    def canonical(self) -> bytes:
        """The bytes by which two computations are compared."""
        plain = {name: getattr(self, name) for name in REPLAYED}
        plain["standings"] = sorted(self.standings, key=lambda standing: standing["competitor_id"])
        left_out = self.counts.get("left_out", {})
        lasting = {reason: count for reason, count in left_out.items() if reason not in NOT_YET}
        plain["counts"] = self.counts | {"left_out": lasting}
        return json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


# Judgments that had no verdict at the cutoff may get one later: calls that failed can be asked again.
NOT_YET = ("unresolved", "no_verdict")
REPLAYED = ("vote_digest", "options", "counts", "standings", "coefficients", "warnings")


def take_snapshot(leaderboard: Leaderboard) -> SnapshotRun:
    """Compute now, in this process; the run says how it ended."""
    run = request_snapshot(leaderboard)
    do_round([run])
    return run


def do_round(runs: Iterable[SnapshotRun]) -> None:
    """Attempts that share what is read. Somebody else's attempt is left alone.
    All are claimed before anything is read: what is asked for later waits for a round of its own.
    """
    runs, round_ = list(runs), Round()
    claimed = [run for run in runs if run.claim_it()]
    for run in runs:
        run.beside = claimed[claimed.index(run) + 1 :] if run in claimed else ()
        if run in claimed and run.beat():
            do_claimed(run, round_)
        else:
            run.refresh_from_db()


def do_claimed(run: SnapshotRun, round_: Round) -> None:
    try:
        _attempt(run, round_)
    except LostClaimError:
        run.refresh_from_db()
    except UnsettledError as error:
        logger.warning("snapshot of %s: %s", run.leaderboard.slug, error)
        run.finish(SnapshotRun.State.FAILED, sentences.say_others_write())
    except RatingsError as error:
        logger.exception("snapshot of %s failed", run.leaderboard.slug)
        run.finish(SnapshotRun.State.FAILED, str(error))
    except Exception:
        logger.exception("snapshot of %s failed", run.leaderboard.slug)
        run.finish(SnapshotRun.State.FAILED, sentences.say_unexpected())


def _attempt(run: SnapshotRun, round_: Round) -> None:
    leaderboard = run.leaderboard
    options = options_for(leaderboard)
    rows, cutoff = round_.rows_of(leaderboard)
    if not len(rows.comparisons):
        run.finish(SnapshotRun.State.NOT_ENOUGH, sentences.say_nothing(leaderboard, rows.left_out))
    elif _is_known(leaderboard, rows, options):
        run.finish(SnapshotRun.State.UNCHANGED)
    else:
        _fit_and_publish(run, rows, options, cutoff)


def _fit_and_publish(run: SnapshotRun, rows: BoardRows, options: LeaderboardOptions, cutoff: Cutoff) -> None:
    """Too little data is no failure: the run says what is missing."""
    votes = len(rows.comparisons)
    judged = run.leaderboard.is_judged
    try:
        computed = fit(rows, options, cutoff, run)
    except (NotEnoughDataError, NotConvergedError) as error:
        logger.info("snapshot of %s: too little data: %s", run.leaderboard.slug, error)
        unjudged = isinstance(rows, CombinedRows) and not len(rows.both) + len(rows.judged)
        run.finish(SnapshotRun.State.NOT_ENOUGH, sentences.say_unsettled(votes, unjudged, judged))
        return
    if options.style and not computed.controls_style:
        run.finish(
            SnapshotRun.State.NOT_ENOUGH, sentences.say_no_style(votes, computed.style_left_out, judged)
        )
        return
    publish(run, computed, cutoff, options.seed)


def options_for(leaderboard: Leaderboard) -> LeaderboardOptions:
    planned = options_of(plans_of(leaderboard).followed)
    is_combined = leaderboard.source == Leaderboard.Source.COMBINED
    return LeaderboardOptions(
        **planned | leaderboard.policies,
        style=leaderboard.style_control,
        # Neither resampled nor fitted by another engine: none has this fit.
        bootstrap=0 if is_combined else settings.BOOTSTRAP_RESAMPLES,
        check=not is_combined,
        seed=SEED,
    )


def fit(
    rows: BoardRows, options: LeaderboardOptions, cutoff: Cutoff, run: SnapshotRun | None = None
) -> Computed:
    board, fitted, more = _fitted(rows, options, run)
    if cutoff.last_judgment_id:
        more |= {"last_judgment_id": cutoff.last_judgment_id}
    categories = list(category_boards(rows, options))
    more |= first_hangs_on(rows, board, is_helped=more.get("combined", {"used": False})["used"])
    moves = moves_of(rows.whole, options)
    if moves.facts:
        more |= {"moves": moves.facts}
    more |= {
        "last_id": cutoff.last_id,
        "models_own_error": _own_errors(board),
        "pairs_nearly": any(not d.exact for d in board.pair_clusters.values()),
    }
    return Computed(
        counts=_facts(rows) | more | _findings(fitted) | clear_shifts(fitted, rows) | make_up(rows),
        options=_plain(options),
        coefficients=[asdict(coefficient) for coefficient in fitted.coefficients],
        warnings=list(fitted.warnings),
        vote_digest=rows.digest,
        standings=list(stored_standings(fitted, rows, moves)),
        pairs=pair_results(board, rows, categories),
        category_ratings=list(_category_ratings(categories, rows.competitors)),
        weights=pair_weights.rows_of(board, rows.competitors),
        style_left_out=board.left_out,
    )


def _own_errors(board: FittedBoard) -> int:
    """Models whose interval is as wide as the fit's own error; without an interval there is none so wide."""
    graph, k = board.fit.graph, len(board.order)
    bounded = ~(graph.unbounded_above | graph.unbounded_below) & (board.covariance.degrees[:k] > 0)
    return int((board.covariance.floored[:k] & bounded).sum())


def _fitted(
    rows: BoardRows, options: LeaderboardOptions, run: SnapshotRun | None
) -> tuple[FittedBoard, LeaderboardFit, dict[str, Any]]:
    """The fit, the leaderboard it gives, and what else there is to say of it."""
    if isinstance(rows, CombinedRows):
        combined = fit_combined(rows, options)
        return combined.board, combined.leaderboard, {"combined": dict(combined.facts)}
    beats = None if run is None else Heartbeat(run)
    board = fit_board(rows.comparisons, options)
    return board, assemble(board, rows.comparisons, check_board(board), beats), {}


def _category_ratings(
    categories: Sequence[CategoryBoard], competitors: Sequence[int]
) -> Iterator[dict[str, Any]]:
    for category in categories:
        for number, competitor in enumerate(competitors):
            rating, lower, upper = (
                None if values[number] != values[number] else round(float(values[number]), 6)
                for values in (category.rating, category.lower, category.upper)
            )
            if rating is not None or category.unbounded[number]:
                yield {
                    "category": category.name,
                    "competitor_id": competitor,
                    "rating": rating,
                    "lower": lower,
                    "upper": upper,
                    "battles": int(category.battles[number]),
                    "unbounded": category.unbounded[number] or "",
                }


class Heartbeat:
    """Renews the lease while a fit makes progress."""

    def __init__(self, run: SnapshotRun) -> None:
        self.run = run
        self.last = monotonic()

    def __call__(self, done: int, total: int) -> None:
        if monotonic() - self.last < BEAT_SECONDS:
            return
        self.last = monotonic()
        if not self.run.beat():
            raise LostClaimError


def publish(run: SnapshotRun, computed: Computed, cutoff: Cutoff, seed: int) -> Snapshot:
    """Snapshot, standings and the end of the run at once, or, when the claim is gone, nothing."""
    with transaction.atomic():
        snapshot = Snapshot.objects.create(
            leaderboard=run.leaderboard,
            cutoff=cutoff.at,
            counts=computed.counts,
            options=computed.options,
            coefficients=computed.coefficients,
            warnings=computed.warnings,
            vote_digest=computed.vote_digest,
            code_version=code_version(),
            seed=seed,
            plan=registered_under(run.leaderboard, cutoff.hard_at_least),
        )
        Standing.objects.bulk_create(
            Standing(snapshot=snapshot, **standing) for standing in computed.standings
        )
        _replace_derived(snapshot, computed)
        pair_weights.store(snapshot, computed.weights)
        if not run.finish(SnapshotRun.State.PUBLISHED, snapshot=snapshot):
            raise LostClaimError
    return snapshot


def _replace_derived(snapshot: Snapshot, computed: Computed) -> None:
    """Pairs and categories of the newest snapshot, and no older ones: they can be computed again. Only the
    pairs of a final look stay, for they answer the plan's question.
    """
    for model in (CategoryRating, SnapshotChart):
        model._default_manager.filter(snapshot__leaderboard=snapshot.leaderboard_id).delete()
    pairs = PairResult.objects.filter(snapshot__leaderboard=snapshot.leaderboard_id)
    pairs.exclude(snapshot__in=finals_of(snapshot.leaderboard)).delete()
    plain_rows.insert(PairResult, computed.pairs, snapshot_id=snapshot.pk)
    plain_rows.insert(CategoryRating, computed.category_ratings, snapshot_id=snapshot.pk)


def replay(snapshot: Snapshot) -> tuple[Computed, Computed]:
    """What was stored, and what the same rows give today under the stored options."""
    stored = stored_in(snapshot)
    cutoff = cutoff_in(snapshot)
    cluster = snapshot.options["cluster"]
    known = snapshot.options | {"cluster": None if cluster is None else tuple(cluster)}
    # Older snapshots of hard prompts know nothing of moves.
    read = rows_to_fit if "whole_board" in snapshot.counts else rows_of
    rows = read(snapshot.leaderboard, cutoff)
    return stored, fit(rows, LeaderboardOptions(**known), cutoff)


def keep_pairs(snapshot: Snapshot, again: Computed) -> bool:
    """Of a final look that has none, as versions left it that kept the newest snapshot's alone."""
    with transaction.atomic():
        if snapshot.pairs.exists() or snapshot.pk not in finals_of(snapshot.leaderboard):
            return False
        plain_rows.insert(PairResult, again.pairs, snapshot_id=snapshot.pk)
    return True


def stored_in(snapshot: Snapshot) -> Computed:
    return Computed(
        counts={"hard_at_least": Cutoff.hard_at_least} | snapshot.counts,  # older ones don't name it
        options=snapshot.options,
        coefficients=snapshot.coefficients,
        warnings=snapshot.warnings,
        vote_digest=snapshot.vote_digest,
        standings=list(snapshot.standings.order_by("pk").values(*STANDING_FIELDS)),
    )


def differences(stored: Computed, again: Computed) -> list[str]:
    """Which parts differ, the rows first, for other rows explain all the rest."""
    before, after = json.loads(stored.canonical()), json.loads(again.canonical())
    return [part for part in REPLAYED if before[part] != after[part]]


def _is_known(leaderboard: Leaderboard, rows: BoardRows, options: LeaderboardOptions) -> bool:
    """Is the newest snapshot of these rows, by this code, under these options?"""
    newest = leaderboard.snapshots.first()
    if newest is None:
        return False
    facts = _facts(rows)
    return (
        newest.vote_digest == rows.digest
        and newest.code_version == code_version()
        and newest.options == _plain(options)
        and newest.plan == registered_under(leaderboard, rows.counts["hard_at_least"])
        # The digest knows competitors by their numbers alone.
        and set(newest.standings.values_list("competitor_id", flat=True)) == set(rows.competitors)
        and {name: newest.counts.get(name) for name in facts} == facts
    )


def _plain(options: LeaderboardOptions) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(asdict(options), allow_nan=False))
    return plain


def _facts(rows: BoardRows) -> dict[str, Any]:
    """What the rows alone say."""
    comparisons = rows.comparisons
    whole = {} if rows.whole is None else {"whole_board": rows.whole.facts}
    return (
        dict(rows.counts)
        | whole
        | {
            "left_out": dict(rows.left_out),
            "length_unit": rows.length_unit,
            "effective_raters": _effective(comparisons.rater),
            "effective_prompts": _effective(comparisons.prompt),
        }
    )


def _effective(labels: Any) -> float | None:
    return None if labels is None else round(effective_clusters(labels), 6)


def _findings(fitted: LeaderboardFit) -> dict[str, Any]:
    """What the fit says about the board as a whole."""
    return {
        "competitors": len(fitted.standings),
        "components": fitted.n_components,
        "counted": fitted.n_votes,
        "dropped": fitted.n_dropped,
        "effective_clusters": fitted.effective_clusters,
        "design_effect": fitted.design_effect,
        "interval_method": fitted.method,
        "estimand": fitted.estimand,
        "tie_odds": fitted.tie_odds,
        "policy_moves": [asdict(move) for move in fitted.policy_moves],
        "check": None if fitted.check is None else asdict(fitted.check),
    }
