import hashlib
import secrets
from datetime import datetime
from functools import lru_cache

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models, transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from arena.corpus.html import stored_html
from arena.corpus.models import Competitor, PromptSet
from arena.corpus.render import render
from arena.raters.models import Rater, Team


class Campaign(models.Model):
    class Admission(models.TextChoices):
        INVITE = "invite", _("with an invite link")
        LOGIN = "login", _("signed in")
        OPEN = "open", _("anyone")

    class Reveal(models.TextChoices):
        NEVER = "never", _("never")
        AFTER_CLOSE = "after_close", _("after the campaign closes")
        AFTER_VOTE = "after_vote", _("after each vote")

    class Status(models.TextChoices):
        DRAFT = "draft", _("draft")
        OPEN = "open", _("open")
        PAUSED = "paused", _("paused")
        CLOSED = "closed", _("closed")

    class LeakPolicy(models.TextChoices):
        FLAG = "flag", _("drawn, and listed among the leaks")
        EXCLUDE = "exclude", _("never drawn")
        MASK = "mask", _("drawn with the name masked")

    LARGEST_REPEAT_SHARE = 0.5
    LARGEST_GOLD_SHARE = 0.3
    HARD_CRITERIA = 7

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="campaigns")
    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=60, unique=True)
    description = models.TextField(blank=True)
    prompt_sets = models.ManyToManyField(PromptSet, related_name="campaigns", blank=True)
    competitors = models.ManyToManyField(Competitor, related_name="campaigns", blank=True)
    admission = models.CharField(max_length=8, choices=Admission.choices, default=Admission.INVITE)
    reveal = models.CharField(max_length=12, choices=Reveal.choices, default=Reveal.AFTER_CLOSE)
    quota = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)], help_text=_("votes asked of each rater")
    )
    repeat_share = models.FloatField(
        default=0.1, validators=[MinValueValidator(0), MaxValueValidator(LARGEST_REPEAT_SHARE)]
    )
    gold_share = models.FloatField(
        default=0, validators=[MinValueValidator(0), MaxValueValidator(LARGEST_GOLD_SHARE)]
    )
    target_votes = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)], help_text=_("votes per prompt and pair")
    )
    target_raters = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)], help_text=_("raters per prompt")
    )
    ends_at = models.DateTimeField(null=True, blank=True)
    leak_policy = models.CharField(max_length=8, choices=LeakPolicy.choices, default=LeakPolicy.FLAG)
    plain_text = models.BooleanField(
        default=False, help_text=_("raters see responses as they were written, without formatting")
    )
    hard_at_least = models.PositiveSmallIntegerField(
        default=6,
        validators=[MinValueValidator(1), MaxValueValidator(HARD_CRITERIA)],
        help_text=_("of the seven criteria that a hard prompt meets"),
    )
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.DRAFT)
    created_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    names_shown_at = models.DateTimeField(
        null=True, blank=True, help_text=_("first time that closing showed raters the names")
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(repeat_share__range=(0, 0.5)), name="repeat_share_is_at_most_half"
            ),
            models.CheckConstraint(
                condition=Q(gold_share__range=(0, 0.3)), name="gold_share_is_at_most_three_in_ten"
            ),
            models.CheckConstraint(condition=Q(hard_at_least__range=(1, 7)), name="seven_hard_criteria"),
        ]

    def __str__(self) -> str:
        return self.name

    def hold(self) -> "Campaign":
        """As it stands now; nobody else who holds it does anything until the transaction ends.

        Votes and drawn battles, which keep it from being opened, paused or closed meanwhile, don't wait.
        """
        return Campaign.objects.select_for_update(no_key=True).get(pk=self.pk)

    @property
    def is_open(self) -> bool:
        return self.status == self.Status.OPEN

    @property
    def is_closed(self) -> bool:
        return self.status == self.Status.CLOSED

    @classmethod
    def voting_blind(cls, path: str = "") -> Q:
        """Campaigns in which votes may still come whose names must not be known."""
        live = Q(**{f"{path}status__in": [cls.Status.OPEN, cls.Status.PAUSED]})
        return live & ~Q(**{f"{path}reveal": cls.Reveal.AFTER_VOTE})

    @property
    def is_voting_blind(self) -> bool:
        return self.status in {self.Status.OPEN, self.Status.PAUSED} and not self.reveals_each_vote

    @property
    def reveals_each_vote(self) -> bool:
        return self.reveal == self.Reveal.AFTER_VOTE

    @property
    def revealed_by_closing(self) -> bool:
        return self.status == self.Status.CLOSED and self.reveal == self.Reveal.AFTER_CLOSE

    @property
    def names_are_out(self) -> bool:
        """Whether its raters may see the names behind their own votes now."""
        return self.reveals_each_vote or self.revealed_by_closing

    def has_ended(self, now: datetime) -> bool:
        """Whether its end date has passed; nothing is drawn from then on."""
        return self.ends_at is not None and self.ends_at <= now

    def takes_votes(self, now: datetime) -> bool:
        """Whether a new rater can begin."""
        return self.is_open and not self.has_ended(now)

    @property
    def names_were_shown(self) -> bool:
        """Whether its raters have seen, or may see now, the names behind their own votes."""
        return self.names_are_out or self.names_shown_at is not None

    @classmethod
    def with_names_shown(cls) -> Q:
        """Campaigns of which `names_were_shown` holds."""
        closed = Q(status=cls.Status.CLOSED, reveal=cls.Reveal.AFTER_CLOSE)
        return Q(reveal=cls.Reveal.AFTER_VOTE) | closed | Q(names_shown_at__isnull=False)

    @property
    def reopening_needs_consent(self) -> bool:
        """Whether closing has shown raters names that new votes would have to be blind to."""
        return self.is_closed and (self.revealed_by_closing or self.names_shown_at is not None)

    @property
    def current_guide(self) -> "Guide | None":
        return self.guides.order_by("-version").first()


