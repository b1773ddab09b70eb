from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import QuerySet

from arena.corpus.models import Competitor, Prompt, PromptSet, Response
from arena.endpoints.models import Call, CallAttempt, Endpoint
from arena.endpoints.runs import Run


class GenerationRun(Run):
    """Competitors with an endpoint answer the prompts of a set that they haven't answered yet."""

    prompt_set = models.ForeignKey(PromptSet, on_delete=models.PROTECT, related_name="generation_runs")
    samples = models.PositiveIntegerField(default=1, validators=[MinValueValidator(1)])

    def __str__(self) -> str:
        return f"generation run {self.pk} for {self.prompt_set_id}"

    def calls(self) -> QuerySet[Call]:
        return Call.objects.filter(generation_call__recipe__run=self)

    def attempts(self) -> QuerySet[CallAttempt]:
        return CallAttempt.objects.filter(call__generation_call__recipe__run=self)


class GenerationRecipe(models.Model):
    """How one competitor was asked in a run, as it was at the start: changes made later don't reach it."""

    run = models.ForeignKey(GenerationRun, on_delete=models.PROTECT, related_name="recipes")
    competitor = models.ForeignKey(Competitor, on_delete=models.PROTECT, related_name="recipes")
    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="recipes")
    model_id = models.CharField(max_length=200)
    system_prompt = models.TextField(blank=True)
    parameters = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "competitor"], name="one_recipe_per_run")]

    def __str__(self) -> str:
        return f"recipe of {self.competitor_id} in {self.run_id}"


class GenerationCall(models.Model):
    """The call for one response, which it leads to when there is one."""

    recipe = models.ForeignKey(GenerationRecipe, on_delete=models.PROTECT, related_name="generation_calls")
    prompt = models.ForeignKey(Prompt, on_delete=models.PROTECT, related_name="generation_calls")
    sample = models.PositiveIntegerField(default=1)
    call = models.OneToOneField(Call, on_delete=models.PROTECT, related_name="generation_call")
    response = models.OneToOneField(
        Response, null=True, blank=True, on_delete=models.PROTECT, related_name="generation_call"
    )
    failure = models.CharField(max_length=40, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["recipe", "prompt", "sample"], name="one_generation_call_per_sample"
            )
        ]

    def __str__(self) -> str:
        return f"generation call for {self.prompt_id} by {self.recipe_id}"
