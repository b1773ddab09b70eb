"""A prompt set, models on a scripted server, and a worker without patience: what tests of generation need."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from tests.endpoints.fake_server import FakeServer, Step, answer


def replies_with_its_name(body: dict) -> Step:
    """Text that depends on what was asked, so that a mix-up would be seen."""
    return answer(f"**{body['model']}** on: {body['messages'][-1]['content']}")


@dataclass(frozen=True)
class Studio:
    prompt_set: object
    competitors: list
    endpoints: list
    server: FakeServer


def build_studio(server: FakeServer, prompts: int = 3, models=("alpha", "beta"), **fields) -> Studio:
    from arena.corpus.models import Competitor, Prompt, PromptSet
    from arena.endpoints.models import Endpoint
    from arena.raters.models import Team

    team = Team.default()
    prompt_set = PromptSet.objects.create(team=team, name="Questions", status="published")
    Prompt.objects.bulk_create(
        Prompt(
            prompt_set=prompt_set,
            external_id=f"p{number}",
            messages=[{"role": "user", "content": f"Question {number}?"}],
        )
        for number in range(prompts)
    )
    fields = {"timeout_seconds": 5, "concurrency": 4} | fields
    endpoints = [
        Endpoint.objects.create(team=team, name=name, base_url=server.base_url, model_id=name, **fields)
        for name in models
    ]
    competitors = [
        Competitor.objects.create(team=team, name=endpoint.name.title(), endpoint=endpoint)
        for endpoint in endpoints
    ]
    return Studio(prompt_set, competitors, endpoints, server)


def let_time_pass() -> None:
    """As if every wait, rest and lease were over."""
    from django.utils import timezone

    from arena.endpoints.models import Call, Endpoint

    past = timezone.now() - timedelta(seconds=1)
    Call.objects.filter(next_try_at__isnull=False).update(next_try_at=past)
    Call.objects.filter(state=Call.State.CLAIMED).update(lease_until=past)
    Endpoint.objects.update(paused_until=None)


def work_off(most: int = 1000) -> int:
    """Do what is due and what will be, without waiting; how many calls were taken up."""
    from arena.corpus.generate import ASKER
    from arena.endpoints.asking import do_one
    from arena.endpoints.ledger import Claim, Later
    from arena.endpoints.models import Endpoint

    taken = idle = 0
    endpoints = list(Endpoint.objects.values_list("pk", flat=True))
    while idle < 2 and taken < most:
        found = [do_one(endpoint, [ASKER])[0] for endpoint in endpoints]
        claims = sum(isinstance(one, Claim) for one in found)
        taken += claims
        if claims:
            idle = 0
        elif any(isinstance(one, Later) for one in found):
            let_time_pass()
            idle += 1
        elif not any(found):
            break
    return taken
