import uuid
from datetime import datetime

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.db.models import Count, Exists, ExpressionWrapper, F, FilteredRelation, OuterRef, Q, Subquery
from django.db.models.functions import Greatest, Least
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from arena.battles.gold_models import Gold
from arena.campaigns.models import Campaign, Guide
from arena.corpus.models import Competitor, Prompt, Response
from arena.raters.models import Rater, Role


class Outcome(models.TextChoices):
    MODEL_A = "model_a", _("A is better")
    MODEL_B = "model_b", _("B is better")
    TIE = "tie", _("Tie")
    BOTH_BAD = "both_bad", _("Both bad")


# A model was withdrawn, or a text taken out, after the battle was handed out.
_GONE = (
    Q(competitor_a__status=Competitor.Status.WITHDRAWN)
    | Q(competitor_b__status=Competitor.Status.WITHDRAWN)
    | Q(prompt__tombstone__isnull=False)
    | Q(response_a__tombstone__isnull=False)
    | Q(response_b__tombstone__isnull=False)
)


class BattleQuerySet(models.QuerySet["Battle"]):
    def waiting(self, rater_id: int, campaign_id: int, now: datetime) -> "BattleQuerySet":
        """Handed out and waiting for this rater's vote; what stands in for an undone battle comes first."""
        waiting = self.with_skips().filter(skip=None, vote=None, expires_at__gt=now).exclude(_GONE)
        return waiting.filter(campaign=campaign_id, rater=rater_id).order_by(
            F("replaces").asc(nulls_last=True), "drawn_at", "pk"
        )

    def left_too_long(self, rater: Rater, campaign: Campaign) -> "BattleQuerySet":
        """Run out unvoted since the rater last voted or was given a battle: one of them was on the screen."""
        now = timezone.now()
        given = self.filter(rater=rater, campaign=campaign).order_by()
        later = given.filter(
            Q(drawn_at__gt=OuterRef("expires_at")) | Q(vote__voted_at__gt=OuterRef("expires_at"))
        )
        ran_out = given.with_skips().filter(skip=None, vote=None, replaced_by=None, expires_at__lte=now)
        return ran_out.exclude(_GONE).exclude(Exists(later))

    def with_skips(self) -> "BattleQuerySet":
        """`skip` is the note by which the rater skipped the battle."""
        return self.annotate(skip=FilteredRelation("notes", condition=Q(notes__kind=BattleNote.Kind.SKIP)))

    def with_texts(self) -> "BattleQuerySet":
        """As `screen.Shown` shows them, which depends on the campaign's policy on leaks."""
        sides = ("response_a", "response_b")
        shown = ("rendered_html", "masked_html", "leak", "text", "competitor")
        return self.select_related("campaign", "prompt", *sides).only(
            "public_id",
            "campaign__leak_policy",
            "prompt__rendered_html",
            *(f"{side}__{column}" for side in sides for column in shown),
        )

    def with_ballot(self, user_id: str | int | None = None) -> "BattleQuerySet":
        """With all a ballot needs: campaign, its guide, rater, how many of their votes stand, the vote.

        And whether the rater, or the user in whose session the battle is opened, may see the names or could.
        """
        guides = Guide.objects.filter(campaign=OuterRef("campaign")).order_by("-version")
        votes = Vote.objects.filter(
            rater=OuterRef("rater"), battle__campaign=OuterRef("campaign"), retraction=None
        ).order_by()
        counted = votes.values("rater").annotate(count=Count("pk")).values("count")
        annotations = {
            "guide_id": Subquery(guides.values("pk")[:1]),
            "votes_standing": Subquery(counted),
            "is_unblinded": _may_see_names(user_id),
            "is_gone": ExpressionWrapper(_GONE, output_field=models.BooleanField()),
        }
        return self.select_related("campaign", "rater", "vote").annotate(**annotations)


def _may_see_names(user_id: str | int | None) -> Exists:
    who = Q(pk=OuterRef("rater__user")) if user_id is None else Q(pk=OuterRef("rater__user")) | Q(pk=user_id)
    in_team = Q(
        memberships__team=OuterRef("campaign__team"),
        memberships__role__in=[Role.RESEARCHER, Role.ADMIN],
    )
    could = Q(names_seen__team=OuterRef("campaign__team"))
    return Exists(User.objects.filter(who & (Q(is_superuser=True) | in_team | could)))


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
    replaces = models.OneToOneField(
        "self",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="replaced_by",
        help_text="the undone or expired battle whose prompt and pair come back here",
    )
    repeat_of = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="repeats",
        help_text="the battle that the same rater gets a second time here, sides swapped",
    )
    gold = models.ForeignKey(Gold, null=True, blank=True, on_delete=models.PROTECT, related_name="battles")
    drawn_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)

    # Annotations of BattleQuerySet.
    guide_id: int | None
    votes_standing: int | None
    is_unblinded: bool
    is_gone: bool

    objects = BattleQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(competitor_a=models.F("competitor_b")), name="no_self_battle"
            ),
            models.UniqueConstraint(
                "campaign",
                "rater",
                "prompt",
                Least("competitor_a", "competitor_b"),
                Greatest("competitor_a", "competitor_b"),
                condition=Q(kind="regular", rater__isnull=False, replaces=None),
                name="rater_meets_a_prompt_and_pair_once",
            ),
            models.UniqueConstraint(
                fields=["repeat_of"],
                condition=Q(repeat_of__isnull=False, replaces=None),
                name="a_battle_is_repeated_once",
            ),
            models.UniqueConstraint(
                fields=["rater", "gold"],
                condition=Q(gold__isnull=False, rater__isnull=False, replaces=None),
                name="rater_meets_a_gold_once",
            ),
            models.CheckConstraint(
                condition=Q(kind="gold") | Q(gold=None), name="only_gold_battles_have_a_gold"
            ),
            models.CheckConstraint(
                condition=Q(kind="repeat") | Q(repeat_of=None), name="only_repeats_repeat_a_battle"
            ),
        ]
        indexes = [
            models.Index(fields=["campaign", "rater", "-drawn_at"], name="battles_of_a_rater"),
            models.Index(fields=["rater", "prompt"], name="battles_of_a_rater_on_a_prompt"),
        ]

    def __str__(self) -> str:
        return f"battle {self.public_id}"

    @property
    def pair(self) -> tuple[int, int]:
        low, high = sorted((self.competitor_a_id, self.competitor_b_id))
        return low, high

    def has_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now


