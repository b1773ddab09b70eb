import pytest

from arena.corpus.generation_models import GenerationRun
from arena.corpus.generation_planning import plan_run
from arena.corpus.models import Competitor, PromptSet, Response
from arena.endpoints.models import Endpoint
from tests.corpus.generation_studio import build_studio, replies_with_its_name, work_off
from tests.endpoints.fake_server import FakeServer, error

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


@pytest.fixture
def server(settings):
    with FakeServer(replies_with_its_name) as running:
        settings.ENDPOINT_ALLOWED_HOSTS = [running.host]
        yield running


@pytest.fixture
def studio(cast, server):
    return build_studio(server)


@pytest.fixture
def carol(signed_in):
    return signed_in("carol")


@pytest.fixture
def address(studio):
    return f"/prompt-sets/{studio.prompt_set.pk}/generate/"


@pytest.fixture
def fields(studio):
    return {"competitors": [one.pk for one in studio.competitors], "samples": 1}


@pytest.fixture
def run(studio):
    return plan_run(studio.prompt_set, studio.competitors)


def page(answered) -> str:
    return answered.content.decode().replace("&#x27;", "'")


# --- starting ---------------------------------------------------------------------------------------------


def test_an_estimate_is_told_by_model_before_the_start(carol, address, fields):
    Endpoint.objects.update(input_price=1, output_price=1)
    part = page(carol.get(address, fields, headers=HTMX))
    assert "<html" not in part
    for words in ("<strong>6</strong> responses are missing", "About $0.0", "Time unknown", "Alpha", "Beta"):
        assert words in part
    assert "<html" in page(carol.get(address, fields)), "without JavaScript it is a page"
    assert "6</strong> responses" in page(carol.post(address, fields | {"act": "estimate"}))
    assert not GenerationRun.objects.exists()


