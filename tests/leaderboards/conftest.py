"""Votes and judgments by the hundred, made from the models alone."""

from __future__ import annotations

import itertools
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from ratings.comparisons import OUTCOMES
from ratings.simulate import VoteModel, simulate_votes


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
        fields = {"campaign": small.campaign, "prompt": prompt, **responses, "drawn_at": at} | battle
        return Vote.objects.create(
            battle=Battle.objects.create(competitor_a=a, competitor_b=b, rater=rater, **fields),
            rater=rater,
            outcome=outcome,
            idempotency_key=f"key {next(keys)}",
            voted_at=at,
            digest="0" * 64,
        )

    return cast


NAMES = ("Ember", "Fjord", "Grove", "Heron", "Inlet")
STRENGTHS = (0.9, 0.5, 0.0, -0.4, -1.0)
# Fjord's replies are long and full of bullets.
WORDINESS = (1, 6, 1, 2, 1)


@pytest.fixture
def voted_campaign(make_campaign, make_response):
    """Five models, 12 prompts (a third hard), 600 votes of 20 simulated raters; Fjord is the wordy one."""
    from arena.corpus.models import Response

    def make(slug: str = "joust", *, votes: int = 600, seed: int = 5, raters: int = 20, **fields):
        small = make_campaign(slug, prompts=12, names=NAMES, **fields)
        Response.objects.filter(prompt__prompt_set=small.prompt_set).delete()
        responses = {
            (p, c): make_response(prompt, competitor, reply_text(p, c, WORDINESS[c]))
            for p, prompt in enumerate(small.prompts)
            for c, competitor in enumerate(small.competitors)
        }
        model = VoteModel(strengths=STRENGTHS, tie=0.5, both_bad_share=0.2, raters=raters, prompts=12)
        record(small, responses, simulate_votes(model, votes, seed=seed), raters)
        return small

    return make


def reply_text(prompt: int, competitor: int, wordiness: int) -> str:
    lines = [f"Reply {competitor} to prompt {prompt}, in its own words."]
    lines += [f"- point {n} of **{prompt}**" for n in range((prompt + competitor) % 3 + 2 * wordiness)]
    return "\n".join(["# Heading"] * (prompt % 2) + lines)


def record(small, responses, simulated, raters: int) -> None:
    from arena.battles.models import Battle, Vote
    from arena.raters.models import Rater

    voters = [
        Rater.objects.create(
            team=small.campaign.team,
            pseudonym=f"{small.campaign.slug}-{number}",
            admission=Rater.Admission.SIMULATED,
        )
        for number in range(raters)
    ]
    start = timezone.now() - timedelta(days=1)
    battles = Battle.objects.bulk_create(
        Battle(
            campaign=small.campaign,
            prompt=small.prompts[p],
            competitor_a=small.competitors[a],
            competitor_b=small.competitors[b],
            response_a=responses[p, a],
            response_b=responses[p, b],
            rater=voters[r],
            drawn_at=start,
        )
        for a, b, p, r in zip(simulated.a, simulated.b, simulated.prompt, simulated.rater, strict=True)
    )
    Vote.objects.bulk_create(
        Vote(
            battle=battle,
            rater=voters[r],
            outcome=OUTCOMES[outcome],
            idempotency_key=f"{small.campaign.slug} {number}",
            voted_at=start + timedelta(seconds=number),
            digest="0" * 64,
        )
        for number, (battle, r, outcome) in enumerate(
            zip(battles, simulated.rater, simulated.outcome, strict=True)
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
