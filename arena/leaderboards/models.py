from functools import cached_property
from typing import Any

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor
from arena.judging.models import Judge
from arena.leaderboards.part import check_part
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.raters.access import User, teams_of
from arena.raters.models import Role


class LeaderboardQuerySet(models.QuerySet["Leaderboard"]):
    def visible_to(self, user: User) -> "LeaderboardQuerySet":
        """Public boards, to accounts also the signed-in ones, to a team's researchers all of theirs.

        While raters vote blind nobody else sees a board: one that moved with a vote would name its models.
        """
        shown = Q(visibility=Leaderboard.Visibility.PUBLIC)
        if user.is_authenticated:
            shown |= Q(visibility=Leaderboard.Visibility.SIGNED_IN)
        allowed = shown & ~Campaign.voting_blind("campaign__")
        if user.is_authenticated:
            allowed |= Q(campaign__team__in=teams_of(user, Role.RESEARCHER))
        return self.filter(allowed)

    def whole(self) -> "LeaderboardQuerySet":
        """Of all votes: boards that are read together, drawn by, scheduled. Parts stand apart."""
        return self.filter(part={})

    def parts(self) -> "LeaderboardQuerySet":
        return self.exclude(part={})


class Leaderboard(models.Model):
    """A definition: which comparisons, fitted how. Its dated fits are snapshots."""

    class Subset(models.TextChoices):
        ALL = "all", _("all prompts")
        HARD = "hard", _("hard prompts")

    class Source(models.TextChoices):
        RATERS = "raters", _("people")
        JUDGE = "judge", _("judge")
        PANEL = "panel", _("panel of judges")
        COMBINED = "combined", _("people and judge combined")

        @property
        def is_judged(self) -> bool:
            """Are its rows judgments? Those of a combined board are people's votes."""
            return self in (type(self).JUDGE, type(self).PANEL)

    class Visibility(models.TextChoices):
        PRIVATE = "private", _("the team's researchers and admins")
        SIGNED_IN = "signed_in", _("everyone signed in")
        PUBLIC = "public", _("everyone")

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="leaderboards")
    slug = models.SlugField(max_length=100, unique=True)
    name = models.CharField(max_length=300)
    subset = models.CharField(max_length=12, choices=Subset.choices, default=Subset.ALL)
    source = models.CharField(max_length=8, choices=Source.choices, default=Source.RATERS)
    judge = models.ForeignKey(
        Judge, null=True, blank=True, on_delete=models.PROTECT, related_name="leaderboards"
    )
    style_control = models.BooleanField(default=False)
    policies = models.JSONField(default=dict, blank=True, help_text="ties, both_bad, unstable")
    part = models.JSONField(
        default=dict,
        blank=True,
        help_text="of the votes: category, language, prompt_set, first_day, last_day; empty: all",
    )
    visibility = models.CharField(max_length=10, choices=Visibility.choices, default=Visibility.PRIVATE)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = LeaderboardQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.part != {}:
            check_part(self.part, self.campaign, self.source)
        super().save(*args, **kwargs)

    @property
    def is_judged(self) -> bool:
        return self.Source(self.source).is_judged


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
    plan = models.ForeignKey(
        AnalysisPlan,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="snapshots",
        help_text="frozen before the first vote: the board is registered; none: exploratory",
    )

    # False: not known yet. What know_looks found, for many at once.
    known_look: Any = False
    # None: not known yet. Of its models since it was taken, what know_renames found.
    known_renames: Any = None

    class Meta:
        get_latest_by = "pk"
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"snapshot {self.pk} of {self.leaderboard_id}"

    @cached_property
    def endless(self) -> dict[int, int]:
        """Models by number that won all battles against the rest (1), or lost all (-1)."""
        told = self.standings.values_list("competitor", "flags")
        ways = {pk: ("unbounded_above" in flags) - ("unbounded_below" in flags) for pk, flags in told}
        return {pk: way for pk, way in ways.items() if way}

    @property
    def registered_plan(self) -> AnalysisPlan | None:
        """`plan`, unless it came from a file: versions that believed such plans stored it nonetheless.

        Whatever is said of a snapshot's registration asks here.
        """
        return None if self.plan is None or self.plan.came_from_file else self.plan


class StandingQuerySet(models.QuerySet["Standing"]):
    def as_listed(self) -> "StandingQuerySet":
        """As a board lists them (board_rows.in_order), with their models."""
        is_unranked = models.Case(models.When(rank_lower=None, then=1), default=0)
        rating = models.F("rating").desc(nulls_last=True)
        return self.select_related("competitor").order_by("component", is_unranked, rating, "pk")


