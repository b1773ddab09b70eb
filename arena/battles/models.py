import uuid

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from arena.campaigns.models import Campaign, Guide
from arena.corpus.models import Competitor, Prompt, Response
from arena.raters.models import Rater


class Outcome(models.TextChoices):
    MODEL_A = "model_a", _("A is better")
    MODEL_B = "model_b", _("B is better")
    TIE = "tie", _("Tie")
    BOTH_BAD = "both_bad", _("Both bad")


class Battle(models.Model):
    """One prompt and two responses; a is shown first. Never changes once drawn."""

    class Kind(models.TextChoices):
        REGULAR = "regular"
        REPEAT = "repeat"
        GOLD = "gold"
        RECORDED = "recorded"

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="battles")
    kind = models.CharField(max_length=8, choices=Kind.choices, default=Kind.REGULAR)
    prompt = models.ForeignKey(
        Prompt, null=True, blank=True, on_delete=models.PROTECT, related_name="battles"
    )
    competitor_a = models.ForeignKey(Competitor, on_delete=models.PROTECT, related_name="+")
    competitor_b = models.ForeignKey(Competitor, on_delete=models.PROTECT, related_name="+")
    response_a = models.ForeignKey(
        Response, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    response_b = models.ForeignKey(
        Response, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    rater = models.ForeignKey(Rater, null=True, blank=True, on_delete=models.PROTECT, related_name="battles")
    propensity = models.FloatField(null=True, blank=True, help_text="probability of this pair when drawn")
    drawn_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(competitor_a=models.F("competitor_b")), name="no_self_battle")
        ]
        indexes = [models.Index(fields=["campaign", "rater", "-drawn_at"], name="battles_of_a_rater")]

    def __str__(self) -> str:
        return f"battle {self.public_id}"


class Vote(models.Model):
    """A rater's outcome for one battle; append-only."""

    battle = models.OneToOneField(Battle, on_delete=models.PROTECT, related_name="vote")
    rater = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="votes")
    outcome = models.CharField(max_length=8, choices=Outcome.choices)
    idempotency_key = models.CharField(max_length=100)
    dwell_ms = models.PositiveIntegerField(null=True, blank=True)
    layout = models.CharField(max_length=20, blank=True)
    guide = models.ForeignKey(Guide, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    voted_at = models.DateTimeField()
    digest = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["rater", "idempotency_key"], name="one_vote_per_idempotency_key"),
            models.CheckConstraint(condition=Q(outcome__in=Outcome.values), name="vote_outcome_is_known"),
        ]

    def __str__(self) -> str:
        return f"vote {self.pk}: {self.outcome}"


class Retraction(models.Model):
    """The undo of a rater's last vote. The vote stays; the pair comes back as a new battle."""

    vote = models.OneToOneField(Vote, on_delete=models.PROTECT, related_name="retraction")
    at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"retraction of vote {self.vote_id}"


class BattleNote(models.Model):
    """What a rater says besides the vote. May be erased."""

    class Kind(models.TextChoices):
        SKIP = "skip", _("skipped")
        FLAG = "flag", _("flagged")
        COMMENT = "comment", _("comment")

    battle = models.ForeignKey(Battle, on_delete=models.PROTECT, related_name="notes")
    rater = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="notes")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    text = models.TextField(blank=True, max_length=2000)
    at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.kind} on {self.battle_id}"
