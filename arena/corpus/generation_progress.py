"""How far a generation run is, competitor by competitor: counts straight from its rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone

from arena.corpus.generate import NEEDLESS
from arena.corpus.generation_models import GenerationCall, GenerationRecipe, GenerationRun
from arena.corpus.models import Response
from arena.endpoints import limits
from arena.endpoints.models import Call


@dataclass
class Part:
    """One competitor's calls."""

    recipe: GenerationRecipe
    calls: int = 0
    written: int = 0
    needless: int = 0
    on_their_way: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    at_the_limit: int = 0
    requests: int = 0
    tokens: int = 0
    cost_usd: Decimal = Decimal(0)

    @property
    def has_prices(self) -> bool:
        return limits.has_prices(self.recipe.endpoint)

    @property
    def failed(self) -> int:
        return sum(self.failures.values())

    @property
    def done(self) -> int:
        return self.written + self.needless + self.failed

    @property
    def waiting(self) -> int:
        return self.calls - self.done - self.on_their_way


@dataclass(frozen=True)
class Progress:
    parts: tuple[Part, ...]
    seconds_left: int | None

    def _sum(self, name: str) -> int:
        return sum(getattr(part, name) for part in self.parts)

    @property
    def calls(self) -> int:
        return self._sum("calls")

    @property
    def written(self) -> int:
        return self._sum("written")

    @property
    def failed(self) -> int:
        return self._sum("failed")

    @property
    def done(self) -> int:
        return self._sum("done")

    @property
    def on_their_way(self) -> int:
        return self._sum("on_their_way")

    @property
    def waiting(self) -> int:
        return self._sum("waiting")

    @property
    def requests(self) -> int:
        return self._sum("requests")

    @property
    def cost_usd(self) -> Decimal | None:
        """None where an endpoint has no prices."""
        if not all(part.has_prices for part in self.parts):
            return None
        return sum((part.cost_usd for part in self.parts), Decimal(0))

    @property
    def failures(self) -> Mapping[str, int]:
        found: defaultdict[str, int] = defaultdict(int)
        for part in self.parts:
            for kind, count in part.failures.items():
                found[kind] += count
        return dict(sorted(found.items()))


def read_progress(run: GenerationRun) -> Progress:
    recipes = run.recipes.select_related("competitor", "endpoint").order_by("competitor__name")
    parts = {recipe.pk: Part(recipe) for recipe in recipes}
    wanted = GenerationCall.objects.filter(recipe__run=run).order_by()
    for row in wanted.values("recipe", "call__state", "failure").annotate(count=Count("pk")):
        _count(parts[row["recipe"]], row["call__state"], row["failure"], row["count"])
    limit = Response.objects.filter(generation_call__recipe__run=run, finish_reason="length").order_by()
    for pk, count in limit.values_list("generation_call__recipe").annotate(count=Count("pk")):
        parts[pk].at_the_limit = count
    sums = run.attempts().order_by().values("call__generation_call__recipe")
    for spent in sums.annotate(
        requests=Count("pk"), tin=Sum("tokens_in"), tout=Sum("tokens_out"), cost=Sum("cost_usd")
    ):
        part = parts[spent["call__generation_call__recipe"]]
        part.requests, part.cost_usd = spent["requests"], spent["cost"] or Decimal(0)
        part.tokens = (spent["tin"] or 0) + (spent["tout"] or 0)
    found = tuple(parts.values())
    return Progress(found, _seconds_left(run, found))


def _count(part: Part, state: str, failure: str, count: int) -> None:
    part.calls += count
    if state == Call.State.CLAIMED:
        part.on_their_way += count
    elif state in Call.OPEN:
        return
    elif failure in NEEDLESS:
        part.needless += count
    elif failure:
        part.failures[failure] = part.failures.get(failure, 0) + count
    else:
        part.written += count


def _seconds_left(run: GenerationRun, parts: tuple[Part, ...]) -> int | None:
    """At the pace so far; None while there is none, or when nothing is to come."""
    done = sum(part.done for part in parts)
    left = sum(part.calls - part.done for part in parts)
    if run.status != GenerationRun.Status.RUNNING or run.started_at is None or not done or not left:
        return None
    return round((timezone.now() - run.started_at).total_seconds() / done * left)


def with_counts(runs: QuerySet[GenerationRun]) -> QuerySet[GenerationRun]:
    """For lists: how many responses a run asks for, has and could not get."""
    calls = "recipes__generation_calls"
    failed = Q(**{f"{calls}__failure__gt": ""}) & ~Q(**{f"{calls}__failure__in": NEEDLESS})
    return runs.annotate(
        call_count=Count(calls),
        written_count=Count(f"{calls}__response"),
        failed_count=Count(calls, filter=failed),
    )
