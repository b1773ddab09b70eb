"""Who said what about the seven criteria of a hard prompt. What counts stands in the prompt itself."""

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models.functions import Coalesce, Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from arena.corpus.models import Prompt, PromptSet
from arena.endpoints.models import Call, Endpoint


class LabelRun(models.Model):
    """An LLM is asked which criteria the prompts of a set meet."""

    class Status(models.TextChoices):
        QUEUED = "queued", _("waiting")
        RUNNING = "running", _("running")
        PAUSED = "paused", _("paused")
        COMPLETED = "completed", _("completed")
        COMPLETED_WITH_FAILURES = "completed_with_failures", _("completed with failures")
        CANCELLED = "cancelled", _("cancelled")

    OPEN = (Status.QUEUED, Status.RUNNING, Status.PAUSED)

    prompt_set = models.ForeignKey(PromptSet, on_delete=models.PROTECT, related_name="label_runs")
    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="label_runs")
    budget_usd = models.DecimalField(
        max_digits=12, decimal_places=4, null=True, blank=True, validators=[MinValueValidator(0)]
    )
    status = models.CharField(max_length=24, choices=Status.choices, default=Status.QUEUED)
    status_reason = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"label run {self.pk} of {self.prompt_set_id}"

    @property
    def is_open(self) -> bool:
        return self.status in self.OPEN

    def begin(self) -> None:
        """The first call is on its way."""
        waiting = LabelRun.objects.filter(pk=self.pk, status=self.Status.QUEUED)
        waiting.update(status=self.Status.RUNNING, started_at=Coalesce("started_at", Now()))

    def pause(self, reason: str) -> bool:
        """No new call goes out; what is on its way is still read."""
        going = LabelRun.objects.filter(pk=self.pk, status__in=(self.Status.QUEUED, self.Status.RUNNING))
        return bool(going.update(status=self.Status.PAUSED, status_reason=reason[:200]))

    def resume(self) -> bool:
        paused = LabelRun.objects.filter(pk=self.pk, status=self.Status.PAUSED)
        return bool(paused.update(status=self.Status.QUEUED, status_reason=""))


class LabelCall(models.Model):
    """One prompt of a run. Without criteria: not answered yet, or `failure` says why not."""

    run = models.ForeignKey(LabelRun, on_delete=models.PROTECT, related_name="label_calls")
    prompt = models.ForeignKey(Prompt, on_delete=models.CASCADE, related_name="label_calls")
    call = models.OneToOneField(Call, on_delete=models.PROTECT, related_name="label_call")
    criteria = models.JSONField(null=True, blank=True, help_text="each of the seven: true or false")
    failure = models.CharField(max_length=40, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "prompt"], name="one_label_call_per_prompt")]

    def __str__(self) -> str:
        return f"label call of prompt {self.prompt_id} in run {self.run_id}"


class LabelChange(models.Model):
    """A change of a prompt's labels and what they were before, so that a snapshot finds those of its day."""

    class Source(models.TextChoices):
        HAND = "hand", _("by hand")
        FILE = "file", _("from a file")
        LLM = "llm", _("by an LLM")

    prompt = models.ForeignKey(Prompt, on_delete=models.CASCADE, related_name="label_changes")
    was = models.JSONField(help_text="is_hard and the seven criteria before")
    source = models.CharField(max_length=4, choices=Source.choices)
    by = models.CharField(max_length=150, blank=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [models.Index(fields=["prompt", "at"], name="label_changes_of_a_prompt")]

    def __str__(self) -> str:
        return f"labels of prompt {self.prompt_id} changed {self.get_source_display()}"


class SpotCheck(models.Model):
    """What a person said about the seven criteria of a prompt, blind to what an LLM said."""

    prompt = models.ForeignKey(Prompt, on_delete=models.CASCADE, related_name="spot_checks")
    checked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    criteria = models.JSONField(help_text="each of the seven: true or false")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["prompt", "checked_by"], name="one_spot_check_per_person")
        ]

    def __str__(self) -> str:
        return f"spot check of prompt {self.prompt_id}"
