"""Snapshots and standings of an export."""

from __future__ import annotations

from arena.exchange.export_extract import CHUNK, Extract, Rows
from arena.leaderboards.boards.snapshot_cautions import cautions_in
from arena.leaderboards.models import Snapshot, Standing
from arena.leaderboards.plans.looks import looks_of

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


def snapshots(extract: Extract) -> Rows:
    rows = Snapshot.objects.filter(leaderboard__campaign=extract.campaign, taken_at__lte=extract.at)
    taken = list(rows.select_related("leaderboard__judge", "leaderboard__campaign", "plan__campaign").order_by("pk"))
    looks = looks_of(taken)
    for row in taken:
        board, look = row.leaderboard, looks.get(row.pk)
        cautions = cautions_in(row, list(row.standings.select_related("competitor"))).every
        copied = ("cutoff", "taken_at", "counts", "options", "coefficients", "warnings")
        yield {
            "snapshot": row.pk,
            "leaderboard": board.slug,
            "name": board.name,
            "subset": board.subset,
            "source": board.source,
            "judge": board.judge.name if board.judge else None,
            "style_control": board.style_control,
            **{name: getattr(row, name) for name in copied},
            "vote_digest": row.vote_digest,
            "code_version": row.code_version,
            "seed": row.seed,
            "plan": row.registered_plan.version if row.registered_plan else None,
            "look": look.kind if look else None,
            "votes_cast": look.got if look else None,
            "planned_votes": look.planned if look else None,
            "cautions": [{"code": caution.code, "text": caution.text} for caution in cautions],
        }


def standings(extract: Extract) -> Rows:
    taken = Snapshot.objects.filter(leaderboard__campaign=extract.campaign, taken_at__lte=extract.at)
    rows = Standing.objects.filter(snapshot__in=taken).select_related("competitor")
    for row in rows.order_by("snapshot", "pk").iterator(CHUNK):
        told = {name: getattr(row, name) for name in _STANDING}
        yield {"snapshot": row.snapshot_id, "model": row.competitor.name} | told