class VoteQuerySet(models.QuerySet["Vote"]):
    def of(self, rater: Rater, campaign: Campaign) -> "VoteQuerySet":
        return self.filter(rater=rater, battle__campaign=campaign)

    def standing(self) -> "VoteQuerySet":
        """Not undone."""
        return self.filter(retraction=None)

    def rated(self) -> "VoteQuerySet":
        """On battles that boards count: a repeat says how steady a rater is, a gold how careful."""
        return self.exclude(battle__kind__in=[Battle.Kind.GOLD, Battle.Kind.REPEAT])

    def repeats(self) -> "VoteQuerySet":
        return self.filter(battle__kind=Battle.Kind.REPEAT)

    def excluded(self, campaign_id: int, at: datetime | None = None) -> "VoteQuerySet":
        """Of one campaign, left out by an exclusion that was in force at that time."""
        return self.filter(_excluded(campaign_id, at), battle__campaign=campaign_id)

    def not_excluded(self, campaign_id: int, at: datetime | None = None) -> "VoteQuerySet":
        return self.filter(~_excluded(campaign_id, at), battle__campaign=campaign_id)

    def counted(self, campaign_id: int) -> "VoteQuerySet":
        """What a board of the campaign counts now."""
        return self.rated().standing().not_excluded(campaign_id)

    def with_battles(self) -> "VoteQuerySet":
        return self.select_related("battle__prompt", "battle__competitor_a", "battle__competitor_b")


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

    objects = VoteQuerySet.as_manager()

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


class ExclusionQuerySet(models.QuerySet["Exclusion"]):
    def in_force(self, at: datetime | None = None) -> "ExclusionQuerySet":
        at = at or timezone.now()
        return self.filter(Q(revoked_at=None) | Q(revoked_at__gt=at), since__lte=at)


def _excluded(campaign_id: int, at: datetime | None) -> Q:
    return left_out_by(Exclusion.objects.in_force(at).filter(campaign=campaign_id))


def left_out_by(exclusions: ExclusionQuerySet) -> Q:
    """The votes of one campaign that these exclusions of it name."""
    votes = exclusions.filter(vote__isnull=False).values("vote")
    return Q(pk__in=votes) | Q(rater__in=exclusions.filter(rater__isnull=False).values("rater"))


class Exclusion(models.Model):
    """A vote, or all votes of a rater in a campaign, that no board counts. The rows stay and are exported.

    Append-only but for the revocation.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="exclusions")
    vote = models.ForeignKey(Vote, null=True, blank=True, on_delete=models.PROTECT, related_name="exclusions")
    rater = models.ForeignKey(
        Rater, null=True, blank=True, on_delete=models.PROTECT, related_name="exclusions"
    )
    rule = models.CharField(max_length=40, help_text="by_hand, unblinded, or the name of a check")
    rule_version = models.PositiveIntegerField(default=1)
    reason = models.TextField(max_length=2000)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="none: a rule of the program",
    )
    since = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    revoked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    revoked_because = models.TextField(blank=True, max_length=2000)

    objects = ExclusionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(vote=None, rater__isnull=False) | Q(vote__isnull=False, rater=None),
                name="exclusion_is_of_a_vote_or_a_rater",
            ),
            models.UniqueConstraint(
                fields=["vote", "rule"],
                condition=Q(revoked_at=None),
                name="a_vote_is_excluded_once_by_a_rule",
            ),
            models.UniqueConstraint(
                fields=["campaign", "rater", "rule"],
                condition=Q(revoked_at=None),
                name="a_rater_is_excluded_once_by_a_rule",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rule}: {f'vote {self.vote_id}' if self.vote_id else f'rater {self.rater_id}'}"


class BattleNote(models.Model):
    """What a rater says besides the vote. May be erased."""

    class Kind(models.TextChoices):
        SKIP = "skip", _("skipped")
        FLAG = "flag", _("flagged")
        COMMENT = "comment", _("comment")
        REASON = "reason", _("reason")

    battle = models.ForeignKey(Battle, on_delete=models.PROTECT, related_name="notes")
    rater = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="notes")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    text = models.TextField(blank=True, max_length=2000)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["battle"], condition=Q(kind="skip"), name="a_battle_is_skipped_once"
            ),
            models.UniqueConstraint(
                fields=["battle"], condition=Q(kind="comment"), name="a_battle_has_one_comment"
            ),
            models.UniqueConstraint(
                fields=["battle", "text"], condition=Q(kind="reason"), name="a_reason_is_given_once"
            ),
            models.UniqueConstraint(
                fields=["battle", "text"], condition=Q(kind="flag"), name="a_flag_is_raised_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} on {self.battle_id}"
