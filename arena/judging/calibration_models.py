from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from arena.battles.models import Battle
from arena.campaigns.models import Campaign
from arena.endpoints.models import Endpoint
from arena.judging.models import Judge, JudgeRun


class Calibration(models.Model):
    """What people found, fixed before a judge is measured against it: later votes change nothing here."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="calibrations")
    name = models.CharField(max_length=120)
    seed = models.PositiveBigIntegerField()
    held_out_percent = models.PositiveIntegerField()
    least_votes = models.PositiveIntegerField()
    left_out = models.JSONField(default=dict, help_text="pairs without a label, by reason")
    sha256 = models.CharField(max_length=64, help_text="of the labels and their parts")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "name"], name="one_calibration_name_per_campaign")
        ]
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.name


class Part(models.TextChoices):
    DEV = "dev", _("development")
    HELD_OUT = "held_out", _("held out")


class CalibrationLabel(models.Model):
    """One pair of responses and what most people found, in sides of `battle`."""

    calibration = models.ForeignKey(Calibration, on_delete=models.CASCADE, related_name="labels")
    battle = models.ForeignKey(Battle, on_delete=models.PROTECT, related_name="calibration_labels")
    part = models.CharField(max_length=8, choices=Part.choices)
    category = models.CharField(max_length=120, blank=True)
    outcome = models.CharField(max_length=7, choices=[(o, o) for o in ("model_a", "model_b", "tie")])
    votes = models.PositiveIntegerField()
    agreeing = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["calibration", "battle"], name="one_label_per_calibration_battle")
        ]

    def __str__(self) -> str:
        return f"{self.battle_id}: {self.outcome}"


class Measurement(models.Model):
    """A judge's run over one part. On the held-out part: one for each rubric version and model."""

    calibration = models.ForeignKey(Calibration, on_delete=models.CASCADE, related_name="measurements")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="measurements")
    part = models.CharField(max_length=8, choices=Part.choices)
    run = models.OneToOneField(JudgeRun, on_delete=models.PROTECT, related_name="measurement")
    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="measurements")
    rubric_sha256 = models.CharField(max_length=64)
    started_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["calibration", "rubric_sha256", "endpoint"],
                condition=Q(part="held_out"),
                name="held_out_once_per_rubric_version",
            )
        ]
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.judge_id} on {self.part} of {self.calibration_id}"
