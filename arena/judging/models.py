from dataclasses import asdict

from django.db import models, transaction
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from arena.battles.models import Battle
from arena.campaigns.models import Campaign
from arena.corpus.models import Response
from arena.endpoints.models import Call, CallAttempt, Endpoint
from arena.endpoints.runs import Run
from arena.judging.prompting import RubricText, rubric_hash
from arena.raters.models import Team


class Rubric(models.Model):
    """What a judge is asked. A change is a new version."""

    class Mode(models.TextChoices):
        PAIRWISE = "pairwise", _("which of two responses is better")
        REFERENCE = "reference", _("which of two responses is nearer to the prompt's reference")
        POINTWISE = "pointwise", _("scores for one response by itself")

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="rubrics")
    name = models.CharField(max_length=120)
    version = models.PositiveIntegerField(default=1)
    mode = models.CharField(max_length=9, choices=Mode.choices, default=Mode.PAIRWISE)
    instructions = models.TextField()
    criteria = models.JSONField(help_text="three to seven: name, description, low, high")
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "name", "version"], name="one_rubric_version_per_team")
        ]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"

    @classmethod
    @transaction.atomic
    def publish(cls, team: Team, name: str, text: RubricText) -> "Rubric":
        """The team's rubric of this name: the newest version if it already reads so, else the next."""
        # Two clicks at once: the second waits for the first, then finds its version.
        Team.objects.select_for_update().get(pk=team.pk)
        sha256 = rubric_hash(text)
        newest = cls.objects.filter(team=team, name=name).order_by("-version").first()
        if newest and newest.sha256 == sha256:
            return newest
        return cls.objects.create(
            team=team,
            name=name,
            version=newest.version + 1 if newest else 1,
            mode=text.mode,
            instructions=text.instructions,
            criteria=[asdict(criterion) for criterion in text.criteria],
            sha256=sha256,
        )


class Judge(models.Model):
    """A model with a rubric; a judge recorded elsewhere has neither endpoint nor rubric."""

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="judges")
    name = models.CharField(max_length=120)
    endpoint = models.ForeignKey(
        Endpoint, null=True, blank=True, on_delete=models.PROTECT, related_name="judges"
    )
    rubric = models.ForeignKey(Rubric, null=True, blank=True, on_delete=models.PROTECT, related_name="judges")
    family = models.CharField(max_length=80, blank=True)
    parameters = models.JSONField(default=dict, blank=True)
    recorded_model = models.CharField(
        max_length=40,
        blank=True,
        editable=False,
        help_text="of judges that came in an export: the same for those that one model was; empty: not known",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="one_judge_name_per_team")]

    def __str__(self) -> str:
        return self.name

    @property
    def voice(self) -> str:
        """The same for judges that are one model with several rubrics: one opinion in several wordings."""
        if self.endpoint_id:
            return f"endpoint {self.endpoint_id}"
        return f"recorded model {self.recorded_model}" if self.recorded_model else f"judge {self.pk}"


def criteria_of(judge: Judge) -> list[str]:
    """Names in the rubric's order; none for a judge recorded elsewhere."""
    return [] if judge.rubric is None else [criterion["name"] for criterion in judge.rubric.criteria]


