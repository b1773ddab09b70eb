"""What pairing goes by: how often each pair was drawn, and how much a vote on it would settle."""

from collections.abc import Mapping
from functools import cache

from django.db import connection, models
from django.db.models import F, Q

from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor


class PairCountQuerySet(models.QuerySet["PairCount"]):
    def add(self, campaign_id: int, pairs: Mapping[tuple[int, int], int], newest: tuple[int, int]) -> bool:
        """Raises each pair's count, if the rater's newest battle is still the one of that number (0: none).

        `newest`: the rater and that number. False: it isn't, and nothing was counted.
        """
        # In one order, or two draws of the same two pairs would wait for each other for ever.
        ordered = sorted(pairs.items())
        rows = [number for (low, high), more in ordered for number in (campaign_id, low, high, more)]
        with connection.cursor() as cursor:
            cursor.execute(_raise_counts(len(pairs)), [*rows, *newest])
            return cursor.rowcount == len(pairs)


@cache
def _raise_counts(pairs: int) -> str:
    """By hand: Django can't ask and count in one statement, and every draw does."""
    drawn = " UNION ALL ".join(["SELECT %s AS campaign, %s AS low, %s AS high, %s AS more"] * pairs)
    head = "INSERT INTO arena_paircount AS known (campaign_id, low_id, high_id, battles)"
    rows = f"SELECT campaign, low, high, more FROM ({drawn}) AS drawn"  # noqa: S608
    only_if = "WHERE (SELECT COALESCE(MAX(id), 0) FROM arena_battle WHERE rater_id = %s) = %s"
    else_raise = (
        "ON CONFLICT (campaign_id, low_id, high_id) DO UPDATE SET battles = known.battles + excluded.battles"
    )
    return f"{head} {rows} {only_if} {else_raise}"


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
