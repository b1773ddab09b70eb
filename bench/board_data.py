"""A campaign with very many recorded votes, by simulated raters who share no strengths with anybody."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ratings.simulate import VoteModel, simulate_votes

CHUNK = 20_000
OUTCOMES = ("model_a", "model_b", "tie", "both_bad")


def fill_campaign(slug: str, models: int, prompts: int, raters: int, votes: int) -> None:
    """Makes it whole; the database must be empty."""
    from django.utils import timezone

    from arena.campaigns.models import Campaign, Guide
    from arena.corpus.models import Competitor, Prompt, PromptSet
    from arena.raters.models import Rater, Team

    team, now = Team.default(), timezone.now()
    prompt_set = PromptSet.objects.create(team=team, name=slug, status=PromptSet.Status.PUBLISHED)
    asked = Prompt.objects.bulk_create(
        Prompt(
            prompt_set=prompt_set,
            external_id=str(number),
            messages=[{"role": "user", "content": f"Prompt {number}?"}],
            category=f"category {number % 6}",
            is_hard=number % 3 == 0,
        )
        for number in range(prompts)
    )
    competitors = Competitor.objects.bulk_create(
        Competitor(team=team, name=f"model {number}", name_key=f"model {number}") for number in range(models)
    )
    campaign = Campaign.objects.create(
        team=team, slug=slug, name="Bench", status=Campaign.Status.OPEN, opened_at=now
    )
    campaign.prompt_sets.add(prompt_set)
    campaign.competitors.set(competitors)
    Guide.objects.create(campaign=campaign, version=1, text="Vote.", sha256="0" * 64)
    voters = Rater.objects.bulk_create(
        Rater(team=team, pseudonym=f"rater {number}", admission=Rater.Admission.RECORDED)
        for number in range(raters)
    )
    add_votes(campaign, asked, competitors, add_responses(asked, competitors), voters, votes)


def add_responses(asked: list, competitors: list) -> np.ndarray:
    """Ids (prompts, models) of responses whose counts of style are all there is to them."""
    from arena.corpus.models import Response

    rng = np.random.default_rng(1)
    rows = (
        Response(
            prompt=prompt,
            competitor=competitor,
            text="x",
            text_hash="0" * 64,
            **{name: int(rng.integers(high)) for name, high in STYLE.items()},
        )
        for prompt in asked
        for competitor in competitors
    )
    made = Response.objects.bulk_create(rows, batch_size=2000)
    return np.array([one.pk for one in made]).reshape(len(asked), len(competitors))


STYLE = {
    "characters": 4000,
    "words": 700,
    "headings": 5,
    "list_items": 12,
    "bold": 9,
    "code_blocks": 2,
    "emoji": 2,
}


def add_votes(campaign, asked, competitors, responses: np.ndarray, voters, count: int) -> None:
    """Simulated with ties, tastes of raters and effects of prompts; stored in the order they were cast."""
    from arena.battles.models import Battle, Vote

    strengths = tuple(np.random.default_rng(2).normal(0, 0.6, len(competitors)))
    model = VoteModel(strengths, tie=0.7, raters=len(voters), rater_sd=0.4, prompts=len(asked), prompt_sd=0.4)
    cast = simulate_votes(model, count, seed=3)
    for start in range(0, count, CHUNK):
        battles = Battle.objects.bulk_create(
            _battles(campaign, asked, competitors, responses, voters, cast, start, min(start + CHUNK, count))
        )
        Vote.objects.bulk_create(
            Vote(
                battle=battle,
                rater_id=battle.rater_id,
                outcome=OUTCOMES[cast.outcome[start + n]],
                idempotency_key=str(start + n),
                voted_at=battle.drawn_at,
                digest="0" * 64,
            )
            for n, battle in enumerate(battles)
        )


def _battles(campaign, asked, competitors, responses, voters, cast, start: int, end: int) -> Iterator:
    from django.utils import timezone

    from arena.battles.models import Battle

    now = timezone.now()
    for n in range(start, end):
        a, b, p = int(cast.a[n]), int(cast.b[n]), int(cast.prompt[n])
        yield Battle(
            campaign=campaign,
            kind=Battle.Kind.RECORDED,
            prompt=asked[p],
            competitor_a=competitors[a],
            competitor_b=competitors[b],
            response_a_id=int(responses[p, a]),
            response_b_id=int(responses[p, b]),
            rater=voters[int(cast.rater[n])],
            drawn_at=now,
        )