class Reopening(models.Model):
    """A closed campaign was opened again: until then what was final had been published as such."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="reopenings")
    closed_at = models.DateTimeField()
    at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"campaign {self.campaign_id} opened again"


class Guide(models.Model):
    """What raters are asked. A change is a new version; every vote keeps the version it was cast under.

    The text is the record. How it is marked up follows the renderer, as with all texts that raters see.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="guides")
    version = models.PositiveIntegerField()
    text = models.TextField()
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "version"], name="guides_are_numbered")]

    def __str__(self) -> str:
        return f"guide {self.version} of {self.campaign_id}"

    @property
    def html(self) -> SafeString:
        return stored_html(_rendered(self.text))

    @classmethod
    def publish(cls, campaign: Campaign, text: str) -> "Guide":
        """The campaign's guide with this text: the current version if it already reads so, else the next."""
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        with transaction.atomic():
            campaign.hold()  # versions are given one at a time
            current = campaign.current_guide
            if current and current.sha256 == sha256:
                return current
            return cls.objects.create(
                campaign=campaign,
                version=current.version + 1 if current else 1,
                text=text,
                sha256=sha256,
            )


@lru_cache(maxsize=64)
def _rendered(text: str) -> str:
    """As the renderer makes it now. A process shows the same few guides again and again."""
    return render(text)


def hash_token(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


class InviteQuerySet(models.QuerySet["Invite"]):
    def usable(self) -> "InviteQuerySet":
        now = timezone.now()
        return self.filter(
            Q(expires_at=None) | Q(expires_at__gt=now),
            Q(max_uses=None) | Q(uses__lt=F("max_uses")) | Q(rater__isnull=False),
            Q(rater=None) | Q(rater__is_active=True),
            revoked_at=None,
        )

    def with_token(self, token: str) -> "InviteQuerySet":
        return self.filter(token_hash=hash_token(token)).select_related("campaign", "rater")

    def sent_by_name(self, rater: Rater) -> "InviteQuerySet":
        """Personal links that the team made for somebody, and no link that the rater made."""
        return self.filter(rater=rater).exclude(label__in=("", Invite.OTHER_DEVICE))

    def for_token(self, token: str) -> "Invite | None":
        return self.usable().with_token(token).first()


class Invite(models.Model):
    """A link that admits raters. Only the token's hash is kept; a personal link reopens on any device."""

    OTHER_DEVICE = "another device"  # label of the link that raters make themselves: it is nobody's name

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="invites")
    token_hash = models.CharField(max_length=64, unique=True)
    label = models.CharField(max_length=120, blank=True)
    rater = models.ForeignKey(
        Rater,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="invites",
        help_text="personal link",
    )
    max_uses = models.PositiveIntegerField(null=True, blank=True)
    uses = models.PositiveIntegerField(default=0)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    opened_at = models.DateTimeField(null=True, blank=True, help_text="first Begin with it")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = InviteQuerySet.as_manager()

    def __str__(self) -> str:
        return f"invite {self.pk} to {self.campaign_id}"

    @classmethod
    def new(cls, **fields) -> tuple["Invite", str]:
        """An invite that isn't saved yet and its token, which is shown once and never stored."""
        token = secrets.token_urlsafe(24)
        return cls(token_hash=hash_token(token), **fields), token

    @classmethod
    def issue(cls, campaign: Campaign, **fields) -> tuple["Invite", str]:
        invite, token = cls.new(campaign=campaign, **fields)
        invite.save()
        return invite, token

    def hold(self) -> "Invite | None":
        """As it stands now, None if it was removed; until the transaction ends it and its rater stay so.

        The rater first: whoever changes both rows takes them in this order, and none waits for the other.
        """
        if self.rater_id:
            Rater.objects.select_for_update().filter(pk=self.rater_id).first()
        held = Invite.objects.select_for_update(of=("self",)).select_related("campaign", "rater")
        return held.filter(pk=self.pk).first()

    @property
    def state(self) -> str:
        if self.revoked_at:
            return "revoked"
        if self.expires_at and self.expires_at <= timezone.now():
            return "expired"
        if self.rater_id is None and self.max_uses is not None and self.uses >= self.max_uses:
            return "used_up"
        return "valid"
