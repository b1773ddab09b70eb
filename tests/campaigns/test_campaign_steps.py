import pytest

from arena.campaigns import checklist
from arena.campaigns.models import Campaign
from arena.corpus.models import Competitor, PromptSet, Response
from arena.corpus.redaction import redact_response

pytestmark = pytest.mark.django_db


def states(campaign: Campaign) -> dict[str, str]:
    return {step.name: step.state for step in checklist.steps(campaign, checklist.models_of(campaign))}


def edit(visitor, part: str, **values):
    return visitor.post("/campaigns/small/edit/", {"part": part} | values)


def test_a_new_campaign_shows_the_whole_way(signed_in, db):
    carol = signed_in("carol")
    carol.post("/campaigns/new/", {"name": "Spring"})
    found = states(Campaign.objects.get())
    assert found == {
        "prompts": "missing",
        "models": "missing",
        "guide": "advice",
        "admission": "done",
        "reveal": "done",
        "texts": "done",
        "targets": "done",
        "quality": "done",
        "plan": "optional",
        "links": "advice",
    }
    page = carol.get("/campaigns/spring/").content.decode()
    assert "2 things are missing" in page
    assert "Open for votes" not in page


def test_when_nothing_is_missing_it_can_be_opened(signed_in, small_campaign):
    Campaign.objects.update(status="draft")
    page = signed_in("carol").get("/campaigns/small/").content.decode()
    assert "Open for votes" in page
    assert set(states(small_campaign.campaign).values()) == {"done", "optional"}


def test_a_prompt_set_is_published_on_the_campaigns_page(signed_in, small_campaign):
    Campaign.objects.update(status="draft")
    PromptSet.objects.update(status="draft")
    carol, url = signed_in("carol"), f"/campaigns/small/sets/{small_campaign.prompt_set.pk}/publish/"
    assert url in carol.get("/campaigns/small/").content.decode()
    assert carol.post(url)["Location"] == "/campaigns/small/#prompts"
    assert PromptSet.objects.get().status == "published"


def test_a_set_of_another_campaign_is_not_published_from_here(signed_in, small_campaign, make_campaign):
    other = make_campaign("other")
    url = f"/campaigns/small/sets/{other.prompt_set.pk}/publish/"
    assert signed_in("carol").post(url).status_code == 404


def test_models_that_have_answered_are_offered_and_added(signed_in, small_campaign):
    small_campaign.campaign.competitors.clear()
    carol = signed_in("carol")
    assert "3 more models have answered" in carol.get("/campaigns/small/").content.decode()
    carol.post("/campaigns/small/adopt/")
    assert small_campaign.campaign.competitors.count() == 3
    assert "more models have answered" not in carol.get("/campaigns/small/").content.decode()


def test_a_newly_chosen_set_brings_its_models_and_an_old_one_doesn_t(
    signed_in, small_campaign, make_campaign
):
    other = make_campaign("other", names=("Heath", "Isle"))
    campaign = small_campaign.campaign
    campaign.competitors.remove(small_campaign.competitors[0])
    edit(signed_in("carol"), "prompts", prompt_sets=[small_campaign.prompt_set.pk, other.prompt_set.pk])
    names = set(campaign.competitors.values_list("name", flat=True))
    assert names == {"Fjord", "Grove", "Heath", "Isle"}


def test_each_model_is_told_with_the_prompts_it_has_answered(small_campaign):
    Response.objects.filter(competitor__name="Grove").first().delete()
    Response.objects.filter(competitor__name="Fjord").update(is_blank=True)
    found = [
        (one.competitor.name, one.answered, one.prompts)
        for one in checklist.models_of(small_campaign.campaign)
    ]
    assert found == [("Ember", 4, 4), ("Grove", 3, 4), ("Fjord", 0, 4)]