def test_starting_a_run_leads_to_its_page_and_the_responses(
    carol, address, fields, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        answered = carol.post(address, fields)
    run = GenerationRun.objects.get()
    assert answered["Location"] == f"/generation/{run.pk}/"
    text = page(carol.get(answered["Location"]))
    assert "completed" in text
    assert "of 6 responses written" in text
    assert Response.objects.count() == 6


def test_what_cannot_be_generated_is_said_on_the_form(carol, address, fields):
    answered = carol.post(address, fields | {"budget_usd": "2"})
    assert answered.status_code == 422
    assert "has no prices" in page(answered)
    assert carol.post(address, {"samples": 1}).status_code == 422
    assert not GenerationRun.objects.exists()


def test_a_draft_is_to_be_published_first(carol, address):
    PromptSet.objects.update(status="draft")
    assert "Publish it first" in page(carol.get(address))


def test_without_a_model_to_ask_the_page_says_what_is_needed(carol, address):
    Competitor.objects.update(endpoint=None)
    assert "/models/asked/new/" in page(carol.get(address))
    PromptSet.objects.update(is_internal=True)
    assert "marked internal" in page(carol.get(address))


def test_a_team_cannot_ask_another_teams_models(carol, cast, address, fields, studio):
    Competitor.objects.filter(pk=studio.competitors[0].pk).update(team=cast.other_team)
    assert carol.post(address, fields).status_code == 422
    assert "Alpha" not in page(carol.get(address))


# --- a run's page -----------------------------------------------------------------------------------------


def test_a_run_tells_by_model_what_came_what_failed_and_why(carol, run, server):
    server.script = [error(400, "no")]
    assert 'hx-trigger="every 2s"' in page(carol.get(f"/generation/{run.pk}/"))
    work_off()
    text = page(carol.get(f"/generation/{run.pk}/"))
    assert "every 2s" not in text
    assert '<span title="bad_request">' in text
    assert "Retry failed calls" in text
    assert carol.get(f"/generation/{run.pk}/", headers=HTMX)["HX-Refresh"] == "true"


def test_pause_go_on_cancel_and_retry(carol, run, server, django_capture_on_commit_callbacks):
    def act(name):
        with django_capture_on_commit_callbacks(execute=True):
            assert carol.post(f"/generation/{run.pk}/{name}/").status_code == 302
        run.refresh_from_db()
        return run.status

    assert act("pause") == "paused"
    server.script = [error(400, "no")]
    assert act("resume") == "completed_with_failures"
    assert act("retry") == "completed"
    assert Response.objects.count() == 6
    assert act("cancel") == "completed"


def test_a_run_that_is_being_planned_is_not_taken_up(carol, run):
    # As planning leaves it until all its rows are there.
    GenerationRun.objects.update(status="paused", status_reason=GenerationRun.BEING_PLANNED)
    assert "being planned" in page(carol.post(f"/generation/{run.pk}/resume/", follow=True))
    run.refresh_from_db()
    assert run.status == "paused"


def test_a_resting_endpoint_is_told_on_the_run_it_holds_up(carol, run, studio):
    from datetime import timedelta

    from django.utils import timezone

    later = timezone.now() + timedelta(minutes=5)
    Endpoint.objects.filter(pk=studio.endpoints[0].pk).update(paused_until=later, rest_reason="It's down.")
    assert "It's down." in page(carol.get(f"/generation/{run.pk}/"))


def test_the_list_shows_runs_and_where_one_may_be_started(carol, run, address):
    work_off()
    text = page(carol.get("/generation/"))
    assert address in text
    assert '<td class="number">6 / 6</td>' in text


@pytest.mark.parametrize("who", ["mallory", "alice", "ravi", "dora"])
def test_only_the_teams_admins_see_a_run(signed_in, run, who):
    assert signed_in(who).get(f"/generation/{run.pk}/").status_code == 404
    assert signed_in(who).post(f"/generation/{run.pk}/cancel/").status_code == 404


# --- how a model is asked ---------------------------------------------------------------------------------


def test_a_model_is_made_from_an_endpoint(carol, studio):
    fields = {
        "name": "Terse",
        "endpoint": studio.endpoints[0].pk,
        "system_prompt": "Be brief.",
        "parameters": '{"temperature": 0}',
    }
    assert carol.post("/models/asked/new/", fields).status_code == 302
    made = Competitor.objects.get(name="Terse")
    assert (made.system_prompt, made.parameters) == ("Be brief.", {"temperature": 0})
    again = carol.post("/models/asked/new/", fields | {"name": "TERSE "})
    assert again.status_code == 422
    assert "is called Terse already" in page(again)


@pytest.mark.parametrize("parameters", ['{"stream": true}', "[]", "{", '{"max_tokens": 5}'])
def test_parameters_that_cannot_be_sent_are_refused(carol, studio, parameters):
    fields = {"endpoint": studio.endpoints[0].pk, "parameters": parameters}
    answered = carol.post(f"/models/{studio.competitors[0].pk}/asked/", fields)
    assert answered.status_code == 422
    assert Competitor.objects.get(name="Alpha").parameters == {}


def test_a_model_with_responses_is_changed_with_a_warning(carol, studio, run):
    work_off()
    address = f"/models/{studio.competitors[0].pk}/asked/"
    assert "It has 3 responses already" in page(carol.get(address))
    fields = {"endpoint": studio.endpoints[1].pk, "system_prompt": "Hm", "parameters": ""}
    assert carol.post(address, fields).status_code == 302
    assert Competitor.objects.get(name="Alpha").endpoint == studio.endpoints[1]


def test_another_teams_endpoint_cannot_be_named(carol, cast, studio):
    strange = Endpoint.objects.create(
        team=cast.other_team, name="Strange", base_url="https://x.invalid/v1", model_id="m"
    )
    fields = {"name": "Sly", "endpoint": strange.pk}
    assert carol.post("/models/asked/new/", fields).status_code == 422
