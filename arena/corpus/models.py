from collections.abc import Iterable, Iterator
from typing import Any

from django.db import models, transaction
from django.db.models import Q
from django.dispatch import Signal
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from arena.corpus.html import stored_html
from arena.corpus.names import name_key
from arena.endpoints.models import Endpoint
from arena.raters.models import Team

HARD_CRITERIA = (
    "specificity",
    "domain_knowledge",
    "complexity",
    "problem_solving",
    "creativity",
    "technical_accuracy",
    "real_world",
)
# A prompt is hard from six of seven criteria (LMArena's hard_6).
HARD_AT_LEAST = 6
# The texts of golds belong to two competitors that never fight: no models of anybody's.
GOLD_HOLDERS = ("Gold text 1", "Gold text 2")
_HOLDER_KEYS = [name_key(name) for name in GOLD_HOLDERS]
OF_GOLDS = Q(competitor__role="sentinel", competitor__name_key__in=_HOLDER_KEYS)

model_is_asked_for = Signal()
"""Receivers answer whether they name `model` where the database doesn't know: then it stays."""


class Arrival(models.Model):
    """Rows that come in over many transactions: none of them is there before all of them are."""

    created_at = models.DateTimeField(auto_now_add=True)
    landed_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"arrival {self.pk}"


class LandedManager(models.Manager):
    """Leaves out what is still on its way in; unique constraints see it all the same."""

    def get_queryset(self) -> models.QuerySet:
        waiting = Arrival.objects.filter(landed_at=None).order_by().values("pk")
        return super().get_queryset().exclude(arrival__in=waiting)


class StoredManager(models.Manager):
    """Landed or not."""


class Arriving(models.Model):
    arrival = models.ForeignKey(
        Arrival,
        null=True,
        blank=True,
        editable=False,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="what it came in with; hidden until that has landed",
    )

    objects = LandedManager()
    stored = StoredManager()

    class Meta:
        abstract = True


class PromptSet(Arriving):
    class Status(models.TextChoices):
        DRAFT = "draft"
        PUBLISHED = "published"
        RETIRED = "retired"

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="prompt_sets")
    name = models.CharField(max_length=120)
    version = models.PositiveIntegerField(default=1)
    description = models.TextField(blank=True)
    licence = models.CharField(max_length=120, blank=True)
    is_internal = models.BooleanField(
        default=False, help_text="never sent to an endpoint that isn't internal too"
    )
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.DRAFT)
    content_hash = models.CharField(max_length=64, blank=True)
    edits = models.PositiveIntegerField(
        default=0, editable=False, help_text="how often the text of one of its prompts was changed"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    published_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team", "name", "version"], name="one_prompt_set_version_per_team"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"

    # Retired ones go on where they are in use.
    FROZEN = (Status.PUBLISHED, Status.RETIRED)

    @property
    def is_draft(self) -> bool:
        return self.status == self.Status.DRAFT

    def may_go_to(self, endpoint: Endpoint) -> bool:
        """Whether its texts may be sent there."""
        return endpoint.may_receive(internal=self.is_internal)


class Prompt(Arriving):
    prompt_set = models.ForeignKey(PromptSet, on_delete=models.PROTECT, related_name="prompts")
    external_id = models.CharField(max_length=200)
    messages = models.JSONField(help_text="one or more turns: role and content")
    category = models.CharField(max_length=120, blank=True)
    language = models.CharField(max_length=40, blank=True)
    tags = models.JSONField(default=list, blank=True)
    reference = models.TextField(blank=True)
    specificity = models.BooleanField(null=True, blank=True)
    domain_knowledge = models.BooleanField(null=True, blank=True)
    complexity = models.BooleanField(null=True, blank=True)
    problem_solving = models.BooleanField(null=True, blank=True)
    creativity = models.BooleanField(null=True, blank=True)
    technical_accuracy = models.BooleanField(null=True, blank=True)
    real_world = models.BooleanField(null=True, blank=True)
    is_hard = models.BooleanField(null=True, blank=True, help_text="unknown when neither given nor derivable")
    rendered_html = models.TextField(blank=True)
    renderer_version = models.PositiveIntegerField(default=0)
    tombstone = models.JSONField(
        null=True,
        blank=True,
        editable=False,
        help_text="of a redacted prompt: hashes, counts, reason, who, when",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["prompt_set", "external_id"], name="one_prompt_id_per_set")
        ]

    def __str__(self) -> str:
        return f"{self.prompt_set_id}/{self.external_id}"

    @property
    def html(self) -> SafeString:
        return stored_html(self.rendered_html)

    @property
    def text(self) -> str:
        """The turns as one text, for lists and for search."""
        return "\n\n".join(turn["content"] for turn in self.messages)


