import uuid
from collections.abc import Sequence
from datetime import timedelta

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from arena.leaderboards.models import Leaderboard, Snapshot


class SnapshotRunQuerySet(models.QuerySet["SnapshotRun"]):
    def open(self) -> "SnapshotRunQuerySet":
        return self.filter(state__in=SnapshotRun.OPEN)

    def silent(self) -> "SnapshotRunQuerySet":
        """Those whose worker hasn't said for a lease that it is alive."""
        return self.filter(_silent())

    def claimable(self) -> "SnapshotRunQuerySet":
        """Silent ones, and queued ones of boards that nobody computes."""
        running = SnapshotRun.objects.filter(state=SnapshotRun.State.RUNNING)
        taken = Exists(running.filter(leaderboard=OuterRef("leaderboard")))
        return self.filter(Q(~taken, state=SnapshotRun.State.QUEUED) | _silent())


def _silent() -> Q:
    return Q(state=SnapshotRun.State.RUNNING, claimed_at__lt=timezone.now() - SnapshotRun.LEASE)


class SnapshotRun(models.Model):
    """One attempt at a snapshot: asked for, claimed by one worker, and how it ended.

    The row is the truth and the queue only a hint: a lost message is swept up, a repeated one finds the run
    claimed, and a worker that has lost its lease can't publish. What is asked for while a board is computed
    waits in a run of its own: the one at work has read its votes already.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("waiting for the worker")
        RUNNING = "running", _("being computed")
        PUBLISHED = "published", _("published")
        UNCHANGED = "unchanged", _("nothing new since the last snapshot")
        NOT_ENOUGH = "not_enough", _("not enough data")
        FAILED = "failed", _("failed")

    OPEN = (State.QUEUED, State.RUNNING)
    LEASE = timedelta(minutes=2)

    leaderboard = models.ForeignKey(Leaderboard, on_delete=models.CASCADE, related_name="runs")
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    reason = models.TextField(blank=True, help_text="why it ended without a snapshot")
    claim = models.UUIDField(null=True, blank=True)
    snapshot = models.OneToOneField(
        Snapshot, null=True, blank=True, on_delete=models.CASCADE, related_name="run"
    )
    requested_at = models.DateTimeField(default=timezone.now)
    claimed_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = SnapshotRunQuerySet.as_manager()
    # Claimed with it by the worker that is at it, and waiting for their turn.
    beside: Sequence["SnapshotRun"] = ()

    class Meta:
        get_latest_by = "pk"
        constraints = [
            models.UniqueConstraint(
                fields=["leaderboard"], condition=Q(state=state), name=f"one_{state}_run_per_leaderboard"
            )
            for state in ("queued", "running")
        ]

    def __str__(self) -> str:
        return f"snapshot run {self.pk} of {self.leaderboard_id}: {self.state}"

    def claim_it(self) -> bool:
        """True for one caller alone."""
        claim, now = uuid.uuid4(), timezone.now()
        mine = SnapshotRun.objects.claimable().filter(pk=self.pk)
        if not mine.update(state=self.State.RUNNING, claim=claim, claimed_at=now):
            return False
        self.state, self.claim, self.claimed_at = self.State.RUNNING, claim, now
        return True

    def beat(self) -> bool:
        """Renews the lease, and those `beside`; False when its claim has passed to another worker."""
        for waiting in self.beside:
            waiting.beat()
        mine = SnapshotRun.objects.filter(pk=self.pk, state=self.State.RUNNING, claim=self.claim)
        return bool(mine.update(claimed_at=timezone.now()))

    def finish(self, state: str, reason: str = "", snapshot: Snapshot | None = None) -> bool:
        """False when the claim has passed to another worker meanwhile; nothing is written then."""
        now = timezone.now()
        mine = SnapshotRun.objects.filter(pk=self.pk, state=self.State.RUNNING, claim=self.claim)
        if not mine.update(state=state, reason=reason, snapshot=snapshot, finished_at=now):
            return False
        self.state, self.reason, self.snapshot, self.finished_at = state, reason, snapshot, now
        return True
