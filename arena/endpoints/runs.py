"""What runs of many calls have in common, whatever they ask for: their status, their caps, their end."""

from __future__ import annotations

from collections.abc import Sequence

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import QuerySet
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from arena.endpoints.models import Call, CallAttempt
from arena.instants import say_moment

_CHUNK = 500


class Run(models.Model):
    class Status(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        PAUSED = "paused"
        COMPLETED = "completed"
        COMPLETED_WITH_FAILURES = "completed_with_failures"
        CANCELLED = "cancelled"

    # The status' reason while the calls are still being written down.
    BEING_PLANNED = "being planned"
    GOING = (Status.QUEUED, Status.RUNNING)
    OPEN = (Status.QUEUED, Status.RUNNING, Status.PAUSED)

    budget_usd = models.DecimalField(
        max_digits=12, decimal_places=4, null=True, blank=True, validators=[MinValueValidator(0)]
    )
    max_calls = models.PositiveIntegerField(null=True, blank=True)
    status = models.CharField(max_length=24, choices=Status.choices, default=Status.QUEUED)
    status_reason = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    def calls(self) -> QuerySet[Call]:
        """All its calls, whatever their state."""
        raise NotImplementedError

    def attempts(self) -> QuerySet[CallAttempt]:
        """All requests sent for it, failed ones too."""
        return CallAttempt.objects.filter(call__in=self.calls())

    @property
    def is_open(self) -> bool:
        return self.status in self.OPEN

    def endpoint_ids(self) -> list[int]:
        return sorted(set(self.calls().values_list("endpoint_id", flat=True)))

    def begin(self) -> None:
        """The first call is on its way."""
        waiting = type(self)._default_manager.filter(pk=self.pk, status=self.Status.QUEUED)
        waiting.update(status=self.Status.RUNNING, started_at=Coalesce("started_at", Now()))

    def pause(self, reason: str) -> bool:
        """No new call goes out; what is on its way is still read."""
        going = type(self)._default_manager.filter(pk=self.pk, status__in=self.GOING)
        since = f" (since {say_moment(timezone.now())})"
        why = f"{reason[: 200 - len(since)]}{since}"
        return bool(going.update(status=self.Status.PAUSED, status_reason=why))

    def resume(self) -> bool:
        paused = type(self)._default_manager.filter(pk=self.pk, status=self.Status.PAUSED)
        return bool(paused.update(status=self.Status.QUEUED, status_reason=""))

    def cancel(self) -> bool:
        """No new call may go out; ending those that wait is the room's, with what hangs on them."""
        still_open = type(self)._default_manager.filter(pk=self.pk, status__in=self.OPEN)
        ended = {"status": self.Status.CANCELLED, "status_reason": "", "finished_at": timezone.now()}
        return bool(still_open.update(**ended))

    def complete(self, with_failures: bool) -> bool:
        """False where it has ended already, or is still being planned: more calls are to come."""
        status = self.Status.COMPLETED_WITH_FAILURES if with_failures else self.Status.COMPLETED
        still_open = type(self)._default_manager.filter(pk=self.pk, status__in=self.OPEN)
        still_open = still_open.exclude(status_reason=self.BEING_PLANNED)
        return bool(still_open.update(status=status, finished_at=timezone.now()))

    def take_up_again(self) -> bool:
        """For another try of what failed."""
        done = type(self)._default_manager.filter(pk=self.pk, status=self.Status.COMPLETED_WITH_FAILURES)
        return bool(done.update(status=self.Status.QUEUED, status_reason="", finished_at=None))

    def end_waiting(self, state: str, abandoned: bool = False) -> list[list[int]]:
        """End the waiting calls, `abandoned` ones too; which, in pieces that a query can name."""
        calls = self.calls()
        waiting = calls.filter(state__in=Call.WAITING)
        if abandoned:
            waiting |= calls.filter(state=Call.State.CLAIMED, lease_until__lte=timezone.now())
        chunks = _chunks(list(waiting.values_list("pk", flat=True)))
        for chunk in chunks:
            Call.objects.filter(pk__in=chunk).update(
                state=state, lease_token="", lease_until=None, reserved_usd=0, finished_at=timezone.now()
            )
        return chunks

    def plan_again(self, calls: QuerySet[Call]) -> list[list[int]]:
        """Ended calls anew. Their attempts stay, and start to count from nought."""
        chunks = _chunks(list(calls.values_list("pk", flat=True)))
        for chunk in chunks:
            Call.objects.filter(pk__in=chunk).update(
                state=Call.State.PLANNED, attempt_count=0, next_try_at=None, finished_at=None
            )
        return chunks


def _chunks(pks: Sequence[int]) -> list[list[int]]:
    return [list(pks[start : start + _CHUNK]) for start in range(0, len(pks), _CHUNK)]