@pytest.mark.parametrize("policy", ["flag", "exclude", "mask"])
def test_a_redacted_response_is_told_apart_and_not_lacking(signed_in, small_campaign, policy):
    Campaign.objects.update(leak_policy=policy)
    Response.objects.update(leak="clean")
    first, second = Response.objects.filter(competitor__name="Grove")[:2]
    redact_response(first, reason="a name", by="carol")
    small_campaign.campaign.refresh_from_db()
    (grove,) = (one for one in checklist.models_of(small_campaign.campaign) if one.competitor.name == "Grove")
    assert (grove.answered, grove.redacted, grove.lacks, grove.drawable) == (3, 1, 0, 3)
    assert states(small_campaign.campaign)["models"] == "done"
    page = signed_in("carol").get("/campaigns/small/").content.decode()
    assert "3 of 4 prompts, 1 redacted</span>" in page
    second.delete()
    assert checklist.models_of(small_campaign.campaign)[-1].lacks == 1
    assert states(small_campaign.campaign)["models"] == "advice"


def test_another_sample_stands_in_for_a_redacted_response(small_campaign, make_response):
    response = Response.objects.filter(competitor__name="Grove").first()
    make_response(response.prompt, response.competitor, "Said again.", sample=2)
    redact_response(response, reason="a name", by="carol")
    found = {one.competitor.name: one for one in checklist.models_of(small_campaign.campaign)}
    assert (found["Grove"].answered, found["Grove"].redacted, found["Grove"].drawable) == (4, 0, 4)


@pytest.mark.parametrize(
    ("part", "values", "stored"),
    [
        (
            "name",
            {"name": "Autumn", "slug": "small", "description": "d"},
            {"name": "Autumn", "description": "d"},
        ),
        ("admission", {"admission": "open", "quota": "20"}, {"admission": "open", "quota": 20}),
        ("texts", {"plain_text": "on"}, {"plain_text": True}),
        ("targets", {"target_votes": "3", "target_raters": ""}, {"target_votes": 3, "target_raters": None}),
        (
            "quality",
            {"repeat_share": "12.5", "gold_share": "5", "leak_policy": "mask", "hard_at_least": "5"},
            {"repeat_share": 0.125, "gold_share": 0.05, "leak_policy": "mask", "hard_at_least": 5},
        ),
    ],
)
def test_a_step_is_changed_in_place_and_leaves_the_others_alone(
    signed_in, small_campaign, part, values, stored
):
    before = Campaign.objects.values().get()
    assert edit(signed_in("carol"), part, **values)["Location"] == f"/campaigns/small/#{part}"
    assert Campaign.objects.values().get() == before | stored


@pytest.mark.parametrize(
    ("part", "values", "words"),
    [
        ("name", {"name": "", "slug": "small"}, "This field is required"),
        ("name", {"name": "x", "slug": "new"}, "taken by a page"),
        (
            "quality",
            {"repeat_share": "60", "gold_share": "0", "leak_policy": "flag", "hard_at_least": "6"},
            "50",
        ),
        (
            "quality",
            {"repeat_share": "10", "gold_share": "31", "leak_policy": "flag", "hard_at_least": "6"},
            "30",
        ),
        (
            "quality",
            {"repeat_share": "1", "gold_share": "1", "leak_policy": "flag", "hard_at_least": "8"},
            "7",
        ),
        (
            "quality",
            {"repeat_share": "nan", "gold_share": "1", "leak_policy": "flag", "hard_at_least": "6"},
            "number",
        ),
        ("targets", {"target_votes": "0"}, "greater than or equal to 1"),
        ("targets", {"ends_at": "soon"}, "valid date"),
    ],
)
def test_a_refused_change_is_told_where_it_was_made_and_changes_nothing(
    signed_in, small_campaign, part, values, words
):
    before = Campaign.objects.values().get()
    answer = edit(signed_in("carol"), part, **values)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert words in page
    assert "<h1><bdi>Small</bdi></h1>" in page
    assert Campaign.objects.values().get() == before


def test_an_unchanged_share_survives_being_saved(signed_in, small_campaign):
    Campaign.objects.update(repeat_share=0.07)
    page = signed_in("carol").get("/campaigns/small/").content.decode()
    assert 'name="repeat_share" value="7"' in page


def test_an_unknown_part_changes_nothing(signed_in, small_campaign):
    before = Campaign.objects.values().get()
    edit(signed_in("carol"), "status", status="closed")
    assert Campaign.objects.values().get() == before


def test_a_withdrawn_model_stays_listed(signed_in, small_campaign):
    Competitor.objects.filter(name="Ember").update(status="withdrawn")
    page = signed_in("carol").get("/campaigns/small/").content.decode()
    assert "Withdrawn" in page
