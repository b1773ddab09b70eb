"""Boards of a part of the votes: made, asked for and listed by the team's researchers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods
from django.views.decorators.vary import vary_on_headers

from arena.campaigns.models import Campaign
from arena.leaderboards import tasks
from arena.leaderboards.boards import board_page
from arena.leaderboards.boards.board_list import say_votes
from arena.leaderboards.models import Leaderboard, Snapshot
from arena.leaderboards.part import KEYS, say_part, told_elsewhere
from arena.leaderboards.part_forms import PartForm
from arena.leaderboards.run_models import SnapshotRun
from arena.leaderboards.schedule import request_snapshot
from arena.leaderboards.simulated_words import simulated_in
from arena.leaderboards.understood import understands
from arena.raters import access
from arena.raters.models import Role

ENDED_WELL = (SnapshotRun.State.PUBLISHED, SnapshotRun.State.UNCHANGED)


@dataclass(frozen=True)
class Listed:
    """A board of a part in words, and as a file has it; `fields` asks for it again."""

    leaderboard: Leaderboard
    words: str
    whose: str
    snapshot: Snapshot | None
    votes: str
    simulated: str
    state: str
    reason: str
    is_open: bool
    fields: list[tuple[str, Any]]

    @property
    def values(self) -> tuple[Any, ...]:
        board, taken = self.leaderboard, self.snapshot
        part = told_elsewhere(board.part, board.campaign)
        newest = (taken.pk, taken.cutoff.isoformat()) if taken else (None, None)
        counts = (taken.counts[name] if taken else None for name in ("votes", "simulated"))
        return (
            self.words,
            *(part.get(name) for name in KEYS),
            board.slug,
            self.whose,
            *newest,
            *counts,
            self.state,
            self.reason,
        )


COLUMNS = {
    "part": "text",
    **dict.fromkeys(KEYS, "text"),
    "leaderboard": "text",
    "whose": "text",
    "snapshot": "count",
    "cutoff": "text",
    "votes": "count",
    "simulated_votes": "count",
    "state": "text",
    "reason": "text",
}


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@vary_on_headers("HX-Request")
@access.researcher_required
@understands()
def board_parts(request: HttpRequest, campaign: str) -> HttpResponseBase:
    shown, boards = own_parts(request, campaign)
    progress = board_page.progress_of(boards)
    if request.method != "POST" and request.headers.get("HX-Request"):
        return render_progress(request, {"campaign": shown, "progress": progress})
    form = PartForm(request.POST if request.method == "POST" else None, campaign=shown)
    if request.method == "POST" and form.is_valid():
        make(form)
        return redirect("board-parts", shown.slug)
    context = {
        "campaign": shown,
        "form": form,
        "parts": list_parts(boards),
        "progress": progress,
        "section": "boards",
    }
    return render(request, "leaderboards/parts.html", context, status=422 if form.is_bound else 200)


def own_parts(request: HttpRequest, slug: str) -> tuple[Campaign, QuerySet[Leaderboard]]:
    """The newest first."""
    campaign = access.get_for(Campaign.objects.all(), request.user, Role.RESEARCHER, slug=slug)
    return campaign, campaign.leaderboards.parts().select_related("judge", "campaign").order_by("-pk")


def make(form: PartForm) -> None:
    with transaction.atomic():
        pk = request_snapshot(form.save()).pk
        transaction.on_commit(lambda: tasks.compute_runs([pk]))


def render_progress(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """The bar alone, while there is one; then the whole page again."""
    response = render(request, "leaderboards/parts.html#progress", context)
    if context["progress"] is None:
        response["HX-Refresh"] = "true"
    return response


def list_parts(boards: QuerySet[Leaderboard]) -> list[Listed]:
    return [listed(board) for board in boards]


def listed(board: Leaderboard) -> Listed:
    snapshot = board.snapshots.first()
    run = board.runs.order_by("-pk").first()
    judge = board.judge
    said = [_("judge %(name)s") % {"name": judge.name} if judge else _("people")]
    if board.style_control:
        said.append(_("style-controlled"))
    source = f"judge:{judge.pk}" if judge else Leaderboard.Source.RATERS.value
    fields = [*board.part.items(), ("source", source)] + [("style_control", "on")] * board.style_control
    ended_well = run is not None and run.state in ENDED_WELL
    return Listed(
        leaderboard=board,
        words=say_part(board.part, board.campaign, judge is not None),
        whose=", ".join(said),
        snapshot=snapshot,
        votes=say_votes(snapshot) if snapshot else "",
        simulated=simulated_in(snapshot.counts).tag if snapshot else "",
        state=str(SnapshotRun.State(run.state).label) if run and not ended_well else "",
        reason=run.reason if run and not ended_well else "",
        is_open=run is not None and run.state in SnapshotRun.OPEN,
        fields=fields,
    )
