"""How far a run is: counts straight from its rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import get_args

from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone

from arena.endpoints.models import Call
from arena.judging import ending, panel
from arena.judging.models import JudgeRun
from arena.judging.stability import Stability, stability_of, with_stability_counts


@dataclass(frozen=True)
class Progress:
    states: Mapping[str, int]
    outcomes: Mapping[str, int]
    failures: Mapping[str, int]
    attempts: int
    tokens: int
    cost_usd: Decimal | None
    seconds_left: int | None
    stability: Stability | None  # None before the first verdict, and where it isn't known

    @property
    def calls(self) -> int:
        return sum(self.states.values())

    @property
    def parsed(self) -> int:
        return self.states.get(Call.State.PARSED, 0)

    @property
    def failed(self) -> int:
        return sum(self.states.get(state, 0) for state in Call.FAILED)

    @property
    def retriable(self) -> int:
        return self.failed - sum(self.failures.get(kind, 0) for kind in ending.FOR_GOOD)

    @property
    def done(self) -> int:
        return self.parsed + self.failed

    @property
    def on_their_way(self) -> int:
        return self.states.get(Call.State.CLAIMED, 0)

    @property
    def waiting(self) -> int:
        return self.calls - self.done - self.on_their_way

    @property
    def judgments(self) -> int:
        return sum(self.outcomes.values())

    @property
    def resolved(self) -> int:
        return self.judgments - self.outcomes.get("", 0)


def read_progress(run: JudgeRun) -> Progress:
    calls = ending.rows_of(run)
    sums = run.attempts().aggregate(
        attempts=Count("pk"),
        tokens_in=Sum("tokens_in"),
        tokens_out=Sum("tokens_out"),
        cost=Sum("cost_usd"),
    )
    return Progress(
        states=_counts(calls, "call__state"),
        outcomes=_counts(run.judgments.all(), "outcome"),
        failures=_counts(calls.exclude(failure=""), "failure"),
        attempts=sums["attempts"],
        tokens=(sums["tokens_in"] or 0) + (sums["tokens_out"] or 0),
        cost_usd=sums["cost"] if sums["attempts"] else Decimal(0),
        seconds_left=_seconds_left(run, calls),
        stability=stability_of(run),
    )


def panel_counts(run: JudgeRun) -> dict[str, int]:
    """How the run's judges decided together, battle by battle; empty where it has but one judge."""
    if run.judges.count() < 2:
        return {}
    outcomes: dict[tuple[int, int], list[str]] = defaultdict(list)
    rows = run.judgments.exclude(outcome="").order_by().values_list("battle_id", "replicate", "outcome")
    for battle, replicate, outcome in rows.iterator():
        outcomes[battle, replicate].append(outcome)
    decided = Counter(panel.decide(found) for found in outcomes.values())
    return {outcome: decided[outcome] for outcome in get_args(panel.PanelOutcome)}


def _counts(rows: QuerySet, column: str) -> dict[str, int]:
    counted = rows.order_by(column).values_list(column).annotate(count=Count("pk"))
    return dict(counted)


def _seconds_left(run: JudgeRun, calls: QuerySet) -> int | None:
    """At the pace so far; None while there is none, or when nothing is to come."""
    if run.status != JudgeRun.Status.RUNNING or run.started_at is None:
        return None
    is_open = Q(call__state__in=Call.OPEN)
    counted = calls.aggregate(open=Count("pk", filter=is_open), done=Count("pk", filter=~is_open))
    if not counted["open"] or not counted["done"]:
        return None
    elapsed = (timezone.now() - run.started_at).total_seconds()
    return round(elapsed / counted["done"] * counted["open"])


def with_counts(runs: QuerySet[JudgeRun]) -> QuerySet[JudgeRun]:
    """For lists: how many judgments a run has, how many are resolved, and how stable they are."""
    return with_stability_counts(runs).annotate(
        judgment_count=Count("judgments", distinct=True),
        resolved_count=Count("judgments", filter=~Q(judgments__outcome=""), distinct=True),
    )
