"""Buttons of the team pressed several times at the same moment: no error of ours, and nothing comes twice."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from knox.models import AuthToken

from arena.battles.gold_models import Gold
from arena.battles.models import Battle, Exclusion, Vote
from arena.campaigns.models import Campaign, Guide
from arena.corpus.generation_models import GenerationRun
from arena.corpus.label_models import LabelRun
from arena.corpus.models import Competitor, Prompt, PromptSet, Response
from arena.endpoints.models import Endpoint
from arena.exchange import uploads
from arena.exchange.export_models import Export
from arena.exchange.models import Import
from arena.judging.models import Judge, JudgeRun
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.raters.models import Membership, Rater
from tests.at_once import at_once, guards_look_at_their_own_row, post
from tests.leaderboards.plans_by_hand import DRAFT

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def own_rows():
    with guards_look_at_their_own_row():
        yield


ROUNDS, CLICKS = 3, 3
GOLD = {"first": "A good answer.", "second": "Bananas.", "expected": "model_a", "kind": "quality"}
Press = Callable[..., list[int]]


@pytest.fixture
def press(signed_in) -> Press:
    """press(path, data, other path…): the first thrice at once, the others once beside it; the statuses."""
    carol = signed_in("carol")

    def act(path: str, data: Any = None, *beside: str) -> list[int]:
        acts = [post(carol, path, data) for _click in range(CLICKS)]
        acts += [post(carol, other) for other in beside]
        statuses = [answer.status_code for answer in at_once(*acts)]
        assert max(statuses) < 500, f"{path}: {statuses}"
        return statuses

    return act


def test_a_campaign_is_copied_as_often_as_that_is_asked(press, small_campaign):
    for number in range(1, ROUNDS + 1):
        assert press("/campaigns/small/clone/") == [302] * CLICKS
        assert Campaign.objects.filter(slug__startswith="small-copy").count() == number * CLICKS
    assert Guide.objects.count() == Campaign.objects.count()


def test_a_campaign_of_one_address_is_made_once(press, small_campaign):
    for number in range(ROUNDS):
        statuses = press("/campaigns/new/", {"name": f"New {number}", "slug": f"new-{number}"})
        assert sorted(statuses) == [302] + [422] * (CLICKS - 1)


def test_the_states_of_a_campaign(press, small_campaign):
    for _round in range(ROUNDS):
        press("/campaigns/small/pause/", None, "/campaigns/small/close/", "/campaigns/small/open/")
        press("/campaigns/small/open/", {"though_names_were_shown": "on"}, "/campaigns/small/adopt/")
        assert Campaign.objects.get().is_open


def test_a_guide_gets_one_version_for_one_text(press, small_campaign):
    for number in range(ROUNDS):
        press("/campaigns/small/guide/edit/", {"text": f"Choose well, {number} times."})
    assert list(Guide.objects.order_by("version").values_list("version", flat=True)) == [1, 2, 3, 4]


def test_a_gold_is_added_once_and_retired(press, small_campaign, make_campaign):
    for number in range(ROUNDS):
        gold = GOLD | {"prompt_id": "p1", "second": f"Bananas, {number}."}
        assert sorted(press("/campaigns/small/golds/", gold)) == [302] + [422] * (CLICKS - 1)
    assert Gold.objects.count() == ROUNDS
    for gold in Gold.objects.all():
        press(f"/campaigns/small/golds/{gold.pk}/retire/")


def test_golds_of_two_campaigns_with_the_same_prompts_are_added_at_once(signed_in, small_campaign):
    carol = signed_in("carol")
    for number in range(ROUNDS):
        carol.post("/campaigns/small/clone/")
        copy = Campaign.objects.latest("pk").slug
        gold = GOLD | {"prompt_id": "p1", "second": f"Bananas, {number}."}
        acts = [post(carol, f"/campaigns/{slug}/golds/", gold) for slug in ("small", copy)]
        assert [answer.status_code for answer in at_once(*acts)] == [302, 302]


def test_a_model_and_a_prompt_are_removed_once(press, cast):
    for number in range(ROUNDS):
        model = Competitor.objects.create(team=cast.team, name=f"Model {number}")
        draft = PromptSet.objects.create(team=cast.team, name=f"Draft {number}")
        said = [{"role": "user", "content": "Hello?"}]
        prompt = Prompt.objects.create(prompt_set=draft, external_id="p1", messages=said)
        press(f"/models/{model.pk}/remove/")
        press(f"/prompts/{prompt.pk}/remove/")
        press(f"/prompt-sets/{draft.pk}/publish/")
    assert not Competitor.objects.exists() and not Prompt.objects.exists()


def test_prompt_sets_and_texts(press, small_campaign):
    for prompt in small_campaign.prompts[:ROUNDS]:
        response = prompt.responses.earliest("pk")
        press(f"/responses/{response.pk}/no-leak/", None, f"/responses/{response.pk}/leak/")
        press(f"/responses/{response.pk}/redact/", {"reason": "asked for"})
        press(f"/prompts/{prompt.pk}/redact/", {"reason": "asked for", "everywhere": "on"})
    assert Response.objects.filter(tombstone__isnull=False).count() == ROUNDS
    own = f"/prompt-sets/{small_campaign.prompt_set.pk}"
    press(f"{own}/retire/", None, f"{own}/reinstate/", f"{own}/leaks/again/")
    press(f"{own}/reinstate/")
    press(f"{own}/next/")
    assert PromptSet.objects.filter(version=2).count() == 1


def test_a_rater_is_excluded_once_and_taken_back_once(press, small_campaign, client):
    client.post(f"/join/{small_campaign.token}/")
    client.get("/campaigns/small/battle/")
    battle = Battle.objects.earliest("pk")
    client.post(f"/battles/{battle.public_id}/vote/", {"outcome": "tie", "key": "idempotency-key-1"})
    rater = Vote.objects.get().rater_id
    for number in range(1, ROUNDS + 1):
        statuses = press("/campaigns/small/exclusions/", {"rater": rater, "reason": "careless"})
        assert statuses.count(302) == 1
        made = Exclusion.objects.get(revoked_at=None)
        press(f"/campaigns/small/exclusions/{made.pk}/revoke/", {"reason": "they weren't"})
        assert Exclusion.objects.count() == number


def test_members_and_tokens(press, cast):
    for number in range(ROUNDS):
        press("/team/add/", {"username": f"nora-{number}", "role": "rater"})
        nora = Membership.objects.get(user__username=f"nora-{number}")
        press(f"/team/{nora.pk}/role/", {"role": "researcher"}, f"/team/{nora.pk}/link/")
        press(f"/team/{nora.pk}/remove/", None, f"/team/{nora.pk}/link/")
        press(f"/accounts/tokens/{AuthToken.objects.create(user=cast.carol)[0].token_key}/revoke/")
    assert User.objects.filter(username__startswith="nora").count() == ROUNDS
    assert not AuthToken.objects.exists()


@pytest.fixture
def waiting(cast) -> Callable[[], Import]:
    """An upload that is previewed, with its file."""

    def make() -> Import:
        name = uuid.uuid4().hex
        (uploads.folder() / name).write_text("id,prompt\np1,Hello?\n")
        return Import.objects.create(
            team=cast.team,
            kind="prompts",
            target=f"Set {name[:8]}",
            file_name="prompts.csv",
            stored_as=name,
            state=Import.State.PREVIEWED,
            options={},
        )

    return make


@pytest.mark.parametrize("act", ["discard", "confirm", "cancel", "reread", "responses"])
def test_an_upload(press, waiting, act):
    for _round in range(ROUNDS):
        record = waiting()
        own, api = f"/imports/{record.public_id}", f"/api/v1/imports/{record.public_id}"
        press(f"{own}/{act}/", None, f"{own}/discard/", f"{api}/cancel/", f"{api}/confirm/")
        kept = Import.objects.filter(pk=record.pk).first()
        assert PromptSet.objects.filter(name=record.target).exists() == bool(kept and kept.state == "done")


def test_exports(press, small_campaign):
    for _round in range(ROUNDS):
        press("/exports/small/new/", {"layout": Export.Layout.WHOLE})
        for export in Export.objects.all():
            press(f"/exports/small/{export.public_id}/delete/")
    assert not Export.objects.exists()


def test_boards_and_plans(press, small_campaign):
    for _round in range(ROUNDS):
        press("/boards/small/snapshot/")
        press("/boards/small/visibility/", {"visibility": "public"})
        press("/boards/small/report/text/", {"capability": "It tells jokes."})
        press("/campaigns/small/analysis-plan/save/", DRAFT)
        shown = AnalysisPlan.objects.get(frozen_at=None).as_read
        press("/campaigns/small/analysis-plan/freeze/", {"though_it_cannot_answer": "on", "as_read": shown})
    assert AnalysisPlan.objects.frozen().count() == ROUNDS
    versions = list(AnalysisPlan.objects.values_list("version", flat=True))
    assert len(versions) == len(set(versions))


def test_a_personal_link_of_ones_own(small_campaign, client):
    client.post(f"/join/{small_campaign.token}/")
    for _round in range(ROUNDS):
        acts = [post(client, "/campaigns/small/my-link/") for _click in range(CLICKS)]
        assert max(answer.status_code for answer in at_once(*acts)) < 500
    assert Rater.objects.get().invites.filter(revoked_at=None).count() == 1


def test_runs_and_endpoints(press, small_campaign, cast):
    for number in range(1):  # nothing is left of one round that another could meet
        endpoint = Endpoint.objects.create(
            team=cast.team, name=f"Endpoint {number}", base_url="https://llm.invalid/v1", model_id="m"
        )
        judge = Judge.objects.create(team=cast.team, name=f"Judge {number}", endpoint=endpoint)
        judging = JudgeRun.objects.create(campaign=small_campaign.campaign)
        labelling = LabelRun.objects.create(prompt_set=small_campaign.prompt_set, endpoint=endpoint)
        generation = GenerationRun.objects.create(prompt_set=small_campaign.prompt_set)
        for run, own in (
            (judging, f"/judging/runs/{judging.pk}"),
            (labelling, f"/label-runs/{labelling.pk}"),
            (generation, f"/generation/{generation.pk}"),
        ):
            press(f"{own}/pause/", None, f"{own}/resume/", f"{own}/retry/")
            press(f"{own}/cancel/", None, f"{own}/pause/", f"{own}/resume/")
            run.refresh_from_db()
            assert run.status == "cancelled"
        press(f"/endpoints/{endpoint.pk}/wake/", None, f"/endpoints/{endpoint.pk}/send-all/")
        press(f"/judges/{judge.pk}/canaries/", {"campaign": "small"})
    press("/rubrics/new/", {"name": "Ours", "instructions": "Choose the better one."})
