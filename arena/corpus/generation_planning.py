"""Which responses are missing, what it would take to have them generated, and the rows of a run that does."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from arena.corpus.generation_models import GenerationCall, GenerationRecipe, GenerationRun
from arena.corpus.generation_reading import messages_for
from arena.corpus.models import Competitor, Prompt, PromptSet, Response
from arena.endpoints import ledger, limits
from arena.endpoints.client import build_payload
from arena.endpoints.keys import KeyMissingError
from arena.endpoints.models import Call, Endpoint
from arena.endpoints.usual import usual_seconds, usual_tokens_out

_CHUNK = 200
_SAMPLE = 50
_CHARACTERS_PER_TOKEN = 4  # for an estimate; a reservation takes the worst case


class CannotGenerateError(Exception):
    """args[0] says why and what to do."""


@dataclass(frozen=True)
class Share:
    """One competitor's part. Without prices `usd` is None; before an endpoint's first reply `seconds` is."""

    competitor: Competitor
    there: int
    missing: int
    usd: Decimal | None
    seconds: float | None


@dataclass(frozen=True)
class Estimate:
    """`unaskable` prompts have turns that one request can't ask; they are left out."""

    shares: tuple[Share, ...]
    unaskable: int

    @property
    def calls(self) -> int:
        return sum(share.missing for share in self.shares)

    @property
    def usd(self) -> Decimal | None:
        known = [share.usd for share in self.shares if share.usd is not None]
        return sum(known, Decimal(0)) if len(known) == len(self.shares) else None

    @property
    def seconds(self) -> int | None:
        """Endpoints work side by side; competitors of one endpoint share it."""
        by_endpoint: dict[int | None, float] = {}
        for share in self.shares:
            if share.seconds is None:
                return None
            endpoint = share.competitor.endpoint_id
            by_endpoint[endpoint] = by_endpoint.get(endpoint, 0.0) + share.seconds
        return round(max(by_endpoint.values(), default=0.0))


def askable_competitors(prompt_set: PromptSet) -> QuerySet[Competitor]:
    """Those of the set's team that have an endpoint, and for an internal set an internal one."""
    active = Competitor.objects.filter(
        team=prompt_set.team_id, endpoint__isnull=False, status=Competitor.Status.ACTIVE
    )
    if prompt_set.is_internal:
        active = active.filter(endpoint__is_internal=True)
    return active.select_related("endpoint").order_by("name")


