from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta

import pytest

from tests.endpoints.fake_server import FakeServer, Step, answer

CRITERIA = [
    {"name": "factual", "description": "Are the claims true?", "low": 1, "high": 5},
    {"name": "relevant", "description": "Does it do what was asked?", "low": 1, "high": 5},
    {"name": "clarity", "description": "Can it be followed?", "low": 1, "high": 5},
]


def verdict(winner: str, **changes) -> str:
    scores = {side: {criterion["name"]: 4 for criterion in CRITERIA} for side in ("first", "second")}
    return json.dumps({"reason": "Because.", "scores": scores, "winner": winner} | changes)


def prefers(word: str):
    """A judge that always finds the response with `word` better, wherever it stands; for a FakeServer."""

    def reply(body: dict) -> Step:
        user = body["messages"][1]["content"]
        first = user.split("BEGIN FIRST RESPONSE")[1].split("END FIRST RESPONSE")[0]
        second = user.split("BEGIN SECOND RESPONSE")[1].split("END SECOND RESPONSE")[0]
        if (word in first) == (word in second):
            return answer(verdict("tie"))
        return answer(verdict("first" if word in first else "second"))

    return reply


@pytest.fixture
def server(settings):
    with FakeServer(prefers("Reply 0")) as running:
        settings.ENDPOINT_ALLOWED_HOSTS = [running.host]
        yield running


@dataclass(frozen=True)
class Court:
    campaign: object
    battles: list
    endpoint: object
    judge: object

    @property
    def pks(self) -> list[int]:
        return [battle.pk for battle in self.battles]


@pytest.fixture
def make_court(make_campaign, server):
    """A campaign with battles between all pairs of its responses, and a judge on the fake server."""
    from django.utils import timezone

    from arena.battles.models import Battle
    from arena.endpoints.models import Endpoint
    from arena.judging.models import Judge, Rubric

    def make(battles: int = 6, **endpoint_fields) -> Court:
        small = make_campaign(prompts=-(-battles // 3))
        team = small.campaign.team
        by_prompt = [[r for r in small.responses if r.prompt_id == p.pk] for p in small.prompts]
        pairs = [(texts[i], texts[j]) for texts in by_prompt for i, j in ((0, 1), (1, 2), (2, 0))]
        made = [
            Battle.objects.create(
                campaign=small.campaign,
                prompt=a.prompt,
                competitor_a=a.competitor,
                competitor_b=b.competitor,
                response_a=a,
                response_b=b,
                drawn_at=timezone.now(),
            )
            for a, b in pairs[:battles]
        ]
        fields = {"model_id": "fake-judge", "timeout_seconds": 5, "concurrency": 4} | endpoint_fields
        endpoint = Endpoint.objects.create(team=team, name="Fake", base_url=server.base_url, **fields)
        rubric = Rubric.objects.create(
            team=team, name="General", instructions="Judge.", criteria=CRITERIA, sha256="0" * 64
        )
        judge = Judge.objects.create(team=team, name="Judy", endpoint=endpoint, rubric=rubric)
        return Court(small.campaign, made, endpoint, judge)

    return make


@pytest.fixture
def court(make_court) -> Court:
    return make_court()


def let_time_pass() -> None:
    """As if every wait, rest and lease were over."""
    from django.utils import timezone

    from arena.endpoints.models import Call, Endpoint

    past = timezone.now() - timedelta(seconds=1)
    Call.objects.filter(next_try_at__isnull=False).update(next_try_at=past)
    Call.objects.filter(state=Call.State.CLAIMED).update(lease_until=past)
    Endpoint.objects.update(paused_until=None)


def work_off(endpoint, most: int = 1000) -> int:
    """Do what is due and what will be, with no waiting; how many calls were taken up."""
    from arena.endpoints.ledger import Claim, Later
    from arena.judging.runner import do_one

    taken = idle = 0
    while idle < 2 and taken < most:
        found = do_one(endpoint.pk)
        if isinstance(found, Claim):
            taken, idle = taken + 1, 0
        elif isinstance(found, Later):
            let_time_pass()
            idle += 1
        elif found is None:
            break
    return taken
