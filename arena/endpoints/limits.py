"""How much an endpoint may be asked: at once, per minute, for money. All workers count in the database."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

from django.db import transaction
from django.db.models import BooleanField, F, Min, Q, QuerySet, Sum
from django.db.models.expressions import RawSQL
from django.utils import timezone

from arena.endpoints.models import Call, CallAttempt, Endpoint

MINUTE = timedelta(minutes=1)
# Marks an attempt whose worker was killed. It may have been paid for, so it costs what was reserved.
LOST = "lost"
# Marks an attempt one of whose texts was redacted before it came back. What it brings is paid for, not kept.
WITHDRAWN = "redacted"
# How long to look away when tokens per minute are used up: attempts leave the window one by one.
TOKEN_WAIT = 5.0
# Tokens are at least a byte long and two or more in nearly all text, so this is on the safe side.
BYTES_PER_TOKEN = 2
PER_MILLION = Decimal(1_000_000)
CENT_FRACTION = Decimal("0.00000001")


def open_calls(endpoint_id: int) -> QuerySet[Call]:
    """Spelt out, for with parameters SQLite can't tell that the index `open_calls_in_turn` serves."""
    is_open = RawSQL(
        "arena_call.state IN ('planned', 'claimed', 'retry_wait')", (), output_field=BooleanField()
    )
    return Call.objects.filter(is_open, endpoint=endpoint_id)


def held_calls(endpoint_id: int, now: datetime) -> QuerySet[Call]:
    """Those on their way: whoever holds a lease goes on by itself, and a dead worker's lease runs out."""
    return Call.objects.filter(endpoint=endpoint_id, state=Call.State.CLAIMED, lease_until__gt=now)


def wait_for_slot(endpoint: Endpoint, held: int, now: datetime) -> float | None:
    """Seconds until the endpoint may be asked again; None when it may be asked now.

    `held`: how many of its calls are on their way, counted while its row is held back.
    """
    if endpoint.paused_until and endpoint.paused_until > now:
        return (endpoint.paused_until - now).total_seconds()
    waits = (
        _wait_for_concurrency(endpoint, held, now),
        _wait_for_requests(endpoint, now),
        _wait_for_tokens(endpoint, now),
    )
    return max((wait for wait in waits if wait is not None), default=None)


def _wait_for_concurrency(endpoint: Endpoint, held: int, now: datetime) -> float | None:
    if held < endpoint.calls_at_once:
        return None
    first = held_calls(endpoint.pk, now).aggregate(first=Min("lease_until"))["first"]
    return (first - now).total_seconds() if first else None


def _wait_for_requests(endpoint: Endpoint, now: datetime) -> float | None:
    """The window is full when the attempt `requests_per_minute` places back is younger than a minute."""
    allowed = endpoint.requests_per_minute
    if not allowed:
        return None
    starts = _of_the_last_minute(endpoint, now).values_list("started_at", flat=True)[allowed - 1 : allowed]
    wait = max(((start + MINUTE - now).total_seconds() for start in starts), default=0)
    return wait if wait > 0 else None


def _wait_for_tokens(endpoint: Endpoint, now: datetime) -> float | None:
    """An attempt on its way counts with the most it may answer."""
    if not endpoint.tokens_per_minute:
        return None
    recent = _of_the_last_minute(endpoint, now)
    counted = recent.exclude(finished_at=None).aggregate(
        tokens_in=Sum("tokens_in"), tokens_out=Sum("tokens_out")
    )
    on_their_way = recent.filter(finished_at=None).exclude(error_kind=LOST).count()
    used = (counted["tokens_in"] or 0) + (counted["tokens_out"] or 0) + on_their_way * endpoint.max_tokens
    return TOKEN_WAIT if used >= endpoint.tokens_per_minute else None


def _of_the_last_minute(endpoint: Endpoint, now: datetime) -> QuerySet[CallAttempt]:
    recent = CallAttempt.objects.filter(call__endpoint=endpoint, started_at__gt=now - MINUTE)
    return recent.order_by("-started_at", "-pk")


def has_prices(endpoint: Endpoint) -> bool:
    return endpoint.input_price is not None and endpoint.output_price is not None


def cost(endpoint: Endpoint, tokens_in: int, tokens_out: int) -> Decimal:
    """US dollars; 0 for an endpoint without prices, which no budget in dollars can bind."""
    dollars = (endpoint.input_price or 0) * tokens_in + (endpoint.output_price or 0) * tokens_out
    return (Decimal(dollars) / PER_MILLION).quantize(CENT_FRACTION)


def worst_cost(endpoint: Endpoint, payload: Mapping[str, Any], max_tokens: int) -> Decimal:
    """What this request may cost at most, to be reserved before it is sent."""
    characters = "".join(message["content"] for message in payload["messages"])
    tokens_in = len(characters.encode("utf-8", "replace")) // BYTES_PER_TOKEN + 1
    return cost(endpoint, tokens_in, max_tokens)


def pause(endpoint: Endpoint, until: datetime, reason: str) -> None:
    """Rest the endpoint; a longer rest already ordered stands."""
    earlier = Q(paused_until=None) | Q(paused_until__lt=until)
    Endpoint.objects.filter(earlier, pk=endpoint.pk).update(paused_until=until, rest_reason=reason[:200])


def slow_down(endpoint: Endpoint, asked_at: datetime) -> None:
    """Half as many calls at once. What was asked before the last slowing-down says nothing new."""
    with transaction.atomic():
        fresh = Endpoint.objects.select_for_update().get(pk=endpoint.pk)
        if fresh.slowed_at and asked_at <= fresh.slowed_at:
            return
        slots = max(1, fresh.calls_at_once // 2)
        Endpoint.objects.filter(pk=endpoint.pk).update(slots=slots, slowed_at=timezone.now())


def speed_up(endpoint: Endpoint, random: Random) -> None:
    """After an answer: one more at once for each round of calls, until as many as allowed.

    A share of the answers stands for the round, so that not every one of them writes to the endpoint's row.
    """
    if endpoint.slots is None or random.random() * endpoint.slots >= 1:
        return
    slowed = Endpoint.objects.filter(pk=endpoint.pk, slots__isnull=False)
    slowed.filter(slots__gte=F("concurrency") - 1).update(slots=None)
    slowed.update(slots=F("slots") + 1)
