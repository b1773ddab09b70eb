"""Makes the LLM that `run --with-local-llm` starts known as an endpoint, with a judge that asks it."""

from __future__ import annotations

import json
from pathlib import Path

from django.conf import settings
from django.db import transaction

from arena.endpoints.local_llm import MODEL, SLOTS
from arena.endpoints.models import Endpoint
from arena.judging.models import Judge, Rubric
from arena.judging.prompting import Criterion, RubricText
from arena.raters.models import Team

NAME = "Local SmolLM2"
STARTER_RUBRIC = settings.BASE_DIR / "fixtures" / "demo" / "rubric.json"


@transaction.atomic
def register(host: str) -> tuple[Judge, bool]:
    """The judge, and whether it is new. What an admin changed stays; only the address follows the server."""
    team = Team.default()
    base_url = f"http://{host}/v1"
    endpoint, made = Endpoint.objects.update_or_create(
        team=team,
        name=NAME,
        defaults={"base_url": base_url},
        create_defaults={
            "base_url": base_url,
            "model_id": MODEL,
            "family": "smollm",
            "is_internal": True,
            "structured_mode": Endpoint.StructuredMode.JSON_SCHEMA,
            "max_tokens": 400,
            "concurrency": SLOTS,
            "timeout_seconds": 300,
            "input_price": 0,
            "output_price": 0,
        },
    )
    judge = endpoint.judges.order_by("pk").first()
    if judge is None:
        judge = Judge.objects.create(
            team=team, name=NAME, endpoint=endpoint, rubric=rubric_for(team), family=endpoint.family
        )
    return judge, made


def rubric_for(team: Team) -> Rubric:
    """The team's newest rubric; for a team without any, the one that comes with Tiltyard."""
    return team.rubrics.order_by("-pk").first() or starter_rubric(team)


def starter_rubric(team: Team, path: Path = STARTER_RUBRIC) -> Rubric:
    given = json.loads(path.read_text())
    text = RubricText(given["instructions"], tuple(Criterion(**criterion) for criterion in given["criteria"]))
    return Rubric.publish(team, given["name"], text)
