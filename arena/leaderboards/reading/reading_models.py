from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from arena.battles.models import Battle


class Reading(models.Model):
    """What a person found on reading a battle after the votes: which failure, on which side."""

    class Failure(models.TextChoices):
        NONE = "none", _("no failure")
        WRONG = "wrong", _("wrong fact or result")
        REASONING = "reasoning", _("faulty reasoning")
        IGNORED = "ignored", _("ignored what was asked")
        INCOMPLETE = "incomplete", _("incomplete or cut off")
        PADDED = "padded", _("padded or repetitive")
        FORMAT = "format", _("wrong format or language")
        REFUSED = "refused", _("refused without need")
        UNSAFE = "unsafe", _("harmful")
        OTHER = "other", _("something else")

    class Side(models.TextChoices):
        A = "a", _("the first shown")
        B = "b", _("the second shown")

    battle = models.ForeignKey(Battle, on_delete=models.CASCADE, related_name="readings")
    reader = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    side = models.CharField(max_length=1, choices=Side.choices)
    failure = models.CharField(max_length=10, choices=Failure.choices)
    comment = models.CharField(max_length=500, blank=True)
    at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["battle", "reader", "side"], name="one_reading_a_side")
        ]

    def __str__(self) -> str:
        return f"{self.failure} on {self.side} of battle {self.battle_id}"