class JudgeRun(Run):
    class Kind(models.TextChoices):
        ASKED = "asked"
        RECORDED = "recorded"
        SCORES = "scores"
        CANARY = "canary"

    class FamilyPolicy(models.TextChoices):
        EXCLUDE = "exclude", _("left out")
        WARN = "warn", _("judged and counted")
        ALLOW = "allow", _("judged like any other")

    # Runs whose calls are probes, not the two orders of a battle.
    PROBING = (Kind.SCORES, Kind.CANARY)

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="judge_runs")
    kind = models.CharField(max_length=8, choices=Kind.choices, default=Kind.ASKED)
    judges = models.ManyToManyField(Judge, related_name="runs")
    seed = models.PositiveBigIntegerField(default=0)
    family_policy = models.CharField(
        max_length=8,
        choices=FamilyPolicy.choices,
        default=FamilyPolicy.EXCLUDE,
        help_text="battles in which a response comes from the judge's own family",
    )
    own_family_pairs = models.PositiveIntegerField(
        default=0, help_text="judge and battle of one family: left out, or warned of, by the policy"
    )
    verbosity_rule = models.BooleanField(
        default=False, help_text="a winner more than 1.5 times as long as the loser is a tie"
    )

    def __str__(self) -> str:
        return f"judge run {self.pk} of {self.campaign_id}"

    @property
    def is_probing(self) -> bool:
        return self.kind in self.PROBING

    def calls(self) -> "models.QuerySet[Call]":
        if self.is_probing:
            return Call.objects.filter(probe__run=self)
        return Call.objects.filter(judge_call__judgment__run=self)

    def attempts(self) -> "models.QuerySet[CallAttempt]":
        if self.is_probing:
            return CallAttempt.objects.filter(call__probe__run=self)
        return CallAttempt.objects.filter(call__judge_call__judgment__run=self)


class JudgmentQuerySet(models.QuerySet["Judgment"]):
    def with_battle(self) -> "JudgmentQuerySet":
        return self.select_related(
            "run__campaign",
            "judge__rubric",
            "battle__prompt",
            "battle__response_a",
            "battle__response_b",
            "battle__competitor_a",
            "battle__competitor_b",
        )


class Judgment(models.Model):
    """A judge's finding on one battle from both orders. Without an outcome: not resolved yet."""

    class Outcome(models.TextChoices):
        MODEL_A = "model_a"
        MODEL_B = "model_b"
        TIE = "tie"
        TIE_UNSTABLE = "tie_unstable"
        TIE_VERBOSE = "tie_verbose"
        NO_VERDICT = "no_verdict"

    class Flip(models.TextChoices):
        NONE = "none"
        SOFT = "soft"
        HARD = "hard"

    run = models.ForeignKey(JudgeRun, on_delete=models.PROTECT, related_name="judgments")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="judgments")
    battle = models.ForeignKey(Battle, on_delete=models.PROTECT, related_name="judgments")
    replicate = models.PositiveIntegerField(default=1)
    outcome = models.CharField(max_length=12, choices=Outcome.choices, blank=True)
    base_outcome = models.CharField(max_length=12, choices=Outcome.choices, blank=True)
    flip = models.CharField(max_length=4, choices=Flip.choices, blank=True)
    leaning = models.CharField(
        max_length=7,
        choices=[("model_a", "a"), ("model_b", "b")],
        blank=True,
        help_text="of a soft flip: the side that won in one order and tied in the other",
    )
    resolved_at = models.DateTimeField(null=True, blank=True)

    objects = JudgmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "judge", "battle", "replicate"], name="one_judgment_per_run_judge_battle"
            ),
        ]
        indexes = [
            models.Index(fields=["judge", "outcome"], condition=~Q(outcome=""), name="resolved_judgments"),
            # Whether one of a run's is still open is asked whenever one is resolved.
            models.Index(fields=["run", "outcome"], name="judgments_of_run_by_outcome"),
        ]

    def __str__(self) -> str:
        return f"judgment {self.pk}: {self.outcome or 'open'}"


