"""What judges were measured by, and what they said outside battles."""

from __future__ import annotations

from arena.exchange.export_extract import CHUNK, Extract, Rows, prompt_named
from arena.exchange.export_judging import attempt_told, runs_numbered
from arena.judging.calibration_models import Calibration, CalibrationLabel, Measurement
from arena.judging.models import Probe


def calibrations(extract: Extract) -> Rows:
    rows = Calibration.objects.filter(campaign=extract.campaign, created_at__lte=extract.at)
    copied = ("seed", "held_out_percent", "least_votes", "left_out", "sha256", "created_at")
    for row in rows.order_by("pk"):
        yield {"calibration": row.name} | {name: getattr(row, name) for name in copied}


def calibration_labels(extract: Extract) -> Rows:
    rows = CalibrationLabel.objects.filter(
        calibration__campaign=extract.campaign, calibration__created_at__lte=extract.at
    )
    copied = ("part", "category", "outcome", "votes", "agreeing")
    for row in rows.select_related("calibration", "battle").order_by("calibration", "pk").iterator(CHUNK):
        named = {"calibration": row.calibration.name, "battle_id": str(row.battle.public_id)}
        yield named | {name: getattr(row, name) for name in copied}


def measurements(extract: Extract) -> Rows:
    runs = runs_numbered(extract)
    rows = Measurement.objects.filter(calibration__campaign=extract.campaign, started_at__lte=extract.at)
    for row in rows.select_related("calibration", "judge", "endpoint").order_by("pk"):
        yield {
            "calibration": row.calibration.name,
            "judge": row.judge.name,
            "part": row.part,
            "run": runs[row.run_id],
            "asked_model": row.endpoint.model_id,
            "rubric_sha256": row.rubric_sha256,
            "started_at": row.started_at,
        }


def probes(extract: Extract) -> Rows:
    runs = runs_numbered(extract)
    rows = Probe.objects.filter(run__in=runs, call__created_at__lte=extract.at)
    related = ("judge", "call", "response__competitor", "response__prompt__prompt_set")
    unread = ("response__text", "response__rendered_html", "response__prompt__rendered_html")
    told = rows.select_related(*related).defer(*unread).prefetch_related("call__attempts")
    for row in told.order_by("pk").iterator(CHUNK):
        response = row.response
        no_prompt = {"prompt_set": None, "set_version": None, "prompt_id": None}
        yield {
            "run": runs[row.run_id],
            "judge": row.judge.name,
            **(prompt_named(response) if response else no_prompt),
            "model": response.competitor.name if response else None,
            "sample": response.sample if response else None,
            "state": row.call.state,
            **{name: getattr(row, name) for name in _PROBE},
            "attempts": [attempt_told(attempt) for attempt in row.call.attempts.all()],
        }


_PROBE = ("replicate", "canary", "order", "verdict", "scores", "reason", "failure")
