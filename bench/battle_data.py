"""A database to vote in: prompts, models, responses of 60 to 400 words, votes recorded earlier."""

from __future__ import annotations

import argparse

SLUG = "bench"
OUTCOMES = ("model_a", "model_b", "tie", "both_bad")
WORDS = (
    "the",
    "answer",
    "begins",
    "with",
    "what",
    "the",
    "question",
    "asks",
    "and",
    "says",
    "why",
    "it",
    "holds",
)


def fill(arguments: argparse.Namespace) -> str:
    """Prompts, models, responses of 60 to 400 words and recorded votes; returns a token to join with."""
    from django.core.management import call_command

    call_command("migrate", interactive=False, verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    from arena.campaigns.models import Campaign, Invite

    campaign = Campaign.objects.filter(slug=SLUG).first() or make_campaign(arguments)
    missing = arguments.votes - campaign.battles.filter(vote__isnull=False).count()
    if missing > 0:
        add_votes(campaign, missing)
    settle(campaign)
    return Invite.issue(campaign)[1]


def settle(campaign) -> None:
    """What the worker would do about a million new votes at once: seals made, boards and leaks looked at."""
    from django.utils import timezone

    from arena.battles.seals import seal_votes
    from arena.corpus.models import Response
    from arena.leaderboards.defaults import ensure_leaderboards
    from arena.leaderboards.models import SnapshotRun

    seal_votes()
    Response.objects.filter(leak=Response.Leak.UNCHECKED).update(leak=Response.Leak.CLEAN)
    ended = {"state": SnapshotRun.State.UNCHANGED, "finished_at": timezone.now()}
    SnapshotRun.objects.bulk_create(
        SnapshotRun(leaderboard=board, **ended) for board in ensure_leaderboards(campaign)
    )


def make_campaign(arguments: argparse.Namespace):
    from django.utils import timezone

    from arena.campaigns.models import Campaign, Guide
    from arena.corpus.models import Competitor, Prompt, PromptSet
    from arena.raters.models import Team

    team = Team.default()
    prompt_set = PromptSet.objects.create(team=team, name="bench", status=PromptSet.Status.PUBLISHED)
    Prompt.objects.bulk_create(
        [
            Prompt(
                prompt_set=prompt_set,
                external_id=str(number),
                messages=[{"role": "user", "content": f"Prompt {number}?"}],
                rendered_html=f"<p>Prompt {number}?</p>",
                renderer_version=1,
            )
            for number in range(arguments.prompts)
        ],
        batch_size=1000,
    )
    for number in range(arguments.models):
        competitor = Competitor.objects.create(team=team, name=f"model {number}")
        add_responses(prompt_set, competitor, number)
    campaign = Campaign.objects.create(
        team=team, slug=SLUG, name="Bench", status=Campaign.Status.OPEN, opened_at=timezone.now()
    )
    campaign.prompt_sets.add(prompt_set)
    campaign.competitors.set(Competitor.objects.all())
    Guide.objects.create(campaign=campaign, version=1, text="Vote.", sha256="0" * 64)
    return campaign


def add_responses(prompt_set, competitor, number: int) -> None:
    from arena.corpus.models import Response

    rows = []
    for prompt in prompt_set.prompts.all():
        length = 60 + (prompt.pk * 37 + number * 101) % 341
        text = " ".join(WORDS[(prompt.pk + n) % len(WORDS)] for n in range(length))
        rows.append(
            Response(
                prompt=prompt,
                competitor=competitor,
                text=text,
                text_hash=f"{prompt.pk:032x}{number:032x}",
                characters=len(text),
                words=length,
                headings=0,
                list_items=0,
                bold=0,
                code_blocks=0,
                emoji=0,
                rendered_html=f"<p dir='auto'>{text}</p>",
                renderer_version=1,
            )
        )
    Response.objects.bulk_create(rows, batch_size=500)


def add_votes(campaign, count: int) -> None:
    """Votes recorded earlier, by a hundred raters; they fill the tables that a draw must not have to read."""
    from django.utils import timezone

    from arena.battles.models import Battle, Vote
    from arena.corpus.models import Competitor, Response
    from arena.raters.models import Rater

    raters = [
        Rater.objects.get_or_create(
            team_id=campaign.team_id, pseudonym=f"recorded {n}", admission=Rater.Admission.RECORDED
        )[0]
        for n in range(100)
    ]
    competitors = list(Competitor.objects.values_list("pk", flat=True))
    responses = {(p, c): pk for p, c, pk in Response.objects.values_list("prompt_id", "competitor_id", "pk")}
    prompts = sorted({prompt for prompt, _ in responses})
    now = timezone.now()
    for start in range(0, count, 20_000):
        battles = []
        for n in range(start, min(start + 20_000, count)):
            a = n % len(competitors)
            b = (a + 1 + n // len(competitors) % (len(competitors) - 1)) % len(competitors)
            prompt, pair = prompts[n * 7919 % len(prompts)], (competitors[a], competitors[b])
            battles.append(
                Battle(
                    campaign=campaign,
                    kind=Battle.Kind.RECORDED,
                    rater=raters[n % 100],
                    prompt_id=prompt,
                    competitor_a_id=pair[0],
                    competitor_b_id=pair[1],
                    response_a_id=responses[prompt, pair[0]],
                    response_b_id=responses[prompt, pair[1]],
                    drawn_at=now,
                )
            )
        Battle.objects.bulk_create(battles, batch_size=2000)
        votes = [
            Vote(
                battle=battle,
                rater_id=battle.rater_id,
                outcome=OUTCOMES[n % 4],
                idempotency_key=str(battle.public_id),
                voted_at=now,
                digest="0" * 64,
            )
            for n, battle in enumerate(battles)
        ]
        Vote.objects.bulk_create(votes, batch_size=2000)