def estimate(prompt_set: PromptSet, competitors: Sequence[Competitor], samples: int) -> Estimate:
    prompts, unaskable = _askable_prompts(prompt_set)
    sample = prompts[:: max(1, len(prompts) // _SAMPLE)]
    texts = Prompt.objects.filter(pk__in=sample).values_list("messages", flat=True)
    lengths = [len(json.dumps(messages)) for messages in texts]
    characters = sum(lengths) // max(1, len(lengths))
    return Estimate(
        tuple(_share(one, prompts, samples, characters) for one in competitors), unaskable=unaskable
    )


def _share(competitor: Competitor, prompts: Sequence[int], samples: int, characters: int) -> Share:
    endpoint = _endpoint(competitor)
    missing = sum(1 for _ in _missing(competitor, prompts, samples))
    usd = None
    if limits.has_prices(endpoint):
        tokens_in = (characters + len(competitor.system_prompt)) // _CHARACTERS_PER_TOKEN
        usd = missing * limits.cost(endpoint, tokens_in, usual_tokens_out(endpoint))
    latency = usual_seconds(endpoint)
    seconds = None if latency is None else missing * latency / endpoint.concurrency
    if endpoint.requests_per_minute and seconds is not None:
        seconds = max(seconds, missing * 60 / endpoint.requests_per_minute)
    return Share(competitor, len(prompts) * samples - missing, missing, usd, seconds)


def _endpoint(competitor: Competitor) -> Endpoint:
    if competitor.endpoint is None:
        raise CannotGenerateError(f"{competitor.name} has no endpoint to ask: give it one")
    return competitor.endpoint


def _askable_prompts(prompt_set: PromptSet) -> tuple[list[int], int]:
    found, unaskable = [], 0
    for pk, messages in (
        prompt_set.prompts.filter(tombstone__isnull=True).order_by("pk").values_list("pk", "messages")
    ):
        try:
            messages_for(messages, "")
            found.append(pk)
        except ValueError:
            unaskable += 1
    return found, unaskable


def _missing(competitor: Competitor, prompts: Sequence[int], samples: int) -> Iterator[tuple[int, int]]:
    """(prompt, sample) that has no response and is not being asked for by an open run."""
    for start in range(0, len(prompts), _CHUNK):
        chunk = prompts[start : start + _CHUNK]
        stored = Response.stored.filter(competitor=competitor, prompt__in=chunk)
        asked = GenerationCall.objects.filter(
            recipe__competitor=competitor, prompt__in=chunk, call__state__in=Call.OPEN
        )
        taken = {*stored.values_list("prompt_id", "sample"), *asked.values_list("prompt_id", "sample")}
        wanted = ((prompt, sample) for prompt in chunk for sample in range(1, samples + 1))
        yield from (one for one in wanted if one not in taken)


def plan_run(
    prompt_set: PromptSet,
    competitors: Sequence[Competitor],
    *,
    samples: int = 1,
    budget_usd: Decimal | None = None,
    max_calls: int | None = None,
) -> GenerationRun:
    """A queued run with all its rows. Until they are all there it is paused, so that none is taken early."""
    _check(prompt_set, competitors, budget_usd)
    prompts, _unaskable = _askable_prompts(prompt_set)
    run = GenerationRun.objects.create(
        prompt_set=prompt_set,
        samples=samples,
        budget_usd=budget_usd,
        max_calls=max_calls,
        status=GenerationRun.Status.PAUSED,
        status_reason=GenerationRun.BEING_PLANNED,
    )
    recipes = [_recipe(run, competitor) for competitor in competitors]
    # Prompt by prompt, so that a run that is stopped early leaves prompts that all have answered.
    for start in range(0, len(prompts), _CHUNK):
        _plan_calls(prompt_set, recipes, prompts[start : start + _CHUNK], samples)
    if not run.calls().exists():
        run.recipes.all().delete()
        run.delete()
        raise CannotGenerateError("nothing is missing: every response is there already or being asked for")
    run.resume()
    run.refresh_from_db()
    return run


def _check(prompt_set: PromptSet, competitors: Sequence[Competitor], budget_usd: Decimal | None) -> None:
    if prompt_set.status == PromptSet.Status.DRAFT:
        raise CannotGenerateError(f"“{prompt_set}” is a draft, whose prompts may change: publish it first")
    if not competitors:
        raise CannotGenerateError("no model was chosen")
    for competitor in competitors:
        endpoint = _endpoint(competitor)
        if competitor.team_id != prompt_set.team_id or endpoint.team_id != prompt_set.team_id:
            raise CannotGenerateError(f"{competitor.name} belongs to another team")
        if not prompt_set.may_go_to(endpoint):
            raise CannotGenerateError(
                f"“{prompt_set}” is internal and {endpoint.name} isn't: its prompts are never sent there"
            )
        if budget_usd is not None and not limits.has_prices(endpoint):
            raise CannotGenerateError(
                f"{endpoint.name} has no prices, so no budget in dollars can hold: add them first"
            )
        _check_parameters(competitor, endpoint)


def _check_parameters(competitor: Competitor, endpoint: Endpoint) -> None:
    """A run that would fail on every call isn't planned."""
    try:
        build_payload(ledger.endpoint_config(endpoint, competitor.parameters), [])
    except (KeyMissingError, ValueError) as error:
        raise CannotGenerateError(f"{competitor.name} can't be asked: {error}") from error


def _recipe(run: GenerationRun, competitor: Competitor) -> GenerationRecipe:
    endpoint = _endpoint(competitor)
    return GenerationRecipe.objects.create(
        run=run,
        competitor=competitor,
        endpoint=endpoint,
        model_id=endpoint.model_id,
        system_prompt=competitor.system_prompt,
        parameters={**endpoint.parameters, **competitor.parameters},
    )


def _plan_calls(
    prompt_set: PromptSet, recipes: Sequence[GenerationRecipe], prompts: Sequence[int], samples: int
) -> None:
    with transaction.atomic():
        # Two runs that are planned at once: the second waits here and finds what the first asks for.
        PromptSet.objects.select_for_update().get(pk=prompt_set.pk)
        wanted = [
            (prompt, recipe, sample)
            for recipe in recipes
            for prompt, sample in _missing(recipe.competitor, prompts, samples)
        ]
        wanted.sort(key=lambda row: (row[0], row[2], row[1].pk))
        calls = Call.objects.bulk_create(
            Call(key=_key(*row), endpoint_id=row[1].endpoint_id, created_at=timezone.now()) for row in wanted
        )
        GenerationCall.objects.bulk_create(
            GenerationCall(recipe=recipe, prompt_id=prompt, sample=sample, call=call)
            for (prompt, recipe, sample), call in zip(wanted, calls, strict=True)
        )


def _key(prompt: int, recipe: GenerationRecipe, sample: int) -> str:
    """The recipe belongs to one run and holds all that is sent besides the prompt, which can't change."""
    return hashlib.sha256(
        f"generation recipe {recipe.pk}, prompt {prompt}, sample {sample}".encode()
    ).hexdigest()
