from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from arena.campaigns.models import Campaign
from arena.corpus.models import Prompt, Response


class GoldQuerySet(models.QuerySet["Gold"]):
    def in_use(self) -> "GoldQuerySet":
        return self.filter(retired_at=None)

    def with_texts(self) -> "GoldQuerySet":
        return self.select_related("prompt__prompt_set", "response_a", "response_b")


class Gold(models.Model):
    """Two texts whose outcome is known beforehand, mixed among a rater's battles. Never rated."""

    class Kind(models.TextChoices):
        QUALITY = "quality", _("one text is plainly better")
        INSTRUCTED = "instructed", _("the text says how to vote")

    class Expected(models.TextChoices):
        """In terms of the two texts as they are stored; the sides on the screen are a coin's."""

        MODEL_A = "model_a", _("the first text wins")
        MODEL_B = "model_b", _("the second text wins")
        TIE = "tie", _("tie")
        BOTH_BAD = "both_bad", _("both bad")

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="golds")
    prompt = models.ForeignKey(Prompt, on_delete=models.PROTECT, related_name="+")
    response_a = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="+")
    response_b = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="+")
    expected = models.CharField(max_length=8, choices=Expected.choices)
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.QUALITY)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    objects = GoldQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(response_a=F("response_b")), name="gold_has_two_texts")
        ]

    def __str__(self) -> str:
        return f"gold {self.pk}: {self.expected}"
