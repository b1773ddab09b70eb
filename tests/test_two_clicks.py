"""Two clicks at once: both looked before either was stored. The second is told, and nothing is doubled."""

import pytest

from arena.corpus.forms import CompetitorForm, PromptForm, PromptSetForm
from arena.corpus.generation_forms import AskingForm
from arena.corpus.models import Competitor, Prompt, PromptSet
from arena.endpoints.forms import EndpointForm
from arena.endpoints.models import Endpoint
from arena.judging.calibration_models import Calibration
from arena.leaderboards.agreement.judge_calibration_forms import CalibrationForm
from arena.leaderboards.report.report_models import ReportText

pytestmark = pytest.mark.django_db


def other_click_first(monkeypatch, form: type, look: str, act) -> None:
    """The other click is stored after this one has looked, and before it writes."""
    looked, done = getattr(form, look), []

    def look_then_act(self):
        found = looked(self)
        if not done:
            done.append(True)
            act()
        return found

    monkeypatch.setattr(form, look, look_then_act)


def test_a_prompt_set(signed_in, cast, monkeypatch):
    carol = signed_in("carol")
    other_click_first(
        monkeypatch,
        PromptSetForm,
        "clean_name",
        lambda: PromptSet.objects.create(team=cast.team, name="Start"),
    )
    answer = carol.post("/prompt-sets/new/", {"name": "Start"})
    assert answer.status_code == 422 and "There is a prompt set of this name" in answer.content.decode()
    assert PromptSet.objects.count() == 1


@pytest.mark.parametrize(
    ("form", "path", "words"),
    [
        (CompetitorForm, "/models/new/", "Another model has this name"),
        (AskingForm, "/models/asked/new/", "is called Ember already"),
    ],
)
def test_a_model(signed_in, cast, monkeypatch, form, path, words):
    carol = signed_in("carol")
    endpoint = Endpoint.objects.create(
        team=cast.team, name="E", base_url="https://x.invalid/v1", model_id="m"
    )
    other_click_first(
        monkeypatch, form, "clean_name", lambda: Competitor.objects.create(team=cast.team, name="Ember")
    )
    fields = {"name": "Ember", "role": "contender", "status": "active", "endpoint": endpoint.pk}
    answer = carol.post(path, fields)
    assert answer.status_code == 422 and words in answer.content.decode()
    assert Competitor.objects.count() == 1


def test_a_prompt(signed_in, cast, monkeypatch):
    carol = signed_in("carol")
    draft = PromptSet.objects.create(team=cast.team, name="Start")
    said = [{"role": "user", "content": "Hello?"}]
    other_click_first(
        monkeypatch,
        PromptForm,
        "clean_external_id",
        lambda: Prompt.objects.create(prompt_set=draft, external_id="p1", messages=said),
    )
    fields = {"external_id": "p1", "turn-TOTAL_FORMS": 1, "turn-INITIAL_FORMS": 0}
    fields |= {"turn-0-role": "user", "turn-0-content": "Hello?"}
    answer = carol.post(f"/prompt-sets/{draft.pk}/prompts/new/", fields)
    assert answer.status_code == 422 and "Another prompt of this set" in answer.content.decode()
    assert Prompt.objects.count() == 1


def test_a_calibration(signed_in, small_campaign, client, monkeypatch):
    carol = signed_in("carol")
    vote_once(client, small_campaign)
    fields = {"campaign": small_campaign.campaign.pk, "name": "First", "seed": 1}
    fields |= {"held_out_percent": 50, "least_votes": 1}
    made = carol.post("/judging/calibrations/new/", fields)
    assert (made.status_code, Calibration.objects.count()) == (302, 1)
    Calibration.objects.update(name="Before")
    other_click_first(monkeypatch, CalibrationForm, "clean", lambda: Calibration.objects.update(name="First"))
    answer = carol.post("/judging/calibrations/new/", fields)
    assert answer.status_code == 422 and "a calibration of that name" in answer.content.decode()
    assert Calibration.objects.count() == 1


def vote_once(client, small) -> None:
    from arena.battles.models import Battle

    client.post(f"/join/{small.token}/")
    for number in range(6):
        client.get("/campaigns/small/battle/")
        battle = Battle.objects.filter(vote=None).earliest("pk")
        ballot = {"outcome": "model_a", "key": f"idempotency-key-{number}"}
        assert client.post(f"/battles/{battle.public_id}/vote/", ballot).status_code == 303


def test_the_words_of_a_report(signed_in, small_campaign, monkeypatch):
    ReportText.objects.create(campaign=small_campaign.campaign, capability="Before.")
    signed_in("ravi").post("/boards/small/report/text/", {"capability": "After."})
    assert ReportText.objects.get().capability == "After."


def test_an_endpoint(signed_in, cast, monkeypatch):
    def other_click() -> None:
        Endpoint.objects.create(team=cast.team, name="E", base_url="https://x.invalid/v1", model_id="m")

    other_click_first(monkeypatch, EndpointForm, "clean_name", other_click)
    fields = {"name": "E", "base_url": "https://llm.example.org/v1", "model_id": "m", "max_tokens": 10}
    fields |= {"structured_mode": "prompt", "max_tokens_field": "max_tokens", "concurrency": 1}
    answer = signed_in("carol").post("/endpoints/new/", fields | {"timeout_seconds": 5})
    assert answer.status_code == 422 and Endpoint.objects.count() == 1
