"""What pairing goes by: how often each pair was drawn, and how much a vote on it would settle."""

from collections.abc import Iterable, Mapping

from django.db import models
from django.db.models import F, Q

from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor


class PairCountQuerySet(models.QuerySet["PairCount"]):
    def add(
        self, campaign_id: int, pairs: Mapping[tuple[int, int], int], new: Iterable[tuple[int, int]]
    ) -> None:
        """Raises each pair's count; rows are made for `new` pairs, unless someone else has just made them."""
        rows = [PairCount(campaign_id=campaign_id, low_id=low, high_id=high) for low, high in new]
        if rows:
            PairCount.objects.bulk_create(rows, ignore_conflicts=True)
        for by in sorted(set(pairs.values())):
            which = Q(pk=None)
            for (low, high), increment in pairs.items():
                if increment == by:
                    which |= Q(low=low, high=high)
            self.filter(which, campaign_id=campaign_id).update(battles=F("battles") + by)


class PairCount(models.Model):
    """How often a pair has been drawn in a campaign, skips taken off: pairing never counts votes."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="pair_counts")
    low = models.ForeignKey(Competitor, on_delete=models.CASCADE, related_name="+")
    high = models.ForeignKey(Competitor, on_delete=models.CASCADE, related_name="+")
    battles = models.PositiveIntegerField(default=0)

    objects = PairCountQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "low", "high"], name="one_count_per_pair"),
            models.CheckConstraint(condition=Q(low__lt=F("high")), name="pair_is_in_order"),
        ]

    def __str__(self) -> str:
        return f"{self.low_id} and {self.high_id}: {self.battles}"


class PairWeight(models.Model):
    """How much one more vote on a pair would settle, by the newest snapshot; pairing draws by it.

    Written by a higher room, which knows how to compute it.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="pair_weights")
    low = models.ForeignKey(Competitor, on_delete=models.CASCADE, related_name="+")
    high = models.ForeignKey(Competitor, on_delete=models.CASCADE, related_name="+")
    weight = models.FloatField()
    snapshot_id = models.BigIntegerField(help_text="the number of the snapshot that it comes from")
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "low", "high"], name="one_weight_per_pair"),
            models.CheckConstraint(condition=Q(low__lt=F("high")), name="weighed_pair_is_in_order"),
            models.CheckConstraint(condition=Q(weight__gte=0), name="weight_is_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.low_id} and {self.high_id}: {self.weight:.3g}"
