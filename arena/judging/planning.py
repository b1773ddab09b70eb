"""Which battles a run judges, and the rows of a new run: every judge, every battle, both orders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Any, Literal, get_args

from django.db import transaction
from django.db.models import Count, F, Q, QuerySet
from django.utils import timezone

from arena.battles.models import Battle
from arena.campaigns.models import Campaign
from arena.endpoints import ledger, limits
from arena.endpoints.client import build_payload
from arena.endpoints.keys import KeyMissingError
from arena.endpoints.models import Call
from arena.judging.asking import case_of, rubric_text
from arena.judging.families import find_own_family
from arena.judging.models import Judge, JudgeCall, JudgeRun, Judgment
from arena.judging.prompting import build_messages, call_key, canonical_content, verdict_schema
from arena.judging.swap import ORDERS

Which = Literal["voted", "all", "fewest"]
WHICH: tuple[str, ...] = get_args(Which)

BEING_PLANNED = "being planned"
_CHUNK = 200
# What a verdict takes, for the estimate of dollars before a run; a judge's own replies tell later.
_USUAL_TOKENS_OUT = 250


class CannotPlanError(ValueError):
    """Nothing was planned; the message says why and what to do."""


@dataclass(frozen=True)
class Choice:
    """Battles to judge, one for each distinct unordered pair of responses, and why the others are out."""

    battles: tuple[int, ...]
    repeated: int
    without_texts: int
    internal: int
    identical: int
    over_limit: int


def choose_battles(
    campaign: Campaign, judges: Sequence[Judge], which: str, limit: int | None = None, seed: int = 0
) -> Choice:
    """In an order drawn with `seed`: a limit takes a random part. `fewest` puts the least judged first."""
    if which not in WHICH:
        raise CannotPlanError(f"battles to judge are one of {', '.join(WHICH)}, not {which!r}")
    left_out = dict.fromkeys(("repeated", "without_texts", "internal", "identical"), 0)
    internal_allowed = all(judge.endpoint and judge.endpoint.is_internal for judge in judges)
    seen: dict[tuple[int, frozenset[int]], tuple[int, int]] = {}
    for row in _rows(campaign, judges, which):
        reason = _left_out(row, seen, internal_allowed)
        if reason:
            left_out[reason] += 1
        else:
            seen[_pair(row)] = (row["judgment_count"], row["pk"])
    found = list(seen.values())
    Random(seed).shuffle(found)
    if which == "fewest":
        found.sort(key=lambda entry: entry[0])
    battles = tuple(pk for _, pk in found)
    kept = battles if limit is None else battles[:limit]
    return Choice(kept, over_limit=len(battles) - len(kept), **left_out)


def _rows(campaign: Campaign, judges: Sequence[Judge], which: str) -> Iterator[dict[str, Any]]:
    battles: QuerySet[Battle] = Battle.objects.filter(campaign=campaign).exclude(kind=Battle.Kind.GOLD)
    if which == "voted":
        battles = battles.filter(vote__isnull=False, vote__retraction=None)
    judged = Q(judgments__judge__in=judges) & ~Q(judgments__outcome__in=["", Judgment.Outcome.NO_VERDICT])
    columns = battles.order_by("pk").annotate(
        judgment_count=Count("judgments", filter=judged),
        is_internal=F("prompt__prompt_set__is_internal"),
        hash_a=F("response_a__text_hash"),
        hash_b=F("response_b__text_hash"),
    )
    ids = ("pk", "prompt_id", "response_a_id", "response_b_id")
    return columns.values(*ids, "judgment_count", "is_internal", "hash_a", "hash_b").iterator(chunk_size=2000)


def _pair(row: dict[str, Any]) -> tuple[int, frozenset[int]]:
    return row["prompt_id"], frozenset((row["response_a_id"], row["response_b_id"]))


def _left_out(row: dict[str, Any], seen: dict[Any, Any], internal_allowed: bool) -> str:
    if not (row["prompt_id"] and row["response_a_id"] and row["response_b_id"]):
        return "without_texts"
    if _pair(row) in seen:
        return "repeated"
    if row["hash_a"] == row["hash_b"]:
        return "identical"
    return "internal" if row["is_internal"] and not internal_allowed else ""


@dataclass(frozen=True)
class Estimate:
    """`usd` and `seconds` are None where no price, or no call so far, says how much.

    `own_family` pairs of judge and battle are left out or warned of; `unjudged` battles no judge may judge.
    """

    judgments: int
    calls: int
    usd: Decimal | None
    seconds: int | None
    own_family: int = 0
    unjudged: int = 0


def estimate(
    judges: Sequence[Judge], battles: Sequence[int], family_policy: str = JudgeRun.FamilyPolicy.EXCLUDE
) -> Estimate:
    """From a sample of the texts, the endpoints' prices, and how long their latest calls took."""
    own = find_own_family(judges, battles, family_policy)
    judgments = 0
    dollars: list[Decimal | None] = []
    seconds: list[float | None] = []
    sample = list(_with_texts(list(battles)[:: max(1, len(battles) // 20)]))
    for judge in judges:
        usd, latency = _per_call(judge, sample)
        left = len(own.left_to(judge, battles))
        judgments += left
        dollars.append(None if usd is None else usd * 2 * left)
        concurrency = judge.endpoint.concurrency if judge.endpoint else 1
        seconds.append(None if latency is None else latency * 2 * left / concurrency)
    return Estimate(
        judgments,
        2 * judgments,
        None if None in dollars else sum((usd for usd in dollars if usd), Decimal(0)),
        None if None in seconds else round(max((s for s in seconds if s), default=0)),
        own.pairs,
        own.left_to_nobody(judges, battles),
    )


def _per_call(judge: Judge, sample: list[Battle]) -> tuple[Decimal | None, float | None]:
    endpoint, rubric = judge.endpoint, judge.rubric
    if endpoint is None or rubric is None or not sample:
        return None, None
    usd = None
    if limits.has_prices(endpoint):
        text = rubric_text(rubric)
        sizes = [len(str(build_messages(text, case_of(battle, "ab")))) for battle in sample]
        # Four characters to a token: an estimate, where a reservation takes the worst case.
        usd = limits.cost(endpoint, sum(sizes) // len(sizes) // 4, _USUAL_TOKENS_OUT)
    attempts = endpoint.calls.filter(attempts__error_kind="", attempts__latency_ms__isnull=False)
    latest = list(attempts.order_by("-attempts__pk").values_list("attempts__latency_ms", flat=True)[:50])
    return usd, sum(latency or 0 for latency in latest) / len(latest) / 1000 if latest else None


def plan_run(
    campaign: Campaign,
    judges: Sequence[Judge],
    battles: Sequence[int],
    *,
    budget_usd: Decimal | None = None,
    max_calls: int | None = None,
    seed: int = 0,
    replicates: int = 1,
    family_policy: str = JudgeRun.FamilyPolicy.EXCLUDE,
    verbosity_rule: bool = False,
) -> JudgeRun:
    """A queued run with all its rows. Until they are all there it is paused, so that none is taken early."""
    _check(judges, battles, budget_usd)
    own = find_own_family(judges, battles, family_policy)
    if not any(own.left_to(judge, battles) for judge in judges):
        raise CannotPlanError(
            "every battle has a response of the judges' own family: choose another judge, or allow its family"
        )
    run = JudgeRun.objects.create(
        campaign=campaign,
        budget_usd=budget_usd,
        max_calls=max_calls,
        seed=seed,
        family_policy=family_policy,
        own_family_pairs=own.pairs,
        verbosity_rule=verbosity_rule,
        status=JudgeRun.Status.PAUSED,
        status_reason=BEING_PLANNED,
    )
    run.judges.set(judges)
    for start in range(0, len(battles), _CHUNK):
        rows = list(_with_texts(battles[start : start + _CHUNK]))
        for judge in judges:
            left = set(own.left_to(judge, [battle.pk for battle in rows]))
            for replicate in range(1, replicates + 1):
                _plan_judgments(run, judge, [battle for battle in rows if battle.pk in left], replicate)
    run.resume()
    run.refresh_from_db()
    return run


def _check(judges: Sequence[Judge], battles: Sequence[int], budget_usd: Decimal | None) -> None:
    if not judges:
        raise CannotPlanError("no judge was chosen")
    if not battles:
        raise CannotPlanError("there is no battle to judge: choose others, or let people vote first")
    for judge in judges:
        if judge.endpoint is None or judge.rubric is None:
            raise CannotPlanError(f"{judge.name} was recorded elsewhere: it has no endpoint to ask")
        if budget_usd is not None and not limits.has_prices(judge.endpoint):
            raise CannotPlanError(
                f"{judge.endpoint.name} has no prices, so no budget in dollars can hold: add them first"
            )
        _check_parameters(judge)


def _check_parameters(judge: Judge) -> None:
    """A run that would fail on every call isn't planned."""
    assert judge.endpoint and judge.rubric  # noqa: S101
    try:
        config = ledger.endpoint_config(judge.endpoint, judge.parameters)
        build_payload(config, [], verdict_schema(rubric_text(judge.rubric)))
    except (KeyMissingError, ValueError) as error:
        raise CannotPlanError(f"{judge.name} can't be asked: {error}") from error


def _with_texts(battles: Sequence[int]) -> QuerySet[Battle]:
    return Battle.objects.filter(pk__in=battles).select_related(
        "prompt", "response_a", "response_b", "prompt__prompt_set"
    )


def _plan_judgments(run: JudgeRun, judge: Judge, battles: list[Battle], replicate: int) -> None:
    keyed = [
        (battle, order, _key(run, judge, battle, order, replicate)) for battle in battles for order in ORDERS
    ]
    with transaction.atomic():
        judgments = Judgment.objects.bulk_create(
            Judgment(run=run, judge=judge, battle=battle, replicate=replicate) for battle in battles
        )
        calls = Call.objects.bulk_create(
            Call(key=key, endpoint_id=judge.endpoint_id, created_at=timezone.now()) for *_, key in keyed
        )
        of_battle = {judgment.battle_id: judgment for judgment in judgments}
        JudgeCall.objects.bulk_create(
            JudgeCall(judgment=of_battle[battle.pk], order=order, call=call)
            for (battle, order, _), call in zip(keyed, calls, strict=True)
        )


def _key(run: JudgeRun, judge: Judge, battle: Battle, order: str, replicate: int) -> str:
    assert judge.endpoint and judge.rubric  # noqa: S101
    endpoint = judge.endpoint
    asked = {**endpoint.parameters, **judge.parameters, "max_tokens": endpoint.max_tokens}
    return call_key(
        # The battle is in: two battles of one pair of equal texts are asked apart.
        scope=f"judge run {run.pk}, judge {judge.pk}, battle {battle.pk}",
        base_url=endpoint.base_url,
        model=endpoint.model_id,
        parameters=asked,
        content=canonical_content(rubric_text(judge.rubric), case_of(battle, order)),
        order=order,
        replicate=replicate,
    )