class JudgeCallQuerySet(models.QuerySet["JudgeCall"]):
    def with_all(self) -> "JudgeCallQuerySet":
        """With all that asking and reading need: run, judge, rubric, prompt and both responses' texts."""
        rows = self.select_related(
            "judgment__run__campaign",
            "judgment__judge__rubric",
            "judgment__battle__prompt__prompt_set",
            "judgment__battle__response_a",
            "judgment__battle__response_b",
        )
        # Read at every call: compiling and fetching all columns of seven tables took a third of its CPU.
        return rows.only(
            "order",
            "call",
            "judgment__replicate",
            "judgment__run__kind",
            "judgment__run__status",
            "judgment__run__budget_usd",
            "judgment__run__max_calls",
            "judgment__run__campaign__leak_policy",
            "judgment__judge__name",
            "judgment__judge__parameters",
            "judgment__judge__rubric__instructions",
            "judgment__judge__rubric__criteria",
            "judgment__judge__rubric__mode",
            "judgment__battle__public_id",
            "judgment__battle__prompt__messages",
            "judgment__battle__prompt__reference",
            "judgment__battle__prompt__prompt_set__is_internal",
            "judgment__battle__prompt__tombstone",
            "judgment__battle__response_a__text",
            "judgment__battle__response_a__leak",
            "judgment__battle__response_a__competitor",
            "judgment__battle__response_a__tombstone",
            "judgment__battle__response_b__text",
            "judgment__battle__response_b__leak",
            "judgment__battle__response_b__competitor",
            "judgment__battle__response_b__tombstone",
        )


class JudgeCall(models.Model):
    """One of a judgment's two orders. The verdict is in positions: first, second or tie."""

    class Order(models.TextChoices):
        AB = "ab"
        BA = "ba"

    judgment = models.ForeignKey(Judgment, on_delete=models.PROTECT, related_name="judge_calls")
    order = models.CharField(max_length=2, choices=Order.choices)
    call = models.OneToOneField(Call, on_delete=models.PROTECT, related_name="judge_call")
    verdict = models.CharField(max_length=8, blank=True)
    scores = models.JSONField(default=dict, blank=True)
    reason = models.TextField(blank=True)
    failure = models.CharField(max_length=40, blank=True)

    objects = JudgeCallQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["judgment", "order"], name="one_call_per_order")]

    def __str__(self) -> str:
        return f"judge call {self.order} of {self.judgment_id}"

    @property
    def score_rows(self) -> list[tuple[str, int, int]]:
        """Criterion, score of the one shown first, score of the other."""
        first, second = self.scores.get("first", {}), self.scores.get("second", {})
        known = criteria_of(self.judgment.judge)
        return [(name, first[name], second[name]) for name in (known or first) if name in first]


class ProbeQuerySet(models.QuerySet["Probe"]):
    def with_all(self) -> "ProbeQuerySet":
        """With all that asking and reading need: judge, rubric, prompt and response."""
        return self.select_related("run__campaign", "judge__rubric", "response__prompt__prompt_set")


class Probe(models.Model):
    """One request outside battles: a response scored by itself, or a canary in one order.

    A score is kept as {criterion: points}; a canary's verdict in positions, its scores as a judge call's.
    """

    run = models.ForeignKey(JudgeRun, on_delete=models.PROTECT, related_name="probes")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="probes")
    call = models.OneToOneField(Call, on_delete=models.PROTECT, related_name="probe")
    response = models.ForeignKey(
        Response, null=True, blank=True, on_delete=models.PROTECT, related_name="probes"
    )
    replicate = models.PositiveIntegerField(default=1)
    canary = models.CharField(max_length=40, blank=True)
    order = models.CharField(max_length=2, choices=JudgeCall.Order.choices, blank=True)
    verdict = models.CharField(max_length=8, blank=True)
    scores = models.JSONField(default=dict, blank=True)
    reason = models.TextField(blank=True)
    failure = models.CharField(max_length=40, blank=True)

    objects = ProbeQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "judge", "response", "replicate"],
                condition=Q(response__isnull=False),
                name="one_score_per_run_judge_response",
            ),
            models.UniqueConstraint(
                fields=["run", "judge", "canary", "order"],
                condition=~Q(canary=""),
                name="one_canary_per_run_judge_order",
            ),
            models.CheckConstraint(
                condition=Q(response__isnull=False, canary="", order="")
                | (Q(response__isnull=True, replicate=1) & ~Q(canary="") & ~Q(order="")),
                name="probe_is_a_score_or_a_canary",
            ),
        ]

    def __str__(self) -> str:
        return f"probe {self.pk}: {self.canary or self.response_id}"
