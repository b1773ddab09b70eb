from urllib.parse import urlsplit

from django.core.validators import MinValueValidator, RegexValidator
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from arena.endpoints.keys import key_is_set
from arena.raters.models import Team


class Endpoint(models.Model):
    """An OpenAI-compatible server and the model asked there. Holds the name of its key, never the key."""

    class StructuredMode(models.TextChoices):
        JSON_SCHEMA = "json_schema", "JSON schema"
        JSON_OBJECT = "json_object", "JSON object"
        PROMPT = "prompt", "prompt only"

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="endpoints")
    name = models.CharField(max_length=120)
    base_url = models.URLField(max_length=500, help_text="up to and including /v1")
    key_variable = models.CharField(
        max_length=120,
        blank=True,
        validators=[
            RegexValidator(
                r"^[A-Z][A-Z0-9_]*$", "Use the name of an environment variable, like OPENAI_API_KEY."
            )
        ],
        help_text="name of the environment variable that holds the key",
    )
    key_file = models.CharField(
        max_length=500, blank=True, help_text="or path of a file with mode 0600 that holds it"
    )
    model_id = models.CharField(max_length=200)
    family = models.CharField(max_length=80, blank=True)
    is_internal = models.BooleanField(default=False, help_text="may see internal prompt sets")
    parameters = models.JSONField(default=dict, blank=True)
    structured_mode = models.CharField(
        max_length=12, choices=StructuredMode.choices, default=StructuredMode.JSON_SCHEMA
    )
    max_tokens_field = models.CharField(
        max_length=24,
        choices=[("max_tokens", "max_tokens"), ("max_completion_tokens", "max_completion_tokens")],
        default="max_tokens",
    )
    max_tokens = models.PositiveIntegerField(default=1024, validators=[MinValueValidator(1)])
    requests_per_minute = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)]
    )
    tokens_per_minute = models.PositiveIntegerField(null=True, blank=True, validators=[MinValueValidator(1)])
    concurrency = models.PositiveIntegerField(default=4, validators=[MinValueValidator(1)])
    timeout_seconds = models.PositiveIntegerField(default=90, validators=[MinValueValidator(1)])
    input_price = models.DecimalField(
        max_digits=12, decimal_places=6, null=True, blank=True, help_text="US dollars per million tokens"
    )
    output_price = models.DecimalField(
        max_digits=12, decimal_places=6, null=True, blank=True, help_text="US dollars per million tokens"
    )
    paused_until = models.DateTimeField(null=True, blank=True)
    rest_reason = models.CharField(max_length=200, blank=True, editable=False)
    answering_model = models.CharField(max_length=200, blank=True, editable=False)
    refused_parameters = models.JSONField(
        default=list, blank=True, editable=False, help_text="names that the server refused; not sent again"
    )
    slots = models.PositiveIntegerField(
        null=True, blank=True, editable=False, help_text="calls at once while the server is too busy for more"
    )
    slowed_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="one_endpoint_name_per_team")]

    def __str__(self) -> str:
        return self.name

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).netloc

    @property
    def has_key(self) -> bool:
        """It names a key; whether that is there is `key_is_set`."""
        return bool(self.key_variable or self.key_file)

    @property
    def key_is_set(self) -> bool:
        return key_is_set(self.key_variable, self.key_file)

    @property
    def answers_as_another(self) -> bool:
        """An alias that may come to mean another model, or a gateway with ideas of its own."""
        return bool(self.answering_model) and self.answering_model != self.model_id

    @property
    def is_alias(self) -> bool:
        """Another model may answer tomorrow: "gpt-4o" that answers as "gpt-4o-2024-08-06"."""
        return self.answers_as_another and self.answering_model.startswith(f"{self.model_id}-")

    @property
    def is_slowed(self) -> bool:
        return self.calls_at_once < self.concurrency

    @property
    def calls_at_once(self) -> int:
        """As many as the admin allows, or fewer while the server says that it's too busy."""
        return min(self.concurrency, self.slots or self.concurrency)

    def refuse(self, parameter: str) -> None:
        """The server doesn't take this parameter: it isn't sent again."""
        with transaction.atomic():
            fresh = Endpoint.objects.select_for_update().get(pk=self.pk)
            if parameter not in fresh.refused_parameters:
                fresh.refused_parameters = [*fresh.refused_parameters, parameter]
                fresh.save(update_fields=["refused_parameters"])

    def send_all_again(self) -> None:
        """Forget what was refused: the server may be another one now."""
        Endpoint.objects.filter(pk=self.pk).update(refused_parameters=[])

    def wake(self) -> None:
        """End its rest, whatever ordered it."""
        Endpoint.objects.filter(pk=self.pk).update(paused_until=None, rest_reason="", slots=None)

    def may_receive(self, *, internal: bool) -> bool:
        """The one rule on internal texts: whoever sends any, to be answered, judged or labelled, asks."""
        return self.is_internal or not internal

    @property
    def is_resting(self) -> bool:
        return self.paused_until is not None and self.paused_until > timezone.now()


