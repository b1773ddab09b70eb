"""Draws the charts of the newest snapshots, in the worker: after publication, so none can cost a snapshot.

Until they are drawn the page shows the tables alone; a killed worker's charts are drawn by the next sweep.
"""

from __future__ import annotations

import logging
import sys
from importlib import import_module

import vl_convert
from django.db import transaction
from django.utils.translation import gettext as _

from arena.leaderboards.charts.chart_rows import ChartRows, rows_of
from arena.leaderboards.charts.chart_scheme import DARK, LIGHT, NothingToDrawError
from arena.leaderboards.charts.chart_specs import CHARTS, spec_of
from arena.leaderboards.charts.room import in_true_size, with_room
from arena.leaderboards.charts.undrawn import names_of, undrawn
from arena.leaderboards.fitting.elo_replay import track_of
from arena.leaderboards.models import Snapshot, SnapshotChart

PNG_SCALE = 2
TRIES = 2
LOOKED_FOR = ("pandas", "pyarrow")
"""Altair looks whether these are loaded, and takes them as whole."""

logger = logging.getLogger(__name__)


def draw_missing() -> None:
    """All charts of every leaderboard's newest snapshot that has none; one that fails leaves the others."""
    for snapshot in undrawn():
        try:
            draw(snapshot)
        except Exception:
            logger.exception("charts of snapshot %s failed", snapshot.pk)


def draw(snapshot: Snapshot) -> None:
    """Replaces the charts of a snapshot; a chart that fails says why and leaves the others alone."""
    names = names_of(snapshot)
    rows = rows_of(snapshot, track_of(snapshot))
    drawn = [draw_one(name, rows) for name in CHARTS]
    for chart in drawn:
        chart.snapshot = snapshot
        if chart.spec is not None:
            chart.spec["usermeta"] = {**chart.spec.get("usermeta", {}), "models": names}
    with transaction.atomic():
        # Of two who draw at once the later replaces what the other drew.
        Snapshot.objects.select_for_update(no_key=True).get(pk=snapshot.pk)
        snapshot.charts.all().delete()
        SnapshotChart.objects.bulk_create(drawn)


def draw_one(name: str, rows: ChartRows, tries: int = TRIES) -> SnapshotChart:
    _finish_loading()
    try:
        light, dark = (spec_of(name, rows, scheme) for scheme in (LIGHT, DARK))
        pictures = {
            "light": in_true_size(vl_convert.vegalite_to_svg(with_room(light))),
            "dark": in_true_size(vl_convert.vegalite_to_svg(with_room(dark))),
            "png": vl_convert.vegalite_to_png(light, scale=PNG_SCALE),
        }
        return SnapshotChart(name=name, spec=light, **pictures)
    except NothingToDrawError as missing:
        return SnapshotChart(name=name, failure=f"{missing}")
    except Exception:
        logger.exception("chart %s failed", name)
        if tries > 1:
            return draw_one(name, rows, tries - 1)
        return SnapshotChart(name=name, failure=_("an error of ours; the worker's log says which"))


def _finish_loading() -> None:
    """What another thread loads, for an export, is met half loaded otherwise. To load it here takes 80 MB."""
    for name in LOOKED_FOR:
        if name in sys.modules:
            import_module(name)
