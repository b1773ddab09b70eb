"""Votes and judgments by the hundred, made from the models alone."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import asdict, replace
from datetime import datetime, timedelta

import numpy as np
import pytest
from django.utils import timezone


@pytest.fixture
def cast_vote(db):
    """cast_vote(small, prompt, "Ember", "Fjord", "model_a", rater) is a vote on a new battle."""
    from arena.battles.models import Battle, Vote
    from arena.corpus.models import Response

    keys = itertools.count()

    def cast(small, prompt, name_a, name_b, outcome, rater, *, at: datetime | None = None, **battle) -> Vote:
        by_name = {competitor.name: competitor for competitor in small.competitors}
        a, b = by_name[name_a], by_name[name_b]
        responses = {
            "response_a": Response.objects.filter(prompt=prompt, competitor=a).first(),
            "response_b": Response.objects.filter(prompt=prompt, competitor=b).first(),
        }
        at = at or timezone.now() - timedelta(minutes=1)
        fields = {"kind": Battle.Kind.RECORDED, "prompt": prompt, **responses, "drawn_at": at} | battle
        return Vote.objects.create(
            battle=Battle.objects.create(
                campaign=small.campaign, competitor_a=a, competitor_b=b, rater=rater, **fields
            ),
            rater=rater,
            outcome=outcome,
            idempotency_key=f"key {next(keys)}",
            voted_at=at,
            digest="0" * 64,
        )

    return cast


NAMES = ("Ember", "Fjord", "Grove", "Heron", "Inlet")
STRENGTHS = np.array([0.8, 0.3, 0.0, -0.3, -0.8])
# Fjord's replies are four times as long as the others', and these raters like length.
WORDINESS = (1, 4, 1, 1, 1)
LIKING_OF_LENGTH = 2.0


@pytest.fixture
def voted_campaign(make_campaign):
    """Five models, 24 prompts (a third hard), votes of simulated raters who like long replies.

    dated: when the first vote was cast, and how many seconds lie between two.
    """
    from arena.corpus.models import Competitor

    def make(slug: str = "joust", *, votes: int = 600, seed: int = 5, raters: int = 20, dated=None, **fields):
        rng = np.random.default_rng(seed)
        small = make_campaign(slug, prompts=24, names=(), **fields)
        team = small.campaign.team
        competitors = [Competitor.objects.get_or_create(team=team, name=name)[0] for name in NAMES]
        small.campaign.competitors.add(*competitors)
        responses = write_responses(rng, small.prompts, competitors)
        small = replace(small, competitors=competitors, responses=responses)
        record(small, rng, votes, raters, *(dated or (timezone.now() - timedelta(days=1), 1)))
        return small

    return make


def write_responses(rng, prompts, competitors) -> list:
    """One for each prompt and competitor, in this order."""
    from arena.corpus.models import Response
    from arena.corpus.style_counts import count_style

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
    from arena.battles.models import Battle, Vote
    from arena.raters.models import Rater

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


@pytest.fixture
def make_judge(db):
    """make_judge(small, "Sage", {battle: outcome}) is a judge with a recorded run of resolved judgments."""
    from arena.judging.models import Judge, JudgeRun, Judgment

    def make(small, name: str, outcomes: dict, judge=None):
        judge = judge or Judge.objects.create(team=small.campaign.team, name=name)
        run = JudgeRun.objects.create(campaign=small.campaign, kind=JudgeRun.Kind.RECORDED)
        run.judges.add(judge)
        at = timezone.now() - timedelta(minutes=1)
        Judgment.objects.bulk_create(
            Judgment(
                run=run,
                judge=judge,
                battle=battle,
                outcome=outcome,
                base_outcome=outcome,
                resolved_at=at if outcome else None,
            )
            for battle, outcome in outcomes.items()
        )
        return judge

    return make


@pytest.fixture
def registered(voted_campaign, cast_vote, cast, signed_in):
    """A plan of two boards, then votes, and a snapshot of each board."""
    from arena.leaderboards.defaults import ensure_leaderboards
    from arena.leaderboards.fitting import snapshots
    from arena.raters.models import Rater
    from tests.leaderboards.plans_by_hand import record_votes, write_and_freeze

    small = voted_campaign(votes=0)
    write_and_freeze(signed_in("carol"))
    raters = [cast.alice_rater, cast.bob_rater, Rater.objects.create(team=cast.team, pseudonym="third")]
    record_votes(small, cast_vote, raters)
    for board in ensure_leaderboards(small.campaign):
        snapshots.take_snapshot(board)
    return small