class Standing(models.Model):
    snapshot = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="standings")
    competitor = models.ForeignKey(Competitor, on_delete=models.PROTECT, related_name="standings")
    rating = models.FloatField(null=True, help_text="points; mean 1000, 400 a decade of odds")
    lower = models.FloatField(null=True)
    upper = models.FloatField(null=True)
    bootstrap_lower = models.FloatField(null=True)
    bootstrap_upper = models.FloatField(null=True)
    standard_error = models.FloatField(null=True)
    rank_lower = models.PositiveIntegerField(null=True)
    rank_upper = models.PositiveIntegerField(null=True)
    tied_first = models.BooleanField(default=False)
    component = models.PositiveIntegerField(default=0)
    battles = models.PositiveIntegerField()
    wins = models.PositiveIntegerField()
    losses = models.PositiveIntegerField()
    ties = models.PositiveIntegerField()
    both_bad = models.PositiveIntegerField(default=0, help_text="of the ties: votes that call both bad")
    usable = models.FloatField(
        null=True,
        help_text="chance that a response of it, shown alone, isn't called bad (grounded Rao-Kupper)",
    )
    flags = models.JSONField(default=list)
    shift = models.FloatField(
        null=True, help_text="points by which style control moves it: controlled less plain"
    )
    shift_lower = models.FloatField(null=True)
    shift_upper = models.FloatField(null=True)
    move = models.FloatField(
        null=True, help_text="on hard prompts: points from the board of all prompts to this one"
    )
    move_lower = models.FloatField(null=True)
    move_upper = models.FloatField(null=True)

    objects = StandingQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["snapshot", "competitor"], name="one_standing_per_competitor")
        ]
        # Databases place nulls differently: the unranked come last on each.
        ordering = [
            models.F("rank_lower").asc(nulls_last=True),
            models.F("rank_upper").asc(nulls_last=True),
            models.F("rating").desc(nulls_last=True),
            "pk",
        ]

    def __str__(self) -> str:
        return f"standing of {self.competitor_id} in {self.snapshot_id}"


class PairResult(models.Model):
    """Two competitors of a snapshot, `first` with the smaller id; first less second, in points.

    Pairs, categories and charts are what follows from a snapshot's rows: they are kept for a leaderboard's
    newest snapshot alone, pairs also for the final look of a registered board.
    """

    class Verdict(models.TextChoices):
        DIFFERENT = "different", _("different")
        EQUIVALENT = "equivalent", _("equivalent")
        NEGLIGIBLE = "different, negligible", _("different, but negligibly")
        UNDECIDED = "undecided", _("undecided")
        APART = "not connected", _("not comparable")
        UNBOUNDED = "unbounded", _("no finite difference")

    snapshot = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="pairs")
    first = models.ForeignKey(Competitor, on_delete=models.PROTECT, related_name="+")
    second = models.ForeignKey(Competitor, on_delete=models.PROTECT, related_name="+")
    verdict = models.CharField(max_length=24, choices=Verdict.choices)
    difference = models.FloatField(null=True)
    standard_error = models.FloatField(null=True)
    lower = models.FloatField(null=True)
    upper = models.FloatField(null=True)
    p = models.FloatField(null=True, help_text="two-sided, of no difference")
    p_adjusted = models.FloatField(null=True, help_text="the same with all pairs of the board (Holm)")
    equivalence_p = models.FloatField(null=True, help_text="of a difference at least as large as the margin")
    equivalence_adjusted = models.FloatField(null=True)
    wins = models.PositiveIntegerField(help_text="of the first in direct battles")
    losses = models.PositiveIntegerField()
    ties = models.PositiveIntegerField()
    details = models.JSONField(
        null=True, help_text="effects, tests on direct battles, categories, votes needed"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["snapshot", "first", "second"], name="one_result_per_pair"),
            models.CheckConstraint(condition=Q(first__lt=models.F("second")), name="pair_in_order"),
        ]
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.first_id} and {self.second_id} in {self.snapshot_id}: {self.verdict}"


class CategoryRating(models.Model):
    """A competitor's rating when only the votes of one category count; none where these set it no bound."""

    class Unbounded(models.TextChoices):
        """Why there is no finite rating: it, or a group it belongs to, won or lost all against the others."""

        WON_ALL = "won_all", _("won all")
        LOST_ALL = "lost_all", _("lost all")
        ABOVE = "above", _("no upper bound")
        BELOW = "below", _("no lower bound")
        BOTH = "both", _("no bounds")

    snapshot = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="category_ratings")
    category = models.CharField(max_length=120)
    competitor = models.ForeignKey(Competitor, on_delete=models.PROTECT, related_name="+")
    rating = models.FloatField(null=True)
    lower = models.FloatField(null=True)
    upper = models.FloatField(null=True)
    battles = models.PositiveIntegerField()
    unbounded = models.CharField(max_length=8, choices=Unbounded.choices, blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["snapshot", "category", "competitor"], name="one_rating_per_category"
            )
        ]
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.competitor_id} in {self.category} of {self.snapshot_id}"

    @property
    def in_words(self) -> str:
        """What stands in place of a rating that has no bound: "won all 12"; empty where there is one."""
        if not self.unbounded:
            return ""
        if self.unbounded in (self.Unbounded.WON_ALL, self.Unbounded.LOST_ALL):
            return f"{self.get_unbounded_display()} {self.battles:,}"
        return str(self.get_unbounded_display())


class SnapshotChart(models.Model):
    """A drawn chart, or why it couldn't be drawn. The snapshot stands without it."""

    snapshot = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="charts")
    name = models.CharField(max_length=24)
    spec = models.JSONField(null=True, help_text="Vega-Lite, in the light colours")
    light = models.TextField(blank=True, help_text="SVG")
    dark = models.TextField(blank=True, help_text="SVG")
    png = models.BinaryField(null=True, help_text="of the light one, twice its size")
    failure = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["snapshot", "name"], name="one_chart_of_a_name"),
        ]
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.name} of {self.snapshot_id}"
