"""What a model was called before: a board of then names it as it is called now, and has to say so."""

from django.db import models
from django.utils import timezone

from arena.corpus.models import Competitor


class Rename(models.Model):
    """Of a model that had responses, battles or standings; written by `Competitor.save`; append-only."""

    competitor = models.ForeignKey(Competitor, on_delete=models.PROTECT, related_name="renames")
    was = models.CharField(max_length=200)
    became = models.CharField(max_length=200)
    at = models.DateTimeField(default=timezone.now)
    by = models.CharField(max_length=150, blank=True, help_text="whose form it was; empty: nobody's")

    class Meta:
        ordering = ["at", "pk"]
        indexes = [models.Index(fields=["competitor", "at"], name="renames_of_a_competitor")]

    def __str__(self) -> str:
        return f"competitor {self.competitor_id}: {self.was} became {self.became}"
