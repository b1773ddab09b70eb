"""A form and an act at once: the form was read before the act and is saved after it. The act stands."""

import re

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


# --- a page that stood open ---------------------------------------------------------------------------------


def stamp_on(page: str, part: str = "") -> str:
    at = page.index(f'name="part" value="{part}"') if part else 0
    return re.search(r'<input type="hidden" name="as_read" value="([^"]*)">', page[at:])[1]


def test_a_page_that_stood_open_long_is_told_what_is_new_and_keeps_what_was_typed(signed_in, cast):
    model = Competitor.objects.create(team=cast.team, name="Ember", organisation="Coal & Co")
    carol, path = signed_in("carol"), f"/models/{model.pk}/"
    opened = stamp_on(carol.get(path).content.decode())
    assert "Ember" not in opened and "Coal" not in opened
    Competitor.objects.filter(pk=model.pk).update(status="withdrawn", organisation="Fire Ltd")
    fields = {"name": "Gale", "organisation": "Coal & Co", "role": "contender", "status": "active"}
    refused = carol.post(path, fields | {"as_read": opened})
    page = refused.content.decode()
    assert refused.status_code == 422 and CHANGED in page
    assert "Organisation is now “Fire Ltd”." in page and "Status is now “Withdrawn”." in page
    assert Competitor.objects.get().name == "Ember", "all or nothing"
    form = refused.context["form"]
    assert [form[name].value() for name in ("name", "organisation", "status")] == [
        "Gale",
        "Fire Ltd",
        "withdrawn",
    ]
    again = fields | {name: form[name].value() for name in ("organisation", "status")}
    assert carol.post(path, again | {"as_read": stamp_on(page)}).status_code == 302
    stored = Competitor.objects.get()
    assert (stored.name, stored.organisation, stored.status) == ("Gale", "Fire Ltd", "withdrawn")


def test_what_others_changed_elsewhere_in_the_row_stands_in_no_way(signed_in, cast):
    model = Competitor.objects.create(team=cast.team, name="Ember")
    carol, path = signed_in("carol"), f"/models/{model.pk}/"
    opened = stamp_on(carol.get(path).content.decode())
    Competitor.objects.filter(pk=model.pk).update(system_prompt="Be brief.")
    assert change(carol, model, name="Gale", as_read=opened).status_code == 302
    assert Competitor.objects.get().system_prompt == "Be brief."


def test_of_two_who_choose_models_at_once_the_second_is_told(signed_in, small_campaign):
    campaign = small_campaign.campaign
    first, second, *rest = [model.pk for model in small_campaign.competitors]
    carol = signed_in("carol")
    opened = stamp_on(carol.get("/campaigns/small/").content.decode(), "models")
    sent = {"part": "models", "as_read": opened}
    assert carol.post("/campaigns/small/edit/", sent | {"competitors": [second, *rest]}).status_code == 302
    refused = carol.post("/campaigns/small/edit/", sent | {"competitors": [first, *rest]})
    page = refused.content.decode()
    assert refused.status_code == 422 and CHANGED in page and "Models is now" in page
    assert set(campaign.competitors.values_list("pk", flat=True)) == {second, *rest}
    sent["as_read"] = stamp_on(page, "models")
    assert carol.post("/campaigns/small/edit/", sent | {"competitors": [first, *rest]}).status_code == 302
    assert set(campaign.competitors.values_list("pk", flat=True)) == {first, *rest}


def test_settings_closed_on_an_old_page_are_named(signed_in, small_campaign):
    """What a form only stands on is named too: here that the campaign has been opened meanwhile."""
    Campaign.objects.update(reveal="never", status="draft", opened_at=None)
    carol = signed_in("carol")
    opened = stamp_on(carol.get("/campaigns/small/").content.decode(), "reveal")
    opening.open_campaign(Campaign.objects.get())
    sent = {"part": "reveal", "reveal": "after_vote", "as_read": opened}
    page = carol.post("/campaigns/small/edit/", sent)
    assert page.status_code == 422 and "Also changed: opened at." in page.content.decode()
    assert Campaign.objects.get().reveal == "never"


def test_a_mark_that_is_none_is_as_good_as_none(signed_in, cast):
    model = Competitor.objects.create(team=cast.team, name="Ember")
    assert change(signed_in("carol"), model, name="Gale", as_read="<b> : ::").status_code == 302
    assert Competitor.objects.get().name == "Gale"


def test_whoever_writes_what_a_report_lacked_is_told_that_another_has(signed_in, small_campaign):
    carol, path = signed_in("carol"), "/boards/small/report/text/"
    opened = stamp_on(carol.get(path).content.decode())
    fields = dict.fromkeys(("sourcing", "contamination", "protocol", "baselines"), "")
    assert carol.post(path, fields | {"capability": "First.", "as_read": opened}).status_code == 302
    refused = carol.post(path, fields | {"capability": "Second.", "as_read": opened})
    assert refused.status_code == 422 and "is now “First.”" in refused.content.decode()


@pytest.mark.parametrize("path", ["/models/{}/", "/models/{}/asked/"])
def test_saving_twice_in_a_row_from_fresh_pages_is_no_conflict(signed_in, cast, path):
    endpoint = Endpoint.objects.create(
        team=cast.team, name="E", base_url="https://x.invalid/v1", model_id="m"
    )
    model = Competitor.objects.create(
        team=cast.team, name="Ember", parameters={"b": 1, "a": [0.5]}, aliases=["E", "M"], endpoint=endpoint
    )
    carol, at = signed_in("carol"), path.format(model.pk)
    for _again in range(2):
        answer = carol.get(at)
        form = answer.context["form"]
        sent = {name: form[name].value() for name in form.fields if form[name].value() not in (None, "")}
        assert carol.post(at, sent).status_code == 302
    model.refresh_from_db()
    assert (model.parameters, model.aliases) == ({"b": 1, "a": [0.5]}, ["E", "M"])
