"""Snapshots and judge cards in the background. The queue may lose or repeat a message: rows are the truth."""

import threading
from collections.abc import Iterable

from huey import crontab
from huey.contrib.djhuey import db_periodic_task, db_task

from arena.leaderboards.charts.undrawn import undrawn
from arena.leaderboards.models import SnapshotRun
from arena.leaderboards.schedule import request_due


def do_runs(runs: Iterable[SnapshotRun]) -> None:
    runs = list(runs)
    if not runs:
        return
    # Web processes import this file and never fit: scipy's second at the start is the worker's alone.
    from arena.leaderboards.fitting import snapshots
    from arena.leaderboards.fitting.sources import Round

    round_ = Round()
    for run in runs:
        snapshots.do_run(run, round_)


def draw_charts() -> None:
    if next(undrawn(), None):
        # Nor does a web process, or a worker with nothing to draw, need the 100 MB that drawing takes.
        from arena.leaderboards.charts import drawing

        drawing.draw_missing()


@db_task()
def compute_runs(pks: list[int]) -> None:
    """Duplicates find nothing to claim."""
    do_runs(SnapshotRun.objects.filter(pk__in=pks).order_by("pk"))
    draw_charts()


@db_periodic_task(crontab(minute="*"))
def sweep_snapshots() -> None:
    """Asks for what is due, takes up what a lost message or a killed worker left behind, and draws."""
    request_due()
    do_runs(SnapshotRun.objects.claimable().order_by("pk"))
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
