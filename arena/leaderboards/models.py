from django.db import models
from django.utils.translation import gettext_lazy as _

from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor
from arena.judging.models import Judge


class Leaderboard(models.Model):
    """A definition: which comparisons, fitted how. Its dated fits are snapshots."""

    class Subset(models.TextChoices):
        ALL = "all", _("all prompts")
        HARD = "hard", _("hard prompts")

    class Source(models.TextChoices):
        RATERS = "raters", _("people")
        JUDGE = "judge", _("judge")

    class Visibility(models.TextChoices):
        PRIVATE = "private", _("the team's researchers and admins")
        SIGNED_IN = "signed_in", _("everyone signed in")
        PUBLIC = "public", _("everyone")

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="leaderboards")
    slug = models.SlugField(max_length=80)
    name = models.CharField(max_length=120)
    subset = models.CharField(max_length=12, choices=Subset.choices, default=Subset.ALL)
    source = models.CharField(max_length=8, choices=Source.choices, default=Source.RATERS)
    judge = models.ForeignKey(
        Judge, null=True, blank=True, on_delete=models.PROTECT, related_name="leaderboards"
    )
    style_control = models.BooleanField(default=False)
    policies = models.JSONField(default=dict, blank=True, help_text="ties, both_bad, unstable")
    visibility = models.CharField(max_length=10, choices=Visibility.choices, default=Visibility.PRIVATE)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "slug"], name="one_leaderboard_slug_per_campaign")
        ]
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.name


class Snapshot(models.Model):
    """One dated fit of a leaderboard; append-only."""

    leaderboard = models.ForeignKey(Leaderboard, on_delete=models.CASCADE, related_name="snapshots")
    cutoff = models.DateTimeField(help_text="votes after it are not in")
    taken_at = models.DateTimeField(auto_now_add=True)
    counts = models.JSONField(help_text="votes, raters, prompts, effective clusters, …")
    options = models.JSONField()
    coefficients = models.JSONField(default=list)
    warnings = models.JSONField(default=list)
    vote_digest = models.CharField(max_length=64)
    code_version = models.CharField(max_length=64)
    seed = models.PositiveBigIntegerField()

    class Meta:
        get_latest_by = "pk"
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"snapshot {self.pk} of {self.leaderboard_id}"


class Standing(models.Model):
    snapshot = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="standings")
    competitor = models.ForeignKey(Competitor, on_delete=models.PROTECT, related_name="standings")
    rating = models.FloatField(null=True, help_text="points; mean 1000, 400 a decade of odds")
    lower = models.FloatField(null=True)
    upper = models.FloatField(null=True)
    rank_lower = models.PositiveIntegerField(null=True)
    rank_upper = models.PositiveIntegerField(null=True)
    tied_first = models.BooleanField(default=False)
    component = models.PositiveIntegerField(default=0)
    battles = models.PositiveIntegerField()
    wins = models.PositiveIntegerField()
    losses = models.PositiveIntegerField()
    ties = models.PositiveIntegerField()
    flags = models.JSONField(default=list)
    shift = models.FloatField(null=True, help_text="points moved by style control")
    shift_lower = models.FloatField(null=True)
    shift_upper = models.FloatField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["snapshot", "competitor"], name="one_standing_per_competitor")
        ]
        ordering = ["rank_lower", "rank_upper", "-rating", "pk"]

    def __str__(self) -> str:
        return f"standing of {self.competitor_id} in {self.snapshot_id}"
