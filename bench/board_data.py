"""A campaign with very many recorded votes, by simulated raters who share no strengths with anybody."""

from __future__ import annotations

from uuid import uuid4

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
    from django.utils import timezone

    from arena.battles.models import Battle, Vote

    strengths = tuple(np.random.default_rng(2).normal(0, 0.6, len(competitors)))
    model = VoteModel(strengths, tie=0.7, raters=len(voters), rater_sd=0.4, prompts=len(asked), prompt_sd=0.4)
    cast, now = simulate_votes(model, count, seed=3), timezone.now()
    ids, prompts, raters = ([one.pk for one in many] for many in (competitors, asked, voters))
    columns = (column.tolist() for column in (cast.a, cast.b, cast.prompt, cast.rater, cast.outcome))
    battles, votes = [], []
    for n, (a, b, p, r, outcome) in enumerate(zip(*columns, strict=True), start=1):
        sides = (ids[a], ids[b], int(responses[p, a]), int(responses[p, b]))
        battles.append((n, uuid4(), prompts[p], *sides, raters[r]))
        votes.append((n, n, raters[r], OUTCOMES[outcome], str(n)))
    battle = Battle(campaign=campaign, kind=Battle.Kind.RECORDED, drawn_at=now)
    _insert(battle, BATTLE_FIELDS, battles)
    _insert(Vote(voted_at=now, digest="0" * 64), VOTE_FIELDS, votes)


BATTLE_FIELDS = (
    "id",
    "public_id",
    "prompt_id",
    "competitor_a_id",
    "competitor_b_id",
    "response_a_id",
    "response_b_id",
    "rater_id",
)
VOTE_FIELDS = ("id", "battle_id", "rater_id", "outcome", "idempotency_key")


def _insert(like, names: tuple[str, ...], rows: list[tuple]) -> None:
    """Rows with these values and the rest as in `like`; a million objects would take minutes."""
    from django.db import connection, transaction

    fields = {field.attname: field for field in like._meta.concrete_fields}
    own = [fields.pop(name) for name in names]
    rest = {
        field.column: field.get_db_prep_save(field.pre_save(like, add=True), connection)
        for field in fields.values()
    }
    columns = ", ".join(connection.ops.quote_name(name) for name in [*(f.column for f in own), *rest])
    places = ", ".join(["%s"] * (len(own) + len(rest)))
    statement = f"INSERT INTO {connection.ops.quote_name(like._meta.db_table)} ({columns}) VALUES ({places})"
    tail = tuple(rest.values())
    with transaction.atomic(), connection.cursor() as cursor:
        for start in range(0, len(rows), CHUNK):
            part = rows[start : start + CHUNK]
            cursor.executemany(
                statement,
                [
                    (*(f.get_db_prep_save(v, connection) for f, v in zip(own, row, strict=True)), *tail)
                    for row in part
                ],
            )
