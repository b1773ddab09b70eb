"""A form and an act at once: the form was read before the act and is saved after it. The act stands."""

import pytest

from arena.campaigns import opening
from arena.campaigns.forms import NameForm, RevealForm
from arena.campaigns.models import Campaign
from arena.corpus.editing import remove_competitor
from arena.corpus.forms import CompetitorForm, PromptForm, PromptSetForm
from arena.corpus.generation_forms import AskingForm
from arena.corpus.models import Competitor, Prompt, PromptSet
from arena.corpus.publishing import publish
from arena.corpus.redaction import redact_prompt
from arena.endpoints.models import Endpoint
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.analysis_plan_views import AnalysisPlanForm

pytestmark = pytest.mark.django_db

CHANGED = "has just been changed by somebody else"
SAID = [{"role": "user", "content": "Call Ada at 555 0100."}]


def meanwhile(monkeypatch, form: type, act) -> None:
    """The act is done once the form's row has been read, and before it is written."""
    looked, done = form.clean, []

    def look_then_act(self):
        found = looked(self)
        if not done:
            done.append(True)
            act()
        return found

    monkeypatch.setattr(form, "clean", look_then_act)


def test_a_campaign_closed_while_its_name_is_saved_stays_closed(signed_in, small_campaign, monkeypatch):
    campaign = small_campaign.campaign
    Campaign.objects.filter(pk=campaign.pk).update(reveal=Campaign.Reveal.AFTER_CLOSE)
    opening.open_campaign(Campaign.objects.get(pk=campaign.pk))
    meanwhile(monkeypatch, NameForm, lambda: opening.close_campaign(Campaign.objects.get(pk=campaign.pk)))
    fields = {"part": "name", "name": "Renamed", "slug": "small", "description": ""}
    assert signed_in("carol").post("/campaigns/small/edit/", fields).status_code == 302
    campaign.refresh_from_db()
    assert (campaign.name, campaign.status) == ("Renamed", "closed")
    assert campaign.names_shown_at and campaign.closed_at


def test_a_campaign_closed_while_it_is_paused_or_opened_stays_closed(small_campaign):
    campaign = small_campaign.campaign
    Campaign.objects.filter(pk=campaign.pk).update(reveal=Campaign.Reveal.AFTER_CLOSE)
    opening.open_campaign(Campaign.objects.get(pk=campaign.pk))
    to_pause, to_open = Campaign.objects.get(pk=campaign.pk), Campaign.objects.get(pk=campaign.pk)
    opening.close_campaign(Campaign.objects.get(pk=campaign.pk))
    with pytest.raises(opening.NotReadyError):
        opening.pause_campaign(to_pause)
    with pytest.raises(opening.NamesShownError):
        opening.open_campaign(to_open)
    campaign.refresh_from_db()
    assert campaign.is_closed and campaign.names_shown_at


def test_when_names_are_revealed_is_settled_by_an_opening_meanwhile(signed_in, small_campaign, monkeypatch):
    pk = small_campaign.campaign.pk
    Campaign.objects.filter(pk=pk).update(reveal="never", status="draft", opened_at=None)
    meanwhile(monkeypatch, RevealForm, lambda: opening.open_campaign(Campaign.objects.get(pk=pk)))
    answer = signed_in("carol").post("/campaigns/small/edit/", {"part": "reveal", "reveal": "after_vote"})
    assert answer.status_code == 422 and CHANGED in answer.content.decode()
    stored = Campaign.objects.get(pk=pk)
    assert (stored.reveal, stored.status) == ("never", "open")


def test_a_prompt_redacted_while_it_is_edited_stays_redacted(signed_in, cast, monkeypatch):
    draft = PromptSet.objects.create(team=cast.team, name="Start")
    prompt = Prompt.objects.create(prompt_set=draft, external_id="p1", messages=SAID)
    act = lambda: redact_prompt(prompt, reason="personal", by="carl")  # noqa: E731
    meanwhile(monkeypatch, PromptForm, act)
    fields = {"external_id": "p1", "category": "new", "turn-TOTAL_FORMS": 1, "turn-INITIAL_FORMS": 1}
    fields |= {"turn-0-role": "user", "turn-0-content": SAID[0]["content"]}
    answer = signed_in("carol").post(f"/prompts/{prompt.pk}/edit/", fields)
    assert answer.status_code == 422 and CHANGED in answer.content.decode()
    stored = Prompt.objects.get(pk=prompt.pk)
    assert stored.tombstone and "555" not in f"{stored.messages}{stored.rendered_html}"
    assert stored.category == ""


