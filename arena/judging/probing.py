"""Runs of probes: responses scored by themselves, and canaries. Their rows, and what they came to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import fmean

from django.db import transaction
from django.utils import timezone

from arena.battles.models import Battle
from arena.campaigns.models import Campaign
from arena.corpus.leak_checks import Shown
from arena.corpus.models import Response
from arena.endpoints.models import Call
from arena.judging import canaries
from arena.judging.call_keys import key_of_probe
from arena.judging.choosing import CannotPlanError, Entry, NewPair
from arena.judging.errands import single_case, takes_one_response
from arena.judging.models import Judge, JudgeRun, Probe, criteria_of
from arena.judging.planning import check_judges
from arena.judging.prompting import Case
from arena.judging.swap import ORDERS

_CHUNK = 200


def responses_of(entries: Sequence[Entry]) -> list[int]:
    """Every response of these battles once, in the order in which they come."""
    known = [entry for entry in entries if isinstance(entry, int)]
    sides: dict[int, tuple[int | None, int | None]] = {}
    for start in range(0, len(known), _CHUNK):
        rows = Battle.objects.filter(pk__in=known[start : start + _CHUNK])
        sides |= {pk: (a, b) for pk, a, b in rows.values_list("pk", "response_a", "response_b")}
    found: dict[int, None] = {}
    for entry in entries:
        pair = (entry.response_a, entry.response_b) if isinstance(entry, NewPair) else sides[entry]
        found |= {response: None for response in pair if response is not None}
    return list(found)


def plan_scores(
    campaign: Campaign,
    judges: Sequence[Judge],
    responses: Sequence[int],
    *,
    budget_usd: Decimal | None = None,
    max_calls: int | None = None,
    seed: int = 0,
) -> JudgeRun:
    """A queued run in which each judge scores each response once, by itself."""
    check_judges(judges, budget_usd)
    if not responses:
        raise CannotPlanError("there is no response to score")
    pairwise = [judge.name for judge in judges if not takes_one_response(judge)]
    if pairwise:
        raise CannotPlanError(f"{', '.join(pairwise)} compares two responses and can't score one by itself")
    run = _paused(campaign, judges, JudgeRun.Kind.SCORES, budget_usd, max_calls, seed)
    shown = Shown(campaign.leak_policy)
    for start in range(0, len(responses), _CHUNK):
        rows = Response.objects.filter(pk__in=responses[start : start + _CHUNK]).select_related("prompt")
        for judge in judges:
            cases = [(Probe(run=run, judge=judge, response=row), single_case(row, shown)) for row in rows]
            _plan(judge, cases)
    return _queued(run)


def plan_canaries(campaign: Campaign, judge: Judge, *, budget_usd: Decimal | None = None) -> JudgeRun:
    """A queued run in which the judge meets every canary in both orders."""
    check_judges([judge], budget_usd)
    if takes_one_response(judge):
        raise CannotPlanError(f"{judge.name} scores one response by itself: canaries are pairs")
    run = _paused(campaign, [judge], JudgeRun.Kind.CANARY, budget_usd, None, 0)
    cases = [
        (Probe(run=run, judge=judge, canary=canary.name, order=order), canary.case(order))
        for canary in canaries.CANARIES
        for order in ORDERS
    ]
    _plan(judge, cases)
    return _queued(run)


def _paused(
    campaign: Campaign,
    judges: Sequence[Judge],
    kind: str,
    budget_usd: Decimal | None,
    max_calls: int | None,
    seed: int,
) -> JudgeRun:
    run = JudgeRun.objects.create(
        campaign=campaign,
        kind=kind,
        budget_usd=budget_usd,
        max_calls=max_calls,
        seed=seed,
        status=JudgeRun.Status.PAUSED,
        status_reason=JudgeRun.BEING_PLANNED,
    )
    run.judges.set(judges)
    return run


def _queued(run: JudgeRun) -> JudgeRun:
    run.resume()
    run.refresh_from_db()
    return run


def _plan(judge: Judge, cases: Sequence[tuple[Probe, Case]]) -> None:
    endpoint = judge.endpoint
    assert endpoint  # noqa: S101
    with transaction.atomic():
        calls = Call.objects.bulk_create(
            Call(
                key=key_of_probe(judge, endpoint, probe, case),
                endpoint_id=judge.endpoint_id,
                created_at=timezone.now(),
            )
            for probe, case in cases
        )
        for (probe, _), call in zip(cases, calls, strict=True):
            probe.call = call
        Probe.objects.bulk_create(probe for probe, _ in cases)


@dataclass(frozen=True)
class ScoreRow:
    """A competitor's means under one judge: the mean of all its criteria, then each criterion's."""

    judge: str
    competitor: str
    n: int
    mean: float
    criteria: tuple[tuple[str, float], ...]

    @property
    def values(self) -> list[tuple[str, str, str | None, float, int]]:
        """Of a file, a row for every mean; that of all criteria names none."""
        means = ((None, self.mean), *self.criteria)
        return [(self.competitor, self.judge, criterion, mean, self.n) for criterion, mean in means]


SCORES = {"model": "text", "judge": "text", "criterion": "text", "mean": "number", "n": "count"}


def score_rows(run: JudgeRun) -> list[ScoreRow]:
    """Descriptive means of what was read, highest first. They rank nothing: no two judges share a scale."""
    found: dict[tuple[str, str], list[dict[str, int]]] = defaultdict(list)
    # PostgreSQL keeps no order of keys: the rubric's own is the one to show.
    order = {judge.name: criteria_of(judge) for judge in run.judges.select_related("rubric")}
    probes = run.probes.filter(call__state=Call.State.PARSED)
    for judge, competitor, scores in probes.values_list(
        "judge__name", "response__competitor__name", "scores"
    ):
        found[judge, competitor].append({name: scores[name] for name in order.get(judge) or scores})
    rows = list(_means(found))
    return sorted(rows, key=lambda row: (row.judge, -row.mean, row.competitor))


def _means(found: dict[tuple[str, str], list[dict[str, int]]]) -> Iterator[ScoreRow]:
    for (judge, competitor), scores in found.items():
        criteria = tuple((name, fmean(one[name] for one in scores)) for name in scores[0])
        yield ScoreRow(judge, competitor, len(scores), fmean(mean for _, mean in criteria), criteria)
