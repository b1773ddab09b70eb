"""Which prompts lack labels, what it would take to have an LLM give them, and the rows of a run that does."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone

from arena.corpus.label_models import LabelCall, LabelRun
from arena.corpus.label_prompting import SCHEMA, build_messages
from arena.corpus.models import HARD_CRITERIA, Prompt, PromptSet
from arena.endpoints import ledger, limits
from arena.endpoints.client import build_payload
from arena.endpoints.keys import KeyMissingError
from arena.endpoints.models import Call, Endpoint
from arena.endpoints.usual import usual_seconds

_CHUNK = 500
_SAMPLE = 50
_CHARACTERS_PER_TOKEN = 4  # for an estimate; a reservation takes the worst case
_USUAL_TOKENS_OUT = 30


class CannotLabelError(Exception):
    """args[0] says why and what to do."""


@dataclass(frozen=True)
class Estimate:
    """Without prices `usd` is None; before the endpoint's first reply `seconds` is."""

    calls: int
    usd: Decimal | None
    seconds: int | None


def unlabelled(prompt_set: PromptSet) -> QuerySet[Prompt]:
    """Prompts of which some criterion is unknown, and that no open run asks about."""
    unknown = Q()
    for name in HARD_CRITERIA:
        unknown |= Q(**{name: None})
    asked = LabelCall.objects.filter(prompt__prompt_set=prompt_set, call__state__in=Call.OPEN)
    prompts = prompt_set.prompts.filter(unknown, tombstone__isnull=True)
    return prompts.exclude(pk__in=asked.values("prompt")).order_by("pk")


def askable_endpoints(prompt_set: PromptSet) -> QuerySet[Endpoint]:
    endpoints = Endpoint.objects.filter(team=prompt_set.team_id).order_by("name")
    return endpoints.filter(is_internal=True) if prompt_set.is_internal else endpoints


def estimate(prompt_set: PromptSet, endpoint: Endpoint) -> Estimate:
    prompts = unlabelled(prompt_set)
    calls = prompts.count()
    sample = prompts.values_list("messages", flat=True)[:_SAMPLE]
    sizes = [sum(len(message["content"]) for message in build_messages(turns)) for turns in sample]
    usd = None
    if limits.has_prices(endpoint) and sizes:
        tokens_in = sum(sizes) // len(sizes) // _CHARACTERS_PER_TOKEN
        usd = calls * limits.cost(endpoint, tokens_in, _USUAL_TOKENS_OUT)
    latency = usual_seconds(endpoint)
    return Estimate(calls, usd, None if latency is None else round(calls * latency / endpoint.concurrency))


def plan_run(prompt_set: PromptSet, endpoint: Endpoint, budget_usd: Decimal | None = None) -> LabelRun:
    """A queued run with all its rows. Until they are all there it is paused, so that none is taken early."""
    _check(prompt_set, endpoint, budget_usd)
    run = LabelRun.objects.create(
        prompt_set=prompt_set,
        endpoint=endpoint,
        budget_usd=budget_usd,
        status=LabelRun.Status.PAUSED,
        status_reason=LabelRun.BEING_PLANNED,
    )
    prompts = list(unlabelled(prompt_set).values_list("pk", flat=True))
    for start in range(0, len(prompts), _CHUNK):
        _plan_calls(run, prompts[start : start + _CHUNK])
    if not run.label_calls.exists():
        run.delete()
        raise CannotLabelError("nothing is missing: every prompt has its labels, or is being asked about")
    run.resume()
    run.refresh_from_db()
    return run


def _check(prompt_set: PromptSet, endpoint: Endpoint, budget_usd: Decimal | None) -> None:
    if endpoint.team_id != prompt_set.team_id:
        raise CannotLabelError(f"{endpoint.name} belongs to another team")
    if not prompt_set.may_go_to(endpoint):
        raise CannotLabelError(
            f"“{prompt_set}” is internal and {endpoint.name} isn't: its prompts are never sent there"
        )
    if budget_usd is not None and not limits.has_prices(endpoint):
        raise CannotLabelError(
            f"{endpoint.name} has no prices, so no budget in dollars can hold: add them first"
        )
    try:
        build_payload(ledger.endpoint_config(endpoint), [], SCHEMA)
    except (KeyMissingError, ValueError) as error:
        raise CannotLabelError(f"{endpoint.name} can't be asked: {error}") from error


def _plan_calls(run: LabelRun, chunk: list[int]) -> None:
    with transaction.atomic():
        # Two starts at once: the second waits here and finds what the first asks for.
        PromptSet.objects.select_for_update().get(pk=run.prompt_set_id)
        prompts = list(unlabelled(run.prompt_set).filter(pk__in=chunk).values_list("pk", flat=True))
        calls = Call.objects.bulk_create(
            Call(key=_key(run, prompt), endpoint_id=run.endpoint_id, created_at=timezone.now())
            for prompt in prompts
        )
        LabelCall.objects.bulk_create(
            LabelCall(run=run, prompt_id=prompt, call=call)
            for prompt, call in zip(prompts, calls, strict=True)
        )


def _key(run: LabelRun, prompt: int) -> str:
    return hashlib.sha256(f"label run {run.pk}, prompt {prompt}".encode()).hexdigest()


@dataclass(frozen=True)
class Progress:
    states: dict[str, int]
    failures: dict[str, int]
    cost_usd: Decimal | None

    @property
    def calls(self) -> int:
        return sum(self.states.values())

    @property
    def labelled(self) -> int:
        return self.states.get(Call.State.PARSED, 0)

    @property
    def done(self) -> int:
        return self.calls - sum(self.states.get(state, 0) for state in Call.OPEN)

    @property
    def failed(self) -> int:
        return self.done - self.labelled


def read_progress(run: LabelRun) -> Progress:
    calls = run.label_calls.order_by()
    failures = calls.exclude(failure="").values_list("failure").annotate(count=Count("pk"))
    return Progress(
        states=dict(calls.values_list("call__state").annotate(count=Count("pk"))),
        failures=dict(Counter(dict(failures)).most_common()),
        cost_usd=run.attempts().aggregate(sum=Sum("cost_usd"))["sum"],
    )