class Competitor(Arriving):
    """What is ranked; on screen: model."""

    class Role(models.TextChoices):
        CONTENDER = "contender"
        SENTINEL = "sentinel"

    class Status(models.TextChoices):
        ACTIVE = "active"
        RETIRED = "retired"
        WITHDRAWN = "withdrawn"

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="competitors")
    name = models.CharField(max_length=200)
    name_key = models.CharField(max_length=400, editable=False)
    organisation = models.CharField(max_length=200, blank=True)
    family = models.CharField(max_length=80, blank=True)
    licence = models.CharField(max_length=120, blank=True)
    endpoint = models.ForeignKey(
        Endpoint, null=True, blank=True, on_delete=models.PROTECT, related_name="competitors"
    )
    system_prompt = models.TextField(blank=True)
    parameters = models.JSONField(default=dict, blank=True)
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.CONTENDER)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.ACTIVE)
    aliases = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    # Whose form saves it.
    saved_by = ""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "name_key"], name="one_competitor_name_per_team")
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *args, update_fields: Iterable[str] | None = None, **kwargs) -> None:
        self.name_key = name_key(self.name)
        if update_fields is not None and "name" in update_fields:
            update_fields = {*update_fields, "name_key"}
        with transaction.atomic():
            if not self._state.adding and (update_fields is None or "name" in update_fields):
                self._keep_old_name()
            super().save(*args, update_fields=update_fields, **kwargs)

    def _keep_old_name(self) -> None:
        """Boards name their models as they are called now: of one that is on any, the name before is kept."""
        stored = Competitor._base_manager.select_for_update().filter(pk=self.pk)
        was = stored.values_list("name", flat=True).first()
        if was is not None and was != self.name and self.has_past:
            renames: Any = self.renames  # of rename_models
            renames.create(was=was, became=self.name, by=self.saved_by)

    @property
    def has_past(self) -> bool:
        """Whether it has responses, battles, standings: any row of its own, whichever room it is in."""
        return any(relation.one_to_many and self._is_in(relation) for relation in self._relations())

    @property
    def is_spoken_of(self) -> bool:
        """By any row at all, a campaign's list of models or a frozen plan too."""
        if any(self._is_in(relation) for relation in self._relations()):
            return True
        return any(answer for _receiver, answer in model_is_asked_for.send(sender=Competitor, model=self))

    def _relations(self) -> Iterator[Any]:
        """Of rows that would go with it or keep it, those without a name on this side among them."""
        relation: Any
        for relation in self._meta.get_fields(include_hidden=True):
            is_back = relation.is_relation and relation.auto_created and not relation.concrete
            if is_back and (not relation.hidden or relation.on_delete is models.PROTECT):
                yield relation

    def _is_in(self, relation: Any) -> bool:
        named = relation.related_model._base_manager.filter(**{relation.field.name: self})
        return bool(named.exists())

    @property
    def holds_golds(self) -> bool:
        return self.role == self.Role.SENTINEL and self.name_key in _HOLDER_KEYS


