"""Campaigns with votes and judgments by the hundred."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest
from django.utils import timezone


@pytest.fixture
def charts_left_undrawn(monkeypatch):
    """For tests of what else follows a snapshot: to draw its charts takes seconds of processor time."""
    from arena.leaderboards import tasks

    monkeypatch.setattr(tasks, "undrawn", lambda: iter(()))


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


@pytest.fixture
def voted_campaign(make_campaign):
    """Five models, 24 prompts (a third hard), votes of simulated raters who like long replies.

    dated: when the first vote was cast, and how many seconds lie between two.
    """
    from arena.corpus.models import Competitor
    from tests.leaderboards.simulated_votes import NAMES, record, write_responses

    def make(slug: str = "joust", *, votes: int = 600, seed: int = 5, raters: int = 20, dated=None, **fields):
        rng = np.random.default_rng(seed)
        small = make_campaign(slug, prompts=24, names=(), **fields)
        team = small.campaign.team
        competitors = [Competitor.objects.get_or_create(team=team, name=name)[0] for name in NAMES]
        small.campaign.competitors.add(*competitors)
        small.campaign.choices.all().delete()  # they are its models from the start
        responses = write_responses(rng, small.prompts, competitors)
        small = replace(small, competitors=competitors, responses=responses)
        record(small, rng, votes, raters, *(dated or (timezone.now() - timedelta(days=1), 1)))
        return small

    return make


@pytest.fixture
def make_judge(db):
    """make_judge(small, "Sage", {battle: outcome}) is a judge of yesterday with a recorded run."""
    from arena.judging.models import Judge, JudgeRun, Judgment

    def make(small, name: str, outcomes: dict, judge=None):
        if judge is None:
            judge = Judge.objects.create(team=small.campaign.team, name=name)
            Judge.objects.filter(pk=judge.pk).update(created_at=timezone.now() - timedelta(days=1))
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
