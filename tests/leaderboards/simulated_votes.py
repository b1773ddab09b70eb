"""Responses and votes by the hundred, made from the models alone."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from datetime import datetime, timedelta

import numpy as np

from arena.battles.models import Battle, Vote
from arena.corpus.models import Response
from arena.corpus.style_counts import count_style
from arena.raters.models import Rater

NAMES = ("Ember", "Fjord", "Grove", "Heron", "Inlet")
STRENGTHS = np.array([0.8, 0.3, 0.0, -0.3, -0.8])
# Fjord's replies are four times as long as the others', and these raters like length.
WORDINESS = (1, 4, 1, 1, 1)
LIKING_OF_LENGTH = 2.0


def write_responses(rng, prompts, competitors) -> list:
    """One for each prompt and competitor, in this order."""
    texts = [
        (prompt, competitor, reply_text(rng, wordiness))
        for prompt in prompts
        for competitor, wordiness in zip(competitors, WORDINESS, strict=True)
    ]
    return Response.objects.bulk_create(
        Response(
            prompt=prompt,
            competitor=competitor,
            text=text,
            text_hash=hashlib.sha256(text.encode()).hexdigest(),
            **asdict(count_style(text)),
        )
        for prompt, competitor, text in texts
    )


def reply_text(rng, wordiness: int) -> str:
    words = int(wordiness * rng.lognormal(3.7, 0.8))
    headings, bullets, bolds = rng.integers(0, 4, size=3)
    lines = ["# Part"] * headings + ["- a point"] * bullets + ["**so**"] * bolds
    return "\n".join([*lines, "word " * words])


def record(small, rng, votes: int, raters: int, start: datetime, every: int) -> None:
    """Votes by a Bradley-Terry model with a liking of length, a fifth of them ties, some both bad."""
    voters = Rater.objects.bulk_create(
        Rater(
            team=small.campaign.team,
            pseudonym=f"{small.campaign.slug}-{number}",
            admission=Rater.Admission.SIMULATED,
        )
        for number in range(raters)
    )
    models = len(small.competitors)
    prompt, voter = rng.integers(len(small.prompts), size=votes), rng.integers(raters, size=votes)
    a = rng.integers(models, size=votes)
    b = (a + rng.integers(1, models, size=votes)) % models
    length = np.array([response.characters for response in small.responses]).reshape(-1, models)
    longer = (length[prompt, a] - length[prompt, b]) / (length[prompt, a] + length[prompt, b])
    chance = 1 / (1 + np.exp(STRENGTHS[b] - STRENGTHS[a] - LIKING_OF_LENGTH * longer))
    decided = np.where(rng.random(votes) < chance, "model_a", "model_b")
    drawn = rng.random(votes)
    outcomes = np.where(drawn < 0.8, decided, np.where(drawn < 0.95, "tie", "both_bad")).tolist()
    battles = [
        Battle(
            campaign=small.campaign,
            # Recorded, for a drawn battle of the same rater, prompt and pair may not come twice.
            kind=Battle.Kind.RECORDED,
            prompt=small.prompts[prompt[n]],
            competitor_a=small.competitors[a[n]],
            competitor_b=small.competitors[b[n]],
            response_a=small.responses[prompt[n] * models + a[n]],
            response_b=small.responses[prompt[n] * models + b[n]],
            rater=voters[voter[n]],
            drawn_at=start,
        )
        for n in range(votes)
    ]
    Vote.objects.bulk_create(
        Vote(
            battle=battle,
            rater=battle.rater,
            outcome=outcome,
            idempotency_key=f"{small.campaign.slug} {number}",
            voted_at=start + timedelta(seconds=every * number),
            digest="0" * 64,
        )
        for number, (battle, outcome) in enumerate(
            zip(Battle.objects.bulk_create(battles), outcomes, strict=True)
        )
    )