def test_a_set_published_while_it_is_changed_stays_published(signed_in, cast, monkeypatch):
    draft = PromptSet.objects.create(team=cast.team, name="Start")
    Prompt.objects.create(prompt_set=draft, external_id="p1", messages=SAID)
    meanwhile(monkeypatch, PromptSetForm, lambda: publish(draft))
    fields = {"name": "Another", "is_internal": "on", "licence": "MIT"}
    answer = signed_in("carol").post(f"/prompt-sets/{draft.pk}/edit/", fields)
    assert answer.status_code == 422 and CHANGED in answer.content.decode()
    stored = PromptSet.objects.get(pk=draft.pk)
    assert (stored.status, stored.name, stored.is_internal) == ("published", "Start", False)
    assert stored.content_hash and stored.published_at


def test_a_plan_frozen_while_its_draft_is_saved_stays_frozen(signed_in, small_campaign, cast, monkeypatch):
    plan = AnalysisPlan.objects.create(
        campaign=small_campaign.campaign, question="Which is best?", boards=["overall"]
    )
    meanwhile(monkeypatch, AnalysisPlanForm, lambda: AnalysisPlan.objects.get().freeze(cast.carol))
    fields = {
        "question": "Which suits?",
        "margin": 10,
        "ties": "half",
        "both_bad": "half",
        "boards": "overall",
    }
    answer = signed_in("carol").post("/campaigns/small/analysis-plan/save/", fields)
    assert answer.status_code == 422 and CHANGED in answer.content.decode()
    plan.refresh_from_db()
    assert plan.frozen_at and plan.sha256 and plan.question == "Which is best?"


def test_a_model_withdrawn_while_its_asking_is_changed_stays_withdrawn(signed_in, cast, monkeypatch):
    model = Competitor.objects.create(team=cast.team, name="Ember")
    endpoint = Endpoint.objects.create(
        team=cast.team, name="E", base_url="https://x.invalid/v1", model_id="m"
    )
    withdraw = Competitor.objects.filter(pk=model.pk).update
    meanwhile(monkeypatch, AskingForm, lambda: withdraw(status="withdrawn"))
    fields = {"endpoint": endpoint.pk, "system_prompt": "Be brief.", "parameters": "{}"}
    assert signed_in("carol").post(f"/models/{model.pk}/asked/", fields).status_code == 302
    model.refresh_from_db()
    assert (model.status, model.system_prompt, model.endpoint_id) == ("withdrawn", "Be brief.", endpoint.pk)


def change(visitor, model: Competitor, **changes):
    fields = {"name": model.name, "role": "contender", "status": "active"}
    return visitor.post(f"/models/{model.pk}/", fields | changes)


def test_who_changes_what_another_has_just_changed_is_told(signed_in, cast, monkeypatch):
    model = Competitor.objects.create(team=cast.team, name="Ember")
    rename = Competitor.objects.filter(pk=model.pk).update
    meanwhile(monkeypatch, CompetitorForm, lambda: rename(name="Fjord", name_key="fjord"))
    carol = signed_in("carol")
    refused = change(carol, model, name="Gale")
    assert refused.status_code == 422 and CHANGED in refused.content.decode()
    assert Competitor.objects.get().name == "Fjord"
    assert change(carol, model, name="Gale").status_code == 302
    stored = Competitor.objects.get()
    assert (stored.name, stored.name_key) == ("Gale", "gale")


def test_who_changes_what_another_has_just_removed_is_told(signed_in, cast, monkeypatch):
    model = Competitor.objects.create(team=cast.team, name="Ember")
    meanwhile(monkeypatch, CompetitorForm, lambda: remove_competitor(model))
    answer = change(signed_in("carol"), model, name="Gale")
    assert answer.status_code == 422 and "has been removed meanwhile" in answer.content.decode()
    assert not Competitor.objects.exists()
