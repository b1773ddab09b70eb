"""Who said what about the seven criteria of a hard prompt. What counts stands in the prompt itself."""

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from arena.corpus.models import Prompt, PromptSet
from arena.endpoints.models import Call, Endpoint
from arena.endpoints.runs import Run


class LabelRun(Run):
    """An LLM is asked which criteria the prompts of a set meet."""

    prompt_set = models.ForeignKey(PromptSet, on_delete=models.PROTECT, related_name="label_runs")
    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="label_runs")

    def __str__(self) -> str:
        return f"label run {self.pk} of {self.prompt_set_id}"

    def calls(self) -> models.QuerySet[Call]:
        return Call.objects.filter(label_call__run=self)


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
