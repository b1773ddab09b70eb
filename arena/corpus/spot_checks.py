"""A person labels some prompts without seeing what an LLM said, and the two are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Exists, OuterRef, QuerySet

from arena.corpus.hardness import is_hard
from arena.corpus.label_agreement import Agreement, agreement
from arena.corpus.label_models import LabelCall, SpotCheck
from arena.corpus.models import HARD_CRITERIA, Prompt, PromptSet


@dataclass(frozen=True)
class Report:
    """By criterion, and whether the prompt is hard by them."""

    criteria: dict[str, Agreement]
    hard: Agreement

    @property
    def n(self) -> int:
        return self.hard.n


def open_prompts(prompt_set: PromptSet, user: AbstractBaseUser | AnonymousUser) -> QuerySet[Prompt]:
    """Prompts that an LLM has labelled and this person hasn't yet."""
    labelled = LabelCall.objects.filter(prompt=OuterRef("pk"), criteria__isnull=False)
    checked = SpotCheck.objects.filter(prompt=OuterRef("pk"), checked_by=user.pk)
    return prompt_set.prompts.filter(Exists(labelled), ~Exists(checked), tombstone__isnull=True)


def draw(prompt_set: PromptSet, user: AbstractBaseUser | AnonymousUser) -> Prompt | None:
    return open_prompts(prompt_set, user).order_by("?").first()


def report(prompt_set: PromptSet) -> Report:
    """What people said against what the LLM said last."""
    checks = SpotCheck.objects.filter(prompt__prompt_set=prompt_set).values_list("prompt", "criteria")
    said = list(checks.order_by("pk"))
    calls = LabelCall.objects.filter(prompt__in=[prompt for prompt, _ in said], criteria__isnull=False)
    rows = calls.order_by("pk").values_list("prompt", "criteria")
    llm = {prompt: criteria for prompt, criteria in rows if criteria is not None}
    pairs = [(llm[prompt], person) for prompt, person in said if prompt in llm]
    return Report(
        {name: agreement((one[name], other[name]) for one, other in pairs) for name in HARD_CRITERIA},
        agreement((_hard(one), _hard(other)) for one, other in pairs),
    )


def _hard(criteria: Mapping[str, bool]) -> bool:
    return bool(is_hard(None, [criteria[name] for name in HARD_CRITERIA]))
