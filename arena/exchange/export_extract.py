"""What an export sees: one campaign as it was at one moment."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db.models import Max, Q
from django.utils import timezone

from arena.battles.gold_models import Gold
from arena.battles.models import Battle, Exclusion, Vote
from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor, Prompt, PromptSet
from arena.corpus.same_text import key_of
from arena.judging.models import Judgment
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.settled import settled

Rows = Iterator[dict[str, Any]]
CHUNK = 2000
TEXT_KEY = 16  # hexadecimal digits that tell a campaign's texts apart


def _last(model: Any) -> int:
    return model.objects.aggregate(last=Max("pk"))["last"] or 0


def _noted_down() -> tuple[int, int, int, datetime]:
    return _last(Vote), _last(Judgment), _last(Battle), timezone.now()


@dataclass
class Extract:
    """One campaign as it was at one moment, though voting goes on: later rows have higher numbers."""

    campaign: Campaign
    at: datetime = field(init=False)
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    last_vote: int = field(init=False)
    last_judgment: int = field(init=False)
    last_battle: int = field(init=False)

    def __post_init__(self) -> None:
        """Raises UnsettledError while lower numbers can still appear."""
        self.last_vote, self.last_judgment, self.last_battle, self.at = settled(_noted_down)

    def pseudonym(self, rater: Any) -> str:
        """The same rater has another name in every export: the key is thrown away."""
        return f"r-{hmac.new(self.key, str(rater).encode(), hashlib.sha256).hexdigest()[:16]}"

    @cached_property
    def battles(self) -> Any:
        return Battle.objects.filter(campaign=self.campaign, pk__lte=self.last_battle)

    @cached_property
    def golds(self) -> Any:
        return Gold.objects.filter(campaign=self.campaign, created_at__lte=self.at)

    @cached_property
    def prompts(self) -> Any:
        used = Q(prompt_set__in=self.campaign.prompt_sets.all()) | Q(pk__in=self.battles.values("prompt"))
        return Prompt.objects.filter(used | Q(pk__in=self.golds.values("prompt")))

    @cached_property
    def competitors(self) -> Any:
        wanted = Q(campaigns=self.campaign)
        for side in ("competitor_a", "competitor_b"):
            wanted |= Q(pk__in=self.battles.values(side))
        for side in ("response_a__competitor", "response_b__competitor"):
            wanted |= Q(pk__in=self.golds.values(side))
        plans = AnalysisPlan.objects.filter(campaign=self.campaign, created_at__lte=self.at)
        named = (pair for pairs in plans.values_list("pairs", flat=True) for pair in pairs)
        wanted |= Q(pk__in={pk for pair in named for pk in pair["ids"]})
        return Competitor.objects.filter(wanted).distinct()

    @cached_property
    def votes(self) -> Any:
        return Vote.objects.filter(battle__in=self.battles, pk__lte=self.last_vote)

    @cached_property
    def exclusions(self) -> Any:
        """All that ever left votes out, those taken back too."""
        rows = Exclusion.objects.filter(campaign=self.campaign, since__lte=self.at)
        return rows.filter(Q(vote=None) | Q(vote__in=self.votes))

    @cached_property
    def judgments(self) -> Any:
        """Of runs of this campaign, both orders in."""
        rows = Judgment.objects.filter(run__campaign=self.campaign, pk__lte=self.last_judgment)
        return rows.exclude(outcome="").filter(resolved_at__lte=self.at)

    @cached_property
    def sets(self) -> Any:
        return PromptSet.objects.filter(pk__in=self.prompts.values("prompt_set"))

    def text_of(self, prompt: Prompt | None) -> str | None:
        """The same for prompts of one text; counted once for each prompt."""
        if prompt is None:
            return None
        if prompt.pk not in self._texts:
            self._texts[prompt.pk] = key_of(prompt.messages, prompt.tombstone)[:TEXT_KEY]
        return self._texts[prompt.pk]

    @cached_property
    def _texts(self) -> dict[int, str]:
        return {}


def prompt_named(row: Any) -> dict[str, Any]:
    """The columns that name the prompt of a battle or of a response."""
    prompt = row.prompt
    if prompt is None:
        return {"prompt_set": None, "set_version": None, "prompt_id": None}
    name, version = prompt.prompt_set.name, prompt.prompt_set.version
    return {"prompt_set": name, "set_version": version, "prompt_id": prompt.external_id}


def sides(battle: Battle) -> dict[str, Any]:
    return {"model_a": battle.competitor_a.name, "model_b": battle.competitor_b.name}
