"""Makes an installation with battles and a planned run.

    python -m tests.judging.dispatch BASE_URL BATTLES CONCURRENCY SECONDS

For tests that need a consumer of flesh and blood over a database of its own.
"""

from __future__ import annotations

import hashlib
import sys

import django


def main(base_url: str, battles: int, concurrency: int, seconds: int) -> None:
    django.setup()
    from django.core.management import call_command
    from django.utils import timezone

    from arena.battles.models import Battle
    from arena.campaigns.models import Campaign
    from arena.corpus.models import Competitor, Prompt, PromptSet, Response
    from arena.endpoints.models import Endpoint
    from arena.judging.models import Judge, Rubric
    from arena.judging.planning import plan_run
    from arena.judging.tasks import enqueue
    from arena.raters.models import Team
    from tests.judging.conftest import CRITERIA

    call_command("migrate", verbosity=0)
    team = Team.default()
    prompt_set = PromptSet.objects.create(team=team, name="Prompts", status="published")
    campaign = Campaign.objects.create(team=team, name="Kills", slug="kills", status="open")
    left, right = (Competitor.objects.create(team=team, name=name) for name in ("Left", "Right"))
    counts = dict.fromkeys(
        ("characters", "words", "headings", "list_items", "bold", "code_blocks", "emoji"), 1
    )
    rows = []
    for number in range(battles):
        prompt = Prompt.objects.create(
            prompt_set=prompt_set,
            external_id=f"p{number}",
            messages=[{"role": "user", "content": f"{number}?"}],
        )
        sides = [
            Response.objects.create(
                prompt=prompt,
                competitor=competitor,
                text=f"Reply {place} to {number}",
                text_hash=hashlib.sha256(f"{place} {number}".encode()).hexdigest(),
                **counts,
            )
            for place, competitor in enumerate((left, right))
        ]
        rows.append(
            Battle.objects.create(
                campaign=campaign,
                prompt=prompt,
                competitor_a=left,
                competitor_b=right,
                response_a=sides[0],
                response_b=sides[1],
                drawn_at=timezone.now(),
            ).pk
        )
    endpoint = Endpoint.objects.create(
        team=team,
        name="Fake",
        base_url=base_url,
        model_id="fake-judge",
        concurrency=concurrency,
        timeout_seconds=seconds,
    )
    rubric = Rubric.objects.create(
        team=team, name="General", instructions="Judge.", criteria=CRITERIA, sha256="0" * 64
    )
    judge = Judge.objects.create(team=team, name="Judy", endpoint=endpoint, rubric=rubric)
    enqueue(plan_run(campaign, [judge], rows))


if __name__ == "__main__":
    main(sys.argv[1], *(int(argument) for argument in sys.argv[2:]))
