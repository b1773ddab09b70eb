import pytest
from django.utils import timezone

from arena.battles.models import Battle
from arena.corpus.models import Competitor
from arena.endpoints.models import Endpoint
from arena.leaderboards.plans.analysis_plan import AnalysisPlan

pytestmark = pytest.mark.django_db

FORM = {"role": "contender", "status": "active"}


@pytest.fixture
def endpoint(cast) -> Endpoint:
    return Endpoint.objects.create(team=cast.team, name="E", base_url="https://x.invalid/v1", model_id="m")


def test_a_model_is_made_and_changed_on_the_page(signed_in, endpoint):
    carol = signed_in("carol")
    carol.post("/models/new/", FORM | {"name": "Ember", "aliases": "emb\n\n emb \nEmber Pro"})
    ember = Competitor.objects.get()
    assert ember.aliases == ["emb", "Ember Pro"]
    change = FORM | {
        "name": "Ember",
        "organisation": "Northlight",
        "family": "ember",
        "licence": "MIT",
        "endpoint": endpoint.pk,
        "role": "sentinel",
        "status": "withdrawn",
    }
    carol.post(f"/models/{ember.pk}/", change)
    ember.refresh_from_db()
    assert (ember.organisation, ember.endpoint, ember.role, ember.status) == (
        "Northlight",
        endpoint,
        "sentinel",
        "withdrawn",
    )
    page = carol.get("/models/").content.decode()
    assert "sentinel" in page and "Withdrawn" in page


def test_a_name_that_looks_like_another_is_refused(signed_in, cast):
    Competitor.objects.create(team=cast.team, name="Ember")
    answer = signed_in("carol").post("/models/new/", FORM | {"name": "ＥＭＢＥＲ"})
    assert answer.status_code == 422 and Competitor.objects.count() == 1


def test_an_endpoint_of_another_team_cannot_be_chosen(signed_in, cast, endpoint):
    Endpoint.objects.update(team=cast.other_team)
    answer = signed_in("carol").post("/models/new/", FORM | {"name": "Ember", "endpoint": endpoint.pk})
    assert answer.status_code == 422 and not Competitor.objects.exists()


def test_what_has_fought_is_withdrawn_and_never_removed(signed_in, small_campaign, cast):
    carol, ember = signed_in("carol"), small_campaign.competitors[0]
    page = carol.post(f"/models/{ember.pk}/remove/", follow=True).content.decode()
    assert "withdraw it instead" in page and Competitor.objects.filter(pk=ember.pk).exists()
    idle = Competitor.objects.create(team=cast.team, name="Idle")
    carol.post(f"/models/{idle.pk}/remove/")
    assert not Competitor.objects.filter(pk=idle.pk).exists()


def test_a_model_of_recorded_battles_alone_has_a_past_and_stays(signed_in, make_campaign, cast):
    """Battles from a file may have no responses, and no name by which a model knows them."""
    small = make_campaign(names=())
    one, other = (Competitor.objects.create(team=cast.team, name=name) for name in ("Old", "Older"))
    Battle.objects.create(
        campaign=small.campaign,
        kind="recorded",
        competitor_a=one,
        competitor_b=other,
        prompt=small.prompts[0],
        drawn_at=timezone.now(),
    )
    page = signed_in("carol").post(f"/models/{one.pk}/remove/", follow=True)
    assert page.status_code == 200 and "withdraw it instead" in page.content.decode()
    assert one.has_past and Competitor.objects.filter(pk=one.pk).exists()


def test_a_model_that_a_plan_names_stays(signed_in, make_campaign, cast):
    small = make_campaign(status="draft", opened_at=None)
    new = Competitor.objects.create(team=cast.team, name="New")
    pair = {"a": "Ember", "b": "New", "ids": [small.competitors[0].pk, new.pk]}
    AnalysisPlan.objects.create(campaign=small.campaign, question="Which?", pairs=[pair])
    page = signed_in("carol").post(f"/models/{new.pk}/remove/", follow=True).content.decode()
    assert "withdraw it instead" in page and Competitor.objects.filter(pk=new.pk).exists()


def test_a_withdrawn_model_stays_listed_and_is_not_drawn(signed_in, small_campaign):
    from arena.campaigns.opening import drawable_responses

    ember = small_campaign.competitors[0]
    ember.status = "withdrawn"
    ember.save()
    assert "Ember" in signed_in("carol").get("/models/").content.decode()
    assert not drawable_responses(small_campaign.campaign).filter(competitor=ember).exists()


@pytest.mark.parametrize("who", ["alice", "ravi", "mallory", "dora"])
def test_nobody_else_changes_a_model(signed_in, small_campaign, who):
    ember = small_campaign.competitors[0]
    visitor = signed_in(who)
    assert visitor.post(f"/models/{ember.pk}/", FORM | {"name": "Mine"}).status_code == 404
    assert visitor.post(f"/models/{ember.pk}/remove/").status_code == 404
    ember.refresh_from_db()
    assert ember.name == "Ember"
