from __future__ import annotations

import io
import json
import shutil

import pytest
from django.core.management import call_command

from arena.battles.models import Battle, Vote
from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor, Prompt, PromptSet, Response
from arena.exchange.models import Import
from arena.judging.models import Rubric
from arena.leaderboards.models import Snapshot, Standing
from arena.operation import demo
from arena.raters.models import Rater


def load() -> str:
    out = io.StringIO()
    call_command("load_demo", stdout=out, stderr=out)
    return out.getvalue()


def test_the_demo_is_an_open_campaign_that_can_be_voted_in(db):
    words = load()
    campaign = Campaign.objects.get()
    assert campaign.is_open
    assert campaign.current_guide.text.startswith("# What you're asked")
    assert Prompt.objects.count() >= 24
    assert Prompt.objects.filter(is_hard=True).count() * 3 >= Prompt.objects.count()
    assert campaign.competitors.count() == 6
    assert Response.objects.filter(is_blank=False).count() == 6 * Prompt.objects.count()
    assert PromptSet.objects.get().status == PromptSet.Status.PUBLISHED
    assert Rubric.objects.count() == 1
    assert f"{Vote.objects.count()} simulated votes" in words


def test_its_votes_are_simulated_and_say_so(db):
    load()
    assert Vote.objects.count() >= 500
    assert set(Rater.objects.values_list("admission", flat=True)) == {Rater.Admission.SIMULATED}
    assert set(Battle.objects.values_list("kind", flat=True)) == {Battle.Kind.RECORDED}
    assert "simulated" in Campaign.objects.get().description


def test_its_boards_tell_that_the_verbose_one_falls_under_style_control(db):
    load()
    assert Snapshot.objects.count() == 3
    verbose = Competitor.objects.get(name="Meandrel XL")

    def place(board: str) -> int:
        standings = Standing.objects.filter(snapshot__leaderboard__slug=f"demo-{board}").order_by("-rating")
        return list(standings.values_list("competitor", flat=True)).index(verbose.pk) + 1

    assert place("overall") < place("style")
    shift = Standing.objects.get(snapshot__leaderboard__slug="demo-style", competitor=verbose)
    assert shift.shift < 0
    assert shift.shift_upper < 0, "the fall must be more than chance"


def test_loading_it_again_changes_nothing(db):
    load()
    before = (Vote.objects.count(), Response.objects.count(), Import.objects.count())
    assert "here already" in load()
    assert (Vote.objects.count(), Response.objects.count(), Import.objects.count()) == before


def test_with_one_wrong_line_nothing_is_loaded(db, tmp_path):
    folder = tmp_path / "demo"
    shutil.copytree(demo.FOLDER, folder)
    with (folder / "responses.jsonl").open("a") as responses:
        responses.write(json.dumps({"prompt_id": "no such prompt", "model": "X", "response": "y"}) + "\n")
    with pytest.raises(demo.DemoRefusedError, match=r"responses\.jsonl: .*no such prompt"):
        demo.load(folder)
    for model in (PromptSet, Prompt, Competitor, Response, Campaign, Vote, Rater, Import, Rubric):
        assert not model.objects.exists()
