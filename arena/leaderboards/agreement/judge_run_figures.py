"""What a run of a calibration, or of several wordings of a rubric, came to. Computed by the worker."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from typing import Any

import numpy as np
from django.db.models import Count, Max, Q
from django.utils import timezone

from arena.judging.calibration import LEAST_WORDINGS, wordings_of
from arena.judging.calibration_models import Measurement
from arena.judging.models import Judge, JudgeRun
from arena.leaderboards.agreement import judge_figures
from arena.leaderboards.agreement import judged_battles as read
from arena.leaderboards.agreement.card_models import RunFigures
from arena.leaderboards.agreement.judge_agreement import SIDES, Row, compare
from arena.leaderboards.agreement.judge_figures import Plain, fold, plain_mean, share_of
from arena.leaderboards.agreement.judged_battles import Finding
from arena.leaderboards.fitting.code_version import code_version
from ratings.clustered_fleiss import clustered_fleiss
from ratings.comparisons import MODEL_A, MODEL_B, TIE
from ratings.errors import BadValueError
from ratings.judges import NO_VERDICT
from ratings.proportions import clustered_mean

logger = logging.getLogger(__name__)

_CODES = {"model_a": MODEL_A, "model_b": MODEL_B, "tie": TIE}
_CATEGORIES = 3


def compute_due() -> int:
    """Compute what is due; how many that was. A run that fails is logged and holds up no other."""
    computed = 0
    for run in _candidates():
        newest = _newest(run)
        if newest is None or _is_known(run, newest):
            continue
        try:
            compute(run, newest)
            computed += 1
        except Exception:
            logger.exception("the figures of judge run %s failed", run.pk)
    return computed


def _candidates() -> Iterator[JudgeRun]:
    """Runs that have come to their end: of calibrations, and of three or more judges."""
    ended = JudgeRun.objects.exclude(status__in=JudgeRun.OPEN).filter(kind=JudgeRun.Kind.ASKED)
    several = ended.annotate(judge_count=Count("judges", distinct=True))
    wanted = several.filter(Q(measurement__isnull=False) | Q(judge_count__gte=LEAST_WORDINGS))
    yield from wanted.order_by("pk")


def _newest(run: JudgeRun) -> datetime | None:
    newest: datetime | None = run.judgments.aggregate(at=Max("resolved_at"))["at"]
    return newest


def _is_known(run: JudgeRun, newest: datetime) -> bool:
    known = RunFigures.objects.filter(run=run).first()
    return known is not None and known.newest == newest and known.code_version == code_version()


def compute(run: JudgeRun, newest: datetime) -> RunFigures:
    measurement = Measurement.objects.filter(run=run).select_related("calibration", "judge").first()
    wordings = wordings_of(run)
    stored, _made = RunFigures.objects.update_or_create(
        run=run,
        defaults={
            "figures": {
                "labels": label_figures(measurement) if measurement else None,
                "wordings": wording_figures(run, wordings) if wordings else None,
            },
            "newest": newest,
            "code_version": code_version(),
            "computed_at": timezone.now(),
        },
    )
    return stored


@dataclass(frozen=True)
class _Label:
    category: str
    outcome: int


def label_figures(measurement: Measurement) -> Plain:
    """Agreement with the labels, by category too, and what the two orders said of it."""
    labels = _labels(measurement)
    findings = _findings(measurement.run, measurement.judge)
    asked = read.read_asked(measurement.calibration.campaign, measurement.judge)
    rows, clusters = list(_beside(labels, findings)), judge_figures.clusters_in(findings)
    categories = sorted({labels[f.battle].category for f in findings if f.battle in labels})
    return {
        "labels": len(labels),
        "decided": len(rows),
        "agreement": compare(rows, clusters),
        "categories": [
            {"category": name, "agreement": compare(list(_beside(labels, findings, name)), clusters)}
            for name in categories
        ],
        "swap": judge_figures.swap_figures(findings, asked),
        "gain": _gain(measurement, labels, findings),
    }


def _labels(measurement: Measurement) -> dict[int, _Label]:
    """By battle, told from the response with the lower id as findings are."""
    rows = measurement.calibration.labels.filter(part=measurement.part)
    sides = ("battle__response_a_id", "battle__response_b_id")
    found: dict[int, _Label] = {}
    for battle, category, outcome, a, b in rows.values_list("battle", "category", "outcome", *sides):
        code = _CODES[outcome]
        found[battle] = _Label(category, code if a < b else read.turn(code))
    return found


def _findings(run: JudgeRun, judge: Judge) -> list[Finding]:
    mine = set(run.judgments.filter(judge=judge).values_list("pk", flat=True))
    return [f for f in read.read_findings(run.campaign, [judge.pk]) if f.pk in mine]


def _beside(
    labels: Mapping[int, _Label], findings: Sequence[Finding], category: str | None = None
) -> Iterator[Row]:
    for f in findings:
        label = labels.get(f.battle)
        if label is None or f.pair is None or f.outcome == NO_VERDICT:
            continue
        if category is None or label.category == category:
            yield f.pair, fold(f.outcome), label.outcome


def _gain(
    measurement: Measurement, labels: Mapping[int, _Label], findings: Sequence[Finding]
) -> Plain | None:
    """What this measurement agrees more than the first one of its part, on the battles that both decided."""
    of_part = measurement.calibration.measurements.filter(part=measurement.part)
    first = of_part.select_related("run__campaign", "judge").order_by("pk").first()
    if first is None or first.pk == measurement.pk:
        return None
    before = {f.battle: fold(f.outcome) for f in _findings(first.run, first.judge) if f.outcome != NO_VERDICT}
    rows = [
        (f.cluster, (fold(f.outcome) == label.outcome) - (before[f.battle] == label.outcome))
        for f in findings
        if f.outcome != NO_VERDICT and f.battle in before and (label := labels.get(f.battle))
    ]
    if not rows:
        return None
    mean = clustered_mean([gain for _, gain in rows], [cluster for cluster, _ in rows])
    return plain_mean(mean) | {"first": first.pk}


def wording_figures(run: JudgeRun, judges: Sequence[Judge]) -> Plain | None:
    """Kappa and flips between wordings, on the battles that all of them decided; None without one."""
    by_judge = [_decided(run, judge) for judge in judges]
    battles = sorted(set.intersection(*(set(found) for found in by_judge)))
    if not battles:
        return None
    codes = np.array([[found[battle][0] for found in by_judge] for battle in battles])
    clusters = np.array([by_judge[0][battle][1] for battle in battles])
    return {
        "wordings": [
            {"judge": judge.pk, "name": judge.name, "rubric": str(judge.rubric)} for judge in judges
        ],
        "battles": len(battles),
        "kappa": _fleiss(codes, clusters),
        "flips": share_of(codes.min(axis=1) != codes.max(axis=1), clusters),
        "pairs": [
            {
                "names": [judges[i].name, judges[j].name],
                "same": share_of(codes[:, i] == codes[:, j], clusters),
            }
            for i, j in combinations(range(len(judges)), 2)
        ],
    }


def _decided(run: JudgeRun, judge: Judge) -> dict[int, tuple[int, int]]:
    """Finding and cluster by battle; an unstable tie is a tie here."""
    found = (f for f in _findings(run, judge) if f.outcome != NO_VERDICT)
    return {f.battle: (fold(f.outcome), f.cluster) for f in found}


def _fleiss(codes: np.ndarray, clusters: np.ndarray) -> Plain | None:
    """None where every wording always says the same one thing: nothing is left beyond chance."""
    try:
        found: Any = clustered_fleiss(codes, _CATEGORIES, clusters, sides=SIDES)
    except BadValueError:
        return None
    return {name: getattr(found, name) for name in ("estimate", "lower", "upper", "n", "clusters")}
