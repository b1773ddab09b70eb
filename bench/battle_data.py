"""A database to vote in: prompts, models, responses of 60 to 400 words, votes recorded earlier."""

from __future__ import annotations

import argparse
import hashlib

from arena.corpus.render import RENDERER_VERSION

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


def prepare(arguments: argparse.Namespace):
    """The tables, static files and the campaign, without votes."""
    from django.core.management import call_command

    call_command("migrate", interactive=False, verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    from arena.campaigns.models import Campaign

    return Campaign.objects.filter(slug=SLUG).first() or make_campaign(arguments)


def fill(arguments: argparse.Namespace) -> str:
    """All of it; returns a token to join with."""
    campaign = prepare(arguments)
    top_up(campaign, arguments.votes)
    return issue(campaign)


def issue(campaign) -> str:
    from arena.campaigns.models import Invite

    return Invite.issue(campaign)[1]


def top_up(campaign, votes: int) -> None:
    """Recorded votes up to that number, and what the worker would do about them."""
    missing = votes - campaign.battles.filter(vote__isnull=False).count()
    if missing > 0:
        add_votes(campaign, missing)
    settle(campaign)


def settle(campaign) -> None:
    """What the worker would do about a million new votes at once: seals made, boards and leaks looked at."""
    from django.utils import timezone

    from arena.battles.seals import seal_votes
    from arena.corpus.models import Response
    from arena.leaderboards.defaults import ensure_leaderboards
    from arena.leaderboards.run_models import SnapshotRun

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
                renderer_version=RENDERER_VERSION,
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
    sha256 = hashlib.sha256(b"Vote.").hexdigest()
    Guide.objects.create(campaign=campaign, version=1, text="Vote.", sha256=sha256)
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
                renderer_version=RENDERER_VERSION,
                leak=Response.Leak.CLEAN,
            )
        )
    Response.objects.bulk_create(rows, batch_size=500)


# Battles of all models on all prompts in turn, by a hundred raters, made inside the database: a million of
# them take seconds, as objects minutes. The numbers of prompts, models and raters run without a gap.
BATTLES = """
INSERT INTO arena_battle (public_id, campaign_id, kind, prompt_id, competitor_a_id, competitor_b_id,
    response_a_id, response_b_id, rater_id, drawn_at)
SELECT {uuid}, %(campaign)s, 'recorded', drawn.prompt, drawn.a, drawn.b,
    one.id, other.id, drawn.rater, %(now)s
FROM (SELECT i, %(prompt)s + i * 7919 %% %(prompts)s AS prompt, %(model)s + i %% %(models)s AS a,
    %(model)s + (i %% %(models)s + 1 + i / %(models)s %% (%(models)s - 1)) %% %(models)s AS b,
    %(rater)s + i %% 100 AS rater FROM ({numbers}) AS numbers) AS drawn
JOIN arena_response AS one ON one.prompt_id = drawn.prompt AND one.competitor_id = drawn.a
JOIN arena_response AS other ON other.prompt_id = drawn.prompt AND other.competitor_id = drawn.b
ORDER BY i
"""
VOTES = """
INSERT INTO arena_vote (battle_id, rater_id, outcome, idempotency_key, layout, voted_at, digest)
SELECT battle.id, battle.rater_id,
    CASE battle.id %% 4 WHEN 0 THEN 'model_a' WHEN 1 THEN 'model_b' WHEN 2 THEN 'tie' ELSE 'both_bad' END,
    CAST(battle.public_id AS text), '', battle.drawn_at, %(digest)s
FROM arena_battle AS battle WHERE battle.id > %(newest)s ORDER BY battle.id
"""
DIALECTS = {
    "sqlite": (
        "lower(hex(randomblob(16)))",
        "WITH RECURSIVE n(i) AS (SELECT %(first)s UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %(end)s)"
        " SELECT i FROM n",
    ),
    "postgresql": ("gen_random_uuid()", "SELECT generate_series(%(first)s, %(end)s - 1) AS i"),
}
AT_ONCE = 100_000


def add_votes(campaign, count: int) -> None:
    """Votes recorded earlier; they fill the tables that a draw must not have to read."""
    from django.db import connection, transaction
    from django.db.models import Max, Min
    from django.utils import timezone

    from arena.corpus.models import Competitor, Prompt
    from arena.raters.models import Rater

    raters = [
        Rater.objects.get_or_create(
            team_id=campaign.team_id, pseudonym=f"recorded {n}", admission=Rater.Admission.RECORDED
        )[0]
        for n in range(100)
    ]
    values = {"campaign": campaign.pk, "rater": raters[0].pk, "digest": "0" * 64, "now": timezone.now()}
    for model, name in ((Prompt, "prompt"), (Competitor, "model")):
        ends = model.objects.aggregate(first=Min("pk"), last=Max("pk"))
        values |= {name: ends["first"], f"{name}s": ends["last"] - ends["first"] + 1}
    uuid, numbers = DIALECTS[connection.vendor]
    for first in range(0, count, AT_ONCE):
        values |= {"first": first, "end": min(first + AT_ONCE, count)}
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT COALESCE(MAX(id), 0) FROM arena_battle")
            (values["newest"],) = cursor.fetchone()
            cursor.execute(BATTLES.format(uuid=uuid, numbers=numbers), values)
            cursor.execute(VOTES, values)
