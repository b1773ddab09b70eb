"""Whose votes a file holds, people's or LLM judges', and what they do to boards under a frozen plan.

Verdicts of models that come in as people's votes make boards of people that never were. Where a file doesn't
say whose they are and its names make it doubtful, somebody has to say before they are stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _

from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor
from arena.corpus.names import name_key
from arena.endpoints.models import Endpoint
from arena.exchange.formats.columns import fold
from arena.exchange.formats.problems import Report
from arena.exchange.models import ASKS
from arena.judging.models import Judge
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.raters.models import Team

_SHOWN = 5
_COLUMN = re.compile(r"judge|llm|grader|evaluator")
_FAMILY = re.compile(
    r"(?<![a-z])(?:gpt|chatgpt|o[134]-?(?:mini|preview|pro)|davinci|claude|gemini|gemma|palm|bard|llama|alpaca|vicuna"
    r"|koala|mistral|mixtral|ministral|magistral|qwen|qwq|deepseek|command-[ra]|phi-?\d|yi-?\d|grok|falcon|glm|chatglm"
    r"|kimi|nova-|prometheus|internlm|nemotron|olmo|dbrx|jamba|granite|baichuan|wizardlm|starling|zephyr|tulu|smollm"
    r"|llms?)(?![a-z])"
)


def doubt(team: Team, column: str, raters: Iterable[str], models: Iterable[str]) -> dict[str, Any]:
    """What has to be asked, for contents; empty where the raters are surely people.

    raters: of rows that don't say whose they are; column: what the file calls them; models: in its battles.
    """
    named = [rater for rater in raters if rater]
    known = _names_of_models(team) | {name_key(model) for model in models}
    likely = [rater for rater in named if name_key(rater) in known or _FAMILY.search(name_key(rater))]
    is_judges_column = bool(named and _COLUMN.search(fold(column)))
    if not likely and not is_judges_column:
        return {}
    return {ASKS: {"column": column if is_judges_column else "", "raters": (likely or named)[:_SHOWN]}}


def _names_of_models(team: Team) -> set[str]:
    names = {*Competitor.objects.filter(team=team).values_list("name_key", flat=True)}
    endpoints = Endpoint.objects.filter(team=team).values_list("name", "model_id")
    judges = Judge.objects.filter(team=team).values_list("name", flat=True)
    told = (*(name for both in endpoints for name in both), *judges)
    return names | {name_key(name) for name in told if name}


def say_doubt(asked: Mapping[str, Any]) -> str:
    raters = ", ".join(asked["raters"])
    if asked["column"]:
        words = _("the file calls its raters “%(column)s”: %(raters)s")
    else:
        words = _("raters of the file are called like models: %(raters)s")
    return words % {"column": asked["column"], "raters": raters}


def warn_of_plan(campaign: Campaign | None, people: bool, judges: bool, report: Report) -> None:
    """Of a campaign with a frozen plan: boards that votes from a file enter explore."""
    if campaign is None or not AnalysisPlan.objects.frozen().filter(campaign=campaign).exists():
        return
    if people:
        words = _(
            "“%(slug)s” has a frozen analysis plan: with votes from a file all its boards are exploratory,"
            " those of votes cast here too, for somebody may have seen these before it was frozen"
        )
    elif judges:
        words = _(
            "“%(slug)s” has a frozen analysis plan: with judgments from a file the boards of judges are"
            " exploratory; those of people’s votes stay as they are"
        )
    else:
        return
    report.notice(words % {"slug": campaign.slug})