class Call(models.Model):
    """One request that must be answered once. The row is the truth; a queue message is only a reminder."""

    class State(models.TextChoices):
        PLANNED = "planned"
        CLAIMED = "claimed"
        RETRY_WAIT = "retry_wait"
        PARSED = "parsed"
        REFUSED = "refused"
        PARSE_FAILED = "parse_failed"
        TRUNCATED = "truncated"
        CONTEXT_OVERFLOW = "context_overflow"
        BAD_REQUEST = "bad_request"
        GAVE_UP = "gave_up"
        BUDGET_STOPPED = "budget_stopped"
        CANCELLED = "cancelled"

    WAITING = (State.PLANNED, State.RETRY_WAIT)
    OPEN = (State.PLANNED, State.CLAIMED, State.RETRY_WAIT)
    FAILED = (
        State.REFUSED,
        State.PARSE_FAILED,
        State.TRUNCATED,
        State.CONTEXT_OVERFLOW,
        State.BAD_REQUEST,
        State.GAVE_UP,
        State.BUDGET_STOPPED,
        State.CANCELLED,
    )

    # The ledger's look-up adds these two.
    held: int
    last_number: int

    key = models.CharField(max_length=64, unique=True)
    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="calls")
    state = models.CharField(max_length=20, choices=State.choices, default=State.PLANNED)
    lease_until = models.DateTimeField(null=True, blank=True)
    lease_token = models.CharField(max_length=32, blank=True)
    next_try_at = models.DateTimeField(null=True, blank=True)
    attempt_count = models.PositiveIntegerField(default=0)
    reserved_usd = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            # With the key: else PostgreSQL sorts all planned calls, which wait for no time, at every claim.
            models.Index(
                fields=["endpoint", "next_try_at", "id"],
                condition=Q(state__in=["planned", "claimed", "retry_wait"]),
                name="open_calls_in_turn",
            ),
            models.Index(fields=["endpoint", "state"], name="calls_by_state"),
        ]

    def __str__(self) -> str:
        return f"{self.key[:12]} ({self.state})"


class CallAttempt(models.Model):
    """One HTTP try of a call; append-only."""

    call = models.ForeignKey(Call, on_delete=models.PROTECT, related_name="attempts")
    number = models.PositiveIntegerField()
    request = models.JSONField()
    raw_reply = models.TextField(blank=True)
    reply_text = models.TextField(blank=True)
    finish_reason = models.CharField(max_length=40, blank=True)
    http_status = models.PositiveIntegerField(null=True, blank=True)
    error_kind = models.CharField(max_length=40, blank=True)
    error_text = models.TextField(blank=True)
    tokens_in = models.PositiveIntegerField(null=True, blank=True)
    tokens_out = models.PositiveIntegerField(null=True, blank=True)
    cost_usd = models.DecimalField(max_digits=14, decimal_places=8, null=True, blank=True)
    latency_ms = models.PositiveIntegerField(null=True, blank=True)
    answering_model = models.CharField(max_length=200, blank=True)
    system_fingerprint = models.CharField(max_length=120, blank=True)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["call", "number"], name="attempts_are_numbered")]
        indexes = [models.Index(fields=["started_at"], name="attempts_by_time")]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.call_id}"
