import uuid
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from arena.campaigns.models import Campaign


class ExportQuerySet(models.QuerySet["Export"]):
    def claimable(self) -> "ExportQuerySet":
        """Queued ones, and those whose worker has been silent for longer than a lease."""
        silent = Q(state=Export.State.RUNNING, beat_at__lt=timezone.now() - Export.LEASE)
        return self.filter(Q(state=Export.State.QUEUED) | silent)

    def expired(self) -> "ExportQuerySet":
        return self.filter(expires_at__lt=timezone.now())


class Export(models.Model):
    """A campaign's files as somebody asked for them: made by a worker, kept for some days, downloaded.

    The row is the truth: a lost message is swept up, a repeated one finds the row claimed, and a worker that
    has lost its claim can't finish.
    """

    class Layout(models.TextChoices):
        WHOLE = "whole", _("everything: CSV, JSONL and Parquet")
        ARENA_140K = "arena_140k", _("the votes of people, as LMArena publishes them (140k)")

    class State(models.TextChoices):
        QUEUED = "queued", _("waiting for the worker")
        RUNNING = "running", _("being written")
        DONE = "done", _("ready")
        FAILED = "failed", _("failed")

    OPEN = (State.QUEUED, State.RUNNING)
    LEASE = timedelta(minutes=2)
    MAX_ATTEMPTS = 3

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="exports")
    layout = models.CharField(max_length=12, choices=Layout.choices, default=Layout.WHOLE)
    state = models.CharField(max_length=8, choices=State.choices, default=State.QUEUED)
    claim = models.UUIDField(null=True, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    beat_at = models.DateTimeField(null=True, blank=True)
    table = models.CharField(max_length=40, blank=True, help_text="being written")
    rows = models.PositiveIntegerField(default=0, help_text="written so far, or in all")
    size = models.PositiveBigIntegerField(null=True, blank=True, help_text="bytes")
    sha256 = models.CharField(max_length=64, blank=True)
    failure = models.TextField(blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True, help_text="when its file is removed")

    objects = ExportQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "layout"],
                condition=Q(state__in=["queued", "running"]),
                name="one_open_export_of_a_layout",
            )
        ]

    def __str__(self) -> str:
        return f"export {self.public_id} of {self.campaign_id}: {self.state}"

    @property
    def is_open(self) -> bool:
        return self.state in self.OPEN

    @property
    def is_ready(self) -> bool:
        return self.state == self.State.DONE

    def claim_it(self) -> bool:
        """True for one caller alone."""
        claim = uuid.uuid4()
        mine = Export.objects.claimable().filter(pk=self.pk)
        if not mine.update(
            state=self.State.RUNNING, claim=claim, beat_at=timezone.now(), attempts=F("attempts") + 1
        ):
            return False
        try:
            self.refresh_from_db()
        except Export.DoesNotExist:  # deleted in this moment
            return False
        return self.claim == claim

    def update_mine(self, **fields: Any) -> bool:
        """False when the claim has passed to another worker, or the export was deleted meanwhile."""
        mine = Export.objects.filter(pk=self.pk, state=self.State.RUNNING, claim=self.claim)
        if not mine.update(**fields):
            return False
        for name, value in fields.items():
            setattr(self, name, value)
        return True
