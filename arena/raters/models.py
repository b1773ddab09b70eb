import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class Role(models.TextChoices):
    RATER = "rater", _("rater")
    RESEARCHER = "researcher", _("researcher")
    ADMIN = "admin", _("admin")


class Team(models.Model):
    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=60, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name

    @classmethod
    def default(cls) -> "Team":
        """The one team of an installation that has made no other."""
        return cls.objects.get_or_create(slug="default", defaults={"name": "Default team"})[0]


class Membership(models.Model):
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=12, choices=Role.choices)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "team"], name="one_membership_per_team")]

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.team}"


class NamesSeen(models.Model):
    """Who held a role that shows which model wrote what, and lost it: what they saw, they have seen."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="names_seen")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="names_seen")
    until = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "team"], name="names_are_seen_once")]

    def __str__(self) -> str:
        return f"{self.user} saw the names of {self.team}"


class TokenName(models.Model):
    """For what program a person made a token, so that they know which one to revoke."""

    token = models.OneToOneField(
        "knox.AuthToken", primary_key=True, on_delete=models.CASCADE, related_name="named"
    )
    name = models.CharField(max_length=80)

    def __str__(self) -> str:
        return self.name


class Rater(models.Model):
    class Admission(models.TextChoices):
        LINK = "link", _("invite link")
        LOGIN = "login", _("signed in")
        OPEN = "open", _("open campaign")
        RECORDED = "recorded", _("recorded elsewhere")
        SIMULATED = "simulated", _("simulated")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="raters")
    pseudonym = models.CharField(max_length=120)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="raters"
    )
    admission = models.CharField(max_length=12, choices=Admission.choices)
    languages = models.JSONField(default=list, blank=True, help_text="ISO codes; empty means all")
    is_active = models.BooleanField(default=True)
    generation = models.PositiveIntegerField(
        default=0, help_text="raised when its links are made anew or revoked: earlier sessions are out"
    )
    begun_with = models.CharField(
        max_length=64,
        null=True,
        editable=False,
        unique=True,
        help_text="the browser's beginning in the campaign: pressed twice, it makes one rater",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    # Whom this browser has been in other campaigns: what one of them saw, this one knows.
    same_person: tuple[int, ...] = ()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "pseudonym"], name="one_pseudonym_per_team"),
            models.UniqueConstraint(
                fields=["team", "user"],
                condition=models.Q(admission="login"),
                name="one_signed_in_rater_per_user_and_team",
            ),
        ]

    def __str__(self) -> str:
        return self.pseudonym
