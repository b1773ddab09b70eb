from django.db import models

from arena.campaigns.models import Campaign
from arena.judging.models import Judge, JudgeRun


class JudgeCard(models.Model):
    """What a judge's findings in a campaign are worth; the worker computes it, and again when rows came."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="judge_cards")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="cards")
    figures = models.JSONField()
    seen = models.JSONField(help_text="what was there when it was computed; other rows make it due")
    code_version = models.CharField(max_length=64)
    computed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "judge"], name="one_card_per_campaign_and_judge")
        ]
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"card of judge {self.judge_id} in {self.campaign_id}"


class RunFigures(models.Model):
    """What a run of a calibration, or of several wordings of a rubric, came to; computed by the worker."""

    run = models.OneToOneField(JudgeRun, on_delete=models.CASCADE, related_name="figures")
    figures = models.JSONField()
    newest = models.DateTimeField(help_text="of the judgments that are in; a later one makes it due")
    code_version = models.CharField(max_length=64)
    computed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"figures of run {self.run_id}"
