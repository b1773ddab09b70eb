"""What an admin wants to know of an endpoint: what it cost, what failed last, who answers there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Count, Sum

from arena.endpoints import limits
from arena.endpoints.models import CallAttempt, Endpoint

_ERRORS_SHOWN = 8
# Enough to see a change of model, few enough for a page.
_LATEST = 1_000


@dataclass(frozen=True)
class Facts:
    """`spent_usd` is None without prices. `names` are those under which the model answered, latest first."""

    requests: int
    failed: int
    tokens_in: int
    tokens_out: int
    spent_usd: Decimal | None
    errors: Sequence[CallAttempt]
    names: Sequence[tuple[str, datetime]]

    @property
    def has_changed(self) -> bool:
        return len(self.names) > 1


def read_facts(endpoint: Endpoint) -> Facts:
    attempts = CallAttempt.objects.filter(call__endpoint=endpoint)
    failed = attempts.exclude(error_kind="")
    sums = attempts.aggregate(
        requests=Count("pk"), tin=Sum("tokens_in"), tout=Sum("tokens_out"), spent=Sum("cost_usd")
    )
    # What answered when another model was asked for is no change.
    latest = attempts.filter(request__model=endpoint.model_id).exclude(answering_model="").order_by("-pk")
    names: dict[str, datetime] = {}
    for name, at in latest.values_list("answering_model", "started_at")[:_LATEST]:
        names.setdefault(name, at)
    return Facts(
        requests=sums["requests"],
        failed=failed.count(),
        tokens_in=sums["tin"] or 0,
        tokens_out=sums["tout"] or 0,
        spent_usd=(sums["spent"] or Decimal(0)) if limits.has_prices(endpoint) else None,
        errors=list(failed.order_by("-pk")[:_ERRORS_SHOWN]),
        names=list(names.items()),
    )
