"""The demo: a campaign to look at before one has data of one's own. Its votes are simulated, and say so."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.db import transaction

from arena.campaigns.creation import create_campaign
from arena.campaigns.models import Campaign, Guide
from arena.campaigns.opening import open_campaign
from arena.corpus.models import PromptSet
from arena.corpus.publishing import publish
from arena.exchange.imports import finish, new_record, plan_import
from arena.exchange.models import Import
from arena.exchange.plans import latest_set
from arena.judging.models import Rubric
from arena.leaderboards.fitting.snapshots import do_round
from arena.leaderboards.models import Leaderboard
from arena.leaderboards.run_models import SnapshotRun
from arena.leaderboards.schedule import request_snapshots
from arena.operation.local_judge import starter_rubric
from arena.raters.models import Rater, Team

SLUG = "demo"
SET_NAME = "Demo prompts"
FOLDER = settings.BASE_DIR / "fixtures" / "demo"
DESCRIPTION = (
    "Six invented models on 24 prompts. The votes it came with are simulated: "
    "drawn by a program from strengths and tastes that it was told, not cast by people."
)


class DemoRefusedError(Exception):
    """The demo can't be loaded here; says why. Nothing was changed."""


def is_loaded() -> bool:
    return Campaign.objects.filter(slug=SLUG).exists()


@transaction.atomic
def load(folder: Path = FOLDER) -> Campaign:
    """Everything but the snapshots, or nothing."""
    team = Team.default()
    bring_in(team, Import.Kind.PROMPTS, SET_NAME, folder / "prompts.jsonl")
    prompt_set = latest_set(team, SET_NAME)
    assert prompt_set is not None  # noqa: S101
    PromptSet.objects.filter(pk=prompt_set.pk).update(description=DESCRIPTION, licence="MIT")
    publish(prompt_set)
    bring_in(team, Import.Kind.RESPONSES, SET_NAME, folder / "responses.jsonl")
    campaign = make_campaign(team, prompt_set, (folder / "guide.md").read_text())
    bring_in(team, Import.Kind.VOTES, SLUG, folder / "votes.csv", Rater.Admission.SIMULATED)
    if not Rubric.objects.filter(team=team).exists():
        starter_rubric(team, folder / "rubric.json")
    return campaign


def bring_in(
    team: Team, kind: str, target: str, file: Path, admission: str = Rater.Admission.RECORDED
) -> None:
    plan = plan_import(kind, team, target, file, file.name, admission)
    if not plan.is_sound:
        raise DemoRefusedError("\n".join(f"{file.name}: {problem}" for problem in plan.errors))
    finish(new_record(plan), plan)


def make_campaign(team: Team, prompt_set: PromptSet, guide: str) -> Campaign:
    campaign = create_campaign(team, SLUG, [prompt_set], "Demo")
    campaign.description = DESCRIPTION
    campaign.save(update_fields=["description"])
    Guide.publish(campaign, guide)
    open_campaign(campaign)
    return campaign


def take_snapshots(campaign: Campaign) -> list[SnapshotRun]:
    """The first boards, open to whoever is signed in."""
    runs = request_snapshots(campaign)
    campaign.leaderboards.whole().update(visibility=Leaderboard.Visibility.SIGNED_IN)
    do_round(runs)
    return runs
