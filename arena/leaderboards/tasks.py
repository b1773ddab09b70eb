"""Snapshots and judge cards in the background. The queue may lose or repeat a message: rows are the truth."""

import threading
from collections.abc import Iterable
from itertools import groupby

from huey import crontab
from huey.contrib.djhuey import db_periodic_task, db_task

from arena.leaderboards.charts.undrawn import undrawn
from arena.leaderboards.run_models import SnapshotRun
from arena.leaderboards.schedule import request_due


def do_runs(runs: Iterable[SnapshotRun]) -> None:
    """A round for each campaign: boards of one are computed from the same votes."""
    runs = list(runs)
    if not runs:
        return
    # Web processes import this file and never fit: scipy's second at the start is the worker's alone.
    from arena.leaderboards.fitting import snapshots

    for _campaign, round_ in groupby(runs, lambda run: run.leaderboard.campaign_id):
        snapshots.do_round(round_)


def draw_charts() -> None:
    if next(undrawn(), None):
        # Nor does a web process, or a worker with nothing to draw, need the 100 MB that drawing takes.
        from arena.leaderboards.charts import drawing

        drawing.draw_missing()


@db_task()
def compute_runs(pks: list[int]) -> None:
    """Duplicates find nothing to claim."""
    do_runs(SnapshotRun.objects.filter(pk__in=pks).select_related("leaderboard").order_by("pk"))
    draw_charts()


@db_periodic_task(crontab(minute="*"))
def sweep_snapshots() -> None:
    """Asks for what is due, takes up what a lost message or a killed worker left behind, and draws."""
    request_due()
    do_runs(SnapshotRun.objects.claimable().select_related("leaderboard").order_by("pk"))
    draw_charts()


_carding = threading.Lock()


@db_periodic_task(crontab(minute="*"))
def sweep_judge_cards() -> None:
    """Computes the cards and figures of runs that are due; the sweep before may still be at it."""
    from arena.leaderboards.agreement import campaign_agreement, judge_card, judge_run_figures

    if _carding.acquire(blocking=False):
        try:
            judge_card.compute_due()
            judge_run_figures.compute_due()
            campaign_agreement.compute_due()
        finally:
            _carding.release()
