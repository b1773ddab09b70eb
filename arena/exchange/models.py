import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from arena.battles.models import Battle
from arena.corpus.models import Arrival
from arena.raters.models import Team

ASKS = "asks_whose"  # in an import's contents: the raters' column and the names that make it doubtful


class Import(models.Model):
    """One file brought in: what it was, what it changed, or why it changed nothing."""

    class Kind(models.TextChoices):
        PROMPTS = "prompts"
        RESPONSES = "responses"
        VOTES = "votes"
        CAMPAIGN = "campaign", _("a whole campaign")

    class State(models.TextChoices):
        CHECKING = "checking"
        PREVIEWED = "previewed"
        STORING = "storing"
        DONE = "done"
        REFUSED = "refused"
        CANCELLED = "cancelled"

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="imports")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    target = models.CharField(max_length=120, help_text="name of the prompt set, or slug of the campaign")
    file_name = models.CharField(max_length=255)
    file_sha256 = models.CharField(max_length=64, blank=True)
    file_size = models.BigIntegerField(default=0, help_text="bytes")
    stored_as = models.CharField(max_length=80, blank=True, help_text="generated name while a preview waits")
    state = models.CharField(max_length=10, choices=State.choices)
    options = models.JSONField(default=dict, blank=True, help_text="how the file is to be read")
    description = models.CharField(max_length=200, blank=True, help_text="how it was read")
    done_rows = models.PositiveIntegerField(default=0)
    total_rows = models.PositiveIntegerField(default=0)
    is_cancelled = models.BooleanField(default=False, help_text="someone asked for it; work stops at this")
    turn = models.PositiveSmallIntegerField(default=0, help_text="how often work on the file has begun")
    leased_until = models.DateTimeField(null=True, blank=True)
    arrival = models.OneToOneField(
        Arrival, null=True, blank=True, editable=False, on_delete=models.SET_NULL, related_name="file"
    )
    contents = models.JSONField(
        default=dict,
        blank=True,
        help_text="a whole campaign's tables, rows and how many are known; votes: whose they are, if asked",
    )
    added = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(default=0)
    error_count = models.PositiveIntegerField(default=0)
    errors = models.JSONField(default=list, help_text="the first hundred: line, column, reason")
    notices = models.JSONField(default=list)
    personal = models.JSONField(
        default=dict, blank=True, help_text="likely personal data by kind: count and first places"
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.kind} from {self.file_name} ({self.state})"

    @property
    def asks_whose(self) -> dict:
        """What makes it doubtful that people cast the votes: it has to be said before they are stored."""
        return self.contents.get(ASKS, {})

    @property
    def is_at_work(self) -> bool:
        return self.state in (self.State.CHECKING, self.State.STORING)


class Origin(models.Model):
    """What the file said of a recorded battle that has no column of its own elsewhere."""

    battle = models.OneToOneField(Battle, on_delete=models.PROTECT, related_name="origin")
    format = models.CharField(max_length=20, blank=True, help_text="of the file; empty for our own")
    label = models.CharField(max_length=200, help_text="the winner in the file's own words")
    turns = models.JSONField(null=True, blank=True, help_text="replies of each side, if several")
    key = models.CharField(max_length=100, blank=True, help_text="keeps a judgment from counting twice")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["key"], condition=~Q(key=""), name="one_judgment_per_key")
        ]

    def __str__(self) -> str:
        return f"{self.battle_id} from {self.format or 'our own format'}: {self.label}"
