"""What runs of many calls have in common, whatever they ask for: their status, their caps, their end."""

from __future__ import annotations

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import QuerySet
from django.db.models.functions import Coalesce, Now

from arena.endpoints.models import Call, CallAttempt


class Run(models.Model):
    class Status(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        PAUSED = "paused"
        COMPLETED = "completed"
        COMPLETED_WITH_FAILURES = "completed_with_failures"
        CANCELLED = "cancelled"

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
        return bool(going.update(status=self.Status.PAUSED, status_reason=reason[:200]))

    def resume(self) -> bool:
        paused = type(self)._default_manager.filter(pk=self.pk, status=self.Status.PAUSED)
        return bool(paused.update(status=self.Status.QUEUED, status_reason=""))