def is_fit_to_fight(leak_policy: str) -> Q:
    there = Q(is_blank=False, tombstone__isnull=True, prompt__tombstone__isnull=True)
    if leak_policy == "exclude":
        return there & Q(leak__in=[Response.Leak.CLEAN, Response.Leak.DISMISSED])
    if leak_policy == "mask":
        return there & ~Q(leak=Response.Leak.UNCHECKED)
    if leak_policy == "flag":
        return there
    raise ValueError(f"a leak policy is flag, exclude or mask, not {leak_policy!r}")


class ResponseQuerySet(models.QuerySet["Response"]):
    def by_models(self) -> "ResponseQuerySet":
        """Without the texts of golds, which no model wrote."""
        return self.exclude(OF_GOLDS)

    def fit_to_fight(self, leak_policy: str) -> "ResponseQuerySet":
        """Those with a text that raters of a campaign may see; what nobody has looked at yet may leak.

        `leak_policy` is flag, exclude or mask, as in the campaign.
        """
        return self.filter(is_fit_to_fight(leak_policy))


class Response(Arriving):
    class Leak(models.TextChoices):
        UNCHECKED = "unchecked", _("not checked yet")
        CLEAN = "clean", _("none found")
        FOUND = "found", _("found")
        DISMISSED = "dismissed", _("not a leak, says an admin")

    prompt = models.ForeignKey(Prompt, on_delete=models.PROTECT, related_name="responses")
    competitor = models.ForeignKey(Competitor, on_delete=models.PROTECT, related_name="responses")
    sample = models.PositiveIntegerField(default=1)
    text = models.TextField(blank=True)
    is_blank = models.BooleanField(default=False, help_text="empty or white space only: never drawn")
    text_hash = models.CharField(
        max_length=64, help_text="sha256 of the text; identical responses never fight"
    )
    characters = models.PositiveIntegerField()
    words = models.PositiveIntegerField()
    tokens = models.PositiveIntegerField(null=True, blank=True)
    headings = models.PositiveIntegerField()
    list_items = models.PositiveIntegerField()
    bold = models.PositiveIntegerField()
    code_blocks = models.PositiveIntegerField()
    emoji = models.PositiveIntegerField()
    finish_reason = models.CharField(max_length=40, blank=True)
    answering_model = models.CharField(
        max_length=200, blank=True, help_text="what the model that answered calls itself"
    )
    latency_ms = models.PositiveIntegerField(null=True, blank=True)
    cost_usd = models.DecimalField(max_digits=14, decimal_places=8, null=True, blank=True)
    rendered_html = models.TextField(blank=True)
    renderer_version = models.PositiveIntegerField(default=0)
    leak = models.CharField(
        max_length=9,
        choices=Leak.choices,
        default=Leak.UNCHECKED,
        help_text="whether the text says who wrote it",
    )
    leak_words = models.JSONField(default=list, blank=True, help_text="what was found, as it stands there")
    masked_html = models.TextField(blank=True, help_text="rendered without those words; empty without any")
    tombstone = models.JSONField(
        null=True,
        blank=True,
        editable=False,
        help_text="of a redacted response: hash, reason, who, when; its counts stay where they are",
    )

    objects = LandedManager.from_queryset(ResponseQuerySet)()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["prompt", "competitor", "sample"], name="one_response_per_sample")
        ]
        indexes = [
            models.Index(
                fields=["competitor", "prompt"], condition=Q(is_blank=False), name="drawable_responses"
            ),
            models.Index(fields=["id"], condition=Q(leak="unchecked"), name="unchecked_responses"),
        ]

    def __str__(self) -> str:
        return f"response {self.pk} to {self.prompt_id}"

    @property
    def html(self) -> SafeString:
        return stored_html(self.rendered_html)

    def html_under(self, leak_policy: str) -> SafeString:
        """As raters of a campaign with this policy see it."""
        is_masked = leak_policy == "mask" and self.leak == self.Leak.FOUND
        return stored_html(self.masked_html if is_masked else self.rendered_html)
