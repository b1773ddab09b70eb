"""Snapshots and standings of an export."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.db.models import Prefetch, prefetch_related_objects

from arena.exchange.export_extract import CHUNK, Extract, Rows
from arena.leaderboards.boards.renamed_models import know_renames
from arena.leaderboards.boards.snapshot_cautions import cautions_in
from arena.leaderboards.models import Leaderboard, Snapshot, Standing
from arena.leaderboards.plans.looks import know_looks
from arena.leaderboards.plans.registration import Plans, plans_of
from arena.leaderboards.snapshot_counts import counts_of

_STANDING = (
    "rating",
    "lower",
    "upper",
    "bootstrap_lower",
    "bootstrap_upper",
    "standard_error",
    "rank_lower",
    "rank_upper",
    "tied_first",
    "component",
    "battles",
    "wins",
    "losses",
    "ties",
    "both_bad",
    "usable",
    "flags",
    "shift",
    "shift_lower",
    "shift_upper",
    "move",
    "move_lower",
    "move_upper",
)


AT_ONCE = 50  # snapshots whose standings are held


def snapshots(extract: Extract) -> Rows:
    rows = Snapshot.objects.filter(leaderboard__campaign=extract.campaign, taken_at__lte=extract.at)
    rows = rows.select_related("leaderboard__judge", "leaderboard__campaign", "plan__campaign")
    taken = list(rows.order_by("pk"))
    boards: dict[int, Leaderboard] = {}
    for row in taken:  # what is read of a board, and of its campaign, is read once
        row.leaderboard = boards.setdefault(row.leaderboard_id, row.leaderboard)
        row.leaderboard.campaign = extract.campaign
    know_looks(taken)
    for row, standings, plans in _told_at_once(taken):
        board, look, plan = row.leaderboard, row.known_look or None, row.registered_plan
        cautions = cautions_in(row, standings, plans).every
        copied = ("cutoff", "taken_at", "options", "coefficients", "warnings")
        yield {
            "snapshot": row.pk,
            "leaderboard": board.slug,
            "name": board.name,
            "subset": board.subset,
            "source": board.source,
            "judge": board.judge.name if board.judge else None,
            "style_control": board.style_control,
            **{name: getattr(row, name) for name in copied},
            "counts": counts_of(row),
            "vote_digest": row.vote_digest,
            "code_version": row.code_version,
            "seed": row.seed,
            "plan": plan.version if plan else None,
            "look": look.kind if look else None,
            "votes_cast": look.got if look else None,
            "planned_votes": look.planned if look else None,
            "cautions": [{"code": caution.code, "text": caution.text} for caution in cautions],
        }


def _told_at_once(taken: Sequence[Snapshot]) -> Iterator[tuple[Snapshot, list[Standing], Plans]]:
    """Each with its standings, read for several at once, and its board's plans, asked for once."""
    plans: dict[tuple[object, ...], Plans] = {}
    for start in range(0, len(taken), AT_ONCE):
        chunk = taken[start : start + AT_ONCE]
        know_renames(chunk)
        prefetch_related_objects(chunk, Prefetch("standings", Standing.objects.as_listed()))
        for row in chunk:
            key = row.leaderboard.source, row.leaderboard.judge_id, row.plan_id
            if key not in plans:
                plans[key] = plans_of(row.leaderboard, [row])
            yield row, list(row.standings.all()), plans[key]
            # The row stays in the list of all: what was read for it doesn't.
            vars(row).pop("_prefetched_objects_cache", None)


def standings(extract: Extract) -> Rows:
    taken = Snapshot.objects.filter(leaderboard__campaign=extract.campaign, taken_at__lte=extract.at)
    rows = Standing.objects.filter(snapshot__in=taken).select_related("competitor")
    for row in rows.order_by("snapshot", "pk").iterator(CHUNK):
        told = {name: getattr(row, name) for name in _STANDING}
        yield {"snapshot": row.snapshot_id, "model": row.competitor.name} | told
